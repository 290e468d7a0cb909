"""Finds a report's reference lists: heading, entries with their numbers, and where the list ends.

Works on lines, because models write lists that Markdown sees as one paragraph. What stands in an
entry's text is read by `aiq.citations.parsing`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from aiq.citations.entry_lines import (
    EntryStart,
    Family,
    entry_start,
    has_target,
    is_afterthought,
    is_heading,
    is_label,
    is_rule,
    is_url_rest,
    is_weak_heading,
)
from aiq.citations.markdown import Markdown

_NEXT_IN_LINE = re.compile(r"[ \t;；](?=\\?\[\^?(\d{1,3})\\?\][ \t:])")
_FAR = 6
"""Lines to look ahead from a heading to its first entry."""


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """One entry `start:end`: whole lines, or a stretch of a line that holds several.

    `number_span` is where its number stands, None where the list does not number itself; `body` is
    where the text behind the number begins.
    """

    number: int
    start: int
    end: int
    body: int
    number_span: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class ReferenceList:
    """A list `start:end` from its heading (or first entry, where it has none) to its last entry."""

    start: int
    end: int
    entries: tuple[ListedEntry, ...]


def reference_lists(markdown: Markdown) -> tuple[ReferenceList, ...]:
    """Every list under a heading and every run of footnotes; without any, a list in one line or without heading.

    A list that names nothing to look up (a bibliography in prose) counts only where no other does,
    a list without numbers only where none has them.
    """
    reader = _ListReader(markdown)
    lists = list(reader.headed())
    lists += reader.footnotes([(found.start, found.end) for found in lists])
    lists = sorted(lists, key=lambda found: found.start) or list(reader.in_one_line()) or list(reader.headless())
    lists = [found for found in lists if has_target(markdown.text[found.start : found.end])] or lists
    return tuple([found for found in lists if found.entries[0].number_span] or lists)


class _ListReader:
    def __init__(self, markdown: Markdown) -> None:
        self.text = markdown.text
        self.lines = markdown.lines
        self.levels = {heading.first: heading.level for heading in markdown.headings}
        self.fenced: set[int] = set()
        for start, end in markdown.fences:
            self.fenced.update(range(markdown.line_at(start), markdown.line_at(end) + 1))

    def headed(self) -> Iterator[ReferenceList]:
        number = 0
        while number < len(self.lines):
            last, entries = self._list_at(number)
            if entries:
                yield ReferenceList(self.lines[number][0], entries[-1].end, tuple(entries))
            number = max(last, number) + 1

    def headless(self) -> Iterator[ReferenceList]:
        """A run of `[1] Title - URL` lines, numbered upwards, with nothing but blanks behind it."""
        last = next((n for n in range(len(self.lines) - 1, -1, -1) if not self._blank(n)), -1)
        first = last + 1
        for number in range(last, -1, -1):
            if number in self.fenced or number in self.levels:
                break
            if not self._blank(number):
                start = self._entry(number, "bracket")
                if start is None or self.text[start.mark[0]] in "(（" or not has_target(self._line(number)):
                    break
                first = number
        entries = self._entries(first, "bracket", 0)[1]
        numbers = [entry.number for entry in entries]
        if len(entries) > 1 and numbers == sorted(set(numbers)):
            yield ReferenceList(entries[0].start, entries[-1].end, tuple(entries))

    def footnotes(self, taken: Sequence[tuple[int, int]]) -> Iterator[ReferenceList]:
        """Runs of `[^1]: ...` and `[1]: https://...`, wherever they stand outside the lists found."""
        number = 0
        while number < len(self.lines):
            start, last = self.lines[number][0], number
            if self._is_definition(number) and not any(first <= start < end for first, end in taken):
                last, entries = self._entries(number, "bracket", 0)
                entries = list(takewhile(lambda entry: self.text[entry.body - 1] in ":：", entries))
                yield ReferenceList(start, entries[-1].end, tuple(entries))
            number = max(last, number) + 1

    def _is_definition(self, number: int) -> bool:
        if number in self.fenced or not (start := self._entry(number, "bracket")):
            return False
        mark = self.text[slice(*start.mark)]
        return mark.endswith((":", "：")) and ("^" in mark or has_target(self._line(number)))

    def _line(self, number: int) -> str:
        return self.text[slice(*self.lines[number])]

    def _blank(self, number: int) -> bool:
        return not self._line(number).strip(" \t>")

    def _entry(self, number: int, family: Family | None = None) -> EntryStart | None:
        return entry_start(self.text, *self.lines[number], family)

    def _list_at(self, heading: int) -> tuple[int, list[ListedEntry]]:
        """The list that a heading in this line opens, and its last line; no entries where it opens none."""
        line = self._line(heading)
        weak = is_weak_heading(line)
        first = self._first_entry_line(heading) if heading not in self.fenced and (weak or is_heading(line)) else None
        start = self._entry(first) if first is not None else None
        if first is None or start is None or (start.family == "bullet" and not self._target_near(first)):
            return heading, []
        last, entries = self._entries(first, start.family, self.levels.get(heading, 0))
        if weak and not any(has_target(self.text[entry.start : entry.end]) for entry in entries):
            return heading, []
        return last, _numbered(entries, start.family)

    def in_one_line(self) -> Iterator[ReferenceList]:
        """`Sources: [1] Title - URL` in one line."""
        for number, (first, end) in enumerate(self.lines):
            colon = next((at for at in range(first, min(first + 40, end)) if self.text[at] in ":："), None)
            if colon is None or number in self.fenced or not is_heading(self.text[first:colon]):
                continue
            start = entry_start(self.text, colon + 1, end, "bracket")
            if start is not None and has_target(self._line(number)):
                entries = self._split(start, (colon + 1, end))
                yield ReferenceList(first, end, tuple(entries))

    def _first_entry_line(self, heading: int) -> int | None:
        """The next line with text; a setext underline and a table's head are no entries."""
        ahead = [n for n in range(heading + 1, min(heading + 1 + _FAR, len(self.lines))) if not self._blank(n)]
        if ahead and ahead[0] == heading + 1 and not self._line(ahead[0]).strip(" \t=-"):
            ahead.pop(0)
        if (
            len(ahead) > 2
            and self._line(ahead[0]).lstrip(" \t>").startswith("|")
            and not self._entry(ahead[0], "table")
        ):
            del ahead[:2]
        return ahead[0] if ahead and ahead[0] not in self.fenced else None

    def _target_near(self, number: int) -> bool:
        return has_target("\n".join(self._line(n) for n in range(number, min(number + 2, len(self.lines)))))

    def _entries(self, first: int, family: Family, level: int) -> tuple[int, list[ListedEntry]]:
        """Entries from line `first` on, and the last line that belongs to them."""
        entries: list[ListedEntry] = []
        last, indent = first - 1, 0
        for number in range(first, len(self.lines)):
            if number in self.fenced:
                break
            if self._blank(number):
                continue
            start = self._entry(number, family)
            nested = start is not None and family in ("ordered", "bullet") and self._indent(number) > indent + 1
            if start is not None and not (entries and nested):
                if entries and number > last + 1 and self._restarts(start, entries[-1], number):
                    break
                indent = indent if entries else self._indent(number)
                entries += self._split(start, self.lines[number])
            elif entries and self._continues(number, last, entries[-1]):
                entries[-1] = replace(entries[-1], end=self.lines[number][1])
            elif entries and self._labels_more(number, family, level, entries[-1]):
                continue
            else:
                break
            last = number
        return last, entries

    def _indent(self, number: int) -> int:
        line = self._line(number)
        return len(line) - len(line.lstrip(" \t>"))

    def _restarts(self, start: EntryStart, before: ListedEntry, number: int) -> bool:
        """Whether a numbered line behind a blank belongs to another list: `1. Method one` after the sources."""
        return start.number_span is not None and start.number <= before.number and not self._target_near(number)

    def _split(self, start: EntryStart, line: tuple[int, int]) -> list[ListedEntry]:
        """The entries of one line: `[1] A - url [2] B - url` holds two."""
        found = [ListedEntry(start.number, line[0], line[1], start.mark[1], start.number_span)]
        if start.family != "bracket":
            return found
        for match in _NEXT_IN_LINE.finditer(self.text, start.mark[1], line[1]):
            current = found[-1]
            if int(match[1]) > current.number and has_target(self.text[current.body : match.start()]):
                found[-1] = replace(current, end=match.start())
                body = self.text.index("]", match.end(1)) + 1
                found.append(ListedEntry(int(match[1]), match.end(), line[1], body, match.span(1)))
        return found

    def _continues(self, number: int, last: int, entry: ListedEntry) -> bool:
        """Whether a line that starts no entry is more of the one above it."""
        line = self._line(number)
        if number in self.levels or is_rule(line) or is_heading(line):
            return False
        indented = line.startswith(("  ", "\t"))
        if has_target(self.text[entry.body : entry.end]):
            adjacent = number == last + 1
            return indented or (adjacent and (is_afterthought(line) or is_url_rest(line)))
        if number > last + 1:
            return has_target(line) and (indented or is_afterthought(line) or is_url_rest(line))
        return self._target_ahead(number)

    def _target_ahead(self, number: int) -> bool:
        """Whether this line or one right below it, before the next entry, has what the entry lacks."""
        for ahead in range(number, min(number + _FAR, len(self.lines))):
            if self._blank(ahead) or ahead in self.levels or self._entry(ahead, "bracket"):
                return False
            if has_target(self._line(ahead)):
                return True
        return False

    def _labels_more(self, number: int, family: Family, level: int, before: ListedEntry) -> bool:
        """Whether a line names a further part of the same list, because entries go on below it."""
        deeper = 0 < level < self.levels.get(number, 0)
        if not deeper and (number in self.levels or not is_label(self._line(number))):
            return False
        below = next((n for n in range(number + 1, min(number + _FAR, len(self.lines))) if not self._blank(n)), None)
        start = self._entry(below, family) if below is not None else None
        if below is None or start is None or not self._target_near(below):
            return False
        return start.number_span is None or start.number > before.number


def _numbered(entries: list[ListedEntry], family: Family) -> list[ListedEntry]:
    """Bullets, and Markdown lists that say `1.` throughout, count by position."""
    same = family == "ordered" and len(entries) > 1 and len({entry.number for entry in entries}) == 1
    if family != "bullet" and not same:
        return entries
    return [replace(entry, number=n, number_span=None) for n, entry in enumerate(entries, 1)]
