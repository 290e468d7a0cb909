"""A small dataset, agents and judges as a user would write them: real plugins that need no agent of ours."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from aiq.agents.base import Recorded, Redecided
from aiq.core.errors import AgentError, DatasetError, JudgeError, RunAborted
from aiq.core.models import Message
from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Question, Sample, Shard
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.core.sources import Source
from aiq.datasets.base import SourceSettings
from aiq.experiment.launchers.base import ShardEnd
from aiq.experiment.launchers.processes import Processes
from aiq.judges.base import Judge, RouteJudge


class TinyDataset:
    """JSONL of {id, question, kind}, optionally with turns and answers."""

    Settings = SourceSettings

    def __init__(self, settings: SourceSettings) -> None:
        self._path = Path(settings.path or "")
        self.fingerprint = ""

    def samples(self) -> Iterator[Sample]:
        if not self._path.is_file():
            raise DatasetError(f"dataset.path={self._path}: there is no such file")
        text = self._path.read_text(encoding="utf-8")
        self.fingerprint = str(hash_of(text))
        for line in text.splitlines():
            row = json.loads(line)
            extras = {name: tuple(row.get(name, ())) for name in ("turns", "answers")}
            yield Sample(id=row["id"], question=Question(text=row["question"]), tags={"kind": row["kind"]}, **extras)


def hash_of(text: str) -> int:
    return sum((index + 1) * ord(letter) for index, letter in enumerate(text))


class EchoSettings(Settings):
    """`seconds`: how long an answer takes. `ask`: whether to ask the model. `words`: repetitions.

    `plain`: answers have no number that tells epochs apart.
    """

    seconds: float = 0.0
    ask: bool = False
    words: int = 1
    plain: bool = False


class EchoAgent:
    """Repeats the question, and obeys words in it: fail, reject, hang, break, stop_itself."""

    Settings = EchoSettings

    def __init__(self, settings: EchoSettings) -> None:
        self._settings = settings

    async def research(self, question: Question, session: Session) -> Report:
        text = question.text
        await asyncio.sleep(self._settings.seconds)
        if "hang" in text:
            await asyncio.sleep(3600)
        if "fail" in text:
            raise AgentError("this question fails")
        if "break" in text:
            raise KeyError("a bug")
        if "stop_itself" in text:
            raise asyncio.CancelledError
        if "reject" in text:
            return Report(text="rejected", raw_text="rejected", route="rejected", outcome="rejected")
        session.sources.add(Source(url=f"https://example.org/{session.key.sample_id}", title="A page"), (0, 0))
        answer = text if not self._settings.ask else await self._asked(text, session)
        report = " ".join([answer] * self._settings.words)
        if not self._settings.plain:
            report += f" ({session.seed() % 1000})"
        return Report(
            text=report, raw_text=report + "!", route="echo", extras={"client_loaded": "openai" in sys.modules}
        )

    async def _asked(self, text: str, session: Session) -> str:
        reply = await session.models.complete("echo.writer", [Message(role="user", content=text)])
        return reply.text


class Chatty(EchoAgent):
    """Asks the model twice; a limit refuses the second call."""

    async def research(self, question: Question, session: Session) -> Report:
        await self._asked("one", session)
        await self._asked("two", session)
        raise AssertionError("the second call should have been refused")


class Searching(EchoAgent):
    """Searches for the question."""

    async def research(self, question: Question, session: Session) -> Report:
        result = await session.call_tool("web_search_tool", {"query": question.text})
        return Report(text=question.text, raw_text=result.content, route="echo")


class Halves(EchoAgent):
    """Writes half a surrogate pair wherever it can."""

    async def research(self, question: Question, session: Session) -> Report:
        half = chr(0xD83D)
        if "fail" in question.text:
            raise AgentError(f"odd {half}")
        return Report(text=f"{half}ab", raw_text=half, route="echo", extras={"half": half})


class Mortal(EchoAgent):
    """Kills its whole process at a question that says so, the first time."""

    async def research(self, question: Question, session: Session) -> Report:
        if "die" in question.text and not os.access("died", os.F_OK):
            os.mkdir("died")  # noqa: PTH102
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().research(question, session)


class Forks(Processes):
    """Shards in forked processes, which need not load everything again."""

    async def run(self, folder: Path, shard: Shard) -> ShardEnd:
        from tests.forked import Forked

        with Forked("aiq.run", f"resume={folder}", f"shard={shard}", "runner.progress=false") as process:
            return ShardEnd(await asyncio.to_thread(process.wait), process.err)


class Stubborn(EchoAgent):
    """Answers even if it is cancelled, which `abort` in a question causes."""

    async def research(self, question: Question, session: Session) -> Report:
        if "abort" in question.text:
            await asyncio.sleep(0.1)
            raise RunAborted("nothing further can succeed")
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        return Report(text="all the same", raw_text="", route="echo")


class LettersSettings(Settings):
    """`ask`: whether the judge asks the model before counting. `minimum`: letters that a report needs."""

    ask: bool = False
    minimum: int = 0


class Letters(Judge):
    """`letters.count` (mean), `letters.vowels` (ratio), `letters.sources` for reports that have some."""

    Settings = LettersSettings
    name = "letters"
    metrics: tuple[Metric, ...] = (
        Metric(name="letters.count"),
        Metric(name="letters.vowels", estimator="ratio", worst=None),
        Metric(name="letters.pages", worst=None),
    )
    roles = ("judge.letters",)

    def check(self, samples: Sequence[Sample]) -> None:
        if any(not sample.question.text for sample in samples):
            raise DatasetError("a sample without a question")

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        if self.settings.ask:
            await session.models.complete("judge.letters", [Message(role="user", content=report.text)])
        if "unjudgeable" in report.text:
            raise JudgeError("this report cannot be judged")
        if "miscount" in report.text:
            raise KeyError("a bug of the judge")
        vowels = sum(letter in "aeiou" for letter in report.text)
        pages = len(session.sources.all())
        return [
            Score(metric="letters.count", value=len(report.text), detail={"first": report.text[:1]}),
            Score(metric="letters.vowels", numerator=vowels, denominator=len(report.text)),
            Score(metric="letters.pages", value=pages) if pages else Score(metric="letters.pages", not_applicable="-"),
        ]


class Never(Letters):
    """A metric that no report can have."""

    name = "none"
    metrics = (Metric(name="none.x"),)

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        return [Score(metric="none.x", not_applicable="there are no sources")]


class Twice(Letters):
    """Asks the model two questions before counting."""

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        for question in ("one", "two"):
            await session.models.complete("judge.letters", [Message(role="user", content=question)])
        return await super().score(sample, report, session)


class Words(Letters):
    """`words.count`; asks the model before counting."""

    name = "words"
    metrics = (Metric(name="words.count"),)
    roles = ("judge.words",)

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        await session.models.complete("judge.words", [Message(role="user", content=f"words of {report.text}")])
        return [Score(metric="words.count", value=len(report.text.split()))]


class Prompted(Words):
    """`Words` with a prompt."""

    prompt_hash = "words of"


class ChooserSettings(Settings):
    """`longest`: maximum length of a question that gets a short answer; longer ones are answered at length."""

    longest: int


class Chooser:
    """Asks the model for one answer or the other; the decision depends only on what every attempt has."""

    Settings = ChooserSettings
    deciding = ("longest",)

    def __init__(self, settings: ChooserSettings) -> None:
        self._longest = settings.longest

    async def research(self, question: Question, session: Session) -> Report:
        route = self._route(question.text)
        prompt = f"{question.text} {'at length' * 9 if route == 'long' else 'in short'}"
        reply = await session.models.complete("echo.writer", [Message(role="user", content=prompt)])
        return Report(text=reply.text, raw_text=reply.text, route=route, extras={"question": question.text})

    def redecide(self, recorded: Sequence[Recorded]) -> Redecided | str:
        question = str(recorded[0].report.extras["question"])
        if "unknown" in question:
            return "nobody knows"
        route = self._route(question)
        for i, attempt in enumerate(recorded):
            if attempt.report.route == route:
                return Redecided(i, attempt.report, attempt.usage)
        return Redecided(None, Report(text="", raw_text="", route=route, extras=recorded[0].report.extras), {})

    def _route(self, question: str) -> str:
        return "long" if len(question) > self._longest else "short"


class Routes(RouteJudge):
    """`routes.long`: whether the long route was chosen."""

    metrics = (Metric.share("routes.long"),)

    def judged(self, sample: Sample, report: Report) -> list[Score]:
        return [Score(metric="routes.long", value=float(report.route == "long"))]
