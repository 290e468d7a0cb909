"""Reads the entries that begin in one line of a reference list: mostly one, where line breaks were lost several."""

import re
from dataclasses import dataclass, replace

from aiq.citations.entry_lines import EntryStart, Family, target_in
from aiq.citations.numerals import CIRCLED, value

_TAGS = r"(?=(?:<[a-z][^<>\n]{0,200}>[ \t]*){0,4}"
_GAP = rf"(?:[ \t;；]|(?<=[,，。、.>)）])|(?=<)){_TAGS}"
_GAP_OF_FIGURES = rf"(?:[ \t;；]|(?<=[，。、>）])|(?=<)){_TAGS}"
"""Before a number without brackets, which in `https://e.com/v1.2. More` is the URL's."""
_NEXT_IN_LINE: dict[Family, re.Pattern[str]] = {
    "bracket": re.compile(
        rf"{_GAP}(?P<mark>(?:\*\*|__)?\\?(?P<style>[\[【［〔(（])\^?(?P<n>\d{{1,3}})\\?[\]】］〕)）](?:\*\*|__)?)"
        r"(?!\s*[.,;)\]。，；、）】]))",
        re.IGNORECASE,
    ),
    "ordered": re.compile(
        rf"{_GAP_OF_FIGURES}(?P<mark>(?P<n>\d{{1,3}})(?P<style>[.)](?=[ \t])|[、．])))", re.IGNORECASE
    ),
    "circled": re.compile(rf"{_GAP}(?P<mark>(?P<n>[{CIRCLED}])(?P<style>)))", re.IGNORECASE),
    "bullet": re.compile(r"(?=(?P<mark>(?P<style><li)\b[^<>]*>)(?P<n>))", re.IGNORECASE),
}
"""A further entry in a line of this form: what parts it from the one before, its mark, and how that is written."""


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """One entry `start:end`: whole lines, or a stretch of a line that holds several.

    `number_span` is where its number stands, None where the list does not number itself; `body` is
    where the text behind the number begins. `names_target` says whether there is something to look up in it.
    """

    number: int
    start: int
    end: int
    body: int
    number_span: tuple[int, int] | None
    names_target: bool = True


def entries_in_line(text: str, start: EntryStart, line: tuple[int, int]) -> list[ListedEntry]:
    """The entries of one line: `[1] A - url [2] B - url` holds two, `<li>A url</li><li>B url</li>` too."""
    begin = start.mark[1]
    line = _within_html_list(text, start, line)
    ahead = target_in(text, begin, line[1])
    found = [ListedEntry(start.number, line[0], line[1], begin, start.number_span, ahead is not None)]
    pattern = _NEXT_IN_LINE.get(start.family)
    if pattern is None or ahead is None:
        return found
    style, named = text[slice(*start.mark)].lower(), ahead  # `named` is what the entry at hand names
    for match in pattern.finditer(text, begin, line[1]):
        body = match.end("mark")
        if match.start() < named or match["style"].lower() not in style:
            continue
        if ahead is not None and ahead < body:
            ahead = target_in(text, body, line[1])
        if not _begins_next(text, match, found[-1].number, names_target=ahead is not None):
            continue
        found[-1] = replace(found[-1], end=match.start())
        span = match.span("n") if match["n"] else None
        number = value(match["n"]) if match["n"] else 0
        found.append(ListedEntry(number, match.end(), line[1], body, span, ahead is not None))
        if ahead is None:
            break
        named = ahead
    return found


def _begins_next(text: str, match: re.Match[str], current: int, *, names_target: bool) -> bool:
    """Whether a number within a line begins the next entry, and is not one that the entry at hand cites."""
    if not match["n"]:
        return names_target
    number = value(match["n"])
    if number == current + 1 and names_target:
        return True
    apart = match.end() > match.start() and text[match.end("mark") : match.end("mark") + 1] in (" ", "\t", ":")
    return match["style"] in ("[", "【", "［") and number > current and apart


def _within_html_list(text: str, start: EntryStart, line: tuple[int, int]) -> tuple[int, int]:
    """A line without the tags of the list around its items, which are of no entry."""
    first, end = line
    if "<li" not in text[slice(*start.mark)].lower():
        return line
    end = first + len(text[first:end].rstrip())
    closed = text.endswith(("</ol>", "</ul>"), first, end)
    return start.mark[0], end - len("</ol>") if closed else line[1]
