"""A report's lines as its reference lists see them; each fact about a line is found once.

What the forms of an entry are stands in `aiq.citations.entry_lines`.
"""

from functools import cached_property

from aiq.citations.entry_lines import UNNUMBERED, EntryStart, Family, entry_start, is_rule, target_in
from aiq.citations.markdown import Markdown
from aiq.citations.titles import Strength, title_strength

_NEAR = 4
"""Lines in which what an entry names must begin."""


class ListLines:
    """Lines by number, with what Markdown says of them."""

    def __init__(self, markdown: Markdown) -> None:
        self.text = markdown.text
        self.spans = markdown.lines
        self.levels = {heading.first: heading.level for heading in markdown.headings}
        self.fenced: set[int] = set()
        for start, end in markdown.fences:
            self.fenced.update(range(markdown.line_at(start), markdown.line_at(end) + 1))
        self._targets: dict[int, bool] = {}
        self._starts: dict[tuple[int, Family | None], EntryStart | None] = {}
        self._titles: dict[int, Strength | None] = {}

    def __len__(self) -> int:
        return len(self.spans)

    @cached_property
    def _blank(self) -> list[bool]:
        return [not self.text[start:end].strip(" \t>") for start, end in self.spans]

    def line(self, number: int) -> str:
        """The line without its break."""
        return self.text[slice(*self.spans[number])]

    def blank(self, number: int) -> bool:
        """Whether nothing stands in the line, but for marks of quotation."""
        return self._blank[number]

    def indent(self, number: int) -> int:
        """Blanks and marks of quotation before the line's text."""
        line = self.line(number)
        return len(line) - len(line.lstrip(" \t>"))

    def target(self, number: int) -> bool:
        """Whether the line has something to look up."""
        if number not in self._targets:
            self._targets[number] = target_in(self.text, *self.spans[number]) is not None
        return self._targets[number]

    def title(self, number: int) -> Strength | None:
        """Whether the line is the title of a list; in code it is none."""
        if number not in self._titles:
            self._titles[number] = None if number in self.fenced else title_strength(self.line(number))
        return self._titles[number]

    def start(self, number: int, family: Family | None = None) -> EntryStart | None:
        """The line as the first of an entry, of this form or of any."""
        if (number, family) not in self._starts:
            self._starts[number, family] = entry_start(self.text, *self.spans[number], family)
        return self._starts[number, family]

    def ends_list(self, number: int) -> bool:
        """Whether nothing of a list above can stand here: code, a rule, another list's title."""
        return number in self.fenced or is_rule(self.line(number)) or self.title(number) == "strong"

    def below(self, number: int, most: int) -> list[int]:
        """The next lines with text behind this one, of at most so many lines."""
        return [n for n in range(number + 1, min(number + 1 + most, len(self))) if not self.blank(n)]

    def target_near(self, number: int, family: Family) -> bool:
        """Whether the entry that begins in this line has a target in its first lines."""
        if self.target(number):
            return True
        for below in self.below(number, _NEAR):
            if below in self.levels or self.ends_list(below):
                return False
            if self.start(below, family) and (
                family not in UNNUMBERED or self.indent(below) <= self.indent(number) + 1
            ):
                return False
            if self.target(below):
                return True
        return False
