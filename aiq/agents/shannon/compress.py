"""Stage -0.5, compress: a long conversation becomes a summary, so that prompts stay within the model's window."""

from datetime import datetime
from typing import Any

from aiq.agents.shannon.calls import ask, or_none, working_as
from aiq.agents.shannon.rules import compression_target, estimate_tokens, needs_compression
from aiq.agents.shannon.settings import CompressionSettings
from aiq.agents.shannon.state import ResearchState
from aiq.core.events import Decision
from aiq.core.models import Message
from aiq.core.prompts import Prompts
from aiq.core.session import current

AGENT = "compressor"


class Compress:
    def __init__(self, settings: CompressionSettings, prompts: Prompts) -> None:
        self._settings, self._prompts = settings, prompts

    async def run(self, state: ResearchState) -> dict[str, Any]:
        """The summary of the conversation, where it is long enough to need one; else the last one that was made."""
        messages = [f"{turn.speaker}: {turn.text}" for turn in state.history]
        if not self._settings.enabled or not messages:
            return {}
        settings, tokens, last = self._settings, estimate_tokens(messages), await self._last(state.thread)
        needed, why = needs_compression(
            state.thread or "history",
            len(messages),
            tokens,
            settings.tier,
            new_messages=len(messages) - (last["messages"] if last else 0),
            minutes=(current().now - datetime.fromisoformat(last["at"])).total_seconds() / 60 if last else None,
            above=settings.messages,
            share=settings.window_share,
            pause_messages=settings.new_messages,
            pause_minutes=settings.minutes,
        )
        detail = {"messages": len(messages), "tokens": tokens}
        current().events.emit(Decision(name="compression", value=needed, cause=why, detail=detail))
        if not needed:
            return {"summary": last["summary"] if last else ""}
        target = compression_target(settings.tier, settings.target_share)
        request = self._prompts.render("compressor.j2", conversation="\n\n".join(messages), tokens=target)
        asked = ask(f"shannon.{settings.tier}.compressor", [Message(role="user", content=request)], max_tokens=target)
        with working_as(AGENT):
            reply = await or_none(asked, "compression_skipped")
        if reply is None:
            return {}
        made = {"summary": reply.text.strip(), "messages": len(messages), "at": current().now.isoformat()}
        if state.thread:
            await (await current().store()).aput(place(state.thread), "last", made, index=False)
        return {"summary": made["summary"]}

    async def _last(self, thread: str) -> dict[str, Any] | None:
        """The last compression of a conversation: its summary, how many messages it had, and when."""
        item = await (await current().store()).aget(place(thread), "last") if thread else None
        return item and dict(item.value)


def place(thread: str) -> tuple[str, ...]:
    """Where the store has it; names take no full stop."""
    return ("compression", current().thread(thread).replace(".", "%2E"))
