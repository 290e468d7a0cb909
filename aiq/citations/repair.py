"""Turns an audit into edits, each with its rule: they remove what is not valid and renumber the rest, nothing else."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from aiq.citations.audit import EntryFinding, MarkFinding, ReportAudit, UrlFinding
from aiq.citations.links import UrlUse, unescape
from aiq.citations.markdown import Place
from aiq.citations.marks import BLANK, COMMA, DASHES, NAMES, SEE, Mark, in_style_of, rewritten_items
from aiq.citations.match import Match
from aiq.citations.parse import replace_spans
from aiq.citations.sanitise import scheme_of
from aiq.citations.urls import markdown_safe, parse_url

_EMPHASIS = ("**", "__")
_AROUND = ("()", "（）", "[]", "【】", "``", "<>", "“”", *_EMPHASIS)
"""Brackets and emphasis that are removed with their whole content."""
_NAMED = re.compile(rf"(?<=[(（])(?:{SEE}{BLANK}?)?(?:{NAMES}{BLANK}?)?[:：]?\Z", re.IGNORECASE)
"""What is removed with a mark that is alone with it in brackets: `(source: [1])`."""
_FIRST_CJK = "\u2e80"
_CLOSING = frozenset(".,;:!?)]}>»”’。，；：！？、）】》」』")
_SIGN = "\u2421"
"""Replaces a removal that would join the text around it into a mark that nobody wrote: `[1 [9]]` becomes `[1 ␡]`."""
_LIKE_A_MARK = re.compile(
    rf"[\[【［〔][^\d\n\]】］〕]{{0,12}}\d[{DASHES}^\d\s,，、;；・和与與及]*(?:†[^\[\]【】\n]{{0,80}})?[\]】］〕]"
)  # the dashes come first: after another character, the hyphen would make a range
_BESIDE = re.compile(rf"{COMMA}|[ \t]*+")
"""What may be between marks side by side."""
_OF_SENTENCE = re.compile(r"[A-Za-z，；]")
"""What, between two marks, belongs to the sentence if the sentence continues after them."""
_CONTINUES = re.compile(r"[ \t]*+[^\W_]")
_BLANK = re.compile(r"[ \t>\r\n]*+")
"""What may be between entries, in a quotation too."""
_WINDOW = 200
"""The number of characters beside a place that are examined."""
_BLANK_REST = re.compile(r"\s*+\Z")


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `start:end` of the text by `replacement`, because of `rule`."""

    start: int
    end: int
    replacement: str
    rule: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with these edits, which must be in order and must not overlap."""
    return replace_spans(text, ((edit.start, edit.end, edit.replacement) for edit in edits))


def new_numbers(audit: ReportAudit) -> dict[int, int]:
    """Position of an entry -> its number in the verified report; a duplicate has the number of the first."""
    entries = audit.entries
    kept = [position for position, finding in enumerate(entries) if finding.kept]
    kept.sort(key=lambda position: (entries[position].entry.section, entries[position].entry.number))
    numbers = {position: number for number, position in enumerate(kept, 1)}
    duplicates = ((p, finding.duplicate_of) for p, finding in enumerate(entries) if finding.duplicate_of is not None)
    return numbers | {position: numbers[first] for position, first in duplicates}


def repair(audit: ReportAudit, numbers: Mapping[int, int]) -> tuple[Edit, ...]:
    """The edits that make the verified report, in order and without overlap; `numbers` are its `new_numbers`.

    All removals from running text are decided together, so that adjacent ones also remove what is left around them.
    """
    if not (audit.marks or audit.entries or audit.body_urls):
        return ()
    repairer = _Repairer(audit, numbers)
    repairer.marks()
    for url in audit.body_urls:
        repairer.url(url, listed=False)
    repairer.lists()
    return tuple(_disjoint([*repairer.edits, *_widened(audit.report.text, repairer.removals)]))


class _Repairer:
    """Collects the edits of one report, some of which may overlap; `removals` are those from running text."""

    def __init__(self, audit: ReportAudit, numbers: Mapping[int, int]) -> None:
        self.edits: list[Edit] = []
        self.removals: list[Edit] = []
        self._audit = audit
        self._text = audit.report.text
        self._numbers = numbers
        marks = [finding.mark for finding in audit.marks]
        beside = (_cite_together(self._text, mark, following) for mark, following in pairwise(marks))
        self._beside = [False, *beside, False]
        """For each mark, whether it cites together with the one before it."""

    def _edit(self, place: Place, replacement: str, rule: str | None) -> None:
        self.edits.append(Edit(*place, replacement, rule or ""))

    def _remove(self, start: int, end: int, rule: str | None) -> None:
        self.removals.append(Edit(start, end, "", rule or ""))

    def marks(self) -> None:
        numbers_by_mark = list(self._mark_numbers())
        for finding, numbers in zip(self._audit.marks, numbers_by_mark, strict=True):
            items = finding.mark.items
            if numbers and numbers != finding.mark.numbers:
                self._edit(items, rewritten_items(self._text[slice(*items)], numbers), "renumbered")
            if numbers:
                self._link(finding)
        self._remove_marks([not numbers for numbers in numbers_by_mark] + [False])

    def _mark_numbers(self) -> Iterator[tuple[int, ...]]:
        """The numbers of each mark in the verified report, none if it goes. `[1][3]` becomes `[1]` if 3 repeats 1.

        A link shows its source's number in the list, whatever number it has itself (`[7](url)`), else that of its
        entry, else a number after those of the list, the same for all links to one source.
        """
        numbers, entries = self._numbers, self._audit.entries
        matches = ((entries[p].match, number) for p, number in numbers.items())
        listed: dict[object, int] = {id(match.source): number for match, number in matches if match}
        unlisted: dict[object, int] = {}
        seen: set[int] = set()  # numbers that the marks beside this one will show
        written: set[int] = set()  # numbers that they have in the report as given
        for finding, beside in zip(self._audit.marks, self._beside, strict=False):
            mark, url = finding.mark, finding.url
            if not beside:
                seen, written = set(), set()
            mark_numbers = tuple(dict.fromkeys(numbers[p] for p in finding.entries if p is not None and p in numbers))
            if url is not None and url.kept:
                source: object = id(finding.source) if finding.source else url.use.url
                if source in listed:
                    mark_numbers = (listed[source],)
                elif not mark_numbers:
                    new_number = len(set(numbers.values())) + len(unlisted) + 1
                    mark_numbers = (unlisted.setdefault(source, new_number),) if entries else mark.numbers
            if written.isdisjoint(mark.numbers):  # a number that the report itself repeats stays repeated
                mark_numbers = tuple(n for n in mark_numbers if n not in seen or n in mark.numbers)
            yield mark_numbers
            seen.update(mark_numbers)
            written.update(mark.numbers)

    def _remove_marks(self, removed: Sequence[bool]) -> None:
        """Remove marks together with what separates them from the mark beside them: `[1], [2]` becomes `[1]`."""
        marks = [finding.mark for finding in self._audit.marks]
        kept_before = False  # whether the mark beside these, before them, stays
        for i, mark in enumerate(marks):
            if not removed[i]:
                continue
            start, end = mark.start, mark.end
            if not (self._beside[i] and removed[i - 1]):
                kept_before = self._beside[i]
                if kept_before and self._text[marks[i - 1].end : start].strip():
                    start = marks[i - 1].end
            if self._beside[i + 1]:
                following = marks[i + 1].start
                if removed[i + 1] or (not kept_before and self._text[end:following].strip()):
                    end = following
            self._remove(start, end, self._reason(self._audit.marks[i]))

    def _reason(self, finding: MarkFinding) -> str | None:
        """Why a mark is removed: its entry's reason, or `dangling`, or that a mark beside it cites the same."""
        if finding.url is not None and not finding.url.kept:
            return finding.url.reason
        entries = [self._audit.entries[p] for p in finding.entries if p is not None]
        fallback = next((f"duplicate_of_citation_{entry.entry.number}" for entry in entries if entry.kept), "dangling")
        return next((entry.reason for entry in entries if not entry.kept), fallback)

    def _link(self, finding: MarkFinding) -> None:
        """Change the URL of `[1](url)` to that of its source, else of the entry's source; without either, unlink it."""
        url = finding.url
        if url is None or url.outcome is None:
            return
        matches = [url.match, *(self._audit.entries[p].match for p in finding.entries if p is not None)]
        match = next((match for match in matches if match and match.source.url), None)
        if match is None and not url.kept:
            start, end = url.use.url_start, url.use.url_end
            if start > finding.mark.items[1]:  # the tag of `<a href="url">[1]</a>` stays
                start = self._text.rindex("]", finding.mark.items[1], start) + 1
                end = self._text.rindex(")", end, finding.mark.end) + 1
            self._edit((start, end), "", url.reason)
        elif match is not None and (url.match is None or match.level != "exact"):
            self._rewrite(url.use, match)

    def url(self, url: UrlFinding, *, listed: bool) -> None:
        """In an entry, replace a URL by its source's or remove it; in the body, only if it is cut off or unsafe."""
        if url.match is not None and (listed or url.match.level == "truncation"):
            self._rewrite(url.use, url.match)
        elif url.unsafe or (listed and not url.kept):
            self._unlink(url.use, url.reason)

    def _unlink(self, use: UrlUse, rule: str | None) -> None:
        """Remove a URL; the label of a link or an image stays, unless it is a URL itself."""
        label = unescape(self._text[slice(*use.label)]).strip()
        if use.form == "attribute":
            self._edit((use.start, use.end), "", rule)
        elif use.form in ("link", "image") and label and not scheme_of(label):
            before = self._text[max(0, use.start - _WINDOW) : use.start]
            word = before.split()[-1] if before and not before[-1].isspace() else ""
            joins_address = "/" in word or ":" in word  # an address directly before the label
            self._edit((use.start, use.label[0]), " " if joins_address else "", rule)
            self._edit((use.label[1], use.end), "", rule)
        else:
            self._remove(use.start, use.end, rule)

    def _rewrite(self, use: UrlUse, match: Match) -> None:
        """Replace the report's URL by the tool's, and a link's label too if it is another URL."""
        if not match.source.url:
            return
        new_url = markdown_safe(match.source.url)
        if unescape(self._text[use.url_start : use.url_end]) != new_url:
            self._edit((use.url_start, use.url_end), new_url, "rewritten_url")
        label, target = parse_url(unescape(self._text[slice(*use.label)])), parse_url(new_url)
        if use.form == "link" and label and target and label.key != target.key:
            self._edit(use.label, new_url, "rewritten_url")

    def lists(self) -> None:
        """Give the entries that stay their numbers and their sources' URLs; remove the others, and emptied lists."""
        for section, group in groupby(enumerate(self._audit.entries), key=lambda item: item[1].entry.section):
            findings = dict(group)
            kept = [position for position, finding in findings.items() if finding.kept]
            if kept:
                self._remove_entries(list(findings.values()))
            else:
                self._remove_list(section, next(iter(findings.values())).reason)
            for position in kept:
                finding, number = findings[position], self._numbers[position]
                span = finding.entry.number_span
                if span is not None and finding.entry.number != number:
                    self._edit(span, in_style_of(self._text[slice(*span)], number), "renumbered")
                for url in filter(None, (finding.chosen, *finding.others)):
                    self.url(url, listed=True)

    def _remove_entries(self, findings: Sequence[EntryFinding]) -> None:
        """Remove entries with the gap after them; those after the last that stays, with the gap before."""
        last_kept = max(i for i, finding in enumerate(findings) if finding.kept)
        for i, finding in enumerate(findings):
            start, end = finding.entry.start, finding.entry.end
            if finding.kept:
                continue
            if i > last_kept:
                previous = findings[i - 1].entry.end
                start = previous if _BLANK.fullmatch(self._text, previous, start) else start
            elif _BLANK.fullmatch(self._text, end, following := findings[i + 1].entry.start):
                end = following
            else:
                end += 2 if self._text.startswith("\r\n", end) else self._text[end : end + 1] in ("\r", "\n")
            self._edit((start, end), "", finding.reason)

    def _remove_list(self, section: int, rule: str | None) -> None:
        """Remove a list without a valid entry, with its heading and the blank lines that would be left."""
        text, listing = self._text, self._audit.report.lists[section]
        start, end = listing.start, listing.end
        if _BLANK_REST.match(text, end):
            start = len(text[:start].rstrip())
            end = len(text) - (1 if start and text.endswith("\n", end) else 0)
        elif start == 0 or text[start - 1] in "\r\n":
            while text[end] in "\r\n":
                end += 1
        self._edit((start, end), "", rule)


def _cite_together(text: str, mark: Mark, following: Mark) -> bool:
    """Whether two marks cite together; in `fell [1], and [2] says` and `下降[1]，[2]指出` they do not."""
    if not _BESIDE.fullmatch(text, mark.end, following.start):
        return False
    return not (_OF_SENTENCE.search(text, mark.end, following.start) and _CONTINUES.match(text, following.end))


def _widened(text: str, removals: list[Edit]) -> list[Edit]:
    """The removals from running text, widened so that those that touch leave no stray blanks or brackets behind."""
    removals.sort(key=lambda edit: edit.start)
    cuts = [i for i, (previous, current) in enumerate(pairwise(removals), 1) if previous.end < current.start]
    for first, stop in pairwise([0, *cuts, len(removals)] if removals else []):
        start, end = _with_surroundings(text, removals[first].start, removals[stop - 1].end)
        removals[first] = replace(removals[first], start=start)
        head, tail = text[max(0, start - _WINDOW) : start], text[end : end + _WINDOW]
        joined = any(match.start() < len(head) < match.end() for match in _LIKE_A_MARK.finditer(head + tail))
        removals[stop - 1] = replace(removals[stop - 1], end=end, replacement=_SIGN if joined else "")
    return removals


def _with_surroundings(text: str, start: int, end: int) -> Place:
    """The place `start:end` with brackets and emphasis that hold nothing else, and the blanks that would be left."""
    before = _without_blanks(text, start)
    if text[end : end + 1] in (")", "）") and (label := _NAMED.search(text, max(0, before - _WINDOW), before)):
        start = before = label.start()
    while before and (around := text[before - 1] + text[end : end + 1]) in _AROUND:
        outside = text[max(0, before - 2) : before - 1] + text[end + 1 : end + 2]
        if around in _EMPHASIS and (before < start or (len(outside) == 2 and outside.isalnum())):
            break  # the emphasis belongs to the words on both sides
        start, end = before - 1, end + 1
        before = _without_blanks(text, start)
    follows = text[end : end + _WINDOW].lstrip("*_")[:1]
    if before == 0 or text[before - 1] in "\r\n":
        while text[end : end + 1] in (" ", "\t"):
            end += 1
    elif not follows or follows in _CLOSING or follows.isspace() or follows >= _FIRST_CJK:
        start = before
    return start, end


def _without_blanks(text: str, end: int) -> int:
    start = max(0, end - _WINDOW)
    return start + len(text[start:end].rstrip(" \t"))


def _disjoint(edits: Iterable[Edit]) -> Iterator[Edit]:
    """The edits in order; where two overlap, the later one begins at the end of the earlier one."""
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        start = max(edit.start, at)
        if start < edit.end or (start == edit.start == edit.end):
            yield replace(edit, start=start)
            at = edit.end
