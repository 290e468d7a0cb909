"""What the replies of models are worth as answers: blank ones, tool calls written as text, those that were cut off."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiq.core.call_text import is_tool_call
from aiq.core.thoughts import ends_in_thought, without_thoughts

CUT = frozenset({"length", "max_tokens", "model_length"})
FILTERED = frozenset({"content_filter", "safety"})
"""Finish reasons of endpoints, in lower case: the token limit, and their filter of content."""

_TAIL = 20
"""Words at a reply's end by which it is found in a report."""

_SHOWN = 80
_MARK = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Said:
    """A model's reply as the endpoint sent it. `text` is None where there is none, `reasoning`: sent beside it."""

    role: str
    text: str | None
    finish_reason: str
    refusal: str
    reasoning: bool
    calls_tools: bool

    @property
    def why_cut(self) -> str | None:
        """What ended it before its end, None if nothing did."""
        cause = cut_by(self.finish_reason)
        return f"{self.role}: {cause}" if cause else None

    @property
    def why_blank(self) -> str:
        """Why nothing is left of it to show."""
        thoughts = " after its thoughts" if self.reasoning or (self.text or "").strip() else ""
        if self.why_cut:
            return f"{self.why_cut}{thoughts}"
        if self.refusal:
            return f"{self.role}: the model refused: {_start(self.refusal)}"
        if self.calls_tools:
            return f"{self.role}: the model called tools and said nothing"
        sent = "content is null" if self.text is None else "content is blank"
        return f"{self.role}: {f'the model sent no answer{thoughts}' if thoughts else f'the reply has no text: {sent}'}"


def cut_by(finish_reason: str | None) -> str | None:
    """What cut a reply off that ended for this reason, None if nothing did."""
    reason = (finish_reason or "").lower()
    if reason not in CUT | FILTERED:
        return None
    cause = "the token limit (llm.max_tokens, or the endpoint's own)" if reason in CUT else "the endpoint's filter"
    return f"{cause} cut the reply off (finish_reason {finish_reason})"


def read_reply(role: str, message: Any, finish_reason: str | None) -> Said:
    """The message of a chat completion. Content in parts is joined; what is no message says nothing."""
    given: Mapping[str, Any] = message if isinstance(message, Mapping) else {}
    content = given.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return Said(
        role=role,
        text=content if isinstance(content, str) else None,
        finish_reason=finish_reason or "",
        refusal=str(given.get("refusal") or ""),
        reasoning=bool(given.get("reasoning_content") or given.get("reasoning")),
        calls_tools=bool(given.get("tool_calls")),
    )


def why_no_answer(text: str, replies: Sequence[Said]) -> str | None:
    """Why a text (without closed thoughts) is no answer, None where it is one. `replies`: what it was made of."""
    if not text.strip():
        blank = (reply for reply in reversed(replies) if not without_thoughts(reply.text or "").strip())
        return "the text is empty" + next((f" ({reply.why_blank})" for reply in blank), "")
    if refused := next((reply for reply in replies if reply.text is None and reply.refusal == text), None):
        return refused.why_blank
    cause = f" ({replies[-1].why_cut})" if replies and replies[-1].why_cut else ""
    if ends_in_thought(text):
        return f"the text ends within the model's thoughts{cause}"
    if is_tool_call(text):
        parser = "a server's tool-call parser would have made it one"
        return f"the model wrote a tool call as text ({parser}): {_start(text)}{cause}"
    return None


def why_cut_off(text: str, replies: Sequence[Said]) -> str | None:
    """What cut a report off, None if it is whole: asked of the reply that it ends with.

    That is the one whose last words stand furthest back in the report, or that a short report is the end of; of several
    the one with most of these words, of equal ones the last.
    """
    report = _words(text)
    joined, found, cause = f" {' '.join(report)} ", (-1, 0), None
    for reply in replies:
        words = _words(without_thoughts(reply.text or ""))[-min(_TAIL, len(report) or 1) :]
        ending = f" {' '.join(words)} "
        place = joined.rfind(ending)
        at = (place + len(ending), len(words))
        if words and not reply.calls_tools and place >= 0 and at >= found:
            found, cause = at, reply.why_cut
    return cause


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", _MARK.sub(" ", text).casefold())


def _start(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN else f"{line[:_SHOWN]}...")
