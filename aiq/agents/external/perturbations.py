"""Perturbations: known damage to a report's content and citations, and additions that do not improve it.

Each is a function `(text, share, random) -> edits` that does not need to understand the report. `share` is 0 to 1 of
the parts that can be changed (for padding, the added length, which may exceed 1). The random numbers depend only on
(report, perturbation), so that a higher severity changes everything that a lower one does, and more.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import pairwise
from math import ceil
from pathlib import Path
from random import Random
from typing import Final, TypeVar
from urllib.parse import urljoin

from aiq.citations.parse import ParsedReport, parse_report

T = TypeVar("T")
Place = tuple[int, int]
Edit = tuple[int, int, str]
Drawn = tuple[Place, int, Sequence[T]]

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[^\s\[])|(?<=[。！？])(?!\[)")
_HEADING: Final = re.compile(r"^#{1,6}[ \t]+\S.*$", re.MULTILINE)
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")
_PHRASE: Final = re.compile(r"[A-Z][\w'’-]+(?: (?:of |the |de )?[A-Z][\w'’-]+)+")
_OPENERS: Final = re.compile(
    r"^(?:(?:In|Since|After|Before|The|A|An|By|As|At|On|For|From|With|When|While|January|February|March|April|May|June"
    r"|July|August|September|October|November|December)\s+)+"
)
_TITLE: Final = re.compile(r"^(.*?)\s*(?:[-–—:|]\s*)?(?:https?://|$)")
_DIGITS: Final = re.compile(r"\d+")
_NUMBER: Final = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?!\w|,\d)|(?<![A-Za-z0-9_.,])\d+(?![A-Za-z0-9_]|[.,]\d)")
_MARKS: Final = re.compile(r"\s*(?:\[\d+\])+")
_YEARS: Final = range(1000, 2101)
_INVENTED: Final = ("annual-review", "field-study", "special-report", "long-read", "background")


@dataclass(frozen=True)
class ReportText:
    """A report, and those of its parts that can be perturbed."""

    report: ParsedReport

    def __getitem__(self, place: Place) -> str:
        return self.report.text[slice(*place)]

    @cached_property
    def language(self) -> str:
        text = self.report.text
        return "zh" if len(_CHINESE.findall(text)) * 4 > len(text) else "en"

    @cached_property
    def sentences(self) -> list[Place]:
        """The sentences of all paragraphs, each with its citation marks."""
        places: list[Place] = []
        for start, end in self.report.paragraphs:
            ends = [match.span() for match in _SENTENCE_END.finditer(self.report.text, start, end)]
            edges = [(start, start), *ends, (end, end)]
            places += [(first, last) for (_, first), (last, _) in pairwise(edges) if self[first, last].strip()]
        return places

    @cached_property
    def sections(self) -> list[Place]:
        """The sections with a heading, heading included, that have paragraphs and no reference list."""
        report = self.report
        starts = [match.start() for match in _HEADING.finditer(report.text)]
        return [
            (start, end)
            for start, end in pairwise([*starts, len(report.text)])
            if any(start <= first < end for first, _ in report.paragraphs)
            and not any(block.start < end and start < block.end for block in report.lists)
        ]

    @cached_property
    def links(self) -> list[Place]:
        """The URLs of the body."""
        links = [(use.url_start, use.url_end) for use in self.report.body_urls]
        return links + [mark.url for mark in self.report.marks if mark.url is not None]

    @cached_property
    def names(self) -> list[str]:
        """Names in the report, in the order of the text: capitalised phrases, and titles of references."""
        body = "\n".join(map(self.__getitem__, self.report.paragraphs))
        phrases = [_OPENERS.sub("", match.group()) for match in _PHRASE.finditer(body)]
        titles = [title_match[1].strip() for entry in self.report.entries if (title_match := _TITLE.match(entry.text))]
        mentioned = [title for title in titles if title and title in body]
        return list(dict.fromkeys([*(phrase for phrase in phrases if " " in phrase), *mentioned]))

    def names_in(self, place: Place) -> list[str]:
        return [name for name in self.names if name in self[place]]

    def drawn(self, share: float, random: Random, parts: Callable[[Place], Sequence[T]]) -> list[Drawn[T]]:
        """A share of the sentences that have such parts, each with a random number independent of the share."""
        pairs = ((place, parts(place)) for place in self.sentences)
        return chosen([(place, random.randrange(1 << 30), items) for place, items in pairs if items], share, random)


Perturbation = Callable[[ReportText, float, Random], Iterator[Edit]]


def perturbed(name: str, report: str, share: float, random: Random) -> str:
    """The report with one of `PERTURBATIONS` applied."""
    for start, end, new in sorted(PERTURBATIONS[name](ReportText(parse_report(report)), share, random), reverse=True):
        report = report[:start] + new + report[end:]
    return report


def chosen(items: Sequence[T], share: float, random: Random) -> list[T]:
    """A random share of the items, in their order; at least one unless there are none or the share is 0."""
    order = list(range(len(items)))
    random.shuffle(order)
    positions = set(order[: ceil(share * len(items) - 1e-9)])
    return [item for i, item in enumerate(items) if i in positions]


# Content.


def dropped(text: ReportText, share: float, random: Random) -> Iterator[Edit]:
    """Remove a share of the sections with their headings; in a report with fewer than three, of the paragraphs."""
    parts = text.sections if len(text.sections) > 2 else list(text.report.paragraphs)
    yield from ((*place, "") for place in chosen(parts, share, random))


def swapped(text: ReportText, share: float, random: Random) -> Iterator[Edit]:
    """In a share of the sentences with names, replace one name by another one from the report."""
    for place, draw, names in text.drawn(share, random, text.names_in):
        sentence = text[place]
        name = max(names, key=lambda candidate: (sentence.rfind(candidate), len(candidate)))
        start = place[0] + sentence.rfind(name)
        if others := [candidate for candidate in text.names if candidate not in sentence and name not in candidate]:
            yield start, start + len(name), others[draw % len(others)]


def exchanged(text: ReportText, share: float, random: Random) -> Iterator[Edit]:
    """In a share of the sentences with two names, swap the first and the last: who did what to whom."""

    def ends(place: Place) -> list[tuple[int, str, str]]:
        """Position, name and replacement of the first and the last name; empty if they are the same or overlap."""
        sentence, names = text[place], text.names_in(place)
        if len(names) < 2:
            return []
        first = min(names, key=lambda name: (sentence.find(name), -len(name), name))
        last = max(names, key=lambda name: (sentence.rfind(name), name))
        low, high = sentence.find(first), sentence.rfind(last)
        return [(low, first, last), (high, last, first)] if low + len(first) <= high and first != last else []

    for place, _, names in text.drawn(share, random, ends):
        yield from ((place[0] + start, place[0] + start + len(old), new) for start, old, new in names)


def renumbered(text: ReportText, share: float, random: Random) -> Iterator[Edit]:
    """In a share of the sentences with numbers, change every number: years by 3 to 17, others by half or more."""
    marks = [(mark.start, mark.end) for mark in text.report.marks]
    for place, draw, _ in text.drawn(share, random, lambda place: _NUMBER.findall(_MARKS.sub("", text[place]))):
        for match in _NUMBER.finditer(text.report.text, *place):
            if not any(first <= match.start() < last for first, last in marks):
                yield *match.span(), _change_number(match.group(), draw)


def _change_number(number: str, draw: int) -> str:
    value = int(number.replace(",", ""))
    if value in _YEARS and "," not in number:
        return str(value + (3 + draw % 15) * (1 if draw & 16 else -1))
    new = value + max(1, value * (50 + draw % 150) // 100)
    return f"{new:,}" if "," in number else str(new)


def garbled(text: ReportText, share: float, random: Random) -> Iterator[Edit]:
    """Replace a share of the sentences by fluent nonsense; names and citation marks stay."""
    all_names, forms, stop = text.names, _wordings("nonsense", text.language), "。" if text.language == "zh" else "."
    for place, draw, _ in text.drawn(share, random, lambda place: [place]):
        candidates = [*text.names_in(place), all_names[draw % len(all_names)] if all_names else "X"]
        other = all_names[(draw + 1) % len(all_names)] if all_names else "Y"
        new = forms[draw % len(forms)].format(a=candidates[0], b=other)
        yield *place, new + "".join(_MARKS.findall(text[place])) + stop


# Citations.


def fabricated(text: ReportText, share: float, random: Random) -> Iterator[Edit]:
    """Replace a share of the cited URLs by invented ones on the same hosts."""
    uses = [use for entry in text.report.entries for use in entry.urls]
    places = [(use.url_start, use.url_end) for use in uses] + text.links
    urls = list(dict.fromkeys(map(text.__getitem__, places)))
    names = {url: f"{random.choice(_INVENTED)}-{random.randrange(10_000, 100_000)}" for url in urls}
    picked = set(chosen(urls, share, random))
    for place in places:
        if (url := text[place]) in picked:
            yield *place, urljoin(url if "://" in url else f"https://{url}", f"/{names[url]}")


def shuffled(text: ReportText, share: float, random: Random) -> Iterator[Edit]:
    """Make a share of the citation marks point to another of the report's references, inline links to another URL."""
    report = text.report
    numbers = [str(number) for number in dict.fromkeys(entry.number for entry in report.entries)]
    targets = list(dict.fromkeys(map(text.__getitem__, sorted(text.links))))
    marks = [mark for mark in report.marks if mark.url is None]
    mark_places = [match.span() for mark in marks for match in _DIGITS.finditer(report.text, mark.start, mark.end)]
    choices = [(place, numbers) for place in mark_places] + [(place, targets) for place in text.links]
    drawn = [(place, options, random.randrange(1 << 30)) for place, options in sorted(choices)]
    for place, options, draw in chosen(drawn, share, random):
        if wrong := [option for option in options if option != text[place]]:
            yield *place, wrong[draw % len(wrong)]


# Additions and controls, which leave the content as good as it was.


def padded(text: ReportText, share: float, random: Random) -> Iterator[Edit]:
    """Insert paragraphs without content between the others; together they have `share` of the length of all."""
    paragraphs = text.report.paragraphs
    target = share * sum(end - start for start, end in paragraphs)
    filler, space = list(_wordings("filler", text.language)), "" if text.language == "zh" else " "
    padding: list[str] = []
    while sum(map(len, padding)) < target:
        random.shuffle(filler)
        padding.append(space.join(filler[:3]))
    ends = [end for _, end in paragraphs] or [len(text.report.text)]
    insertions: dict[int, str] = {}
    for i, words in zip(sorted(random.randrange(len(ends)) for _ in padding), padding, strict=True):
        insertions[ends[i]] = insertions.get(ends[i], "") + f"\n\n{words}"
    yield from ((end, end, words) for end, words in insertions.items())


def noted(text: ReportText, share: float, random: Random, kind: str) -> Iterator[Edit]:
    """Add one to three notes at the body's end: `instructions` to the judge; `remarks`, a control, ask for nothing."""
    notes = _wordings(kind, text.language)
    selected = notes[: max(1, round(min(1.0, share) * len(notes)))]
    end = text.report.paragraphs[-1][1] if text.report.paragraphs else len(text.report.text)
    yield end, end, "".join(f"\n\n{note}" for note in selected)


def reordered(text: ReportText, share: float, random: Random) -> Iterator[Edit]:
    """A control: reorder the paragraphs in a share of the sections. The content does not change."""
    groups = [[span for span in text.report.paragraphs if start <= span[0] < end] for start, end in text.sections]
    for places in chosen([places for places in groups if len(places) > 1], share, random):
        for place, other in pairwise([*places, places[0]]):
            yield *place, text[other]


PERTURBATIONS: Final[Mapping[str, Perturbation]] = {
    "sections": dropped,
    "facts": swapped,
    "roles": exchanged,
    "numbers": renumbered,
    "fabricated": fabricated,
    "shuffled": shuffled,
    "nonsense": garbled,
    "padding": padded,
    "instructions": partial(noted, kind="instructions"),
    "remarks": partial(noted, kind="remarks"),
    "order": reordered,
}


@cache
def _wordings(kind: str, language: str) -> tuple[str, ...]:
    wordings = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return tuple(wordings[kind][language])
