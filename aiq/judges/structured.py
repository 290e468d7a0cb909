"""How judges ask a model: up to `tries` times, reading strictly; an unusable answer is never a score."""

import asyncio
import hashlib
import json
import math
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final, NoReturn, TypeVar

from pydantic import JsonValue

from aiq.core.errors import JudgeError
from aiq.core.models import Message
from aiq.core.session import Session

T = TypeVar("T")
U = TypeVar("U")

_TRY_STRIDE: Final = 1000  # votes of further tries lie this far apart, so that they meet no vote of a panel
_MAX_STARTS: Final = 256  # brackets at which JSON may begin; bounds the work on hostile answers
_SHOWN: Final = 120
_BRACKET: Final = re.compile(r"[{[]")


class Unusable(ValueError):
    """A judge model's answer does not have the form that the prompt asks for."""


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
    """The answer to `prompt` as `read` makes it, and how many tries it took (1 .. tries).

    `read` raises Unusable for an answer it cannot use; the same prompt is then sent again with
    another seed. `subject` and `options` (`model`, `temperature`): see `Models.complete`. Raises
    JudgeError after the last try, ModelError and LimitReached at once.
    """
    problem = ""
    for attempt in range(tries):
        reply = await session.models.complete(
            role, [Message(role="user", content=prompt)], vote=vote + _TRY_STRIDE * attempt, subject=subject, **options
        )
        try:
            return read(reply.text), attempt + 1
        except Unusable as error:
            start = " ".join(reply.text[: 4 * _SHOWN].split())[:_SHOWN]
            problem = f"{error}; the last answer began {start!r}"
    raise JudgeError(f"{role}: no usable answer in {tries} tries: {problem}")


async def ask_once(
    session: Session, role: str, prompt: str, read: Callable[[str], T], *, tries: int, vote: int = 0
) -> T:
    """The same for a question that stands for itself: asked once a run, whichever sample comes to it first.

    Its seed is of (run seed, content, vote), so that the answer does not depend on whose turn it was. It is kept for
    the endpoint that gave it: what another one answers to the same question, with the same seed, is another answer.
    """
    subject = _digest([role, session.models.setup(role), prompt, *([vote] if vote else [])])
    key = _digest([session.models.endpoint, subject])

    async def usable() -> str:
        def text_of(text: str) -> str:
            read(text)
            return text

        return (await ask(session, role, prompt, text_of, tries=tries, vote=vote, subject=subject))[0]

    text = await session.answers.once(key, usable)
    try:
        return read(text)
    except Unusable:  # kept by a more lenient reading, before a rescoring with other settings
        return (await ask(session, role, prompt, read, tries=tries, vote=vote, subject=subject))[0]


def _digest(content: Sequence[object]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


async def each_bounded(items: Sequence[T], work: Callable[[T], Awaitable[U]], at_once: int) -> list[U]:
    """`work` on every item, at most `at_once` at a time; results in the order of `items`.

    The first error ends the rest and is raised as it is, once they have ended and booked what they spent.
    """
    slots = asyncio.Semaphore(at_once)

    async def one(item: T) -> U:
        async with slots:
            return await work(item)

    tasks = [asyncio.ensure_future(one(item)) for item in items]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _refuse(constant: str) -> NoReturn:
    raise Unusable(f"the number {constant} is not allowed")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Unusable("a JSON object names the same key twice")
    return found


_DECODER: Final = json.JSONDecoder(
    parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_no_duplicates, strict=False
)


def read_object(text: str) -> dict[str, JsonValue]:
    """The one JSON object in an answer; raises Unusable for none or several.

    Fences and words around it are tolerated, as is a leading `<think>` block; NaN, infinities,
    numbers beyond a float and repeated keys are refused, because one would have to guess.
    """
    return _only(list(_values(text, "{")), "JSON object")


def read_objects(text: str) -> list[dict[str, JsonValue]]:
    """The one JSON list of objects in an answer, as strictly; other lists, such as a mark `[1]`, are words."""
    lists = [value for value in _values(text, "[") if value and all(isinstance(item, dict) for item in value)]
    return _only(lists, "JSON list of objects")


def read_list(text: str, kind: type[T]) -> list[T]:
    """The one JSON list in an answer whose items are all of this type; an empty one only where there is no other."""
    lists = list(_values(text, "["))
    found: list[T] = _only(
        [v for v in lists if all(isinstance(item, kind) for item in v)], "JSON list that is asked for"
    )
    if not found and len(lists) > 1:
        raise Unusable("there is an empty JSON list among others in it")
    return found


def without_thoughts(text: str) -> str:
    """The answer after the `<think>` block that it may begin with; raises Unusable where that never ends."""
    if not text.lstrip().startswith("<think>"):
        return text
    _, end, answer = text.partition("</think>")
    if not end:
        raise Unusable("it ends within its thoughts")
    return answer


def _only(found: list[T], what: str) -> T:
    if not found:
        raise Unusable(f"there is no complete {what} in it")
    if len(found) > 1:
        raise Unusable(f"there are several {what}s in it")
    return found[0]


def _values(text: str, bracket: str) -> Iterator[Any]:
    """The JSON values that begin with this bracket, none of them inside another.

    Raises Unusable for one that was part of a larger value that is broken off: what is left of a cut answer
    may look like a whole one.
    """
    text = without_thoughts(text)
    position = broken = 0
    for _ in range(_MAX_STARTS):
        found = _BRACKET.search(text, position)
        if found is None:
            return
        start = found.start()
        value, end = _decode(text, start)
        position = start + 1
        if value is None:
            broken = max(broken, end)
        elif text[start] == bracket:
            if start < broken:
                raise Unusable("its JSON is broken off, and what is left of it is a part")
            yield value
            position = end
    raise Unusable(f"there are more than {_MAX_STARTS} brackets in it")


def _decode(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at `start` and where it ends; or None and up to where it was read before it broke."""
    try:
        return _DECODER.raw_decode(text, start)
    except Unusable:
        raise
    except json.JSONDecodeError as error:
        return None, len(text) if error.msg.startswith("Unterminated string") else error.pos
    except (ValueError, RecursionError):  # more digits or brackets than Python reads
        return None, len(text)
