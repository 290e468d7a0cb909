"""Stage 4, synthesize: the report from results and citations, continued where the reply ended too early."""

from collections.abc import Sequence
from typing import Any

from aiq.agents.shannon.calls import ask, or_none, working_as
from aiq.agents.shannon.records import AgentResult
from aiq.agents.shannon.rules import (
    citation_lines,
    looks_complete,
    minimum_citations,
    needs_continuation,
    sanitize_output,
)
from aiq.agents.shannon.settings import SynthesisSettings, Tier
from aiq.agents.shannon.state import ResearchState
from aiq.core.errors import AgentError
from aiq.core.events import Decision
from aiq.core.models import Message, Reply
from aiq.core.prompts import Prompts
from aiq.core.session import current

AGENT = "synthesizer"


class Synthesize:
    def __init__(self, settings: SynthesisSettings, prompts: Prompts, style: str) -> None:
        self._settings, self._prompts, self._comprehensive = settings, prompts, style == "comprehensive"

    async def run(self, state: ResearchState, tier: Tier, feedback: str = "") -> dict[str, Any]:
        """The report as written, without a list of sources. `feedback`: what an earlier one lacks.

        Where the model fails, an earlier report stays; without one the results themselves are the report. Raises
        AgentError where there are none either.
        """
        messages = [
            Message(role="system", content=self._prompts.render("synthesizer.j2")),
            Message(role="user", content=self._request(state, feedback)),
        ]
        limit = self._limit(len(state.kept) + len(state.filled))
        role = f"shannon.{tier}.synthesizer"
        with working_as(AGENT):
            seconds = self._settings.timeout_seconds
            reply = await or_none(ask(role, messages, max_tokens=limit, seconds=seconds), "synthesis_fallback")
            if reply is None or not reply.text.strip():
                return {"written": state.written or self._without_model(state)}
            text = reply.text.strip()
            if self._stopped_early(reply, text, limit, state.sections):
                text = await self._continued(role, messages, text, limit)
        current().keep_draft(text)
        return {"written": text}

    def results_for(self, state: ResearchState) -> list[AgentResult]:
        """What the prompt shows: results that fill gaps first, then the first `max_results` of the others."""
        usable = [result for result in state.kept if result.success and result.response.strip()]
        filled = [result for result in state.filled if result.success and result.response.strip()]
        return filled + usable[: self._settings.max_results]

    def _request(self, state: ResearchState, feedback: str) -> str:
        settings, most = self._settings, self._settings.result_chars
        areas = state.sections
        shown = [(result.area or result.agent_id, cut(result.response, most)) for result in self.results_for(state)]
        words = max(settings.words, settings.words_per_area * len(areas))
        return self._prompts.render(
            "synthesizer_request.j2",
            query=state.query,
            areas=areas,
            language=state.language,
            comprehensive=self._comprehensive,
            words=words,
            area_citations=settings.area_citations,
            citations=citation_lines(state.citations),
            min_citations=minimum_citations(len(state.citations), settings.min_citations),
            results=shown,
            feedback=feedback,
            previous=state.written if feedback else "",
            current_datetime=current().now.isoformat(),
            **state.context,
        )

    def _limit(self, results: int) -> int:
        """Tokens that the report may have (specification 1.10)."""
        settings = self._settings
        limit = settings.max_tokens + settings.tokens_per_result * results
        return max(limit, settings.comprehensive_tokens) if self._comprehensive else limit

    def _stopped_early(self, reply: Reply, text: str, limit: int, areas: Sequence[str]) -> bool:
        settings = self._settings
        complete = looks_complete(text, areas, settings.area_chars, settings.area_citations)
        used = reply.usage.output_tokens
        return needs_continuation(reply.finish_reason or "", complete, limit, used, settings.continue_on_length)

    async def _continued(self, role: str, messages: Sequence[Message], text: str, limit: int) -> str:
        """The text with one continuation, if the model gives one."""
        settings = self._settings
        end = text[-settings.continuation_chars :]
        request = Message(role="user", content=self._prompts.render("continuation.j2", end=end))
        tokens = min(limit // 2, settings.continuation_tokens)
        more = await or_none(ask(role, [*messages[:1], request], max_tokens=tokens), "continuation_skipped")
        added = more.text.strip() if more else ""
        current().events.emit(Decision(name="continuation", value=bool(added), cause="the report ended early"))
        return f"{text}\n\n{added}" if added else text

    def _without_model(self, state: ResearchState) -> str:
        """The results themselves, cleaned, one after the other."""
        parts = [sanitize_output(result.response) for result in self.results_for(state)]
        if not any(parts):
            raise AgentError("there is no report: the synthesizer failed, and no agent has found anything")
        return "\n\n".join(filter(None, parts))


def covered(state: ResearchState, settings: SynthesisSettings) -> list[str]:
    """The research areas whose sections have the length and the citations that the guarantee promises."""
    return [
        area
        for area in state.sections
        if looks_complete(state.written.rstrip() + ".", [area], settings.area_chars, settings.area_citations)
    ]


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "..."
