"""Structured answers: ask for a JSON object by its schema, read it however the model wrapped it, repair it once."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError, model_validator

from aiq.core.base import Record
from aiq.core.events import Recovery
from aiq.core.models import Message, Reply
from aiq.core.prompts import Prompts
from aiq.core.session import current

ModelT = TypeVar("ModelT", bound=BaseModel)


class LenientRecord(Record):
    """Parsed from foreign JSON: null is a missing field; unknown fields, and numbers as texts (ids), are accepted."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: object) -> object:
        return {name: item for name, item in value.items() if item is not None} if isinstance(value, dict) else value


_NOTHING = ("", "none", "null", "n/a", "无")


def text_or_none(text: str | None) -> str | None:
    """What a model states, on one line; None if it is blank or says that there is nothing."""
    line = " ".join((text or "").split())
    return None if line.strip(" .").casefold() in _NOTHING else line


REPAIR_CHARACTERS = 4000
"""How much of an unreadable answer the repair call shows."""


def _first_non_null(fields: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object of these fields; a repeated one takes its first value that is not null."""
    stated = [(name, value) for name, value in fields if value is not None]
    return dict(fields) | dict(reversed(stated))


_DECODER = json.JSONDecoder(object_pairs_hook=_first_non_null)


@dataclass(frozen=True)
class StructuredCall(Generic[ModelT]):
    """A question to a role that is answered by an object of type `answer`, whose class names the schema.

    It has three templates: the system prompt is named like the role; `NAME_request.j2` is given `current_datetime` and
    the variables of `ask`, `NAME_repair.j2` (or `repair`) the `bad_reply`. `options` go to `complete`, which is the
    session's `Models.complete` unless the agent has one with accounting of its own.
    """

    role: str
    answer: type[ModelT]
    prompts: Prompts
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    complete: Callable[..., Awaitable[Reply]] | None = None
    repair: str = ""

    async def ask(self, **variables: Any) -> ModelT | None:
        """The answer, or None if a repair call did not help. Raises ModelError, LimitReached, RunAborted."""
        session, render = current(), self.prompts.render
        system = render(f"{self.role.rpartition('.')[2]}.j2")
        request = render(f"{self.name}_request.j2", current_datetime=session.now.isoformat(), **variables)
        text = await self._complete(Message(role="system", content=system), Message(role="user", content=request))
        answer = read_object(text, self.answer)
        if answer is None:
            repair = render(self.repair or f"{self.name}_repair.j2", bad_reply=text[:REPAIR_CHARACTERS])
            answer = read_object(await self._complete(Message(role="user", content=repair)), self.answer)
            outcome = "repaired" if answer else "not repaired"
            session.events.emit(Recovery(what=f"unparsable_{self.answer.__name__.lower()}", detail=outcome))
        return answer

    async def _complete(self, *messages: Message) -> str:
        complete = self.complete or current().models.complete
        return (await complete(self.role, messages, json_schema=schema_of(self.answer), **self.options)).text


@cache  # pydantic rebuilds it each time
def schema_of(model: type[BaseModel]) -> Mapping[str, JsonValue]:
    """The `json_schema` of a completion: every field required, as strict structured output demands.

    It is strict unless an object in it may have fields that the schema does not name.
    """
    schema = model.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        if "properties" in part:
            part |= {"required": list(part["properties"]), "additionalProperties": False}
    return {"name": model.__name__.lower(), "strict": not _is_open(schema), "schema": schema}


def _is_open(part: Any) -> bool:
    """Whether a schema, or one inside it, is that of an object with arbitrary fields."""
    if isinstance(part, list):
        return any(map(_is_open, part))
    if not isinstance(part, dict):
        return False
    is_open_itself = part.get("type") == "object" and part.get("additionalProperties", True) is not False
    return is_open_itself or any(map(_is_open, part.values()))


def read_object(text: str, model: type[ModelT]) -> ModelT | None:
    """The valid JSON object in a reply that states the most fields, of equals the first; None if there is none."""
    matches: list[ModelT] = []
    for candidate in _objects(text):
        with suppress(ValidationError):  # the next object may be the right one
            matches.append(model.model_validate(candidate))
    return max(matches, key=lambda match: len(match.model_dump(exclude_unset=True, exclude_none=True)), default=None)


def _objects(text: str) -> Iterator[Any]:
    """The outermost JSON objects of a text, in their order."""
    position = text.find("{")
    while position >= 0:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            yield value
        position = text.find("{", end)
