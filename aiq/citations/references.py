"""Finds a report's reference lists: the title of each, its entries, and where it ends.

Works on lines, because models write lists that Markdown parses as one paragraph.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile

from aiq.citations.entries import UNNUMBERED, Entry, Family, Line, title_strength
from aiq.citations.markdown import Markdown

_CITES = re.compile(r"[\[【]\^?\d")
_COLON = re.compile(r"[^:：]{0,39}(?=[:：])")
_FIRST_ENTRY_WITHIN = 8
"""The number of lines below a title in which the first entry is looked for."""
_INTRODUCTION = 3
"""The number of lines of text that may be between a heading and the first entry."""
_FAR = 6
"""The number of lines in which the next entry is looked for."""


@dataclass(frozen=True, slots=True)
class ReferenceList:
    """A list `start:end` from its title (or its first entry, if there is no title) to its last entry."""

    start: int
    end: int
    entries: tuple[Entry, ...]


_Read = tuple[int, Sequence[Entry]] | None
"""The number of the last line read, and the entries found; None if no list begins here."""


def reference_lists(markdown: Markdown) -> tuple[ReferenceList, ...]:
    """Every list under a title and every run of footnotes; else a list in its title's line, else one without title.

    A list that names nothing to look up (a bibliography in prose) counts only if no list does, and a
    list without numbers only if no list has numbers.
    """
    lines = _lines_of(markdown)
    titled = list(_lists(lines, _below_title))
    footnotes = _lists(lines, lambda line: _footnotes(line, titled))
    lists = sorted([*titled, *footnotes], key=lambda listing: listing.start)
    lists = lists or list(_lists(lines, _after_colon)) or list(_headless(lines))
    lists = [listing for listing in lists if any(entry.names_target for entry in listing.entries)] or lists
    return tuple([listing for listing in lists if listing.entries[0].number_span] or lists)


def _lines_of(markdown: Markdown) -> Sequence[Line]:
    """The lines of a report."""
    fences = [(markdown.line_at(start), markdown.line_at(end)) for start, end in markdown.fences]
    fenced = {number for first, last in fences for number in range(first, last + 1)}
    lines: list[Line] = []
    lines += (
        Line(markdown.text, lines, number, start, end, markdown.headings.get(number), number in fenced)
        for number, (start, end) in enumerate(markdown.lines)
    )
    return lines


def _lists(lines: Sequence[Line], read: Callable[[Line], _Read]) -> Iterator[ReferenceList]:
    last = -1
    for line in lines:
        if line.number > last and (result := read(line)):
            last, entries = result
            if entries:
                yield ReferenceList(line.start, entries[-1].end, tuple(entries))


def _below_title(line: Line) -> _Read:
    """The list that a title in this line opens, if any."""
    if not line.title or not (first := _first_entry(line)):
        return None
    last, entries = _ListReader(first[1], line.level or 0).read(first[0])
    return (last, entries) if line.title == "strong" or any(e.names_target for e in entries) else None


def _footnotes(line: Line, taken: Sequence[ReferenceList]) -> _Read:
    """A run of `[^1]: ...` or `[1]: https://...` anywhere outside the lists already found (`taken`)."""

    def is_defined(entry: Entry) -> bool:
        return line.text[entry.body - 1] in ":："

    first = None if line.fenced else line.begin("bracket")
    if not first or not is_defined(first) or not ("^" in line.text[slice(*first.mark)] or line.names_target):
        return None
    previous = bisect_right(taken, line.start, key=lambda listing: listing.start) - 1
    if previous >= 0 and line.start < taken[previous].end:
        return None
    last, entries = _ListReader("bracket").read(line)
    return last, list(takewhile(is_defined, entries))


def _after_colon(line: Line) -> _Read:
    """A list like `Sources: [1] Title - URL`, whose first entry is in the title's line and has a number."""
    colon = None if line.fenced else _COLON.match(line.text, line.start, line.end)
    if colon is None or title_strength(colon[0]) != "strong" or not line.names_target:
        return None
    start = line.end - len(line.text[colon.end() + 1 : line.end].lstrip("*_ \t"))
    rest = replace(line, start=start, level=None, _begun={})
    entry = rest.first_form()
    numbered = entry and entry.number_span and entry.family != "spaced"
    return _ListReader(entry.family).read(rest) if entry and numbered else None


def _headless(lines: Sequence[Line]) -> Iterator[ReferenceList]:
    """The run of `[1] Title - URL` lines at a report's end: each an entry with a target, in ascending order."""
    run = list(takewhile(_is_listed, (line for line in reversed(lines) if line.bare)))
    _, entries = _ListReader("bracket").read(run[-1]) if run else (-1, ())
    if len(entries) > 1 and all(entry.number < following.number for entry, following in pairwise(entries)):
        yield ReferenceList(run[-1].start, entries[-1].end, tuple(entries))


def _is_listed(line: Line) -> bool:
    entry = None if line.fenced or line.level is not None else line.begin("bracket")
    return entry is not None and line.text[entry.mark[0]] not in "(（" and line.names_target


def _first_entry(title: Line) -> tuple[Line, Family] | None:
    """Line and form of the first entry below a title, or below the introduction that follows a heading."""
    strong = title.title == "strong"
    formal = title.level is not None or title.is_label or "<" in title.words
    introduction = 0
    for line in title.below(_FIRST_ENTRY_WITHIN):
        if line.number == title.number + 1 and not line.words.strip(" \t=-"):
            continue  # the title's underline
        if line.ends_list:
            return None
        family = _family(line, strong=strong, formal=formal)
        if family and (not introduction or line.target_near(family)):
            return line, family
        introduction += not line.bare.startswith("|")
        same_level = line.level is not None and line.level <= (title.level or 6)
        if same_level or introduction > (_INTRODUCTION if formal and strong else 0):
            return None
    return None


def _family(line: Line, *, strong: bool, formal: bool) -> Family | None:
    """The form of the entry that begins here; forms without brackets or dots must name a target soon."""
    entry = line.first_form()
    if entry and entry.family != "plain":
        sure = entry.family in ("table", "bracket", "ordered", "circled")
        likely = strong or entry.family not in ("spaced", "row")
        return entry.family if sure or (likely and line.target_near(entry.family)) else None
    return "plain" if strong and formal and line.names_target and line.level is None else None


@dataclass
class _ListReader:
    """A list as far as it has been read, which decides line by line whether it continues.

    `level` is that of the heading above, 0 for another title; None (no title) allows no text between entries.
    """

    family: Family
    level: int | None = None
    entries: list[Entry] = field(default_factory=list)
    last: int = -1
    indent: int = 0

    def read(self, line: Line) -> tuple[int, Sequence[Entry]]:
        """The last line and the entries from this line on; bullets, and lists that repeat `1.`, count by position."""
        while not line.bare or self._takes(line):
            if line.number + 1 == len(line.lines):
                break
            line = line.lines[line.number + 1]
        repeated = self.family == "ordered" and len({entry.number for entry in self.entries}) < len(self.entries[:2])
        if self.family in UNNUMBERED or repeated:
            self.entries = [replace(entry, number=n, number_span=None) for n, entry in enumerate(self.entries, 1)]
        return self.last, self.entries

    def _takes(self, line: Line) -> bool:
        """Add this line if it belongs to the list, and return whether it does."""
        entry = None if line.fenced else line.begin(self.family)
        if entry and self._begins_entry(entry, line):
            self.indent = self.indent if self.entries else line.indent
            self.entries += self._entries_in(entry, line)
        elif line.fenced or not self.entries:
            return False
        elif self._continues(line) or self._is_remark(line):
            names_target = self.entries[-1].names_target or line.names_target
            self.entries[-1] = replace(self.entries[-1], end=line.end, names_target=names_target)
        elif not self._labels_more(line):
            return False
        self.last = line.number
        return True

    def _begins_entry(self, entry: Entry, line: Line) -> bool:
        """Whether an entry begins here: not at items nested in an entry, nor at unmarked lines that name no target.

        Numbers that start again after a blank line belong to another list: `1. Method one` after the sources.
        """
        if not self.entries:
            return True
        adjacent = line.number == self.last + 1
        if self.family == "plain":
            return line.names_target and not (adjacent and line.goes_on) and not line.parts_lists
        if self.family in ("ordered", "bullet") and line.indent > self.indent + 1:
            return False
        if entry.number_span is None or entry.number > self.entries[-1].number:
            return True
        return self.family != "spaced" and (adjacent or line.target_near(self.family))

    def _entries_in(self, first: Entry, line: Line) -> list[Entry]:
        """The entries of a line; a number in it with which the next entry's line begins is only cited."""
        entries = line.entries(first)
        following = (below.begin(self.family) for below in line.below(_FAR) if len(entries) > 1)
        next_number = next((below.number for below in following if below is not None), 0)
        cut = next((at for at, entry in enumerate(entries) if at and entry.number == next_number), len(entries))
        return [*entries[: cut - 1], replace(entries[cut - 1], end=line.end)] if next_number else entries

    def _continues(self, line: Line) -> bool:
        """Whether a line that starts no entry continues the entry above."""
        if line.parts_lists:
            return False
        indented = line.words.startswith(("  ", "\t"))
        adjacent = line.number == self.last + 1
        if self.entries[-1].names_target:
            return indented or (adjacent and line.goes_on)
        if adjacent:
            return line.target_near(self.family)
        return line.names_target and (indented or line.goes_on)

    def _is_remark(self, line: Line) -> bool:
        """Whether this is a remark between two entries, because the entry with the next number follows soon."""
        if self.family in UNNUMBERED or self.level is None or line.parts_lists or _CITES.search(line.words):
            return False
        following = self._next_entry(line)
        return following is not None and following.number == self.entries[-1].number + 1

    def _labels_more(self, line: Line) -> bool:
        """Whether a line is a rule within the list or the label of a further part, because entries continue below."""
        deeper = 0 < (self.level or 0) < (line.level or 0)
        label = (deeper if line.level else line.is_label) and not line.ends_list
        following = self._next_entry(line) if line.is_rule or label else None
        if following is None:
            return False
        step = following.number - self.entries[-1].number
        return step == 1 if line.is_rule else step > 0 or not following.number_span

    def _next_entry(self, line: Line) -> Entry | None:
        """The entry with a target that begins in one of the next lines, unless the list ends before."""
        for below in line.below(_FAR):
            if entry := below.begin(self.family):
                return entry if below.target_near(self.family) else None
            if below.parts_lists and not below.is_rule:
                return None
        return None
