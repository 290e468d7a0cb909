"""The trail that citation verification leaves: what was kept, what was removed, and why.

Data only; the rules are in `aiq.citations`.
"""

from typing import Literal

from aiq.core.base import Record

MatchLevel = Literal["exact", "truncation", "prefix", "child_path", "query_subset", "document"]


class ValidCitation(Record):
    """A reference that points at a retrieved source; `number` is its number in the verified report."""

    number: int
    original_number: int
    target: str
    source: str
    level: MatchLevel


class RemovedCitation(Record):
    """A reference or URL that was taken out.

    `reason` is `url_not_in_registry`, `citation_key_not_in_registry`, `unverifiable`,
    `duplicate_of_citation_<n>`, or a sanitising rule: `shortened_url`, `truncated_url`,
    `ip_address_url`, `unsafe_scheme`.
    """

    number: int | None
    target: str
    reason: str


class Audit(Record):
    """Everything verification did to one report."""

    valid_citations: tuple[ValidCitation, ...] = ()
    removed_citations: tuple[RemovedCitation, ...] = ()
    dangling: tuple[int, ...] = ()
    unused: tuple[int, ...] = ()
