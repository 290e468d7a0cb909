"""One request, one reply: the order in which the verbs are tried."""

import json

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.engine.choose import choose
from aiq.offline.engine.fill import Unsupported, asked_schema, fill
from aiq.offline.engine.follow import follow
from aiq.offline.engine.read import read
from aiq.offline.engine.write import write


def respond(request: ChatRequest) -> ChatReply:
    """The model's reply: tool calls while there is something to find, then a filled schema or a text."""
    situation = read(request)
    orders = follow(situation)
    if calls := choose(situation, orders):
        return ChatReply(tool_calls=calls)
    schema = asked_schema(situation)
    if schema is None:
        return ChatReply(text=write(situation, orders))
    try:
        return ChatReply(text=json.dumps(fill(schema, situation, orders), ensure_ascii=False))
    except Unsupported as error:
        return ChatReply(text=str(error))
