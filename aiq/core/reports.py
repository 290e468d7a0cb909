"""What an agent answers, what verification did to its citations, and how judges score it. Data only."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, JsonValue, model_validator

from aiq.core.base import Record


class Metric(Record):
    """What a judge declares about a metric before it scores anything; values lie in `low` .. `high`, if given.

    `worst` is what a failed agent attempt gets, None if there is no such number (a count per report). `estimator`: the
    mean over samples, or sum of numerators over sum of denominators.

    For the calibration of judges: `notices` names the perturbations that the metric claims to notice
    (None: all that lower quality); `parity` is the score of a report compared with itself, placed first
    (None: the metric does not compare); `once_per_run`: the epochs of a run copy one judgement.
    """

    name: str
    estimator: Literal["mean", "ratio"] = "mean"
    worst: float | None = 0.0
    low: float | None = None
    high: float | None = None
    higher_is_better: bool = True
    notices: tuple[str, ...] | None = None
    parity: float | None = None
    once_per_run: bool = False

    @property
    def span(self) -> float | None:
        """The width of its range; None if either side has no bound."""
        return None if self.low is None or self.high is None else self.high - self.low

    @property
    def range_text(self) -> str:
        """Its range in words: `0.0 .. 1.0`, an end without a bound left out."""
        return f"{'' if self.low is None else self.low} .. {'' if self.high is None else self.high}".strip()

    def allows(self, value: float) -> bool:
        """Whether the value lies within the declared bounds."""
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    @classmethod
    def share(cls, name: str, **declared: Any) -> "Metric":
        """A metric between 0 and 1."""
        return cls(name=name, low=0.0, high=1.0, **declared)

    @classmethod
    def count(cls, name: str, **declared: Any) -> "Metric":
        """A number of things per report, 0 or more."""
        return cls(name=name, low=0.0, **declared)


Finite = Annotated[float, Field(allow_inf_nan=False)]


class Score(Record):
    """One named number about one report: a value, the two parts of a ratio, or the reason why there is none.

    Exactly one of `value`, (`numerator`, `denominator`), `error`, `not_applicable` is given.
    """

    metric: str
    value: Finite | None = None
    numerator: Finite | None = None
    denominator: Finite | None = None
    error: str | None = None
    not_applicable: str | None = None
    detail: Mapping[str, JsonValue] = {}

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (self.numerator is None) != (self.denominator is None):
            raise ValueError("a ratio needs numerator and denominator")
        parts = [self.value, self.numerator, self.error, self.not_applicable]
        if sum(x is not None for x in parts) != 1:
            raise ValueError("give exactly one of value, numerator and denominator, error, not_applicable")
        return self


CAVEAT = "caveat"
"""The key of a score's detail that holds its Caveat."""


class Caveat(Record):
    """What a score lacks: parts of the work on a report, counted by reason, out of `of`; `first`: an example.

    `what` completes "3 of 20 ...". `retry`: resuming the run does these parts again, and the run fails if it lacks more
    of them than `runner.max_error_rate` allows.
    """

    what: str
    of: int
    reasons: Mapping[str, int] = {}
    first: str = ""
    retry: bool = True

    @property
    def n(self) -> int:
        """How many parts are missing."""
        return sum(self.reasons.values())

    def __add__(self, other: "Caveat") -> "Caveat":
        reasons = Counter(self.reasons) + Counter(other.reasons)
        return self.model_copy(
            update={"of": self.of + other.of, "reasons": reasons, "first": self.first or other.first}
        )

    def __str__(self) -> str:
        reasons = ", ".join(f"{count} {name}" for name, count in self.reasons.items())
        return f"{self.n} of {self.of} {self.what}: {reasons}; the first: {self.first}"


MatchLevel = Literal["exact", "truncation", "prefix", "child_path", "query_subset", "document"]


class ValidCitation(Record):
    """A reference that points at a retrieved source; `number` is its number in the verified report.

    `target` is the URL or document as written in the report, `source` as the tool returned it. `marked`:
    a truncation that the report itself shows with an ellipsis. `flags` are warnings (`homograph_host`).
    """

    number: int
    original_number: int
    target: str
    source: str
    level: MatchLevel
    marked: bool = False
    flags: tuple[str, ...] = ()


class RemovedCitation(Record):
    """A reference or URL that was removed.

    `reason` is `url_not_in_registry`, `citation_key_not_in_registry`, `unverifiable`,
    `duplicate_of_citation_<n>`, or a sanitising rule: `unsafe_scheme`, `shortened_url`,
    `ip_address_url`, `private_host`, `truncated_url`. `number` is its number in the report as given,
    None for a URL in the body. `seen_as`: a URL that no tool returned, but that appeared in a result's
    text (`mentioned`) or in the agent's own query or an error (`echoed`).
    """

    number: int | None
    target: str
    reason: str
    seen_as: Literal["mentioned", "echoed"] | None = None
    flags: tuple[str, ...] = ()


class Audit(Record):
    """Everything verification did to one report.

    `dangling`: numbers that the report cited but no list had. For the verified report: `unused` are numbers that no
    mark cites, `uncited_paragraphs` counts paragraphs without a citation (None in audits from before it was counted).
    """

    valid_citations: tuple[ValidCitation, ...] = ()
    removed_citations: tuple[RemovedCitation, ...] = ()
    dangling: tuple[int, ...] = ()
    unused: tuple[int, ...] = ()
    uncited_paragraphs: int | None = None


Outcome = Literal["ok", "partial", "rejected"]
CitationStatus = Literal["verified", "partial", "unverified", "no_sources"]
"""All entries of the list are sources; some are; none is (or nobody checked); the run had no source to cite."""


def citation_status(route: str, audit: Audit | None, has_sources: bool) -> CitationStatus | None:
    """How far a report's citations are verified; None for the routes that do no research."""
    if route in ("meta", "rejected"):
        return None
    if audit is None or not audit.valid_citations:
        return "unverified" if has_sources else "no_sources"
    invalid = [citation for citation in audit.removed_citations if not citation.reason.startswith("duplicate_of_")]
    return "partial" if invalid or audit.dangling else "verified"


class Report(Record):
    """An agent's answer: Markdown with inline `[n]` citations and a numbered reference list.

    `text` is verified, `raw_text` is what the model wrote, `audit` what verification did to it (None: nothing was
    verified), `citation_status` how far its reference list is verified (None: unknown). `route` is the agent's own
    word for how the report came about. `outcome` is `rejected` if a user's rejection ended the work (such an attempt
    scores like a failed one), `partial` if the report was cut off.
    """

    text: str
    raw_text: str
    route: str
    outcome: Outcome = "ok"
    audit: Audit | None = None
    citation_status: CitationStatus | None = None
    extras: Mapping[str, JsonValue] = Field(default_factory=dict)
