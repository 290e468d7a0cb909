"""The value of the fixture `aiq_cassette`: clients and aiq sessions for a user's own tests, behind a test's cassette.

The fixture itself is in `aiq.pytest_plugin`.
"""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from aiq.agents.base import AsksUser, Checked
from aiq.cassettes.recorder import CassetteMiss, Recorder, Wording, cassette_name
from aiq.cassettes.redact import Redactor, secret_values
from aiq.core import plugins
from aiq.core.concurrency import binding
from aiq.core.errors import ConfigError, UserError
from aiq.core.events import EventLog
from aiq.core.reports import Report
from aiq.core.run_settings import CassetteSettings, RunSettings
from aiq.core.samples import Question, Sample, SampleKey
from aiq.experiment import compose
from aiq.experiment.attempt import finalise, result_or_error
from aiq.experiment.plan import check_data_sources, collections_of, with_documents
from aiq.experiment.recording import PLACEHOLDER_KEY, without_keys
from aiq.experiment.resources import Resources, open_resources
from aiq.experiment.sessions import make_user
from aiq.llm.http import AsyncBaseTransport, AsyncClient, Limits
from aiq.llm.models import placeholder_key, read_key
from aiq.llm.route import NetworkTransport

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Mode = Literal["off", "record", "replay", "auto", "refresh"]

_NAME: Final = cassette_name(SampleKey("test", 1))  # the same in every test, so that a recording can be renamed
_OPTION: Final = "--aiq-cassette="
_WORDING: Final = Wording(f"pytest {_OPTION}", "aiq_cassette", "its client, openai() or research()")
_RECORDING: Final = "agent.sqlite"
_LONGEST_NAME: Final = 60


def safe_name(test: str) -> str:
    """A folder name for a test: unique, also on file systems that ignore case."""
    slug = re.sub(r"[^\w.-]+", "-", test, flags=re.ASCII)[:_LONGEST_NAME].strip(".-")
    return slug if slug == test.lower() else f"{slug}-{hashlib.sha256(test.encode()).hexdigest()[:8]}"


class AiqCassette:
    """The cassette of one test, in its own folder, so that tests can be recorded in parallel and merged separately.

    In mode `replay`, no connection can be opened and no process started while it is open. Raises UserError if the
    recording is missing, cannot be read, or was made with another `ignored`.
    """

    def __init__(self, folder: Path, test: str, mode: Mode, ignored: Sequence[str] = ()) -> None:
        self.mode, self.folder = mode, folder
        self._test = test
        self._settings = CassetteSettings(mode=mode, dir=str(folder), ignored=tuple(ignored))
        if mode == "replay" and not (folder / _RECORDING).is_file():
            raise UserError(f"nothing is recorded in {folder}; record it with pytest {_OPTION}record")
        self._configs: dict[str, Any] = {}
        self._keys: list[str] = []
        self._recorder = Recorder(self._settings, folder, Redactor(()), accounts=("agent",), wording=_WORDING)
        try:
            self._slot = self._recorder.slot("agent", _NAME, test)
        except UserError:
            self.close(passed=False)
            raise
        self._epochs: Counter[str] = Counter()
        clock = self._recorder.about.get("clock") if self._recorder.reads else None
        self._clock = datetime.fromisoformat(clock) if clock else None

    @property
    def transport(self) -> AsyncBaseTransport:
        """For an `httpx2.AsyncClient` with options of your own; a new one each time."""
        self._redact()
        if self._recorder.replays:
            return self._recorder.transport(AsyncBaseTransport(), self._slot)
        limits = Limits(max_keepalive_connections=0)  # an idle connection would outlive the test's event loop
        return self._recorder.transport(NetworkTransport(limits), self._slot)

    @property
    def client(self) -> AsyncClient:
        """For agents with clients of their own: `AsyncOpenAI(http_client=aiq_cassette.client)`; a new one each time.

        It follows no redirects.
        """
        return AsyncClient(transport=self.transport)

    def key(self, variable: str) -> str:
        """The key in this environment variable; in mode `replay`, where no key is needed, a placeholder.

        Raises ConfigError if it is not set.
        """
        self._configs[f"{variable}_env"] = variable
        self._redact()
        with binding(placeholder_key, PLACEHOLDER_KEY if self._recorder.replays else None):
            return read_key(variable, "aiq_cassette.key")

    def openai(self, *, base_url: str | None = None, api_key: str | None = None, **options: Any) -> "AsyncOpenAI":
        """A stock client; the key is that in $OPENAI_API_KEY unless given. There is no client for sync calls."""
        from openai import AsyncOpenAI

        self._keys.append(api_key or self.key("OPENAI_API_KEY"))
        return AsyncOpenAI(base_url=base_url, api_key=self._keys[-1], http_client=self.client, **options)

    async def research(self, question: str | Question, overrides: Sequence[str] = ()) -> Report:
        """The report of an agent, in a session made with settings as `aiq run` takes them.

        No dataset or judge is used. The session's clock is that of the recording. Raises UserError for invalid
        settings, CassetteMiss listing all requests that were not recorded, and the AgentError, ModelError or
        LimitReached that a run would write into the row.
        """
        query = question if isinstance(question, Question) else Question(text=question)
        settings = self._compose(overrides)
        digest = hashlib.sha256(query.text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        self._epochs[digest] += 1
        (sample,) = with_documents((Sample(id=digest, question=query),), settings.knowledge)
        key = SampleKey(digest, self._epochs[digest])
        with without_keys(settings):
            async with open_resources(settings, collections_of((sample,)), self._recorder) as resources:
                try:
                    return await self._run_agent(sample, key, settings, resources)
                finally:
                    self._recorder.describe({"structured": resources.forms.known})

    async def _run_agent(self, sample: Sample, key: SampleKey, settings: RunSettings, resources: Resources) -> Report:
        agent, _ = settings.agent.make("agent")
        check_data_sources((sample,), resources.tools)
        if isinstance(agent, Checked):
            agent.check(resources.tools)
        if isinstance(agent, AsksUser):
            agent.check_user(settings.user.kind)
        question = sample.question
        session = resources.session(
            settings,
            key=key,
            user=make_user(settings.user, sample, resources.models),
            events=EventLog(lambda event: None),
            collection_name=question.collection_name,
            decide=self._recorder.decide,
        )

        async def research() -> Report:
            return finalise(await session.within_time(agent.research(question, session)), session)[0]

        with self._recorder.use_slot(self._slot):
            report, error = await result_or_error(session, question.text, research)
        if error is not None:
            raise error
        assert report is not None
        return report

    def _compose(self, overrides: Sequence[str]) -> RunSettings:
        """Raises ConfigError for invalid overrides."""
        if isinstance(overrides, str):
            raise ConfigError('research takes a list of settings: research(question, ["agent=mine", ...])')
        if any(text.lstrip("+~").partition("=")[0].partition(".")[0] == "cassette" for text in overrides):
            raise ConfigError(f"cassette: set by pytest {_OPTION}MODE and @pytest.mark.aiq_cassette(...); leave it out")
        plugins.add_cwd_to_path()
        settings = compose.settings(*overrides).model_copy(update={"cassette": self._settings})
        if not any(text.startswith("clock=") for text in overrides):
            self._clock = self._clock or settings.clock
            settings = settings.model_copy(update={"clock": self._clock})
            self._recorder.describe({"clock": self._clock.isoformat()})
        self._configs[str(len(self._configs))] = settings.model_dump(mode="json")
        self._redact()
        return settings

    def _redact(self) -> None:
        """From now on, redact the secrets in the environment and the keys known so far."""
        self._recorder.redactor = Redactor([PLACEHOLDER_KEY, *self._keys, *secret_values(self._configs, os.environ)])

    @property
    def missed(self) -> CassetteMiss | None:
        """The requests so far that were not recorded, even if the caller caught the error."""
        return self._recorder.miss_error(self._test)

    def close(self, *, passed: bool) -> list[str]:
        """Close the cassette and return the warnings to show. After a test that `passed`, no more requests follow."""
        if passed:
            self._recorder.finish()
        return self._recorder.close()
