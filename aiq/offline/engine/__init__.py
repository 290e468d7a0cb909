"""The offline model: a deterministic program that answers a request by reading it, without knowing who sent it.

It does five things, each in its own file: `read` the request, `follow` its instructions, `choose` a tool, `fill` a
schema, `write` a text. `answer` is its reader: what a question asks, and what the material says about that.
"""

from dataclasses import replace

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.engine.choose import choose, reply_text
from aiq.offline.engine.fill import Unsupported
from aiq.offline.engine.follow import follow
from aiq.offline.engine.read import read
from aiq.offline.engine.refer import standalone
from aiq.offline.engine.transcript import dialect
from aiq.offline.engine.write import write


def respond(request: ChatRequest) -> ChatReply:
    """The model's reply: tool calls while there is something to find, then a filled schema or a text.

    If the prompt describes the tools as text, calls and the last reply are written as text in the form it shows.
    """
    situation = read(request)
    situation = replace(situation, task=standalone(situation.task, situation.history))
    orders = follow(situation)
    spoken = dialect(request)
    if spoken:
        offered = request.model_copy(update={"tools": spoken.tools})
        calls = choose(replace(situation, request=offered), orders)
        return ChatReply(text=spoken.call(calls[0]) if calls else spoken.final(write(situation, orders)))
    if calls := choose(situation, orders):
        return ChatReply(tool_calls=calls)
    try:
        return ChatReply(text=reply_text(situation, orders))
    except Unsupported as error:
        demanded = request.response_format is not None
        return ChatReply(refusal=str(error)) if demanded else ChatReply(text=str(error))
