"""The checks of `aiq doctor` on a run's settings: one cheap call each, and the `llm.quirks` with which it works.

Each call has one feature more than a call that has already worked, so a failure is due to that feature, whatever the
endpoint says about it.
"""

import re
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel

from aiq.agents.toolkit.structured import read_object, schema_of
from aiq.core.errors import AiqError
from aiq.core.llm_settings import Price
from aiq.core.models import retrying
from aiq.core.run_settings import RunSettings
from aiq.core.samples import SampleKey
from aiq.core.session import Session
from aiq.experiment.resources import open_resources
from aiq.llm.calls import ROLE
from aiq.llm.models import NO_KEY, read_key
from aiq.llm.quirks import FORMS, Forms, returned_fields
from aiq.llm.transport import open_client
from aiq.tools.search import WebSearch

Level = Literal["ok", "note", "fails"]

_ROLE: Final = "doctor"
_SWITCHES: Final = ("seed", "temperature", "parallel_tool_calls", "stream_usage", "null_content", "message_name")
_PLAIN_QUIRKS: Final[Mapping[str, Any]] = {**dict.fromkeys(_SWITCHES, False), "structured": "prose"}
"""Quirks that reduce a request to model and messages."""

_CALLER: Final = re.compile(rf"^{_ROLE}: \S+ (failed: |failed )?")
_ADVICE: Final = re.compile(r"; llm\.quirks\.| \(llm\.model=")
_REPLY_TOKENS: Final = 300  # tokens of a reply; more would only cost time
_FEW_TOKENS: Final = 16
_FREE_PRICE: Final = Price(input=0, output=0)
_STATE_PROMPT: Final = "City: Oslo. Weather: rain. State that in JSON."
_PARALLEL_PROMPT: Final = "What is the weather in Oslo and in Rome? Look both up at once."
_TOOL_CALL: Final = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "look_up_weather", "arguments": '{"city": "Oslo"}'},
}
_WEATHER_TOOL: Final = {
    "type": "function",
    "function": {
        "name": "look_up_weather",
        "description": "The weather of a city now.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


class Weather(BaseModel):
    """The form of the structured answer that is asked for."""

    city: str
    weather: str


@dataclass(frozen=True)
class Finding:
    """The result of one check. `settings`: the settings with which it works, or works without a fallback."""

    check: str
    level: Level
    message: str
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """A reply: its message, finish reason and reported usage, and the form that structured output fell back to."""

    message: Mapping[str, Any]
    finish_reason: str | None
    usage: Any
    fallback: str | None = None
    model: str = ""
    """The model that answered, according to the endpoint; some servers accept any name."""

    @property
    def text(self) -> str:
        return str(self.message.get("content") or "")

    @property
    def calls(self) -> int:
        return len(self.message.get("tool_calls") or ())


async def examine(settings: RunSettings) -> AsyncIterator[Finding]:
    """Findings as they come; checks that an earlier failure makes pointless are skipped."""
    yield _check_output_dir(settings.output_dir)
    try:
        async with open_resources(settings) as resources:
            yield Finding("endpoint", "ok", f"{settings.llm.base_url} answers")
            session = resources.session(settings, key=SampleKey(_ROLE, 1), limits=settings.limits.of_run())
            with session.bind(), retrying(1):
                async for finding in Examination(settings, resources.port).findings():
                    yield finding
                yield await _check_search(session)
    except AiqError as error:
        section = str(error).partition(".")[0]  # that of the setting it names
        has_section = section != "llm" and section in RunSettings.model_fields
        yield Finding(section if has_section else "endpoint", "fails", str(error))


def _check_output_dir(output_dir: str) -> Finding:
    folder = ancestor = Path(output_dir).absolute()
    try:
        ancestor = next(path for path in (folder, *folder.parents) if path.exists())
        with tempfile.TemporaryFile(dir=ancestor):
            return Finding("output_dir", "ok", f"{output_dir} can be written")
    except OSError as error:
        return Finding("output_dir", "fails", f"output_dir={output_dir}: {ancestor}: {error.strerror}")


async def _check_search(session: Session) -> Finding:
    try:
        result = await session.call_tool(WebSearch.name, {"query": "weather in Oslo"})
    except AiqError as error:
        return Finding("search", "fails", str(error))
    return Finding("search", "ok", f"answers; results: {len(result.sources)}")


@dataclass
class Examination:
    """The checks of the model's endpoint."""

    settings: RunSettings
    offline_port: int | None
    _limit: dict[str, Any] = field(default_factory=dict)
    """The field that limits a reply's length, once it is known."""
    _called: Mapping[str, Any] = field(default_factory=lambda: {"tool_calls": [_TOOL_CALL]})
    """A message that calls the tool: the model's own, once it has called it."""

    @property
    def _models(self) -> list[str]:
        """The models of all roles that the config names, the default first."""
        llm = self.settings.llm
        return list(dict.fromkeys([llm.model, *(role.model for role in llm.roles.values() if role.model)]))

    async def findings(self) -> AsyncIterator[Finding]:
        """The findings, one after the other; stops at a model that does not answer."""
        for model in self._models:
            answer = await self._ask("Say hello.", model=model)
            if isinstance(answer, str):
                yield Finding("model", "fails", f"{model}: {answer}")
                return
            usage = answer.usage
            alias = "" if model in answer.model or not answer.model else f"; the endpoint calls it {answer.model}"
            yield Finding("model", "note" if alias else "ok", f"{model} says {answer.text.strip()[:40]!r}{alias}")
        yield self._usage(usage)
        yield await self._reply_limit()
        yield await self._switch("seed", "seed")
        yield await self._switch("temperature", "temperature", temperature=0)
        yield await self._tools()
        yield await self._tool_results()
        body: dict[str, Any] = {"tools": [_WEATHER_TOOL], "parallel_tool_calls": True}
        yield await self._switch("parallel_tool_calls", "parallel tools", _PARALLEL_PROMPT, **body)
        yield await self._structured()
        yield await self._streaming()

    async def _ask(
        self, prompt: str | Sequence[Mapping[str, Any]], quirks: Mapping[str, Any] | None = None, /, **body: Any
    ) -> Answer | str:
        """Make one call, plain except for these quirks: its answer, or why there is none."""
        llm = self.settings.llm
        update = {
            "quirks": llm.quirks.model_copy(update={**_PLAIN_QUIRKS, **(quirks or {})}),
            "prices": dict.fromkeys(self._models, _FREE_PRICE),  # else each call would warn
        }
        key = read_key(llm.api_key_env, "llm.api_key_env") or NO_KEY
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        url = f"{llm.base_url.rstrip('/')}/chat/completions"
        request = {"model": llm.model, "messages": messages, **self._limit, **body}
        forms = Forms()
        async with open_client(llm.model_copy(update=update), offline_port=self.offline_port, forms=forms) as client:
            headers = {ROLE: _ROLE, "authorization": f"Bearer {key}"}
            try:
                response = await client.post(url, json=request, headers=headers)
            except AiqError as error:
                return _reason(error)
        if request.get("stream"):
            return Answer({}, None, None)
        reply = response.json()
        (choice, *_) = reply["choices"]
        fallback = next(iter(forms.learned.values()), None)
        model = str(reply.get("model") or "")
        return Answer(choice["message"], choice.get("finish_reason"), reply.get("usage"), fallback, model)

    async def _switch(self, name: str, check: str, prompt: str = "Say hello.", **body: Any) -> Finding:
        """Check a field that a quirk switches on or off."""
        if not getattr(self.settings.llm.quirks, name):
            return Finding(check, "ok", f"not sent (llm.quirks.{name}=false)")
        answer = await self._ask(prompt, {name: True}, **body)
        if isinstance(answer, str):
            return Finding(check, "fails", answer, (f"llm.quirks.{name}=false",))
        if not body.get("tools"):
            return Finding(check, "ok", "accepted")
        outcome = f"parallel calls: {answer.calls}" if answer.calls else "but the model calls no tool"
        return Finding(check, "ok" if answer.calls else "note", f"accepted; {outcome}")

    def _usage(self, usage: Any) -> Finding:
        unpriced = ", ".join(model for model in self._models if model not in self.settings.llm.prices)
        if unpriced and (limit := self.settings.limits.usd_setting):
            return Finding("usage", "fails", f"{limit} cannot be enforced: no price in llm.prices for {unpriced}")
        if not usage:
            return Finding("usage", "note", "not reported: what a run costs is unknown")
        if unpriced:
            return Finding("usage", "note", f"reported; no price in llm.prices for {unpriced}")
        return Finding("usage", "ok", "reported, and there is a price")

    async def _reply_limit(self) -> Finding:
        current = self.settings.llm.quirks.limit_field
        problem = ""
        for name in sorted(("max_completion_tokens", "max_tokens"), key=lambda name: name != current):
            answer = await self._ask("Write the numbers from 1 to 60 as words.", **{name: _FEW_TOKENS})
            if isinstance(answer, str):
                problem = problem or answer
                continue
            if answer.finish_reason == "length" or len(answer.text) < 12 * _FEW_TOKENS:
                self._limit = {name: _REPLY_TOKENS}
                fix = () if name == current else (f"llm.quirks.limit_field={name}",)
                return Finding("reply limit", "fails" if fix else "ok", problem or f"{name} is respected", fix)
            problem = problem or f"{name} is ignored"
        return Finding("reply limit", "note", f"{problem}: llm.max_tokens has no effect")

    async def _tools(self) -> Finding:
        answer = await self._ask("What is the weather in Oslo? Look it up.", tools=[_WEATHER_TOOL])
        if isinstance(answer, str):
            return Finding("tools", "fails", answer)
        if not answer.calls:
            return Finding("tools", "note", "accepted, but the model answers in words: it may never search")
        self._called = answer.message
        return Finding("tools", "ok", "the model calls them")

    async def _tool_results(self) -> Finding:
        """Check a second turn, with the fields that agents send with a tool's call and result."""
        tool_call = self._called["tool_calls"][0]
        call = {**{name: tool_call[name] for name in _TOOL_CALL}, **returned_fields(tool_call)}
        assistant = {"role": "assistant", "name": "researcher", "content": None, "tool_calls": [call]}
        turns: list[Mapping[str, Any]] = [
            {"role": "user", "content": "What is the weather in Oslo?"},
            {**assistant, **returned_fields(self._called)},
            {"role": "tool", "tool_call_id": call["id"], "content": "Rain, 8 degrees."},
        ]
        config = {name: getattr(self.settings.llm.quirks, name) for name in ("null_content", "message_name")}
        problem = ""
        for null, name in ((True, True), (False, True), (True, False), (False, False)):
            quirks = {"null_content": null and config["null_content"], "message_name": name and config["message_name"]}
            if isinstance(answer := await self._ask(turns, quirks, tools=[_WEATHER_TOOL]), str):
                problem = problem or answer
                continue
            settings = tuple(f"llm.quirks.{switch}=false" for switch in quirks if quirks[switch] != config[switch])
            return Finding("tool results", "fails" if settings else "ok", problem or "accepted", settings)
        return Finding("tool results", "fails", problem)

    async def _structured(self) -> Finding:
        current, problem, settings = self.settings.llm.quirks.structured, "", tuple[str, ...]()
        response_format = {"type": "json_schema", "json_schema": schema_of(Weather)}
        for form in FORMS[FORMS.index(current) :]:
            answer = await self._ask(_STATE_PROMPT, {"structured": form}, response_format=response_format)
            if isinstance(answer, str):
                problem = problem or answer
                continue
            used_form = answer.fallback or form
            refusal = f"{form} is refused; " if answer.fallback else ""
            readable = read_object(answer.text, Weather) is not None
            if used_form != current and (readable or refusal):
                settings = (f"llm.quirks.structured={used_form}",)
            if readable:
                message = problem or f"{refusal}answered in {used_form}"
                return Finding("JSON schema", "note" if settings else "ok", message, settings)
            problem = problem or f"{refusal}the answer in {used_form} does not fit: {answer.text[:40]!r}"
        return Finding("JSON schema", "note", problem, settings)

    async def _streaming(self) -> Finding:
        if isinstance(answer := await self._ask("Say hello.", stream=True), str):
            return Finding("streaming", "note", f"{answer} (only agents that stream need it)")
        return await self._switch("stream_usage", "streaming", stream=True)


def _reason(error: AiqError) -> str:
    """An error without caller and address, and without the advice that the table itself gives."""
    return _ADVICE.split(_CALLER.sub("", str(error)))[0]
