"""Turns an audit into edits, each with its rule: what is not valid goes, numbers close up, the rest stays."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise

from aiq.citations.audit import EntryFinding, MarkFinding, ReportAudit
from aiq.citations.links import UrlUse, unescape
from aiq.citations.markdown import Place
from aiq.citations.marks import COMMA, DASHES, Mark, like, rewritten_items
from aiq.citations.match import Match
from aiq.citations.parse import cut
from aiq.citations.sanitise import scheme_of
from aiq.citations.urls import parse_url, writable

_BRACKETS = ("()", "（）", "[]", "【】", "``", "<>", "“”")
_EMPHASIS = ("**", "__", "*", "_")
_FIRST_CJK = "\u2e80"
_CLOSING = frozenset(".,;:!?)]}>»”’。，；：！？、）】》」』")
_SIGN = "\u2421"
"""Stays where a removal would join the text around it to a mark that nobody wrote: `[1 [9]]` becomes `[1 ␡]`."""
_LIKE_A_MARK = re.compile(
    rf"[\[【［〔][^\d\n\]】］〕]{{0,12}}\d[{DASHES}^\d\s,，、;；・和与與及]*(?:†[^\[\]【】\n]{{0,80}})?[\]】］〕]"
)  # the dashes first: after another sign the hyphen would make a range of it
_LONGEST_MARK = 120
_LONGEST_ADDRESS = 200
"""Characters in which the sign of an address (a slash, a colon) is, if what ends there is one."""
_BESIDE = re.compile(rf"{COMMA}|[ \t]*+")
"""Between marks side by side."""
_OF_SENTENCE = re.compile(r"[A-Za-z，；]")
"""What between two marks belongs to the sentence where that goes on after them."""
_GOES_ON = re.compile(r"[ \t]*+[^\W_]")
_BLANK_REST = re.compile(r"\s*+\Z")


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `start:end` of the text by `replacement`, because of `rule`."""

    start: int
    end: int
    replacement: str
    rule: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with these edits, which must be in order and apart from each other."""
    return cut(text, ((edit.start, edit.end, edit.replacement) for edit in edits))


def composed(text: str, rounds: Sequence[Sequence[Edit]]) -> tuple[Edit, ...]:
    """The edits of `text` that do at once what these rounds of edits do one after the other."""
    if len(rounds) == 1:
        return tuple(rounds[0])
    cells: list[int | str] = list(range(len(text)))  # a character of `text` by its offset, a written one as it is
    rules: dict[int | str, str] = {}
    for edits in rounds:
        pieces, at = [], 0
        for edit in edits:
            rules |= dict.fromkeys(cells[edit.start : edit.end], edit.rule)
            pieces += [cells[at : edit.start], [*edit.replacement]]
            at = edit.end
        cells = [*chain.from_iterable(pieces), *cells[at:]]
    result, at, written = [], 0, ""
    for cell in [*cells, len(text)]:
        if isinstance(cell, str):
            written += cell
            continue
        if text[at:cell] != written:
            result.append(Edit(at, cell, written, rules[at]))
        at, written = cell + 1, ""
    return tuple(result)


def new_numbers(audit: ReportAudit) -> dict[int, int]:
    """Position of an entry -> its number in the verified report; a repetition has the number of the first."""
    kept = [p for p, finding in enumerate(audit.entries) if finding.kept]
    kept.sort(key=lambda p: (audit.entries[p].entry.section, audit.entries[p].entry.number, p))
    numbers = {position: number for number, position in enumerate(kept, 1)}
    for position, finding in enumerate(audit.entries):
        if finding.duplicate_of is not None:
            numbers[position] = numbers[finding.duplicate_of]
    return numbers


def repair(audit: ReportAudit, numbers: Mapping[int, int]) -> tuple[Edit, ...]:
    """The edits that make the verified report, in order and apart from each other; `numbers` are its `new_numbers`."""
    repairer = _Repairer(audit, numbers)
    edits = [*repairer.marks(), *repairer.body_urls(), *repairer.lists()]
    return tuple(_parted(audit.report.text, [*_disjoint(edits)]))


class _Repairer:
    """The edits of one report, some of which may overlap."""

    def __init__(self, audit: ReportAudit, numbers: Mapping[int, int]) -> None:
        self._audit = audit
        self._text = audit.report.text
        self._numbers = numbers

    def marks(self) -> Iterator[Edit]:
        wanted = list(self._wanted())
        for finding, shown in zip(self._audit.marks, wanted, strict=True):
            if shown and shown != finding.mark.numbers:
                start, end = finding.mark.items
                yield Edit(start, end, rewritten_items(self._text[start:end], shown), "renumbered")
            if shown:
                yield from self._link(finding)
        yield from self._mark_removals([not shown for shown in wanted])

    def body_urls(self) -> Iterator[Edit]:
        for url in self._audit.body_urls:
            if url.unsafe:
                yield from self._unlink(url.use, url.reason or "")
            elif url.match is not None and url.match.level == "truncation":
                yield from self._rewrite(url.use, url.match)

    def lists(self) -> Iterator[Edit]:
        for section, group in groupby(enumerate(self._audit.entries), key=lambda item: item[1].entry.section):
            findings = dict(group)
            if any(finding.kept for finding in findings.values()):
                yield from self._entry_removals(list(findings.values()))
            else:
                yield self._whole_list(section, next(iter(findings.values())).reason or "")
            for position, finding in findings.items():
                if finding.kept:
                    yield from self._kept_entry(finding, self._numbers[position])

    def _wanted(self) -> Iterator[tuple[int, ...]]:
        """What each mark shows in the verified report; nothing if it goes. `[1][3]` becomes `[1]` if 3 repeats 1.

        A link shows the number of its source in the list, whatever it says itself (`[7](url)`), else that of its
        entry, else one after those of the list, the same for all links to one source.
        """
        numbers, entries = self._numbers, self._audit.entries
        listed: dict[object, int] = {
            id(finding.match.source): numbers[p] for p, finding in enumerate(entries) if p in numbers and finding.match
        }
        unlisted: dict[object, int] = {}
        beside: set[int] = set()  # numbers that the marks right before this one show
        written: set[int] = set()  # and those that they have in the report as given
        last = 0
        for finding in self._audit.marks:
            mark, url = finding.mark, finding.url
            if self._text[last : mark.start].strip(" ,，、"):
                beside, written = set(), set()
            shown = tuple(dict.fromkeys(numbers[p] for p in finding.entries if p is not None and p in numbers))
            if url is not None and url.kept:
                source: object = id(url.match.source) if url.match else url.use.url
                if source in listed:
                    shown = (listed[source],)
                elif not shown:
                    free = len(set(numbers.values())) + len(unlisted) + 1
                    shown = (unlisted.setdefault(source, free),) if entries else mark.numbers
            if written.isdisjoint(mark.numbers):  # what is written twice stays twice
                shown = tuple(n for n in shown if n not in beside or n in mark.numbers)
            yield shown
            beside.update(shown)
            written.update(mark.numbers)
            last = mark.end

    def _mark_removals(self, gone: Sequence[bool]) -> Iterator[Edit]:
        """An edit for each mark that goes, with what separates it from the one beside it: `[1], [2]` becomes `[1]`."""
        text, marks = self._text, [finding.mark for finding in self._audit.marks]
        beside = [_beside(text, one, other) for one, other in pairwise(marks)]
        first = 0
        while first < len(marks):
            last = first
            while last < len(beside) and beside[last] and gone[last + 1] == gone[first]:
                last += 1
            if gone[first]:
                start, end = marks[first].start, marks[last].end
                if first and beside[first - 1]:
                    before = marks[first - 1].end
                    start = before if text[before:start].strip() else start
                elif last < len(beside) and beside[last]:
                    following = marks[last + 1].start
                    end = following if text[end:following].strip() else end
                whole = removal(text, start, end, "")
                bounds = [whole.start, *(mark.start for mark in marks[first + 1 : last + 1]), whole.end]
                for position, (begin, stop) in enumerate(pairwise(bounds), first):
                    yield Edit(begin, stop, "", self._reason(self._audit.marks[position]))
            first = last + 1

    def _reason(self, finding: MarkFinding) -> str:
        """Why a mark goes: what is wrong with its entry, that it has none, or that a mark beside it shows it."""
        if finding.url is not None and not finding.url.kept:
            return finding.url.reason or ""
        entries = [self._audit.entries[p] for p in finding.entries if p is not None]
        kept = next((f"duplicate_of_citation_{entry.entry.number}" for entry in entries if entry.kept), "dangling")
        return next((entry.reason for entry in entries if entry.reason and not entry.kept), kept)

    def _link(self, finding: MarkFinding) -> Iterator[Edit]:
        """`[1](url)`: the URL becomes that of its source, else of the entry's source; without any the link goes."""
        url = finding.url
        if url is None or url.outcome is None:
            return
        matches = [url.match, *(self._audit.entries[p].match for p in finding.entries if p is not None)]
        match = next((match for match in matches if match and match.source.url), None)
        if match is not None:
            if url.match is None or match.level != "exact":
                yield from self._rewrite(url.use, match)
        elif not url.kept:
            start = self._text.rindex("]", finding.mark.items[1], url.use.url_start) + 1
            yield Edit(start, self._text.rindex(")", url.use.url_end, finding.mark.end) + 1, "", url.reason or "")

    def _unlink(self, use: UrlUse, rule: str) -> Iterator[Edit]:
        """Take a URL out; of a link or an image the words stay, unless they are the URL again."""
        label = unescape(self._text[slice(*use.label)]).strip()
        if use.kind == "tag":
            yield Edit(use.start, use.end, "", rule)
        elif use.kind in ("link", "image") and label and not scheme_of(label):
            yield Edit(use.start, use.label[0], self._gap(use.start), rule)
            yield Edit(use.label[1], use.end, "", rule)
        else:
            yield removal(self._text, use.start, use.end, rule)

    def _gap(self, start: int) -> str:
        """A blank if the words of a link that goes would lengthen an address right before it, else nothing."""
        before = self._text[max(0, start - _LONGEST_ADDRESS) : start]
        glued = before.split()[-1] if before and not before[-1].isspace() else ""
        return " " if "/" in glued or ":" in glued else ""

    def _rewrite(self, use: UrlUse, match: Match) -> Iterator[Edit]:
        """Put the tool's URL in place of the report's, and of a link's words if they are a URL too."""
        if not match.source.url:
            return
        written = writable(match.source.url)
        if unescape(self._text[use.url_start : use.url_end]) != written:
            yield Edit(use.url_start, use.url_end, written, "rewritten_url")
        label, meant = parse_url(unescape(self._text[slice(*use.label)])), parse_url(written)
        if use.kind == "link" and label and meant and label.key != meant.key:
            yield Edit(*use.label, written, "rewritten_url")

    def _entry_removals(self, findings: Sequence[EntryFinding]) -> Iterator[Edit]:
        """Remove entries with the gap to the next one; after the last that stays, with the gap before."""
        last_kept = max(i for i, finding in enumerate(findings) if finding.kept)
        for i, finding in enumerate(findings):
            if finding.kept:
                continue
            start, end = finding.entry.place.start, finding.entry.place.end
            if i < last_kept:
                following = findings[i + 1].entry.place.start
                blank = not self._text[end:following].strip(" \t>\r\n")
                end = following if blank else _line_end(self._text, end)
            else:
                previous = findings[i - 1].entry.place.end
                start = previous if not self._text[previous:start].strip(" \t>\r\n") else start
            yield Edit(start, end, "", finding.reason or "")

    def _whole_list(self, section: int, rule: str) -> Edit:
        """A list without a valid entry goes with its heading, and the blank lines that would be left."""
        text, found = self._text, self._audit.report.lists[section]
        start, end = found.start, found.end
        if _BLANK_REST.match(text, end):
            start = len(text[:start].rstrip())
            end = len(text) - (1 if start and text.endswith("\n", end) else 0)
        elif start == 0 or text[start - 1] in "\r\n":
            while text[end] in "\r\n":
                end += 1
        return Edit(start, end, "", rule)

    def _kept_entry(self, finding: EntryFinding, number: int) -> Iterator[Edit]:
        place = finding.entry.place
        if place.number_span is not None and place.number != number:
            start, end = place.number_span
            yield Edit(start, end, like(self._text[start:end], number), "renumbered")
        for url in filter(None, (finding.chosen, *finding.others)):
            if url.match is not None:
                yield from self._rewrite(url.use, url.match)
            elif not url.kept:
                yield from self._unlink(url.use, url.reason or "")


def _beside(text: str, one: Mark, other: Mark) -> bool:
    """Whether these marks cite together; in `fell [1], and [2] says` and `下降[1]，[2]指出` they do not."""
    if not _BESIDE.fullmatch(text, one.end, other.start):
        return False
    return not (_OF_SENTENCE.search(text, one.end, other.start) and _GOES_ON.match(text, other.end))


def _line_end(text: str, end: int) -> int:
    """After the line break that ends a whole-line entry."""
    return end + (2 if text[end : end + 2] == "\r\n" else text[end : end + 1] in ("\r", "\n"))


def _disjoint(edits: Iterable[Edit]) -> Iterator[Edit]:
    """The edits in order; where two overlap, the later one keeps what is after the earlier."""
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        start = max(edit.start, at)
        if start < edit.end or (start == edit.start == edit.end):
            yield replace(edit, start=start)
            at = edit.end


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
    return Edit(start, end, "", rule)


def _wrapped(text: str, start: int, end: int) -> Place | None:
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


def _parted(text: str, edits: Sequence[Edit]) -> Iterator[Edit]:
    """The edits, with a sign for a removal that would join what is left to a mark."""
    result = apply_edits(text, edits)
    shift, last = 0, -1
    for edit in edits:
        place = edit.start + shift + len(edit.replacement)
        shift = place - edit.end
        joins = not edit.replacement and place != last and _joins(result, place)
        yield replace(edit, replacement=_SIGN) if joins else edit
        last = place


def _joins(text: str, place: int) -> bool:
    """Whether a mark lies across this place."""
    start = max(text.rfind(bracket, max(0, place - _LONGEST_MARK), place) for bracket in "[【［〔")
    found = _LIKE_A_MARK.match(text, start) if start >= 0 else None
    return found is not None and found.end() > place
