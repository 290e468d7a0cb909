"""Turns an audit into edits, each with its rule: what is not valid goes, numbers close up, the rest stays."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, pairwise

from aiq.citations.audit import EntryFinding, MarkFinding, ReportAudit, UrlFinding
from aiq.citations.links import UrlUse, unescape
from aiq.citations.marks import COMMA, DASHES, Mark, like, rewritten_items
from aiq.citations.sanitise import scheme_of
from aiq.citations.urls import parse_url, writable
from aiq.core.base import Record

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
            result.append(Edit(start=at, end=cell, replacement=written, rule=rules[at]))
        at, written = cell + 1, ""
    return tuple(result)


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


_SIGN = "\u2421"
"""Stays where a removal would join the text around it to a mark that nobody wrote: `[1 [9]]` becomes `[1 \u2421]`."""
_LIKE_A_MARK = re.compile(
    rf"[\[【［〔][^\d\n\]】］〕]{{0,12}}\d[{DASHES}^\d\s,，、;；・和与與及]*(?:†[^\[\]【】\n]{{0,80}})?[\]】］〕]"
)  # the dashes first: behind another sign the hyphen would make a range of it
_LONGEST_MARK = 120


def _parted(text: str, edits: Sequence[Edit]) -> Iterator[Edit]:
    """The edits, with a sign for a removal that would join what is left to a mark."""
    result = apply_edits(text, edits)
    shift, last = 0, -1
    for edit in edits:
        place = edit.start + shift + len(edit.replacement)
        shift = place - edit.end
        joins = not edit.replacement and place != last and _joins(result, place)
        yield edit.model_copy(update={"replacement": _SIGN}) if joins else edit
        last = place


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


def repair(audit: ReportAudit, numbers: Mapping[int, int]) -> tuple[Edit, ...]:
    """The edits that make the verified report, in order and apart from each other; `numbers` are its `new_numbers`."""
    edits = [
        *_mark_edits(audit, numbers),
        *chain.from_iterable(_body_url_edits(audit.report.text, finding) for finding in audit.body_urls),
        *_list_edits(audit, numbers),
    ]
    return tuple(_parted(audit.report.text, disjoint(edits)))


def _mark_edits(audit: ReportAudit, numbers: Mapping[int, int]) -> Iterator[Edit]:
    wanted = _wanted_numbers(audit, numbers)
    for finding, shown in zip(audit.marks, wanted, strict=True):
        mark = finding.mark
        if shown and shown != mark.numbers:
            items = rewritten_items(audit.report.text[slice(*mark.items)], shown)
            yield Edit(start=mark.items[0], end=mark.items[1], replacement=items, rule="renumbered")
        if shown:
            yield from _link_edits(finding, audit)
    yield from _mark_removals(audit, [not shown for shown in wanted])


def _wanted_numbers(audit: ReportAudit, numbers: Mapping[int, int]) -> list[tuple[int, ...]]:
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

    def __init__(self, audit: ReportAudit, numbers: Mapping[int, int]) -> None:
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


def _list_edits(audit: ReportAudit, numbers: Mapping[int, int]) -> Iterator[Edit]:
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
