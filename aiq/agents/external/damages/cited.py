"""Damage to what a report cites: URLs that no page has, and marks that point to another reference."""

import re
from random import Random
from typing import Final
from urllib.parse import urlsplit

from aiq.agents.external.damages.parts import Edit, chosen, edited
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
    """A share of the citation marks made to point to another reference of the report (inline links: to its URL)."""
    report = parse_report(text)
    numbers = list(dict.fromkeys(entry.number for entry in report.entries))
    targets = list(dict.fromkeys(text[slice(*mark.url)] for mark in report.marks if mark.url is not None))
    drawn = [(mark, random.randrange(1 << 30)) for mark in report.marks]
    edits: list[Edit] = []
    for mark, draw in chosen(drawn, share, random):
        if mark.url is not None:
            others = [target for target in targets if target != text[slice(*mark.url)]]
            edits += [(*mark.url, others[draw % len(others)])] if others else []
            continue
        for found in _DIGITS.finditer(text, mark.start, mark.end):
            wrong = [number for number in numbers if number not in mark.numbers]
            edits += [(*found.span(), str(wrong[draw % len(wrong)]))] if wrong else []
    return edited(text, edits)
