"""A report without its reference lists: what a reader of the content reads."""

import re
from collections.abc import Iterable
from typing import Final

from aiq.citations.parsing import ParsedReport, parse_report

_RULE: Final = re.compile(r"(?:\s*\n[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*)+\Z")
_TAIL: Final = 200  # characters at the end of the prose in which a rule above the list is looked for


def without_references(text: str) -> str:
    """The report without its reference lists; marks in the text stay."""
    return split_references(text)[0]


def split_references(text: str) -> tuple[str, str]:
    """The report without its reference lists, and the lists."""
    parsed = parse_report(text)
    lists = lists_of(parsed)
    body = cut(parsed.text, ((found.start, found.end, "") for found in parsed.lists))
    return trimmed(body) if lists else body.strip(), lists


def lists_of(parsed: ParsedReport) -> str:
    """The entries of all reference lists, as written."""
    return "\n".join(parsed.text[found.entries[0].start : found.entries[-1].end].strip() for found in parsed.lists)


def cut(text: str, replaced: Iterable[tuple[int, int, str]]) -> str:
    """The text with each `start:end` replaced; a piece that overlaps an earlier one is passed over."""
    pieces, at = [], 0
    for start, end, kept in sorted(replaced):
        if start >= at:
            pieces += [text[at:start], kept]
            at = end
    return "".join([*pieces, text[at:]])


def trimmed(text: str) -> str:
    """Without blanks around it and without the rule that stood above the list."""
    text = text.strip()
    return text[:-_TAIL] + _RULE.sub("", text[-_TAIL:], count=1)
