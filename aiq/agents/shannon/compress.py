"""Stage -0.5, compress: summarises a long conversation, so that prompts stay within the model's context window."""

from datetime import datetime

from aiq.agents.shannon.calls import ask, or_none
from aiq.agents.shannon.records import ResearchState
from aiq.agents.shannon.rules import estimate_tokens, needs_compression, window_share
from aiq.agents.shannon.settings import CompressionSettings
from aiq.core.base import Record
from aiq.core.events import Decision
from aiq.core.models import Message
from aiq.core.prompts import Prompts
from aiq.core.session import current

AGENT = "compressor"


class Compression(Record):
    """The last compression of a conversation: its summary, of how many messages, and when."""

    summary: str
    messages: int
    at: datetime


class Compress:
    def __init__(self, settings: CompressionSettings, prompts: Prompts) -> None:
        self._settings, self._prompts = settings, prompts

    async def run(self, state: ResearchState) -> dict[str, str]:
        """A new summary of the conversation if it is long enough to need one, else the last summary."""
        messages = [f"{turn.speaker}: {turn.text}" for turn in state.history]
        if not self._settings.enabled or not messages:
            return {}
        last = await self._last_compression(state.thread)
        if self._is_needed(messages, state.thread, last) and (summary := await self._summary(messages)):
            last = Compression(summary=summary, messages=len(messages), at=current().now)
            if state.thread:
                store = await current().store()
                await store.aput(place(state.thread), "last", last.model_dump(mode="json"), index=False)
        return {"summary": last.summary if last else ""}

    def _is_needed(self, messages: list[str], thread: str, last: Compression | None) -> bool:
        settings, tokens = self._settings, estimate_tokens(messages)
        needed, reason = needs_compression(
            thread or "history",
            len(messages),
            tokens,
            settings.tier,
            new_messages=len(messages) - (last.messages if last else 0),
            minutes=(current().now - last.at).total_seconds() / 60 if last else None,
            above=settings.messages,
            share=settings.window_share,
            pause_messages=settings.new_messages,
            pause_minutes=settings.minutes,
        )
        detail = {"messages": len(messages), "tokens": tokens}
        current().events.emit(Decision(name="compression", value=needed, cause=reason, detail=detail))
        return needed

    async def _summary(self, messages: list[str]) -> str:
        """A new summary; empty if the model gives none."""
        target = window_share(self._settings.tier, self._settings.target_share)
        request = self._prompts.render("compressor.j2", conversation="\n\n".join(messages), tokens=target)
        role = f"shannon.{self._settings.tier}.compressor"
        call = ask(role, [Message(role="user", content=request)], max_tokens=target)
        reply = await or_none(call, "compression_skipped", AGENT)
        return reply.text.strip() if reply else ""

    async def _last_compression(self, thread: str) -> Compression | None:
        item = await (await current().store()).aget(place(thread), "last") if thread else None
        return item and Compression.model_validate(item.value)


def place(thread: str) -> tuple[str, ...]:
    """The namespace in the store; its parts must not contain a full stop."""
    return ("compression", current().thread(thread).replace(".", "%2E"))
