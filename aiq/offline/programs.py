"""Who answers a request: the judge where a judgement is asked for, else the engine."""

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.engine import respond
from aiq.offline.judging import judge


def answer(request: ChatRequest) -> ChatReply:
    """The model's reply, whoever asks."""
    return judge(request) or respond(request)
