"""Makes the verified report of an audit: a list of edits, each with its rule. Whatever no edit names stays.

Entries that are not valid go, with the marks that point to them; numbers close up; URLs of the list
become what the tool returned; in the body only marks without a valid entry and unsafe URLs are touched.

Changes to a text as data: stretches to replace, with the rule that asks for it, and how to apply them.

Edits upon edits: what two rounds of changes, one after the other, do to the text that the first one met.

Keeps what a removal leaves from joining to a mark that nobody wrote: a sign stays where it would, `[1 ␡]`.

Keeps account of a verification in the words of the report as given, however many passes it takes.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from aiq.citations.audit import EntryFinding, MarkFinding, ReportAudit, UrlFinding
from aiq.citations.links import UrlUse, unescape
from aiq.citations.marks import COMMA, DASHES, Mark, like, rewritten_items
from aiq.citations.sanitise import scheme_of
from aiq.citations.urls import parse_url, writable
from aiq.core.base import Record
from aiq.core.reports import Audit, RemovedCitation, ValidCitation

_BRACKETS = ("()", "（）", "[]", "【】", "``", "<>", "“”")
_EMPHASIS = ("**", "__", "*", "_")
_FIRST_CJK = "\u2e80"
_CLOSING = frozenset(".,;:!?)]}>»”’。，；：！？、）】》」』")


class Edit(Record):
    """Replace `start:end` of the text by `replacement`, because of `rule`."""

    start: int
    end: int
    replacement: str
    rule: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with these edits, which must be in order and apart from each other."""
    pieces, at = [], 0
    for edit in edits:
        pieces += [text[at : edit.start], edit.replacement]
        at = edit.end
    return "".join([*pieces, text[at:]])


def disjoint(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits in order; where two overlap, the later one keeps what lies behind the earlier."""
    kept: list[Edit] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        start = max(edit.start, at)
        if start < edit.end or (start == edit.start == edit.end):
            kept.append(edit.model_copy(update={"start": start}))
            at = edit.end
    return tuple(kept)


def removal(text: str, start: int, end: int, rule: str) -> Edit:
    """Take `start:end` out of running text, with the blank or the empty brackets that would be left."""
    while (wider := _wrapped(text, start, end)) is not None:
        start, end = wider
    before, until = _blanks_before(text, start), end
    while text[until : until + 1] in ("*", "_"):
        until += 1
    follows = text[until : until + 1]
    if before == 0 or text[before - 1] in "\r\n":
        while text[end : end + 1] in (" ", "\t"):
            end += 1
    elif not follows or follows in _CLOSING or follows.isspace() or follows >= _FIRST_CJK:
        start = before
    return Edit(start=start, end=end, replacement="", rule=rule)


def _wrapped(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The stretch with the brackets or the emphasis that hold it and nothing else, if any do."""
    before = _blanks_before(text, start)
    if end < len(text) and text[max(0, before - 1) : before] + text[end] in _BRACKETS:
        return before - 1, end + 1
    for mark in _EMPHASIS:
        first, last = start - len(mark), end + len(mark)
        outside = text[max(0, first - 1) : max(0, first)] + text[last : last + 1]
        if text.endswith(mark, 0, start) and text.startswith(mark, end) and not any(map(str.isalnum, outside)):
            return first, last
    return None


def _blanks_before(text: str, start: int) -> int:
    while start and text[start - 1] in " \t":
        start -= 1
    return start


@dataclass(frozen=True, slots=True)
class _Stretch:
    """`start:end` of the text between the rounds, `origin:until` of the text before; `edit` made it, or none did."""

    start: int
    end: int
    origin: int
    until: int
    edit: Edit | None


def composed(text: str, first: Sequence[Edit], second: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits of `text` that do at once what `first` does and then `second`, which are edits of the result.

    Each keeps the rule of the round that decided on its stretch; what comes back as it was is no edit.
    """
    result: list[Edit] = []
    waiting = deque(second)
    for stretch in _stretches(text, first):
        result += _changed(stretch, _cuts(stretch, waiting))
    return tuple(edit for edit in result if text[edit.start : edit.end] != edit.replacement)


def moved(offsets: Iterable[int], edits: Sequence[Edit]) -> list[int]:
    """Where offsets of a text, in order, lie after its edits; inside of an edit, where its replacement begins."""
    result = []
    number = shift = 0
    for offset in offsets:
        while number < len(edits) and edits[number].end <= offset:
            shift += len(edits[number].replacement) - (edits[number].end - edits[number].start)
            number += 1
        inside = number < len(edits) and edits[number].start < offset
        result.append((edits[number].start if inside else offset) + shift)
    return result


def _stretches(text: str, edits: Sequence[Edit]) -> Iterator[_Stretch]:
    """The result of these edits in stretches: kept text and replacements in turn, either may be empty."""
    at = origin = 0
    for edit in edits:
        kept, written = at + edit.start - origin, len(edit.replacement)
        yield _Stretch(at, kept, origin, edit.start, None)
        yield _Stretch(kept, kept + written, edit.start, edit.end, edit)
        at, origin = kept + written, edit.end
    yield _Stretch(at, at + len(text) - origin, origin, len(text), None)


def _cuts(stretch: _Stretch, waiting: deque[Edit]) -> list[Edit]:
    """What the waiting edits do to a stretch, in its own offsets; of one that goes on behind it, the rest waits."""
    cuts = []
    while waiting and (waiting[0].start < stretch.end or waiting[0].start == waiting[0].end == stretch.end):
        edit = waiting.popleft()
        end = min(edit.end, stretch.end)
        cuts.append(edit.model_copy(update={"start": edit.start - stretch.start, "end": end - stretch.start}))
        if edit.end > end:
            waiting.appendleft(edit.model_copy(update={"start": end, "replacement": ""}))
            break
    return cuts


def _changed(stretch: _Stretch, cuts: Sequence[Edit]) -> list[Edit]:
    if stretch.edit is None:
        origin = stretch.origin
        return [cut.model_copy(update={"start": cut.start + origin, "end": cut.end + origin}) for cut in cuts]
    if not cuts:
        return [stretch.edit]
    written = apply_edits(stretch.edit.replacement, cuts)
    return [stretch.edit.model_copy(update={"replacement": written, "rule": cuts[-1].rule})]


_SCAR = "\u2421"
_LIKE_A_MARK = re.compile(
    rf"[\[【［〔]\D{{0,12}}\d[{DASHES}^\d\s,，、;；・和与與及]*(?:†[^\[\]【】\n]{{0,80}})?[\]】］〕]"
)  # the dashes first: behind another sign the hyphen would make a range of it
_LONGEST_MARK = 120


def parted(text: str, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits, with a sign for what was removed where `[1 [9]]` would become a mark that nobody wrote."""
    result = apply_edits(text, edits)
    places = moved([edit.end for edit in edits], edits)
    found: list[Edit] = []
    at = -1
    for edit, place in zip(edits, places, strict=True):
        joins = not edit.replacement and place != at and _joins(result, place)
        found.append(scar(edit) if joins else edit)
        at = place
    return tuple(found)


def scar(edit: Edit) -> Edit:
    """The edit, with the sign where it only removes."""
    return edit if edit.replacement else edit.model_copy(update={"replacement": _SCAR})


def _joins(text: str, place: int) -> bool:
    """Whether a mark lies across this place."""
    start = max(text.rfind(bracket, max(0, place - _LONGEST_MARK), place) for bracket in "[【［〔")
    found = _LIKE_A_MARK.match(text, start) if start >= 0 else None
    return found is not None and found.end() > place


_LONGEST_ADDRESS = 200
"""Characters in which the sign of an address (a slash, a colon) stands, if what ends there is one."""
_BESIDE = re.compile(rf"{COMMA}|[ \t]*+")
"""Between marks that stand side by side."""
_OF_SENTENCE = re.compile(r"[A-Za-z，；]")
"""What between two marks belongs to the sentence where that goes on behind them."""
_GOES_ON = re.compile(r"[ \t]*+[^\W_]")
_BLANK_REST = re.compile(r"\s*+\Z")


def new_numbers(audit: ReportAudit) -> dict[int, int]:
    """Position of an entry -> its number in the verified report; a repetition has the number of the first."""
    kept = [p for p, finding in enumerate(audit.entries) if finding.kept]
    kept.sort(key=lambda p: (audit.entries[p].entry.section, audit.entries[p].entry.number, p))
    numbers = {position: number for number, position in enumerate(kept, 1)}
    for position, finding in enumerate(audit.entries):
        if finding.duplicate_of is not None:
            numbers[position] = numbers[finding.duplicate_of]
    return numbers


def repair(audit: ReportAudit, *, scars: bool = False) -> tuple[Edit, ...]:
    """The edits that make the verified report, in order and apart from each other.

    With `scars` a sign stays in the body for each stretch that is removed, and not only where the
    rest would join to a mark.
    """
    numbers = new_numbers(audit)
    body = [
        *_mark_edits(audit, numbers),
        *(edit for finding in audit.body_urls for edit in _body_url_edits(audit.report.text, finding)),
    ]
    if scars:
        body = [scar(edit) for edit in body]
    return parted(audit.report.text, disjoint([*body, *_list_edits(audit, numbers)]))


def _mark_edits(audit: ReportAudit, numbers: dict[int, int]) -> Iterator[Edit]:
    wanted = _wanted_numbers(audit, numbers)
    for finding, shown in zip(audit.marks, wanted, strict=True):
        mark = finding.mark
        if shown and shown != mark.numbers:
            items = rewritten_items(audit.report.text[slice(*mark.items)], shown)
            yield Edit(start=mark.items[0], end=mark.items[1], replacement=items, rule="renumbered")
        if shown:
            yield from _link_edits(finding, audit)
    yield from _mark_removals(audit, [not shown for shown in wanted])


def _wanted_numbers(audit: ReportAudit, numbers: dict[int, int]) -> list[tuple[int, ...]]:
    """What each mark shows in the verified report; empty if it goes. `[1][3]` becomes `[1]` where 3 repeats 1."""
    links = _Links(audit, numbers)
    result: list[tuple[int, ...]] = []
    beside: set[int] = set()  # numbers that the marks right before this one show
    written: set[int] = set()  # and those that they have in the report as given
    last = 0
    for finding in audit.marks:
        mark = finding.mark
        if audit.report.text[last : mark.start].strip(" ,，、"):
            beside, written = set(), set()
        shown = tuple(dict.fromkeys(numbers[p] for p in finding.entries if p is not None and p in numbers))
        if finding.url is not None and finding.url.kept:
            shown = links.shown(finding, finding.url, shown)
        if written.isdisjoint(mark.numbers):  # what is written twice stays twice
            shown = tuple(n for n in shown if n not in beside or n in mark.numbers)
        result.append(shown)
        beside.update(shown)
        written.update(mark.numbers)
        last = mark.end
    return result


class _Links:
    """Numbers of marks that are links to sources of their own: `[7](url)`, whatever the list has as 7."""

    def __init__(self, audit: ReportAudit, numbers: dict[int, int]) -> None:
        self._entries = {
            id(e.match.source): numbers[p] for p, e in enumerate(audit.entries) if p in numbers and e.match
        }
        self._listed = bool(audit.entries)
        self._free = len(set(numbers.values()))
        self._unlisted: dict[object, int] = {}

    def shown(self, finding: MarkFinding, url: UrlFinding, shown: tuple[int, ...]) -> tuple[int, ...]:
        """The number of the URL's source in the list, else that of the mark's entry, else one behind the list's."""
        source: object = id(url.match.source) if url.match else url.use.url
        if source in self._entries:
            return (self._entries[source],)
        if shown or not self._listed:
            return shown or finding.mark.numbers
        return (self._unlisted.setdefault(source, self._free + len(self._unlisted) + 1),)


def _mark_removals(audit: ReportAudit, gone: Sequence[bool]) -> Iterator[Edit]:
    """An edit for each mark that goes, with what separates it from the mark beside it: `[1], [2]` becomes `[1]`."""
    text, marks = audit.report.text, audit.marks
    beside = [_beside(text, one.mark, other.mark) for one, other in pairwise(marks)]
    first = 0
    while first < len(marks):
        last = first
        while last < len(beside) and beside[last] and gone[last + 1] == gone[first]:
            last += 1
        if gone[first]:
            start, end = marks[first].mark.start, marks[last].mark.end
            if first and beside[first - 1]:
                before = marks[first - 1].mark.end
                start = before if text[before:start].strip() else start
            elif last < len(beside) and beside[last]:
                behind = marks[last + 1].mark.start
                end = behind if text[end:behind].strip() else end
            whole = removal(text, start, end, "")
            bounds = [whole.start, *(finding.mark.start for finding in marks[first + 1 : last + 1]), whole.end]
            for finding, (begin, stop) in zip(marks[first : last + 1], pairwise(bounds), strict=True):
                yield Edit(start=begin, end=stop, replacement="", rule=_reason(finding, audit))
        first = last + 1


def _beside(text: str, one: Mark, other: Mark) -> bool:
    """Whether these marks cite together; in `fell [1], and [2] says` and `下降[1]，[2]指出` they do not."""
    if not _BESIDE.fullmatch(text, one.end, other.start):
        return False
    return not (_OF_SENTENCE.search(text, one.end, other.start) and _GOES_ON.match(text, other.end))


def _reason(finding: MarkFinding, audit: ReportAudit) -> str:
    """Why a mark goes: what is wrong with its entry, that there is none, or that the mark beside it shows the same."""
    if finding.url is not None and not finding.url.kept:
        return finding.url.reason or ""
    entries = [audit.entries[p].entry.number for p in finding.entries if p is not None and audit.entries[p].kept]
    reasons = [audit.entries[p].reason for p in finding.entries if p is not None and not audit.entries[p].kept]
    repeated = f"duplicate_of_citation_{entries[0]}" if entries else "dangling"
    return next((reason for reason in reasons if reason), repeated)


def _link_edits(finding: MarkFinding, audit: ReportAudit) -> Iterator[Edit]:
    """`[1](url)`: the URL becomes that of the source, of the entry where its own is none; else the link goes."""
    url, text = finding.url, audit.report.text
    if url is None or url.outcome is None:
        return
    matches = [url.match, *(audit.entries[p].match for p in finding.entries if p is not None)]
    match = next((match for match in matches if match and match.source.url), None)
    if match and match.source.url:
        if url.match is None or match.level != "exact":
            yield from _rewrite(text, url.use, match.source.url)
    elif not url.kept:
        start = text.rindex("]", finding.mark.items[1], url.use.url_start) + 1
        end = text.rindex(")", url.use.url_end, finding.mark.end) + 1
        yield Edit(start=start, end=end, replacement="", rule=url.reason or "")


def _body_url_edits(text: str, finding: UrlFinding) -> Iterator[Edit]:
    use = finding.use
    if finding.unsafe:
        yield from _unlink(text, use, finding.reason or "")
    elif finding.match is not None and finding.match.level == "truncation" and finding.match.source.url:
        yield from _rewrite(text, use, finding.match.source.url)


def _unlink(text: str, use: UrlUse, rule: str) -> Iterator[Edit]:
    """Take a URL out; of a link or an image the words stay, unless they are the URL again."""
    label = unescape(text[slice(*use.label)]).strip()
    if use.kind == "tag":
        yield Edit(start=use.start, end=use.end, replacement="", rule=rule)
    elif use.kind in ("link", "image") and label and not scheme_of(label):
        yield Edit(start=use.start, end=use.label[0], replacement=_gap(text, use.start), rule=rule)
        yield Edit(start=use.label[1], end=use.end, replacement="", rule=rule)
    else:
        yield removal(text, use.start, use.end, rule)


def _gap(text: str, start: int) -> str:
    """A blank where the words of a link that goes would lengthen an address right before it, else nothing."""
    before = text[max(0, start - _LONGEST_ADDRESS) : start]
    glued = before.split()[-1] if before and not before[-1].isspace() else ""
    return " " if "/" in glued or ":" in glued else ""


def _rewrite(text: str, use: UrlUse, url: str) -> Iterator[Edit]:
    """Put the tool's URL where the report's stands, and in a link's words where they are a URL too."""
    written = writable(url)
    if unescape(text[use.url_start : use.url_end]) != written:
        yield Edit(start=use.url_start, end=use.url_end, replacement=written, rule="rewritten_url")
    label = parse_url(unescape(text[slice(*use.label)]))
    meant = parse_url(written)
    if use.kind == "link" and label and meant and label.key != meant.key:
        yield Edit(start=use.label[0], end=use.label[1], replacement=written, rule="rewritten_url")


def _list_edits(audit: ReportAudit, numbers: dict[int, int]) -> Iterator[Edit]:
    text = audit.report.text
    for section, group in groupby(enumerate(audit.entries), key=lambda item: item[1].entry.section):
        findings = list(group)
        if any(finding.kept for _, finding in findings):
            yield from _entry_removals(text, [finding for _, finding in findings])
        else:
            yield _whole_list(audit, section, findings[0][1].reason or "")
        for position, finding in findings:
            if finding.kept:
                yield from _kept_entry(text, finding, numbers[position])


def _entry_removals(text: str, findings: Sequence[EntryFinding]) -> Iterator[Edit]:
    """Remove entries with the gap to the next one; behind the last that stays, with the gap before."""
    last_kept = max(i for i, finding in enumerate(findings) if finding.kept)
    for i, finding in enumerate(findings):
        if finding.kept:
            continue
        start, end = finding.entry.place.start, finding.entry.place.end
        if i < last_kept:
            following = findings[i + 1].entry.place.start
            end = following if not text[end:following].strip(" \t>\r\n") else _line_end(text, end)
        else:
            previous = findings[i - 1].entry.place.end
            start = previous if not text[previous:start].strip(" \t>\r\n") else start
        yield Edit(start=start, end=end, replacement="", rule=finding.reason or "")


def _line_end(text: str, end: int) -> int:
    """Behind the line break that ends a whole-line entry."""
    return end + (2 if text[end : end + 2] == "\r\n" else 1 if text[end : end + 1] in ("\r", "\n") else 0)


def _whole_list(audit: ReportAudit, section: int, rule: str) -> Edit:
    """A list without a valid entry goes with its heading, and the blank lines that would be left."""
    text, found = audit.report.text, audit.report.lists[section]
    start, end = found.start, found.end
    if _BLANK_REST.match(text, end):
        start = len(text[:start].rstrip())
        end = len(text) - (1 if start and text.endswith("\n", end) else 0)
    elif start == 0 or text[start - 1] in "\r\n":
        while text[end] in "\r\n":
            end += 1
    return Edit(start=start, end=end, replacement="", rule=rule)


def _kept_entry(text: str, finding: EntryFinding, number: int) -> Iterator[Edit]:
    place = finding.entry.place
    if place.number_span is not None and place.number != number:
        start, end = place.number_span
        yield Edit(start=start, end=end, replacement=like(text[start:end], number), rule="renumbered")
    if finding.chosen and finding.match and finding.match.source.url:
        yield from _rewrite(text, finding.chosen.use, finding.match.source.url)
    for other in finding.others:
        if other.match is not None and other.match.source.url:
            yield from _rewrite(text, other.use, other.match.source.url)
        elif not other.kept:
            yield from _unlink(text, other.use, other.reason or "")


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
