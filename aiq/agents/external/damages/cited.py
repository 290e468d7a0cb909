"""Damage to what a report cites: URLs that no page has, and marks that point to another reference."""

import re
from collections.abc import Iterator
from random import Random
from typing import Final
from urllib.parse import urlsplit

from aiq.agents.external.damages.parts import Edit, chosen, edited
from aiq.citations.marks import Mark
from aiq.citations.parsing import parse_report

_DIGITS: Final = re.compile(r"\d+")
_INVENTED: Final = ("annual-review", "field-study", "special-report", "long-read", "background")


def fabricated(text: str, share: float, random: Random) -> str:
    """A share of the cited URLs replaced by invented ones on the same hosts."""
    report = parse_report(text)
    uses = [use for entry in report.entries for use in entry.urls] + list(report.body_urls)
    places = [(use.url_start, use.url_end) for use in uses]
    places += [mark.url for mark in report.marks if mark.url is not None]
    urls = list(dict.fromkeys(text[start:end] for start, end in places))
    names = {url: f"{random.choice(_INVENTED)}-{random.randrange(10_000, 100_000)}" for url in urls}
    taken = set(chosen(urls, share, random))
    return edited(
        text, [(*place, _on_host(url, names[url])) for place in places if (url := text[slice(*place)]) in taken]
    )


def _on_host(url: str, name: str) -> str:
    parts = urlsplit(url if "://" in url else f"https://{url}")
    return f"{parts.scheme}://{parts.netloc}/{name}"


def shuffled(text: str, share: float, random: Random) -> str:
    """A share of the citation marks made to point to another reference of the report, inline links to another URL."""
    report = parse_report(text)
    numbers = [str(number) for number in dict.fromkeys(entry.number for entry in report.entries)]
    links = [(use.url_start, use.url_end) for use in report.body_urls]
    links += [mark.url for mark in report.marks if mark.url is not None]
    marked = [found.span() for mark in report.marks if mark.url is None for found in _digits(text, mark)]
    targets = list(dict.fromkeys(text[start:end] for start, end in sorted(links)))
    known = [(place, numbers) for place in marked] + [(place, targets) for place in links]
    drawn = [(place, others, random.randrange(1 << 30)) for place, others in sorted(known)]
    edits: list[Edit] = []
    for place, others, draw in chosen(drawn, share, random):
        wrong = [other for other in others if other != text[slice(*place)]]
        edits += [(*place, wrong[draw % len(wrong)])] if wrong else []
    return edited(text, edits)


def _digits(text: str, mark: Mark) -> Iterator[re.Match[str]]:
    return _DIGITS.finditer(text, mark.start, mark.end)
