"""Finds a report's reference lists: title, entries with their numbers, and where the list ends.

Works on lines, because models write lists that Markdown sees as one paragraph. What stands in an
entry's text is read by `aiq.citations.parsing`, how far a list goes by `aiq.citations.list_entries`.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from aiq.citations.entry_lines import Family, entry_start, is_label, target_in
from aiq.citations.line_entries import ListedEntry, entries_in_line
from aiq.citations.list_entries import entries_from
from aiq.citations.list_lines import ListLines
from aiq.citations.markdown import Markdown
from aiq.citations.titles import title_strength

_FAR = 8
"""Lines to look ahead from a title to the first entry."""
_INTRODUCTION = 3
"""Lines of text that may stand between a heading and the first entry."""
_COLON_WITHIN = 40


@dataclass(frozen=True, slots=True)
class ReferenceList:
    """A list `start:end` from its title (or first entry, where it has none) to its last entry."""

    start: int
    end: int
    entries: tuple[ListedEntry, ...]


def reference_lists(markdown: Markdown) -> tuple[ReferenceList, ...]:
    """Every list under a title and every run of footnotes; without any, a list in its title's line or without title.

    A list that names nothing to look up (a bibliography in prose) counts only where no other does,
    a list without numbers only where none has them.
    """
    reader = _ListReader(ListLines(markdown))
    lists = list(reader.titled())
    lists = sorted([*lists, *reader.footnotes(lists)], key=lambda found: found.start)
    lists = lists or list(reader.behind_colon()) or list(reader.headless())
    lists = [found for found in lists if any(entry.names_target for entry in found.entries)] or lists
    return tuple([found for found in lists if found.entries[0].number_span] or lists)


class _ListReader:
    def __init__(self, lines: ListLines) -> None:
        self._lines = lines

    def titled(self) -> Iterator[ReferenceList]:
        number = 0
        while number < len(self._lines):
            last, entries = self._below_title(number)
            if entries:
                yield ReferenceList(self._lines.spans[number][0], entries[-1].end, tuple(entries))
            number = max(last, number) + 1

    def headless(self) -> Iterator[ReferenceList]:
        """A run of `[1] Title - URL` lines, numbered upwards, with nothing but blanks behind it."""
        lines = self._lines
        first = len(lines)
        for number in range(len(lines) - 1, -1, -1):
            if lines.blank(number):
                continue
            start = lines.start(number, "bracket") if number not in lines.fenced | lines.levels.keys() else None
            if start is None or lines.text[start.mark[0]] in "(（" or not lines.target(number):
                break
            first = number
        entries = entries_from(lines, first, "bracket")[1] if first < len(lines) else []
        numbers = [entry.number for entry in entries]
        if len(entries) > 1 and numbers == sorted(set(numbers)):
            yield ReferenceList(entries[0].start, entries[-1].end, tuple(entries))

    def footnotes(self, taken: Sequence[ReferenceList]) -> Iterator[ReferenceList]:
        """Runs of `[^1]: ...` and `[1]: https://...`, wherever they stand outside the lists found."""
        lines, number = self._lines, 0
        begins = [found.start for found in taken]
        while number < len(lines):
            start, last = lines.spans[number][0], number
            list_before = bisect_right(begins, start) - 1
            free = list_before < 0 or start >= taken[list_before].end
            if free and self._is_definition(number):
                last, entries = entries_from(lines, number, "bracket")
                entries = list(takewhile(lambda entry: lines.text[entry.body - 1] in ":：", entries))
                yield ReferenceList(start, entries[-1].end, tuple(entries))
            number = max(last, number) + 1

    def _is_definition(self, number: int) -> bool:
        if number in self._lines.fenced or not (start := self._lines.start(number, "bracket")):
            return False
        mark = self._lines.text[slice(*start.mark)]
        return mark.endswith((":", "：")) and ("^" in mark or self._lines.target(number))

    def behind_colon(self) -> Iterator[ReferenceList]:
        """`Sources: [1] Title - URL`, where the first entry stands in the title's line."""
        lines, number = self._lines, 0
        while number < len(lines):
            last, entries = self._behind_colon(number)
            if entries:
                yield ReferenceList(lines.spans[number][0], entries[-1].end, tuple(entries))
            number = max(last, number) + 1

    def _behind_colon(self, number: int) -> tuple[int, list[ListedEntry]]:
        lines = self._lines
        first, end = lines.spans[number]
        colon = next((at for at in range(first, min(first + _COLON_WITHIN, end)) if lines.text[at] in ":："), None)
        if colon is None or number in lines.fenced or title_strength(lines.text[first:colon]) != "strong":
            return number, []
        begin = colon + 1
        while begin < end and lines.text[begin] in "*_ \t":
            begin += 1
        start = entry_start(lines.text, begin, end, "bracket")
        if start is None or not lines.target(number):
            return number, []
        entries = entries_in_line(lines.text, start, (begin, end))
        following = lines.start(number + 1, "bracket") if number + 1 < len(lines) else None
        if following is None or following.number <= entries[-1].number:
            return number, entries
        last, more = entries_from(lines, number + 1, "bracket")
        return last, entries + more

    def _below_title(self, title: int) -> tuple[int, list[ListedEntry]]:
        """The list that a title in this line opens, and its last line; no entries where it opens none."""
        strength = self._lines.title(title)
        first = self._first_entry(title, strong=strength == "strong") if strength else None
        if first is None:
            return title, []
        last, entries = entries_from(self._lines, *first, self._lines.levels.get(title, 0))
        if strength == "weak" and not any(entry.names_target for entry in entries):
            return title, []
        return last, entries

    def _first_entry(self, title: int, *, strong: bool) -> tuple[int, Family] | None:
        """Line and form of the first entry below a title: at once, or below a heading's introduction."""
        lines = self._lines
        formal = title in lines.levels or is_label(lines.line(title)) or "<" in lines.line(title)
        passed = 0
        for number in lines.below(title, _FAR):
            if number == title + 1 and not lines.line(number).strip(" \t=-"):
                continue  # underlines the title
            if lines.ends_list(number):
                return None
            family = self._family(number, strong=strong, formal=formal)
            if family and (not passed or lines.target_near(number, family)):
                return number, family
            level = lines.levels.get(number)
            if level is not None and level <= lines.levels.get(title, 6):
                return None
            row = lines.line(number).lstrip(" \t>").startswith("|")
            passed += not row
            if passed > (_INTRODUCTION if formal and strong else 0):
                return None
        return None

    def _family(self, number: int, *, strong: bool, formal: bool) -> Family | None:
        """The form in which an entry begins here; forms without brackets or points must name a target at once."""
        start = self._lines.start(number)
        if start is not None and start.family in ("table", "bracket", "ordered", "circled", "titled"):
            return start.family if start.family != "titled" or self._lines.target_near(number, "titled") else None
        if start is not None and self._lines.target_near(number, start.family):
            return start.family if strong or start.family not in ("spaced", "row") else None
        target = target_in(self._lines.text, *self._lines.spans[number]) if strong and formal else None
        return "plain" if target is not None and number not in self._lines.levels else None
