"""Keeps account of a verification in the words of the report as given, however many passes it takes."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aiq.citations.composition import composed, moved
from aiq.citations.edits import Edit
from aiq.citations.findings import EntryFinding, ReportAudit, UrlFinding
from aiq.citations.repair import new_numbers
from aiq.core.audit import Audit, RemovedCitation, ValidCitation


@dataclass(frozen=True, slots=True)
class _Origin:
    """An entry as the first pass that knew it found it."""

    number: int
    finding: EntryFinding
    position: int | None
    """Among the entries of the report as given; None where a removal brought it forth."""


class Trail:
    """Puts passes together: each `note` is what one pass found and changed, in the text that the last one left."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.edits: tuple[Edit, ...] = ()
        """All changes so far, as edits of the text as given."""
        self._known: list[tuple[int, _Origin]] = []  # where in the text of the next pass an entry stands
        self._removed: list[RemovedCitation] = []
        self._dangling: set[int] = set()
        self._listed: frozenset[int] = frozenset()
        self._last: tuple[ReportAudit, list[_Origin]] | None = None

    def note(self, found: ReportAudit, edits: Sequence[Edit]) -> None:
        """A pass: what it found, and how its text was changed."""
        if self._last is None:
            self._listed = frozenset(finding.entry.number for finding in found.entries)
        origins = [self._origin(position, finding) for position, finding in enumerate(found.entries)]
        self._removed += _removed(found, origins)
        self._dangling.update(number for number in found.dangling if number not in self._listed)
        self._last = found, origins
        kept = [position for position, finding in enumerate(found.entries) if finding.kept]
        places = moved((found.entries[position].entry.place.body for position in kept), edits)
        self._known = [(place, origins[position]) for place, position in zip(places, kept, strict=True)]
        self.edits = composed(self._text, self.edits, edits) if self.edits else tuple(edits)

    def audit(self) -> Audit:
        """The whole of it; numbers of valid citations are those of the verified report."""
        if self._last is None:
            return Audit()
        found, origins = self._last
        numbers = new_numbers(found)
        valid = (_valid(f, origins[p], numbers[p]) for p, f in enumerate(found.entries) if f.outcome == "valid")
        return Audit(
            valid_citations=tuple(sorted(valid, key=lambda citation: citation.number)),
            removed_citations=tuple(self._removed),
            dangling=tuple(sorted(self._dangling)),
            unused=tuple(sorted(numbers[position] for position in found.unused if position in numbers)),
            uncited_paragraphs=len(found.uncited_paragraphs),
        )

    def numbers(self) -> dict[int, int]:
        """Position of an entry in the report as given -> its number in the verified report, where it is there."""
        if self._last is None:
            return {}
        found, origins = self._last
        numbers = new_numbers(found)
        stay = ((origins[p].position, numbers[p]) for p, finding in enumerate(found.entries) if finding.kept)
        return {position: number for position, number in stay if position is not None}

    def _origin(self, position: int, finding: EntryFinding) -> _Origin:
        place = finding.entry.place
        at = bisect_left(self._known, place.start, key=lambda known: known[0])
        if at < len(self._known) and self._known[at][0] <= place.end:
            return self._known[at][1]
        return _Origin(finding.entry.number, finding, position if self._last is None else None)


def _valid(finding: EntryFinding, origin: _Origin, number: int) -> ValidCitation:
    """A citation with its number at the end, and as it was at the beginning."""
    match = origin.finding.match or finding.match
    assert match is not None  # what is valid has a source
    return ValidCitation(
        number=number,
        original_number=origin.number,
        target=origin.finding.target,
        source=match.source.url or match.source.citation_key or "",
        level=match.level,
        marked=match.marked,
        flags=origin.finding.flags,
    )


def _removed(found: ReportAudit, origins: Sequence[_Origin]) -> Iterator[RemovedCitation]:
    for finding, origin in zip(found.entries, origins, strict=True):
        if not finding.kept:
            reason = finding.reason or ""
            if finding.duplicate_of is not None:
                reason = f"duplicate_of_citation_{origins[finding.duplicate_of].number}"
            yield RemovedCitation(
                number=origin.number,
                target=origin.finding.target,
                reason=reason,
                seen_as=finding.seen_as,
                flags=finding.flags,
            )
    for url in removed_urls(found):
        yield RemovedCitation(
            number=None, target=url.use.url, reason=url.reason or "", seen_as=url.seen_as, flags=url.flags
        )


def removed_urls(found: ReportAudit) -> Iterator[UrlFinding]:
    """The URLs that go although no entry goes with them: of entries that stay, of the body, of marks that are links."""
    for finding in found.entries:
        if finding.kept:
            yield from (url for url in finding.others if not url.kept)
    yield from (url for url in found.body_urls if url.unsafe)
    yield from (mark.url for mark in found.marks if mark.url is not None and not mark.url.kept)
