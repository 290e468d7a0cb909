"""A document in a few sentences, by rules or by a model: agents see it beside the file's name in their prompts."""

import re
from pathlib import Path

from aiq.core.models import Message
from aiq.core.prompts import Prompts
from aiq.core.session import current

ROLE = "knowledge.summarizer"

MOST_READ = 12_000
"""Characters of a document that the model sees."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_MARKUP = re.compile(r"^\s{0,3}(?:#{1,6}\s+|[-*+]\s+|>\s*)", re.MULTILINE)


def summarise_by_rules(title: str, text: str, max_chars: int) -> str:
    """Title and first sentences, as many as fit `max_chars`; at least the title."""
    summary = " ".join(title.split())[:max_chars]
    for sentence in _SENTENCE.split(_MARKUP.sub("", text)):
        sentence = " ".join(sentence.split())
        if not sentence or sentence.casefold() in summary.casefold():
            continue
        extended = f"{summary} {sentence}" if summary[-1:] in ".!?。！？" else f"{summary}. {sentence}"
        if len(extended) > max_chars:
            break
        summary = extended
    return summary


async def summarise_by_model(title: str, text: str, max_chars: int) -> str:
    """A summary by the model of the role `knowledge.summarizer`, at most `max_chars` characters.

    Works inside a session; raises ModelError. After an empty reply it is the summary by rules.
    """
    prompts = Prompts(Path(__file__).parent / "prompts")
    request = prompts.render("summary.j2", title=title, text=text[:MOST_READ], max_chars=max_chars)
    reply = await current().models.complete(ROLE, [Message(role="user", content=request)])
    summary = " ".join(reply.text.split())
    return summary[:max_chars] or summarise_by_rules(title, text, max_chars)
