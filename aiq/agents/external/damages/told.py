"""Damage to what a report says: sections dropped, facts swapped, numbers changed, sense replaced by its sound."""

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from aiq.agents.external.damages.parts import Edit, Place, chosen, edited, is_chinese, names, sections, sentences
from aiq.citations.parsing import ParsedReport, parse_report

_NUMBER: Final = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?!\w|,\d)|(?<![A-Za-z0-9_.,])\d+(?![A-Za-z0-9_]|[.,]\d)")
_MARKS: Final = re.compile(r"\s*(?:\[\d+\])+")
_NONSENSE: Final = {
    "en": (
        "Because {a} rose compared with {b}, the overall pattern of {b} therefore suggests a larger share",
        "Although {a} differs largely from {b}, the trend of {a} implies that growth is driven by its own increase",
        "Whereas {b} declined as a result of {a}, the comparison of {b} with itself grew despite the smallest change",
    ),
    "zh": (
        "由于{a}相比{b}有所上升，{b}的总体规律因此表明占比增长",
        "然而{a}与{b}不同，{a}的趋势说明增长意味着自身的增加",
        "因为{a}下降，{b}与{b}的对比表明减少的趋势在增长",
    ),
}
_YEARS: Final = range(1000, 2101)


def dropped(text: str, share: float, random: Random) -> str:
    """A share of the sections left out, heading and all; of the paragraphs in a report with fewer than three."""
    report = parse_report(text)
    parts = sections(report)
    parts = parts if len(parts) > 2 else list(report.paragraphs)
    return edited(text, [(start, end, "") for start, end in chosen(parts, share, random)])


def swapped(text: str, share: float, random: Random) -> str:
    """In a share of the sentences that name something, one name replaced by another of the report."""
    report = parse_report(text)
    known = names(report)
    edits: list[Edit] = []
    for (start, end), draw in _drawn(report, share, random, lambda said: _named(said, known)):
        said = text[start:end]
        name = max(_named(said, known), key=lambda one: (said.rfind(one), len(one)))
        others = [one for one in known if one not in said and name not in one]
        at = start + said.rfind(name)
        if others:
            edits.append((at, at + len(name), others[draw % len(others)]))
    return edited(text, edits)


def exchanged(text: str, share: float, random: Random) -> str:
    """In a share of the sentences with two names, the first and the last change places: who did what to whom."""
    report = parse_report(text)
    known = names(report)
    edits: list[Edit] = []
    for (start, end), _ in _drawn(report, share, random, lambda said: _ends(said, known)):
        (first, one), (last, other) = _ends(text[start:end], known)
        edits.append((start + first, start + first + len(one), other))
        edits.append((start + last, start + last + len(other), one))
    return edited(text, edits)


def renumbered(text: str, share: float, random: Random) -> str:
    """In a share of the sentences with numbers, every number changed: years by 3 to 17, others by half or more."""
    report = parse_report(text)
    marks = [(mark.start, mark.end) for mark in report.marks]
    edits: list[Edit] = []
    for (start, end), draw in _drawn(report, share, random, lambda said: _NUMBER.findall(_MARKS.sub("", said))):
        for found in _NUMBER.finditer(text, start, end):
            if not any(first <= found.start() < last for first, last in marks):
                edits.append((*found.span(), _changed(found.group(), draw)))
    return edited(text, edits)


def garbled(text: str, share: float, random: Random) -> str:
    """A share of the sentences replaced by fluent ones that say nothing; names and citation marks stay."""
    report = parse_report(text)
    known = names(report)
    forms = _NONSENSE["zh" if is_chinese(text) else "en"]
    edits: list[Edit] = []
    for (start, end), draw in _drawn(report, share, random, lambda said: [said]):
        said = text[start:end]
        first = next(iter(_named(said, known)), None) or (known[draw % len(known)] if known else "X")
        second = known[(draw + 1) % len(known)] if known else "Y"
        marks = "".join(_MARKS.findall(said))
        stop = "。" if is_chinese(text) else "."
        edits.append((start, end, forms[draw % len(forms)].format(a=first, b=second) + marks + stop))
    return edited(text, edits)


def reordered(text: str, share: float, random: Random) -> str:
    """A control: in a share of the sections the paragraphs in another order. Nothing that is said changes."""
    report = parse_report(text)
    several = [
        inside
        for start, end in sections(report)
        if len(inside := [place for place in report.paragraphs if start <= place[0] < end]) > 1
    ]
    edits: list[Edit] = []
    for places in chosen(several, share, random):
        turned = [*places[1:], places[0]]
        edits += [(*place, text[slice(*other)]) for place, other in zip(places, turned, strict=True)]
    return edited(text, edits)


def _drawn(
    report: ParsedReport, share: float, random: Random, fit: Callable[[str], Sequence[object]]
) -> list[tuple[Place, int]]:
    """A share of the sentences that fit, each with a number of its own, the same whatever the share is."""
    fitting = [(place, random.randrange(1 << 30)) for place in sentences(report) if fit(report.text[slice(*place)])]
    return chosen(fitting, share, random)


def _named(said: str, known: Sequence[str]) -> list[str]:
    return [name for name in known if name in said]


def _ends(said: str, known: Sequence[str]) -> list[tuple[int, str]]:
    """The first and the last name of a sentence with their places; none where they are one or overlap."""
    found = sorted((said.find(name), -len(name), name) for name in _named(said, known))
    if len(found) < 2:
        return []
    first, one = found[0][0], found[0][2]
    last, other = max((said.rfind(name), name) for _, _, name in found)
    return [(first, one), (last, other)] if first + len(one) <= last and one != other else []


def _changed(number: str, draw: int) -> str:
    value = int(number.replace(",", ""))
    if value in _YEARS and "," not in number:
        return str(value + (3 + draw % 15) * (1 if draw & 16 else -1))
    new = value + max(1, value * (50 + draw % 150) // 100)
    return f"{new:,}" if "," in number else str(new)
