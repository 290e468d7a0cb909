"""Tells pages that hold nothing (errors, walls, checks, empty ones) from pages that can be read."""

import re
from functools import cache
from typing import Final, Literal

from aiq.citations.claims.lexicon import CJK
from aiq.citations.claims.rules import rules
from aiq.citations.claims.tokens import Tokens

_LINK: Final = re.compile(r"!?\[[^\[\]\n]{0,300}\]\([^)\s]{0,2000}(?:\s+\"[^\"\n]{0,500}\")?\)")
_WORD: Final = re.compile(rf"[{CJK}]|[^\W\d_{CJK}]+")
_HEAD: Final = 6_000
_CJK_PER_WORD: Final = 1.7
_PHRASE_IN_LINE: Final = 40  # words of a line up to which a phrase of an error page makes it part of one


def why_unusable(text: str, tokens: Tokens) -> str | None:
    """Why nothing can be read from a text, as a sentence; None for one that can be read."""
    limits = rules().unusable
    words = len(tokens) - tokens.cjk + tokens.cjk / _CJK_PER_WORD
    if not tokens:
        return "the source has no text"
    if text.lstrip().startswith("%PDF-"):
        return "the source is no readable text"
    visible = re.sub(r"\s", "", text[:20_000])
    if sum(map(str.isalnum, visible)) < limits.readable * len(visible) and words > limits.least_words:
        return _prose(text, limits.readable)
    if words > limits.title_words and not text.startswith("scrape failed"):
        return None
    head = text[:_HEAD].casefold()
    first = "\n".join(line.strip(" \t#*") for line in head.splitlines()[:6])
    sign = _titles().search(first) or _phrases("certain").search(head)
    if sign is None and _said(head) < limits.prose_words:
        sign = _phrases("phrases").search(head)
    if sign is not None:
        return f"the source is an error page or a wall (“{sign[0].strip()}”)"
    return None


def _said(text: str) -> float:
    """Words in lines that are neither menus nor short nor part of an error message."""
    said = 0.0
    for line in _LINK.sub(" ", text).splitlines():
        found = _WORD.findall(line)
        words = sum(1 / _CJK_PER_WORD if word >= "\u3005" else 1 for word in found)
        error = words <= _PHRASE_IN_LINE and _phrases("phrases").search(line)
        said += 0 if error or words < 6 else words
    return said


def _prose(text: str, least: float) -> str | None:
    """Whether what is no letter or figure is markup, or the text is no text at all."""
    visible = re.sub(r"\s", "", _LINK.sub(" ", text[:20_000]))
    letters = sum(map(str.isalnum, visible))
    return None if letters >= 0.6 * least * len(visible) else "the source is no readable text"


@cache
def _phrases(which: Literal["certain", "phrases"]) -> re.Pattern[str]:
    limits = rules().unusable
    phrases = limits.certain if which == "certain" else limits.phrases
    return re.compile("|".join(re.escape(phrase) for phrase in phrases))


@cache
def _titles() -> re.Pattern[str]:
    titles = "|".join(re.escape(title) for title in rules().unusable.titles)
    return re.compile(
        rf"^(?:title: ?)?(?:(?:error|http)? ?\d{{3}}[:\s|–-]*)?(?:{titles})[.!…]*(?:\s*[|\-–—:·].{{0,60}})?$",
        re.MULTILINE,
    )
