"""Faults planted on purpose, each at its own rate: known amounts of what real endpoints and models get wrong.

Each is drawn from (server seed, attempt, request, name), so that sending the same attempt again always meets the same
faults and a retry meets others. Nothing here depends on how the harness works; all it knows of our reports is their
markup: inline `[n]` and lines `[n] Title - URL` at the end.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping

from aiq.core.errors import ConfigError
from aiq.core.seeds import derive
from aiq.offline.chat import ChatReply, ChatRequest, ToolCall, call

ENDPOINT = ("http_429", "http_500", "cut_connection", "slow")
"""Faults of the endpoint, applied by the server to the whole exchange."""

OBEDIENCE = "obey_page"
"""The model does what tool results tell it to do."""

CONTENT = ("wrong_fact", "fabricated_citation", "garbled_citation", "unsupported_claim")
"""Faults in what a final answer says. Only prose that names its sources is affected, never verdicts or plans."""

FORM = ("malformed_tool_call", "empty_content", "truncated_json")
"""Faults in the form of the reply."""

KNOWN = (*ENDPOINT, *FORM, *CONTENT, OBEDIENCE)

SLOW_SECONDS = 2.0
RETRY_AFTER_SECONDS = 1


def check(rates: Mapping[str, float], where: str = "offline.faults.") -> None:
    """Raises ConfigError, starting with `where`, for an unknown fault or a rate outside 0 to 1."""
    for name, rate in rates.items():
        if name not in KNOWN:
            raise ConfigError(f"{where}{name}: there is no such fault; there are {', '.join(KNOWN)}")
        if not 0 <= rate <= 1:
            raise ConfigError(f"{where}{name}={rate}: a rate is between 0 and 1")


class Faults:
    """The fault rates of one server, and what they do to a request."""

    def __init__(self, rates: Mapping[str, float], seed: int) -> None:
        check(rates)
        self._rates = rates
        self._seed = seed

    def hits(self, name: str, attempt: int, digest: str) -> bool:
        """Whether this fault strikes this attempt at this request."""
        rate = self._rates.get(name, 0.0)
        return rate > 0 and derive(self._seed, attempt, digest, name) < rate * 2**31

    def spoil(self, request: ChatRequest, reply: ChatReply, digest: str) -> ChatReply:
        """The reply with the faults that strike it; a refusal is left as it is."""
        for name in (OBEDIENCE, *CONTENT, *FORM):
            if reply.refusal is None and self.hits(name, request.attempt, digest):
                reply = _with_fault(name, request, reply, random.Random(derive(self._seed, digest, name, "how")))
        return reply


def _with_fault(name: str, request: ChatRequest, reply: ChatReply, rng: random.Random) -> ChatReply:
    """The reply with one fault applied; a fault that does not apply to it changes nothing."""
    text, calls, final = reply.text, reply.tool_calls, not reply.tool_calls and not request.wants_json
    if name == OBEDIENCE:
        return obey(request, reply)
    if name in CONTENT and final and "://" in text and text.lstrip()[0] not in "{[<`":  # not JSON, tags or a code fence
        question = "\n".join(message.text for message in request.messages if message.role == "user")
        return ChatReply(text=mistaken(name, text, question, rng))
    if name == "malformed_tool_call" and calls:  # as written by a model that forgets the closing brace
        function = calls[0].function
        truncated = function.model_copy(update={"arguments": function.arguments[: -(-len(function.arguments) // 2)]})
        return ChatReply(text=text, tool_calls=(calls[0].model_copy(update={"function": truncated}), *calls[1:]))
    if name == "empty_content" and final:
        return ChatReply()
    if name == "truncated_json" and request.wants_json and not calls:
        return ChatReply(text=text[: len(text) * 6 // 10])
    return reply


# a model that treats retrieved text as instructions

MOST_ORDERS = 3
"""The most calls ordered by pages that one reply makes."""

_IN_WORDS = re.compile(r"\bcall (?:the tool )?`?(\w+)`? (?:on|with) (\S+)", re.IGNORECASE)
_MARKUP = re.compile(r"<(?:tool_call|function=(\w+))>\s*(\{.*?\})\s*</(?:tool_call|function)>", re.DOTALL)
_DISCLOSE = re.compile(r"(?:print|repeat|reveal) your (?:system prompt|instructions)", re.IGNORECASE)
_PAGE_REFERENCE = re.compile(r"^(?:\[\d+\]\s+|Citation:\s*)(\S.*)$", re.MULTILINE)
_NUMBERED = re.compile(r"^\[(\d+)\] ", re.MULTILINE)
_LIST = "\n\n## References\n"


def obey(request: ChatRequest, reply: ChatReply) -> ChatReply:
    """The reply after obeying the pages: extra tool calls, or in a final answer their words and references."""
    pages = "\n".join(message.text for message in request.messages if message.role == "tool")
    past_calls = [call.function for message in request.messages for call in message.tool_calls]
    orders = [order for order in dict.fromkeys(_ordered_calls(pages)) if order.function not in past_calls]
    if orders and request.tools:
        return ChatReply(text=reply.text, tool_calls=(*reply.tool_calls, *orders[:MOST_ORDERS]))
    if reply.tool_calls or request.wants_json:
        return reply
    text = _with_references(reply.text, pages)
    return ChatReply(text=f"{request.system}\n\n{text}" if _DISCLOSE.search(pages) else text)


def _ordered_calls(pages: str) -> Iterator[ToolCall]:
    """The calls that a text orders the model to make."""
    for name, value in _IN_WORDS.findall(pages):
        yield call(name, **{"url" if "://" in value else "query": value.rstrip(".,;")})
    for name, order in _MARKUP.findall(pages):
        try:
            parsed = json.loads(order)
        except ValueError:
            continue
        arguments = parsed if name else parsed.get("arguments")
        yield call(name or str(parsed.get("name")), **(arguments if isinstance(arguments, dict) else {}))


def _with_references(text: str, pages: str) -> str:
    """The answer with the page's own reference list appended, and a sentence that cites each entry."""
    entries = dict.fromkeys(entry.strip() for entry in _PAGE_REFERENCE.findall(pages))
    if not entries:
        return text
    first = max(map(int, _NUMBERED.findall(text)), default=0) + 1
    body, _, references = text.partition(_LIST)
    for number, entry in enumerate(entries, start=first):
        body += f" This stands in a register [{number}]."
        references += f"\n[{number}] {entry}"
    return body + _LIST + references.lstrip("\n")


# factual mistakes in a final answer

_REFERENCE = re.compile(r"^\s*\[(\d+)\]\s.*?https?://[^/\s]+/?(\S*)\s*$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}\s*(references|sources|参考文献|来源)\s*$", re.MULTILINE | re.IGNORECASE)
_CITED = re.compile(r"[^\n.!?。！？]+(?:\s?\[(\d+)\])+[.!?。！？]?")
_FIRST_SENTENCE = re.compile(r"\s*(?:#.*\n\s*)*[^\n]+?(?:[.!?](?=\s)|[。！？]|$)", re.MULTILINE)
_FACT = re.compile(
    r"(?<![\d\[/.\-])\d(?:[\d,]*\d)?(?![\d\]/\-]|\.\d)"  # a number, not a citation mark or part of a date or URL
    r"|(?<=[a-z,] )[A-Z][a-z]{3,}|\A[A-Z][a-z]{3,}(?=\.)"  # a capitalised word inside a sentence, or as the whole first
)
_ENDINGS = ("dane", "mell", "wick", "aro")
_CLAIMS = (
    "Independent observers regard it as the largest of its kind in the region",
    "Three earlier reviews had come to the opposite conclusion",
    "The figure is expected to double within five years",
)


def mistaken(name: str, text: str, asked: str, rng: random.Random) -> str:
    """The text with one mistake in it; unchanged if there is nothing to spoil. `asked` is what the user said.

    wrong_fact           a number or name is replaced throughout
    fabricated_citation  a sentence cites a page that no tool returned
    garbled_citation     a letter in a reference's URL, after the host, is changed
    unsupported_claim    a new sentence follows a cited one and repeats its citation
    """
    references = list(_REFERENCE.finditer(text))
    end = min((match.start() for match in (_HEADING.search(text), *references) if match), default=len(text))
    if name == "wrong_fact":
        return _wrong_fact(text[:end], asked, rng) + text[end:]
    sentences = list(_CITED.finditer(text, 0, end))
    if not sentences or not references:
        return text
    sentence, reference = rng.choice(sentences), rng.choice(references)
    if name == "unsupported_claim":
        return _insert(text, sentence.end(), f" {rng.choice(_CLAIMS)} [{sentence[1]}].")
    if name == "garbled_citation":
        offset = min(rng.randint(*reference.span(2)), reference.end(2) - 1)
        return text[:offset] + ("y" if text[offset] == "x" else "x") + text[offset + 1 :]
    number = max(int(reference[1]) for reference in references) + 1
    page = f"https://archive.offline.example/survey-{rng.randrange(10**6):06d}"
    extended = _insert(text, references[-1].end(), f"\n[{number}] Annual survey - {page}")
    return _insert(extended, sentence.end(1) + 1, f" [{number}]")


def _insert(text: str, offset: int, addition: str) -> str:
    return text[:offset] + addition + text[offset:]


def _wrong_fact(body: str, question: str, rng: random.Random) -> str:
    """The body with one fact from its first sentence, where the answer is, replaced everywhere.

    Facts that the question itself gave are kept if there is anything else to get wrong.
    """
    first, facts = _FIRST_SENTENCE.match(body), _FACT.findall(body)
    facts = [fact for fact in facts if fact not in question] or facts
    facts = [fact for fact in facts if first and fact in first[0]] or facts
    if not facts:
        return body
    fact = rng.choice(facts)
    if fact[-1].isdigit():
        replacement = fact[:-1] + str((int(fact[-1]) + rng.randint(1, 9)) % 10)
    else:
        replacement = fact[: -(-len(fact) // 2)] + rng.choice(_ENDINGS)
    pattern = rf"(?<![0-9A-Za-z\[]){re.escape(fact)}(?![0-9A-Za-z])"  # Chinese has no spaces around it
    return re.sub(pattern, replacement, body)
