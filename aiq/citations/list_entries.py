"""Follows a reference list from its first entry: which lines are entries, which are more of one, and where it ends."""

import re
from dataclasses import replace

from aiq.citations.entry_lines import (
    UNNUMBERED,
    EntryStart,
    Family,
    is_afterthought,
    is_label,
    is_rule,
    is_url_rest,
)
from aiq.citations.line_entries import ListedEntry, entries_in_line
from aiq.citations.list_lines import ListLines

_CITES = re.compile(r"[\[【]\^?\d")
_FAR = 6
"""Lines to look ahead for what an entry lacks."""
_REMARK = 4
"""Lines to look ahead for the next entry, over what is said about this one."""


def entries_from(
    lines: ListLines, first: int, family: Family, level: int | None = None
) -> tuple[int, list[ListedEntry]]:
    """Entries from line `first` on, and the last line that is theirs.

    `level` is that of the heading above, 0 for another title; without a title (None) no text may stand between entries.
    """
    follower = _Follower(lines, family, level)
    for number in range(first, len(lines)):
        if not lines.blank(number) and not follower.takes(number):
            break
    return follower.last, _numbered(follower.entries, family)


class _Follower:
    """A list as far as it has been read; asked line by line whether it goes on."""

    def __init__(self, lines: ListLines, family: Family, level: int | None) -> None:
        self.entries: list[ListedEntry] = []
        self.last = -1
        self._lines = lines
        self._family = family
        self._level = level
        self._indent = 0

    def takes(self, number: int) -> bool:
        """Whether this line belongs to the list; if so it is added."""
        if number in self._lines.fenced:
            return False
        start = self._lines.start(number, self._family)
        if start is not None and self._begins_entry(start, number):
            if not self.entries:
                self._indent = self._lines.indent(number)
            elif self._restarts(start, number):
                return False
            self.entries += self._entries_in(start, number)
        elif not self.entries:
            return False
        elif self._continues(number) or self._goes_on_below(number):
            target = self.entries[-1].names_target or self._lines.target(number)
            self.entries[-1] = replace(self.entries[-1], end=self._lines.spans[number][1], names_target=target)
        else:
            return self._labels_more(number)
        self.last = number
        return True

    def _begins_entry(self, start: EntryStart, number: int) -> bool:
        """Items of a list within an entry are none; lines without a mark are entries if they name a target."""
        if not self.entries:
            return True
        if self._family == "plain":
            adjacent = number == self.last + 1 and (
                is_afterthought(self._lines.line(number)) or is_url_rest(self._lines.line(number))
            )
            heading = number in self._lines.levels or self._lines.ends_list(number)
            return self._lines.target(number) and not adjacent and not heading
        if self._family == "spaced" and start.number <= self.entries[-1].number:
            return False
        nested = self._family in ("ordered", "bullet") and self._lines.indent(number) > self._indent + 1
        return not nested

    def _restarts(self, start: EntryStart, number: int) -> bool:
        """Whether a numbered line behind a blank belongs to another list: `1. Method one` after the sources."""
        if start.number_span is None or number == self.last + 1:
            return False
        return start.number <= self.entries[-1].number and not self._lines.target_near(number, self._family)

    def _entries_in(self, start: EntryStart, number: int) -> list[ListedEntry]:
        """The entries of a line; a number in it that the next entry's line has again was only cited."""
        line = self._lines.spans[number]
        found = entries_in_line(self._lines.text, start, line)
        if len(found) == 1:
            return found
        following = (self._lines.start(below, self._family) for below in self._lines.below(number, _FAR))
        after = next((below.number for below in following if below is not None), 0)
        again = next((at for at, entry in enumerate(found) if at and entry.number == after), len(found))
        return [*found[: again - 1], replace(found[again - 1], end=line[1])] if after else found

    def _continues(self, number: int) -> bool:
        """Whether a line that starts no entry is more of the one above it."""
        line = self._lines.line(number)
        if number in self._lines.levels or self._lines.ends_list(number):
            return False
        indented = line.startswith(("  ", "\t"))
        adjacent = number == self.last + 1
        if self.entries[-1].names_target:
            return indented or (adjacent and (is_afterthought(line) or is_url_rest(line)))
        if not adjacent:
            return self._lines.target(number) and (indented or is_afterthought(line) or is_url_rest(line))
        return self._target_ahead(number)

    def _target_ahead(self, number: int) -> bool:
        """Whether this line or one right below it, before the next entry, has what the entry lacks."""
        for ahead in range(number, min(number + _FAR, len(self._lines))):
            if self._lines.blank(ahead) or ahead in self._lines.levels or self._lines.start(ahead, "bracket"):
                return False
            if self._lines.target(ahead):
                return True
        return False

    def _goes_on_below(self, number: int) -> bool:
        """Whether this is a remark between two entries: the one with the next number follows soon."""
        if self._family in UNNUMBERED or self._level is None or _CITES.search(self._lines.line(number)):
            return False
        for ahead in [number, *self._lines.below(number, _REMARK)]:
            deeper = self._family == "titled" and self._lines.start(ahead, "titled")
            if (ahead in self._lines.levels and not deeper) or self._lines.ends_list(ahead):
                return False
            start = self._lines.start(ahead, self._family)
            if start is not None and ahead > number:
                follows = start.number == self.entries[-1].number + 1
                return follows and self._lines.target_near(ahead, self._family)
        return False

    def _labels_more(self, number: int) -> bool:
        """Whether a line parts the list or names a further part of it, because entries go on below it."""
        rule = is_rule(self._lines.line(number))
        if self._lines.ends_list(number) and not rule:
            return False
        deeper = 0 < (self._level or 0) < self._lines.levels.get(number, 0)
        if not (deeper or rule) and (number in self._lines.levels or not is_label(self._lines.line(number))):
            return False
        below = next((n for n in self._lines.below(number, _FAR) if not is_rule(self._lines.line(n))), None)
        start = self._lines.start(below, self._family) if below is not None else None
        if below is None or start is None or not self._lines.target_near(below, self._family):
            return False
        if rule:
            return start.number_span is not None and start.number == self.entries[-1].number + 1
        return start.number_span is None or start.number > self.entries[-1].number


def _numbered(entries: list[ListedEntry], family: Family) -> list[ListedEntry]:
    """Bullets, and Markdown lists that say `1.` throughout, count by position."""
    same = family == "ordered" and len(entries) > 1 and len({entry.number for entry in entries}) == 1
    if family not in UNNUMBERED and not same:
        return entries
    return [replace(entry, number=n, number_span=None) for n, entry in enumerate(entries, 1)]
