"""The lines of a run's JSONL files as frozen models: attempts, scores, and the pages that judges read."""

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import JsonValue

from aiq.core import errors
from aiq.core.base import Record
from aiq.core.reports import Audit, CitationStatus, Outcome, Report
from aiq.core.samples import SampleKey
from aiq.core.sources import Page, Source
from aiq.core.usage import Usage

AttemptStatus = Literal["completed", "failed", "limit", "cancelled"]
ScoreStatus = Literal["scored", "agent_failed", "not_applicable", "error"]
_OWN_ERRORS: Final = frozenset(("CancelledError", *vars(errors)))


class RowError(Record):
    """The error that ended an attempt or a score: its class, and a message of one line."""

    type: str
    message: str

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"

    @property
    def description(self) -> str:
        """The message of an error of ours; any other with its class, as the `'x'` of a KeyError alone says nothing."""
        return self.message if self.type in _OWN_ERRORS else str(self)


class Timing(Record):
    """`started`: UTC, ISO 8601. `seconds`: wall time."""

    started: str
    seconds: float


class AttemptRecord(Record):
    """A line that belongs to one attempt at one (sample, epoch)."""

    schema_version: Literal[1] = 1
    sample_id: str
    epoch: int
    attempt: int

    @property
    def key(self) -> SampleKey:
        return SampleKey(self.sample_id, self.epoch)


class AnsweredTurn(Record):
    """An earlier turn of the conversation, with its report as shown to people."""

    question: str
    report: str
    route: str
    outcome: Outcome = "ok"


class SampleRow(AttemptRecord):
    """One attempt: a line of `samples*.jsonl`; the last line of a key wins.

    `turns` were answered before the question, as far as the attempt got; sources, denied, tools, usage and timing
    cover the whole attempt, all else the question. `report` is verified, and None unless the attempt completed or was
    cut off (status `limit`, outcome `partial`); `raw_report` is what the model wrote, also in a failed attempt.
    `sources`: those retrieved, and the merely mentioned or echoed URLs that the raw report names. `denied`: pages and
    search results that `web.deny` kept from the agent. `tools`: by name, the number of calls by outcome (`ok` or the
    kind of error); `outages`: by name, the first error of the service behind the tool. `usage`: by role, of the
    agent's calls only.
    """

    sample_hash: str
    status: AttemptStatus
    question: str
    turns: tuple[AnsweredTurn, ...] = ()
    tags: Mapping[str, str] = {}
    report: str | None = None
    raw_report: str | None = None
    route: str | None = None
    outcome: Outcome | None = None
    extras: Mapping[str, JsonValue] = {}
    sources: tuple[Source, ...] = ()
    audit: Audit | None = None
    denied: int = 0
    tools: Mapping[str, Mapping[str, int]] = {}
    outages: Mapping[str, str] = {}
    citation_status: CitationStatus | None = None
    usage: Mapping[str, Usage] = {}
    timing: Timing
    error: RowError | None = None

    @property
    def retrieved(self) -> tuple[Source, ...]:
        """The sources that the attempt's tools returned."""
        return tuple(source for source in self.sources if source.kind == "retrieved")

    @property
    def known_sources(self) -> tuple[Source, ...] | None:
        """What its report is audited against; None if it is unknown what was retrieved, as for a report from a file."""
        return self.sources if self.sources or self.audit is not None else None

    @property
    def answered(self) -> bool:
        """Whether there is a report to judge: the attempt completed without a rejection, or its report was cut off."""
        return self.partial or (self.status == "completed" and self.outcome != "rejected")

    @property
    def partial(self) -> bool:
        """Whether its report was cut off: it is judged as far as it goes, and counted separately."""
        return self.status == "limit" and self.outcome == "partial"

    @property
    def failed(self) -> bool:
        """Whether it counts as a failure of the agent; a cancelled attempt is merely not done yet."""
        return not self.answered and self.status != "cancelled"

    @property
    def spent(self) -> Usage:
        """The usage of all roles together."""
        return sum(self.usage.values(), Usage())

    @property
    def tool_calls(self) -> int:
        """The calls that count towards limits: all but those refused because of a limit."""
        refused = errors.ToolErrorKind.OVER_BUDGET
        return sum(n for outcomes in self.tools.values() for kind, n in outcomes.items() if kind != refused)

    def compact(self) -> "SampleRow":
        """The row without the long texts that only judges and audits need: the raw report and the texts of sources."""
        sources = tuple(source.model_copy(update={"text": ""}) for source in self.retrieved)
        return self.model_copy(update={"raw_report": None, "sources": sources})

    def as_report(self) -> Report:
        """The report as the agent gave it, for judges; only for an answered row."""
        return Report(
            text=self.report or "",
            raw_text=self.raw_report or "",
            route=self.route or "",
            outcome=self.outcome or "ok",
            audit=self.audit,
            citation_status=self.citation_status,
            extras=self.extras,
        )


class ScoreRow(AttemptRecord):
    """One metric of one attempt by one judge: a line of `scores*.jsonl`; the last line of a key wins.

    `usage`, by role, of all the judge's work is only in the first of its rows, so that sums over rows are right.
    """

    judge: str
    judge_hash: str
    judge_version: str
    judge_model: str | None
    prompt_hash: str | None
    metric: str
    status: ScoreStatus
    value: float | None = None
    numerator: float | None = None
    denominator: float | None = None
    detail: Mapping[str, JsonValue] = {}
    reason: str | None = None  # why the metric is not applicable
    usage: Mapping[str, Usage] | None = None
    error: RowError | None = None

    @property
    def parts(self) -> tuple[float, float] | None:
        """Numerator and denominator; a plain value has the denominator 1. None if there is no number."""
        if self.numerator is not None and self.denominator is not None:
            return self.numerator, self.denominator
        return None if self.value is None else (self.value, 1.0)

    @property
    def number(self) -> float | None:
        """The value, or numerator / denominator; None if there is no number or the denominator is 0."""
        return self.parts[0] / self.parts[1] if self.parts and self.parts[1] else None

    @property
    def why(self) -> str | None:
        """The error, or the reason why there is no number."""
        return self.error.description if self.error else self.reason


class StoredPage(Record):
    """A page as a judge first fetched it: a line of `pages.jsonl`.

    `digest`: of the content. `asked`: the address fetched, the page's own `url` or that of a reader service for it.
    """

    schema_version: Literal[1] = 1
    asked: str
    url: str
    final_url: str
    digest: str
    title: str
    text: str
    description: str = ""
    published: str | None = None

    def page(self) -> Page:
        return Page(**self.model_dump(include=set(Page.model_fields)))
