"""Structured answers: ask for a JSON object by its schema, read it however the model wrapped it, repair it once."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from aiq.core.events import Recovery
from aiq.core.models import Message
from aiq.core.prompts import Prompts
from aiq.core.session import current

ModelT = TypeVar("ModelT", bound=BaseModel)

REPAIR_CHARACTERS = 4000
"""How much of an unreadable answer the repair call shows."""

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class StructuredCall(Generic[ModelT]):
    """A question to a role that is answered by an object of type `answer`.

    `noun`: what the answer is, in events; `schema`: its name for the endpoint. `system`, `request` and `repair` are
    templates; the request is given `current_datetime`, the repair `bad_reply`. `seconds`: see `Models.complete`.
    """

    role: str
    answer: type[ModelT]
    prompts: Prompts
    noun: str
    schema: str
    system: str
    request: str
    repair: str
    seconds: float | None = None

    async def ask(self, **variables: Any) -> ModelT | None:
        """The answer; None where it stays unreadable after one repair call.

        `variables` are the request's. Raises ModelError, LimitReached, RunAborted.
        """
        session = current()
        request = self.prompts.render(self.request, current_datetime=session.now.isoformat(), **variables)
        text = await self._complete(
            Message(role="system", content=self.prompts.render(self.system)), Message(role="user", content=request)
        )
        found = read_object(text, self.answer)
        if found is None:
            repair = self.prompts.render(self.repair, bad_reply=text[:REPAIR_CHARACTERS])
            found = read_object(await self._complete(Message(role="user", content=repair)), self.answer)
            done = "repaired" if found else "not repaired"
            session.events.emit(Recovery(what=f"unparsable_{self.noun}", detail=done))
        return found

    async def _complete(self, *messages: Message) -> str:
        schema = schema_of(self.answer, self.schema)
        reply = await current().models.complete(self.role, messages, json_schema=schema, seconds=self.seconds)
        return reply.text


def schema_of(model: type[BaseModel], name: str) -> Mapping[str, JsonValue]:
    """The `json_schema` of a completion: every field required, as strict structured output wants it."""
    schema = model.model_json_schema()
    schema["required"] = list(schema.get("properties", {}))
    schema["additionalProperties"] = False
    return {"name": name, "strict": True, "schema": schema}


def read_object(text: str, model: type[ModelT]) -> ModelT | None:
    """The first JSON object of a reply that validates: the whole text, a code fence, or one among words."""
    for candidate in _objects(text):
        try:
            return model.model_validate(candidate)
        except ValidationError:
            continue  # the next object may be the right one
    return None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The objects of the whole text and of its code fences, then those that begin anywhere, outer ones first."""
    for whole in (text, *_FENCED.findall(text)):
        try:
            value = json.loads(whole)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value
    position = text.find("{")
    while position >= 0:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except ValueError:
            end = position + 1
        else:
            yield value
        position = text.find("{", end)
