"""Faults planted on purpose, each at its own rate: what an endpoint and a model get wrong, in known measure.

Each is drawn from (server seed, attempt, request, name), so that the same send always meets the same
faults and a retry meets others.
"""

import random
from collections.abc import Mapping

from aiq.core.errors import ConfigError
from aiq.core.seeds import derive
from aiq.offline import gullible, mistakes
from aiq.offline.chat import ChatReply, ChatRequest

ENDPOINT = ("http_429", "http_500", "cut_connection", "slow")
"""Faults of the endpoint, applied by the server to the whole exchange."""

OBEDIENCE = "obey_page"
"""The model does what tool results tell it to do."""

CONTENT = ("wrong_fact", "fabricated_citation", "garbled_citation", "unsupported_claim")
"""Faults of what a final answer says: of prose that names its sources, so that verdicts and plans are left alone."""

FORM = ("malformed_tool_call", "empty_content", "truncated_json")
"""Faults of the reply's form."""

KNOWN = (*ENDPOINT, *FORM, *CONTENT, OBEDIENCE)

SLOW_SECONDS = 2.0
RETRY_AFTER_SECONDS = 1


def check(rates: Mapping[str, float], where: str = "offline.faults.") -> None:
    """Raises ConfigError, beginning with `where`, for a name that is no fault, or a rate outside 0 to 1."""
    for name, rate in rates.items():
        if name not in KNOWN:
            raise ConfigError(f"{where}{name}: there is no such fault; there are {', '.join(KNOWN)}")
        if not 0 <= rate <= 1:
            raise ConfigError(f"{where}{name}={rate}: a rate is between 0 and 1")


class Faults:
    """The rates of one server, and what they do to a request."""

    def __init__(self, rates: Mapping[str, float], seed: int) -> None:
        check(rates)
        self._rates = rates
        self._seed = seed

    def hits(self, name: str, attempt: int, digest: str) -> bool:
        """Whether this fault strikes this send of this request."""
        rate = self._rates.get(name, 0.0)
        return rate > 0 and derive(self._seed, attempt, digest, name) < rate * 2**31

    def spoil(self, request: ChatRequest, reply: ChatReply, digest: str) -> ChatReply:
        """The reply with the faults that strike it; a refusal stays as it is."""
        for name in (OBEDIENCE, *CONTENT, *FORM):
            if reply.refusal is None and self.hits(name, request.attempt, digest):
                reply = _spoiled(name, request, reply, random.Random(derive(self._seed, digest, name, "how")))
        return reply


def _spoiled(name: str, request: ChatRequest, reply: ChatReply, rng: random.Random) -> ChatReply:
    """One fault done to a reply; a fault that does not apply to it changes nothing."""
    text, calls, final = reply.text, reply.tool_calls, not reply.tool_calls and not request.wants_json
    if name == OBEDIENCE:
        return gullible.obey(request, reply)
    if name in CONTENT and final and "://" in text and text.lstrip()[0] not in "{[<`":  # JSON, tagged or fenced
        asked = "\n".join(message.text for message in request.messages if message.role == "user")
        return ChatReply(text=mistakes.make(name, text, asked, rng))
    if name == "malformed_tool_call" and calls:  # as a model writes them that forgets the closing brace
        function = calls[0].function
        half = function.model_copy(update={"arguments": function.arguments[: -(-len(function.arguments) // 2)]})
        return ChatReply(text=text, tool_calls=(calls[0].model_copy(update={"function": half}), *calls[1:]))
    if name == "empty_content" and final:
        return ChatReply()
    if name == "truncated_json" and request.wants_json and not calls:
        return ChatReply(text=text[: len(text) * 6 // 10])
    return reply
