"""Structured output of judge models: asked up to `tries` times, parsed strictly; unusable answers are never scores."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from aiq.core import replies
from aiq.core.errors import JudgeError
from aiq.core.events import Recovery
from aiq.core.models import Message
from aiq.core.plugins import describe
from aiq.core.replies import cut_by
from aiq.core.session import Session
from aiq.core.text import plural
from aiq.judges.wording import Wording

T = TypeVar("T")

_TRY_STRIDE: Final = 1000  # each further try adds this to the vote, so that it never equals a vote of a panel
_MAX_STARTS: Final = 256  # brackets at which JSON may begin; bounds the work on hostile answers
_SHOWN: Final = 120
_BRACKET: Final = re.compile(r"[{[]")
_ESCAPE: Final = re.compile(r"(\\(?:[^\W_]|[\s\"\\/]))|\\(?=\S)")
"""An escape that may be JSON's (kept), or the backslash of Markdown before another character, such as `\\>`."""


class Unusable(Exception):
    """Raised if a judge model's answer does not have the form that the prompt asks for."""


class ModelAnswer(BaseModel):
    """The form of a JSON answer: types are strict (no `true` or `"1"` for 1), unknown keys are ignored."""

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)


NonBlank = Annotated[str, AfterValidator(str.strip), Field(min_length=1)]
"""A text that is not empty, stripped."""

OneLine = Annotated[str, AfterValidator(lambda text: " ".join(text.split())), Field(min_length=1)]
"""The same, with each run of white space collapsed to one space."""


async def ask(
    session: Session,
    role: str,
    prompt: str,
    read: Callable[[str], T],
    *,
    tries: int,
    vote: int = 0,
    subject: str | None = None,
    **options: Any,
) -> tuple[T, int]:
    """The answer to `prompt` as parsed by `read`, and how many tries it took (1 .. tries).

    If `read` raises Unusable, the same prompt is sent again with another seed, which is recorded as an event.
    `subject` and `options` (`model`, `temperature`): see `Models.complete`. Raises JudgeError after the last try,
    ModelError and LimitReached at once.
    """
    problem, lasted = "", 0.0
    for attempt in range(tries):
        if problem:
            detail = f"{role}: asking again: {problem}"
            session.events.emit(Recovery(what="unusable_answer", detail=detail, seconds=0.0, lasted=lasted))
        start = time.perf_counter()
        reply = await session.models.complete(
            role, [Message(role="user", content=prompt)], vote=vote + _TRY_STRIDE * attempt, subject=subject, **options
        )
        try:
            return read(reply.text), attempt + 1
        except Unusable as error:
            lasted = time.perf_counter() - start
            begin = " ".join(reply.text[: 4 * _SHOWN].split())[:_SHOWN]
            cause = f"{cut}; " if (cut := cut_by(reply.finish_reason)) else ""
            problem = f"{error}; {cause}the last answer began {begin!r}"
    raise JudgeError(f"{role}: no usable answer in {plural(tries, 'try', 'tries')}: {problem}")


@dataclass(frozen=True)
class SharedQuestion:
    """A question that is asked once per run, by whichever sample needs it first: its role, and its prompt by language.

    Its seed derives from (run seed, content, vote), so that the answer does not depend on which sample asked. Answers
    are kept per endpoint, because another one may answer the same question, with the same seed, differently.
    """

    role: str
    prompts: Mapping[str, Wording]
    tries: int

    @property
    def wordings(self) -> tuple[Wording, ...]:
        return tuple(dict.fromkeys(self.prompts.values()))

    async def ask(
        self, session: Session, language: str, read: Callable[[str], T], values: Mapping[str, str], vote: int = 0
    ) -> T:
        """The answer to the prompt filled with these values; see `ask`."""
        prompt = self.prompts[language].render(values)
        subject = _digest([self.role, session.models.setup(self.role), prompt, *([vote] if vote else [])])

        def check(text: str) -> str:
            read(text)
            return text

        async def ask_model() -> str:
            return (await ask(session, self.role, prompt, check, tries=self.tries, vote=vote, subject=subject))[0]

        answer = await session.answers.get_or_ask(_digest([session.models.endpoint, subject]), ask_model)
        try:
            return read(answer)
        except Unusable:  # accepted under more lenient settings, before a rescoring
            return read(await ask_model())


def _digest(content: Sequence[object]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def read_as(form: type[T], text: str) -> T:
    """The one JSON object in an answer; raises Unusable for none, several, or one that does not have this form.

    Fences and words around it are tolerated, as are closed thoughts; repeated keys are refused, because one would
    have to guess which one counts.
    """
    return _validated(form, _only(list(_values(text, "{")), "JSON object"))


def read_list(form: type[T], text: str) -> list[T]:
    """The one JSON list in an answer whose items may have this form, parsed as strictly; other lists are prose.

    An empty list counts only if there is no other list.
    """
    kind = dict if issubclass(form, ModelAnswer) else form
    lists = list(_values(text, "["))
    items = _only([v for v in lists if all(isinstance(item, kind) for item in v)], "JSON list that is asked for")
    if not items and len(lists) > 1:
        raise Unusable("there is an empty JSON list among others in it")
    return [_validated(form, item) for item in items]


def without_thoughts(text: str) -> str:
    """The answer without its thoughts; raises Unusable if they never end."""
    if replies.ends_in_thought(text):
        raise Unusable("it ends within its thoughts")
    return replies.without_thoughts(text)


def _validated(form: type[T], value: JsonValue) -> T:
    try:
        return TypeAdapter(form).validate_python(value, strict=True)
    except ValidationError as error:
        raise Unusable(describe(error)) from None


def _only(values: list[T], what: str) -> T:
    if len(values) != 1:
        raise Unusable(f"there are several {what}s in it" if values else f"there is no complete {what} in it")
    return values[0]


def _values(text: str, bracket: str) -> Iterator[Any]:
    """The outermost JSON values that begin with this bracket; Markdown's escapes are undone.

    Raises Unusable for a value that is part of a larger, truncated one (the rest of a cut-off answer may look
    complete) and, if no value can be parsed, for an escape that JSON does not have.
    """
    text = _ESCAPE.sub(lambda match: match[1] or "", without_thoughts(text))
    position = broken = 0
    problem: str | None = None  # the first value failed to parse; empty once one has parsed
    for _ in range(_MAX_STARTS):
        match = _BRACKET.search(text, position)
        if match is None:
            if problem:
                raise Unusable(f"its JSON cannot be read: {problem}")
            return
        start, position = match.span()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            if problem is None and error.msg.startswith("Invalid"):  # escapes; prose has brackets too
                problem = str(error)
            broken = max(broken, len(text) if error.msg.startswith("Unterminated string") else error.pos)
        except (ValueError, RecursionError):  # more digits or brackets than Python can parse
            broken = len(text)
        else:
            if text[start] == bracket:
                if start < broken:
                    raise Unusable("its JSON is broken off, and what is left of it is a part")
                yield value
                position, problem = end, ""
    raise Unusable(f"there are more than {_MAX_STARTS} brackets in it")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise Unusable("a JSON object names the same key twice")
    return result


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_no_duplicates, strict=False)
