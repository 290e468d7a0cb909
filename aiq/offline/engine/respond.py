"""One request, one reply: the order in which the verbs are tried."""

import json
from dataclasses import replace

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.engine.choose import choose
from aiq.offline.engine.dialect import Dialect, dialect
from aiq.offline.engine.fill import Unsupported, asked_schema, fill
from aiq.offline.engine.follow import Orders, follow
from aiq.offline.engine.read import Situation, read
from aiq.offline.engine.write import write


def respond(request: ChatRequest) -> ChatReply:
    """The model's reply: tool calls while there is something to find, then a filled schema or a text."""
    situation = read(request)
    orders = follow(situation)
    spoken = dialect(request)
    if spoken:
        return _in_text(situation, orders, spoken)
    if calls := choose(situation, orders):
        return ChatReply(tool_calls=calls)
    return _reply(situation, orders)


def _reply(situation: Situation, orders: Orders) -> ChatReply:
    schema = asked_schema(situation)
    if schema is None:
        return ChatReply(text=write(situation, orders))
    try:
        return ChatReply(text=json.dumps(fill(schema, situation, orders), ensure_ascii=False))
    except Unsupported as error:
        demanded = situation.request.response_format is not None
        return ChatReply(refusal=str(error)) if demanded else ChatReply(text=str(error))


def _in_text(situation: Situation, orders: Orders, spoken: Dialect) -> ChatReply:
    """The same with tools that stand in the prompt and calls that are written as text."""
    fields = {name: getattr(situation.request, name) for name in ChatRequest.model_fields}
    offered = ChatRequest.model_construct(**{**fields, "tools": spoken.tools})
    if calls := choose(replace(situation, request=offered), orders):
        return ChatReply(text=spoken.call(calls[0]))
    return ChatReply(text=spoken.final(write(situation, orders)))
