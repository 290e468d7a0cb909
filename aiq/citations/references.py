"""Finds a report's reference lists: under which title, with which entries, and where each ends.

Works on lines, because models write lists that Markdown sees as one paragraph.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from aiq.citations.entries import (
    UNNUMBERED,
    EntryStart,
    Family,
    Line,
    ListedEntry,
    entries_in_line,
    entry_start,
    title_strength,
)
from aiq.citations.markdown import Markdown

_CITES = re.compile(r"[\[【]\^?\d")
_FIRST_ENTRY_WITHIN = 8
"""Lines to look ahead from a title to the first entry."""
_INTRODUCTION = 3
"""Lines of text that may be between a heading and the first entry."""
_COLON_WITHIN = 40
"""Characters in which the title that shares a line with its first entry must end."""
_NEAR = 4
"""Lines in which what an entry names must begin."""
_FAR = 6
"""Lines to look ahead for what an entry lacks."""
_REMARK = 4
"""Lines to look ahead for the next entry, over what is said about this one."""


@dataclass(frozen=True, slots=True)
class ReferenceList:
    """A list `start:end` from its title (without one, its first entry) to its last entry."""

    start: int
    end: int
    entries: tuple[ListedEntry, ...]


def reference_lists(markdown: Markdown) -> tuple[ReferenceList, ...]:
    """Every list under a title and every run of footnotes; without any, a list in its title's line or without title.

    A list that names nothing to look up (a bibliography in prose) counts only if no other does,
    a list without numbers only if none has them.
    """
    reader = _ListReader(markdown)
    lists = list(reader.lists(reader.below_title))
    footnotes = reader.lists(lambda line: reader.footnotes(line, lists))
    lists = sorted([*lists, *footnotes], key=lambda found: found.start)
    lists = lists or list(reader.lists(reader.after_colon)) or reader.headless()
    lists = [found for found in lists if any(entry.names_target for entry in found.entries)] or lists
    return tuple([found for found in lists if found.entries[0].number_span] or lists)


_Read = tuple[int, list[ListedEntry]]
"""The last line read, and the entries found."""
_NOTHING: _Read = (-1, [])


class _ListReader:
    """The lines of a report, in which each kind of list has a method of its own that reads on from a line."""

    def __init__(self, markdown: Markdown) -> None:
        self.text = markdown.text
        self.all = [Line(markdown, number) for number in range(len(markdown.lines))]
        for fence in markdown.fences:
            first, last = map(markdown.line_at, fence)
            for line in self.all[first : last + 1]:
                line.fenced = True

    def below(self, line: Line, most: int) -> list[Line]:
        """The next lines with text after this one, of at most so many lines."""
        return [below for below in self.all[line.number + 1 : line.number + 1 + most] if below.bare]

    def target_near(self, line: Line, family: Family) -> bool:
        """Whether the entry that begins in this line has a target in its first lines."""
        if line.names_target:
            return True
        for below in self.below(line, _NEAR):
            beside = family not in UNNUMBERED or below.indent <= line.indent + 1
            if below.parts_lists or (beside and below.begins(family)):
                return False
            if below.names_target:
                return True
        return False

    def entries_from(self, first: int, family: Family, level: int | None = None) -> _Read:
        """Entries from line `first` on, and the number of the last line that is theirs.

        `level` is that of the heading above, 0 for another title; None (no title) allows no text between entries.
        """
        follower = _Follower(self, family, level)
        for line in self.all[first:]:
            if line.bare and not follower.takes(line):
                break
        return follower.last, _numbered(follower.entries, family)

    def lists(self, read: Callable[[Line], _Read]) -> Iterator[ReferenceList]:
        """The lists that a method finds, going through the lines."""
        number = 0
        while number < len(self.all):
            line = self.all[number]
            last, entries = read(line)
            if entries:
                yield ReferenceList(line.start, entries[-1].end, tuple(entries))
            number = max(last, number) + 1

    def headless(self) -> list[ReferenceList]:
        """A run of `[1] Title - URL` lines, numbered upwards, with nothing but blanks after it."""
        first = None
        for line in reversed(self.all):
            if not line.bare:
                continue
            start = line.begins("bracket") if not line.fenced and line.level is None else None
            if start is None or self.text[start.mark[0]] in "(（" or not line.names_target:
                break
            first = line
        entries = self.entries_from(first.number, "bracket")[1] if first else []
        numbers = [entry.number for entry in entries]
        upwards = len(entries) > 1 and numbers == sorted(set(numbers))
        return [ReferenceList(entries[0].start, entries[-1].end, tuple(entries))] if upwards else []

    def footnotes(self, line: Line, taken: Sequence[ReferenceList]) -> _Read:
        """A run of `[^1]: ...` or `[1]: https://...`, wherever it is outside the lists found."""
        before = bisect_right(taken, line.start, key=lambda found: found.start) - 1
        start = line.begins("bracket") if not line.fenced else None
        if start is None or (before >= 0 and line.start < taken[before].end):
            return _NOTHING
        mark = self.text[slice(*start.mark)]
        if not mark.endswith((":", "：")) or not ("^" in mark or line.names_target):
            return _NOTHING
        last, entries = self.entries_from(line.number, "bracket")
        return last, list(takewhile(lambda entry: self.text[entry.body - 1] in ":：", entries))

    def after_colon(self, line: Line) -> _Read:
        """`Sources: [1] Title - URL`, where the first entry is in the title's line."""
        text = self.text
        colon = next((at for at, sign in enumerate(line.words[:_COLON_WITHIN], line.start) if sign in ":："), None)
        if colon is None or line.fenced or title_strength(text[line.start : colon]) != "strong":
            return _NOTHING
        begin = colon + 1
        while begin < line.end and text[begin] in "*_ \t":
            begin += 1
        start = entry_start(text, begin, line.end, "bracket")
        if start is None or not line.names_target:
            return _NOTHING
        entries = entries_in_line(text, start, begin, line.end)
        following = next((below.begins("bracket") for below in self.all[line.number + 1 :][:1]), None)
        if following is None or following.number <= entries[-1].number:
            return line.number, entries
        last, more = self.entries_from(line.number + 1, "bracket")
        return last, entries + more

    def below_title(self, line: Line) -> _Read:
        """The list that a title in this line opens; no entries if it opens none."""
        first = self._first_entry(line) if line.title else None
        if first is None:
            return _NOTHING
        last, entries = self.entries_from(*first, line.level or 0)
        if line.title == "weak" and not any(entry.names_target for entry in entries):
            return _NOTHING
        return last, entries

    def _first_entry(self, title: Line) -> tuple[int, Family] | None:
        """Line and form of the first entry below a title: at once, or below a heading's introduction."""
        formal = title.level is not None or title.is_label or "<" in title.words
        most = _INTRODUCTION if formal and title.title == "strong" else 0
        passed = 0
        for line in self.below(title, _FIRST_ENTRY_WITHIN):
            if line.number == title.number + 1 and not line.words.strip(" \t=-"):
                continue  # underlines the title
            if line.ends_list:
                return None
            family = self._family(line, strong=title.title == "strong", formal=formal)
            if family and (not passed or self.target_near(line, family)):
                return line.number, family
            if line.level is not None and line.level <= (6 if title.level is None else title.level):
                return None
            passed += not line.bare.startswith("|")
            if passed > most:
                return None
        return None

    def _family(self, line: Line, *, strong: bool, formal: bool) -> Family | None:
        """The form in which an entry begins here; forms without brackets or points must name a target at once."""
        start = line.begins()
        if start is not None and start.family in ("table", "bracket", "ordered", "circled"):
            return start.family
        if start is not None and self.target_near(line, start.family):
            return start.family if strong or start.family not in ("spaced", "row") else None
        if start is not None and start.family == "titled":
            return None
        return "plain" if strong and formal and line.names_target and line.level is None else None


class _Follower:
    """A list as far as it has been read; asked line by line whether it goes on."""

    def __init__(self, lines: _ListReader, family: Family, level: int | None) -> None:
        self.entries: list[ListedEntry] = []
        self.last = -1
        self._lines = lines
        self._family = family
        self._level = level
        self._indent = 0

    def takes(self, line: Line) -> bool:
        """Whether this line belongs to the list; if so it is added."""
        if line.fenced:
            return False
        start = line.begins(self._family)
        if start is not None and self._begins_entry(start, line):
            if not self.entries:
                self._indent = line.indent
            elif self._restarts(start, line):
                return False
            self.entries += self._entries_in(start, line)
        elif not self.entries:
            return False
        elif self._continues(line) or self._goes_on_below(line):
            named = self.entries[-1].names_target or line.names_target
            self.entries[-1] = replace(self.entries[-1], end=line.end, names_target=named)
        else:
            return self._labels_more(line)
        self.last = line.number
        return True

    def _begins_entry(self, start: EntryStart, line: Line) -> bool:
        """Items of a list within an entry are none; lines without a mark are entries if they name a target."""
        if not self.entries:
            return True
        if self._family == "plain":
            more = line.number == self.last + 1 and line.goes_on
            return line.names_target and not more and not line.parts_lists
        if self._family == "spaced" and start.number <= self.entries[-1].number:
            return False
        return self._family not in ("ordered", "bullet") or line.indent <= self._indent + 1

    def _restarts(self, start: EntryStart, line: Line) -> bool:
        """Whether a numbered line after a blank belongs to another list: `1. Method one` after the sources."""
        if start.number_span is None or line.number == self.last + 1:
            return False
        return start.number <= self.entries[-1].number and not self._lines.target_near(line, self._family)

    def _entries_in(self, start: EntryStart, line: Line) -> list[ListedEntry]:
        """The entries of a line; a number in it that the next entry's line has again was only cited."""
        found = entries_in_line(self._lines.text, start, line.start, line.end)
        if len(found) == 1:
            return found
        following = (below.begins(self._family) for below in self._lines.below(line, _FAR))
        after = next((below.number for below in following if below is not None), 0)
        again = next((at for at, entry in enumerate(found) if at and entry.number == after), len(found))
        return [*found[: again - 1], replace(found[again - 1], end=line.end)] if after else found

    def _continues(self, line: Line) -> bool:
        """Whether a line that starts no entry is more of the one above it."""
        if line.parts_lists:
            return False
        indented = line.words.startswith(("  ", "\t"))
        adjacent = line.number == self.last + 1
        if self.entries[-1].names_target:
            return indented or (adjacent and line.goes_on)
        return self._target_ahead(line) if adjacent else line.names_target and (indented or line.goes_on)

    def _target_ahead(self, line: Line) -> bool:
        """Whether this line or one right below it, before the next entry, has what the entry lacks."""
        for ahead in self._lines.all[line.number : line.number + _FAR]:
            if not ahead.bare or ahead.level is not None or ahead.begins("bracket"):
                return False
            if ahead.names_target:
                return True
        return False

    def _goes_on_below(self, line: Line) -> bool:
        """Whether this is a remark between two entries: the one with the next number follows soon."""
        if self._family in UNNUMBERED or self._level is None or _CITES.search(line.words):
            return False
        for ahead in [line, *self._lines.below(line, _REMARK)]:
            deeper = self._family == "titled" and ahead.begins("titled")
            if ahead.ends_list or (ahead.level is not None and not deeper):
                return False
            start = ahead.begins(self._family)
            if start is not None and ahead is not line:
                follows = start.number == self.entries[-1].number + 1
                return follows and self._lines.target_near(ahead, self._family)
        return False

    def _labels_more(self, line: Line) -> bool:
        """Whether a line parts the list or names a further part of it, because entries go on below it."""
        if line.ends_list and not line.is_rule:
            return False
        deeper = 0 < (self._level or 0) < (line.level or 0)
        if not (deeper or line.is_rule) and (line.level is not None or not line.is_label):
            return False
        below = next((below for below in self._lines.below(line, _FAR) if not below.is_rule), None)
        start = below.begins(self._family) if below is not None else None
        if below is None or start is None or not self._lines.target_near(below, self._family):
            return False
        if line.is_rule:
            return start.number_span is not None and start.number == self.entries[-1].number + 1
        return start.number_span is None or start.number > self.entries[-1].number


def _numbered(entries: list[ListedEntry], family: Family) -> list[ListedEntry]:
    """Bullets, and Markdown lists that say `1.` throughout, count by position."""
    same = family == "ordered" and len(entries) > 1 and len({entry.number for entry in entries}) == 1
    if family not in UNNUMBERED and not same:
        return entries
    return [replace(entry, number=n, number_span=None) for n, entry in enumerate(entries, 1)]
