"""Judges answers to aggregate and exhaustive questions over a collection against exact truth; asks no model.

`events.numbers`: the share of the numbers asked for that the report states beside their labels. `events.precision`: the
share of the events named (by title or id) that were asked for. `events.recall`: the share of the events asked for that
are named. `events.coverage`: the share of everything asked for, numbers and events.

If a sentence has as many labels as numbers, alternating or all of one kind first, they are paired in order; else a
number belongs to the nearest label, measured in words, with punctuation and conjunctions weighing more. In a table it
belongs to the label of its row, else of its column. A sentence without a label takes the label of the text above it. A
number is right if it is the true one rounded to the digits given. If only a single number is asked for, it needs no
label. Case, emphasis and thousands separators are ignored, and the reference list does not count. Negations are not
understood, and a right statement counts whatever else is stated.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from pydantic import Field, JsonValue

from aiq.citations.passages import without_citations
from aiq.core.files import Files, read_rows, resolve
from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Expected, NeededNumber, Sample
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.judges.base import Found, Judge, scores_of
from aiq.judges.world import normal, passages

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_PERCENT = re.compile(r"%|\bper ?cent\b|\bshares?\b")
_NUMBER = re.compile(rf"(?<![\w.])(?:\d+(?:\.\d+)?|{'|'.join(_WORDS)})(?!\w)(\s*(?:%|per ?cent\b))?")
_COSTS = ((re.compile(r"[,;]"), 3), (re.compile(r"\band\b|\bwhile\b"), 2), (re.compile(r"\w+"), 1))
_NOTICES = ("sections", "facts", "numbers", "nonsense")


class EventsSettings(Settings):
    events: str = Field(description="JSONL file of the collection whose titles and ids are looked for")
    id: str = Field(description="the field with an event's id")
    title: str = Field(description="the field with its title")


class StatedNumber(NamedTuple):
    """A number as written, with the position of its label; `percent`: whether it is a percentage, None if unclear."""

    label: int
    number: str
    percent: bool | None

    def means(self, needed: NeededNumber) -> bool:
        """Whether it is the needed number, rounded to the number of decimals written."""
        value = str(_WORDS.index(self.number)) if self.number in _WORDS else self.number
        decimals = len(value.partition(".")[2])
        is_close = abs(float(value) - needed.value) <= 0.5 * 10**-decimals + 1e-9
        return is_close and self.percent in (None, needed.percent)


def stated_numbers(report: str, needed: Sequence[NeededNumber]) -> set[int]:
    """The positions of the needed numbers that a report states."""
    labels = {normal(label): position for position, number in enumerate(needed) for label in number.labels}
    body = without_citations(report)
    tables = [match[0] for match in re.finditer(r"(?:^[ \t]*\|.*\n?)+", body, re.MULTILINE)]
    prose = re.sub(r"^[ \t]*\|.*\n?", "\n", body, flags=re.MULTILINE)
    numbers = [*_prose_numbers(prose, labels), *(n for table in tables for n in _table_numbers(table, labels))]
    return {number.label for number in numbers if number.means(needed[number.label])}


class _Place(NamedTuple):
    start: int
    end: int
    label: int


def _labels(text: str, labels: Mapping[str, int]) -> list[_Place]:
    """The places of labels in a text, the longest match first; without labels, one place at the start for the total."""
    alternatives = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)") if labels else re.compile("^")
    return [_Place(*match.span(), labels.get(match[0], 0)) for match in pattern.finditer(text)]


def _numbers(text: str, places: Sequence[_Place]) -> list[re.Match[str]]:
    """The numbers of a text that are not part of a label."""
    matches = _NUMBER.finditer(text)
    return [number for number in matches if not any(place.start <= number.start() < place.end for place in places)]


def _prose_numbers(text: str, labels: Mapping[str, int]) -> Iterator[StatedNumber]:
    for sentence, above in passages(text):
        plain, context = normal(sentence), normal(above)
        places = _labels(plain, labels)
        numbers, outer = _numbers(plain, places), [] if places else _labels(context, labels)[-1:]
        is_share = bool(_PERCENT.search(f"{context} {plain}"))
        for number, place in _paired(plain, numbers, places or outer):
            yield _stated_number(place.label, number, is_share)


def _paired(
    text: str, numbers: Sequence[re.Match[str]], places: Sequence[_Place]
) -> Iterator[tuple[re.Match[str], _Place]]:
    """Each number with its label; percentages are paired separately from other numbers."""
    for is_share in (False, True):
        alike = [number for number in numbers if bool(number[1]) is is_share]
        order = sorted([(number.start(), "n") for number in alike] + [(place.start, "l") for place in places])
        if re.fullmatch(r"(nl)+|(ln)+|n+l+|l+n+", "".join(kind for _, kind in order)) and len(alike) == len(places):
            yield from zip(alike, places, strict=True)
            continue
        for number in alike if places else ():
            yield number, min(places, key=lambda place: _distance(text, number, place))


def _distance(text: str, number: re.Match[str], place: _Place) -> int:
    between = text[place.end : number.start()] if place.end <= number.start() else text[number.end() : place.start]
    return sum(cost * len(pattern.findall(between)) for pattern, cost in _COSTS)


def _stated_number(label: int, number: re.Match[str], is_share: bool) -> StatedNumber:
    """Percent signs make percentages; a number without one may be a percentage where the text is about shares."""
    return StatedNumber(label, number[0].split()[0].rstrip("%"), True if number[1] else None if is_share else False)


def _table_numbers(table: str, labels: Mapping[str, int]) -> Iterator[StatedNumber]:
    rows = [[normal(cell) for cell in line.strip().strip("|").split("|")] for line in table.splitlines()]
    headings = rows[0]
    for row in rows[1:]:
        row_labels = {place.label for cell in row for place in _labels(cell, labels)}
        for heading, cell in zip(headings, row, strict=False):
            cell_labels = [*row_labels] if len(row_labels) == 1 else [place.label for place in _labels(heading, labels)]
            for number in _numbers(cell, _labels(cell, labels)) if len(cell_labels) == 1 else ():
                yield _stated_number(cell_labels[0], number, bool(_PERCENT.search(heading)))


class Events(Judge):
    """Compares numbers and sets with the truth (see `aiq.judges.events`); the detail lists what is missing or wrong."""

    Settings = EventsSettings
    metrics = (
        Metric.share("events.coverage", notices=_NOTICES),
        Metric.share("events.numbers", notices=_NOTICES),
        Metric.share("events.precision", worst=None, notices=()),
        Metric.share("events.recall", notices=_NOTICES),
    )

    def check(self, samples: Sequence[Sample]) -> None:
        if any(sample.truth and sample.truth.expected for sample in samples):
            _ = self._names

    @cached_property
    def _names(self) -> dict[str, str]:
        """Title or id, in words -> the event's id, the longest first. Raises DatasetError."""
        columns = (self.settings.id.lower(), self.settings.title.lower())
        rows = read_rows(Files(), resolve(self.settings.events), "judge.events.events", columns)
        names = {_in_words(row.required(column)): row.required(columns[0]) for row in rows for column in columns}
        return dict(sorted(names.items(), key=lambda item: (-len(item[0]), item[0])))

    def metrics_for(self, sample: Sample) -> tuple[Metric, ...]:
        """Coverage, and the metrics of numbers or sets, whichever the question asks for."""
        expected = sample.truth and sample.truth.expected
        if not expected:
            return ()
        coverage, numbers, *sets = self.metrics
        return (coverage, *([numbers] if expected.numbers else []), *(sets if expected.items else []))

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        expected = sample.truth and sample.truth.expected
        if not expected:
            return scores_of(self.metrics, ["the dataset has no expected answer for this sample"] * len(self.metrics))
        stated = stated_numbers(report.text, expected.numbers) if expected.numbers else set[int]()
        named, expected_ids = self._named_ids(report.text) if expected.items else set[str](), set(expected.items)
        missing = ["".join(number.labels[:1]) for i, number in enumerate(expected.numbers) if i not in stated]
        detail: dict[str, JsonValue] = {
            "numbers_missing": [*missing],
            "events_missing": [*sorted(expected_ids - named)],
            "events_wrong": [*sorted(named - expected_ids)],
        }
        return scores_of(self.metrics, _metric_values(expected, len(stated), named), detail)

    def _named_ids(self, report: str) -> set[str]:
        """The ids of the events named outside the reference list; a name within a longer one does not count."""
        text, ids = f" {_in_words(without_citations(report))} ", set()
        for name, key in self._names.items():
            if f" {name} " in text:
                ids.add(key)
                text = text.replace(f" {name} ", " | ")
        return ids


def _metric_values(expected: Expected, right: int, ids: set[str]) -> list[Found]:
    """The values in the order of the metrics."""
    hits, needed = len(ids & set(expected.items)), len(expected.items)
    no_numbers, no_set = "the question asks for no numbers", "the question asks for no set"
    precision: Found = hits / len(ids) if ids else "the report names no event"
    return [
        (right + hits) / (len(expected.numbers) + needed),
        right / len(expected.numbers) if expected.numbers else no_numbers,
        precision if needed else no_set,
        hits / needed if needed else no_set,
    ]


def _in_words(text: str) -> str:
    return " ".join(re.findall(r"\w+", normal(text)))
