"""The offline model: a deterministic program that answers one request by reading it, not by knowing its sender.

It does five things, a file each: `read` the request, `follow` its instructions, `choose` a tool, `fill` a schema,
`write` a text. `answer` is how it reads: what a question asks, and what the material says to that.
"""

from dataclasses import replace

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.engine.choose import choose, said
from aiq.offline.engine.fill import Unsupported
from aiq.offline.engine.follow import follow
from aiq.offline.engine.read import read
from aiq.offline.engine.refer import standalone
from aiq.offline.engine.transcript import dialect
from aiq.offline.engine.write import write


def respond(request: ChatRequest) -> ChatReply:
    """The model's reply: tool calls while there is something to find, then a filled schema or a text.

    Where the tools stand in the prompt, calls and the last reply are written as text in the form that it shows.
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
        return ChatReply(text=said(situation, orders))
    except Unsupported as error:
        demanded = request.response_format is not None
        return ChatReply(refusal=str(error)) if demanded else ChatReply(text=str(error))
