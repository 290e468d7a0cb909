"""What a judge's request asks for: its instructions, that is the prompt without the material between tags."""

import random
import re
from functools import lru_cache

from aiq.core.seeds import derive
from aiq.offline.chat import ChatRequest

_FENCED = re.compile(r"<(?P<label>[a-z_0-9]+)>\n.*?\n?</(?P=label)>", re.DOTALL)

DECLINED = "I have read the material, but the request does not say in which form to answer."


def instructions(request: ChatRequest) -> str:
    """All messages with the fenced material taken out: nothing inside it can instruct the judge."""
    return _unfenced("\n\n".join(message.text for message in request.messages))


@lru_cache(maxsize=64)
def _unfenced(text: str) -> str:
    return _FENCED.sub("", text)


def seed(request: ChatRequest) -> int:
    """The request's seed; 0 where it carries none."""
    return request.seed or 0


def mood(request: ChatRequest, *parts: object) -> random.Random:
    """A judge's mood: of the seed, the model asked for (the members of a panel differ), and what is judged."""
    return random.Random(derive(seed(request), request.model, *parts))
