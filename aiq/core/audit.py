"""The trail that citation verification leaves: what was kept, what was removed, and why.

Data only; the rules are in `aiq.citations`.
"""

from typing import Literal

from aiq.core.base import Record

MatchLevel = Literal["exact", "truncation", "prefix", "child_path", "query_subset", "document"]


class ValidCitation(Record):
    """A reference that points at a retrieved source; `number` is its number in the verified report.

    `target` is the URL or document as the report had it, `source` as the tool returned it. `marked`:
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
    """A reference or URL that was taken out.

    `reason` is `url_not_in_registry`, `citation_key_not_in_registry`, `unverifiable`,
    `duplicate_of_citation_<n>`, or a sanitising rule: `unsafe_scheme`, `shortened_url`,
    `ip_address_url`, `private_host`, `truncated_url`. `number` is its number in the report as given,
    None for a URL of the body. `seen_as`: a URL that no tool returned, but that stood in a result's
    text (`mentioned`) or in the agent's own query or an error (`echoed`).
    """

    number: int | None
    target: str
    reason: str
    seen_as: Literal["mentioned", "echoed"] | None = None
    flags: tuple[str, ...] = ()


class Audit(Record):
    """Everything verification did to one report.

    `dangling` are numbers that the report cited and no list had. Of the verified report: `unused`
    are numbers that no mark cites, `uncited_paragraphs` counts those in which nothing is cited (None
    in audits written before it was counted).
    """

    valid_citations: tuple[ValidCitation, ...] = ()
    removed_citations: tuple[RemovedCitation, ...] = ()
    dangling: tuple[int, ...] = ()
    unused: tuple[int, ...] = ()
    uncited_paragraphs: int | None = None
