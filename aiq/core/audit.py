"""The trail that citation verification leaves: what was kept, what was removed, and why.

Data only; the rules are in `aiq.citations`.
"""

from typing import Literal

from aiq.core.base import Record

MatchLevel = Literal["exact", "truncation", "prefix", "child_path", "query_subset", "document"]


class ValidCitation(Record):
    """A reference that points at a retrieved source; `number` is its number in the verified report.

    `target` is the URL or document as the report had it, `source` as the tool returned it.
    """

    number: int
    original_number: int
    target: str
    source: str
    level: MatchLevel


class RemovedCitation(Record):
    """A reference or URL that was taken out.

    `reason` is `url_not_in_registry`, `citation_key_not_in_registry`, `unverifiable`,
    `duplicate_of_citation_<n>`, or a sanitising rule: `unsafe_scheme`, `shortened_url`,
    `ip_address_url`, `private_host`, `truncated_url`. `number` is None for a URL of the body.
    """

    number: int | None
    target: str
    reason: str


class Audit(Record):
    """Everything verification did to one report.

    `dangling` are numbers that the report cited and no list had; `unused` are numbers of the
    verified report that no mark cites.
    """

    valid_citations: tuple[ValidCitation, ...] = ()
    removed_citations: tuple[RemovedCitation, ...] = ()
    dangling: tuple[int, ...] = ()
    unused: tuple[int, ...] = ()
