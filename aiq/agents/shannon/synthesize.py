"""Stage 4, synthesize: write the report from results and citations, and continue it if the reply ended too early."""

from collections.abc import Sequence
from typing import Any

from aiq.agents.shannon.calls import ask, effective_limit, or_none
from aiq.agents.shannon.records import AgentResult, ResearchState
from aiq.agents.shannon.rules import (
    citation_lines,
    clip,
    continuation_margin,
    distinct,
    looks_complete,
    minimum_citations,
    needs_continuation,
    sanitize_output,
    select_evidence,
    shortfalls,
)
from aiq.agents.shannon.settings import ShannonSettings, Tier
from aiq.core.errors import AgentError
from aiq.core.events import Decision, Recovery
from aiq.core.models import Message, Reply
from aiq.core.prompts import Prompts
from aiq.core.replies import cut_by, why_no_answer
from aiq.core.session import current

AGENT = "synthesizer"


class Synthesize:
    def __init__(self, settings: ShannonSettings, prompts: Prompts) -> None:
        self._settings, self._tier, self._prompts = settings.synthesis, settings.synthesis_model_tier, prompts
        self._comprehensive = settings.synthesis_style == "comprehensive"

    async def run(self, state: ResearchState) -> dict[str, Any]:
        """The first report; if the model gives none, the cleaned results one after the other, which are also the draft.

        Raises AgentError if there are no results, unless a limit cut the research short.
        """
        evidence = self._evidence(state)
        if not evidence and not current().stop_reason:
            raise AgentError("there is nothing to write a report from: no agent has found anything")
        draft = "\n\n".join(filter(None, (sanitize_output(result.response) for result in evidence)))
        current().keep_draft(draft)
        if update := await self.write(state):
            return update
        if not draft:
            raise AgentError("there is no report: the synthesizer failed, and no agent has found anything")
        return {"written": draft}

    async def write(self, state: ResearchState, feedback: str = "", tier: Tier | None = None) -> dict[str, Any]:
        """A report without its list of sources, and whether it was cut off.

        Empty if the model gives none, or one that is cut off although a complete one exists. `feedback`: what the
        previous report lacks.
        """
        messages = [
            Message(role="system", content=self._prompts.render("synthesizer.j2")),
            Message(role="user", content=self._request(state, feedback)),
        ]
        role = f"shannon.{tier or self._tier}.synthesizer"
        limit = effective_limit(role, self._limit(len(state.kept) + len(state.filled)))
        reply = await or_none(self._reply(role, messages, limit), "no_synthesis", AGENT)
        if reply is None:
            return {}
        text = reply.text.strip()
        if self._stopped_early(reply, state, limit):
            continuation = await or_none(self._continuation(role, messages, text, limit), "no_continuation", AGENT)
            current().events.emit(Decision(name="continuation", value=continuation is not None, cause="it ended early"))
            if continuation is not None:
                reply, text = continuation, f"{text}\n\n{continuation.text.strip()}"
        cut_reason = cut_by(reply.finish_reason)
        if cut_reason and state.written and not state.cut_off:
            current().events.emit(Recovery(what="rewrite_cut_off", detail=cut_reason))
            return {}
        current().keep_draft(text)
        return {"written": text, "cut_off": cut_reason is not None}

    def uncovered(self, text: str, state: ResearchState) -> dict[str, str]:
        """By section, what a report lacks of the promised length and citations.

        No more citations are required than there are sources.
        """
        min_citations = minimum_citations(len(state.citations), self._settings.area_citations)
        return shortfalls(text, state.sections, self._settings.area_chars, min_citations)

    def _evidence(self, state: ResearchState) -> list[AgentResult]:
        """The results that the prompt shows: all that fill gaps, and the first of the others."""
        settings, results = self._settings, distinct([*state.filled, *state.kept], self._settings.same_above)
        return select_evidence(results, len(state.filled) + settings.max_results, settings.result_chars)

    def _request(self, state: ResearchState, feedback: str) -> str:
        settings = self._settings
        return self._prompts.render(
            "synthesizer_request.j2",
            query=state.query,
            areas=state.sections,
            language=state.language,
            comprehensive=self._comprehensive,
            words=max(settings.words, settings.words_per_area * len(state.sections)),
            area_citations=minimum_citations(len(state.citations), settings.area_citations),
            citations=citation_lines(state.citations),
            min_citations=minimum_citations(len(state.citations), settings.min_citations),
            results=[
                (result.area or result.agent_id, clip(text, settings.result_chars))
                for result in self._evidence(state)
                for text in (result.response, *result.steps)
            ],
            feedback=feedback,
            previous=state.written if feedback else "",
            current_datetime=current().now.isoformat(),
            **state.context,
        )

    def _limit(self, results: int) -> int:
        """The report's token limit (specification 1.10)."""
        settings = self._settings
        limit = settings.max_tokens + settings.tokens_per_result * results
        return max(limit, settings.comprehensive_tokens) if self._comprehensive else limit

    async def _reply(self, role: str, messages: Sequence[Message], max_tokens: int) -> Reply:
        """Ask for a reply. Raises AgentError if it is no report."""
        reply = await ask(role, messages, max_tokens=max_tokens, seconds=self._settings.timeout_seconds)
        if reason := why_no_answer(reply.text, current().replies):
            raise AgentError(f"the synthesizer gave no report: {reason}")
        return reply

    def _stopped_early(self, reply: Reply, state: ResearchState, limit: int) -> bool:
        settings = self._settings
        min_citations = minimum_citations(len(state.citations), settings.area_citations)
        return needs_continuation(
            reply.finish_reason or "",
            looks_complete(reply.text, state.sections, settings.area_chars, min_citations),
            limit,
            reply.usage.output_tokens,
            settings.continue_on_length,
            continuation_margin(limit, settings.margin_share, settings.margin_tokens),
        )

    async def _continuation(self, role: str, messages: Sequence[Message], text: str, limit: int) -> Reply:
        """The one continuation of a report, asked for with everything that the report was written from."""
        end = text[-self._settings.continuation_chars :]
        request = Message(role="user", content=self._prompts.render("continuation.j2", end=end))
        budget = min(limit // 2, self._settings.continuation_tokens)
        return await self._reply(role, [*messages, request], budget)
