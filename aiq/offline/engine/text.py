"""Words, sentences and names in a text: the basis of the whole engine."""

import re
from functools import lru_cache
from typing import NamedTuple

from aiq.offline.engine.lexicon import is_common, listed, parts_of_speech, stem
from aiq.tools.ranking import tokens

_CHINESE = re.compile(r"[\u3400-\u9fff]")

_STOP = listed("stop")
"""English words that say nothing about a question's subject."""

_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|Mt|vs|No|Inc|Ltd|Co|Corp|Gen|Col|Sen|Rep|Gov|Jan|Feb|Mar|Apr|Jun|Jul"
    r"|Aug|Sept|Sep|Oct|Nov|Dec|approx|ca|c|e\.g|i\.e|(?:[A-Z]\.)+[A-Z])\.$"
)
_LONGEST = 40  # characters of an abbreviation and what is before it; looking further back takes quadratic time
_BOUNDARY = re.compile(
    r"(?<=[.!?])[\"'”’)\]]*(?:\[\d+\])*\s+(?=[\"'“‘(\[]*[A-Z0-9\u00c0-\u024f\u3400-\u9fff])|(?<=[。！？；])|\n+|(?<=[a-z0-9)”\"][.!?])(?=[A-Z][a-z])"
)

_JOINERS = r"(?:of(?:\s+the)?|de|da|di|del|la|le|van|von|der|den|al|bin|ibn|du|&)"
_UPPER = r"[A-Z\u00c0-\u00de\u0100-\u024f]"
_CAPITAL = rf"(?:(?:St|Mt|Dr|Jr|Sr)\.|(?:{_UPPER}\.)+|{_UPPER}[\w’'\-&]*)"
_NAME = re.compile(rf"(?<!\w){_CAPITAL}(?:(?:\s+{_JOINERS})?\s+(?:{_CAPITAL}|\d+(?=\s|$|[?.]|,(?!\d))))*")
_QUOTED = re.compile(r"[\"“„「『《]([^\"”“」』》]{2,80})[\"”」』》]")


def is_chinese(text: str) -> bool:
    """Whether a text is mostly written in Chinese characters."""
    return len(_CHINESE.findall(text)) * 3 > len(text.replace(" ", ""))


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """The content words of a text in order, in their search form (`aiq.tools.ranking`), without stop words."""
    return tuple(token for token in tokens(text) if token not in _STOP)


@lru_cache(maxsize=16384)
def stems(text: str) -> frozenset[str]:
    """The content words of a text without their endings, for comparison: `invented` and `inventor` match."""
    return frozenset(stem(word) for word in words(text))


@lru_cache(maxsize=512)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text in order, without blank ones; line breaks end sentences, common abbreviations do not."""
    pieces: list[str] = []
    start = 0
    for boundary in [*_BOUNDARY.finditer(text), None]:
        piece = text[start : boundary.end() if boundary else len(text)]
        trimmed = piece.rstrip()
        if boundary and "\n" not in boundary.group() and _ABBREVIATION.search(trimmed, max(0, len(trimmed) - _LONGEST)):
            continue
        pieces.append(" ".join(piece.split()))
        start = boundary.end() if boundary else 0
    return tuple(filter(None, pieces))


class Span(NamedTuple):
    """A piece of a text and its position."""

    start: int
    end: int
    text: str


def names(text: str) -> tuple[str, ...]:
    """Proper names and quoted titles in a text, in order of appearance, each once.

    A name is a run of capitalised words, possibly with small joining words (`University of Konstanz`); a capital at
    the start of a sentence counts only if the word is not an ordinary one.
    """
    return tuple(dict.fromkeys(span.text for span in name_spans(text)))


@lru_cache(maxsize=8192)
def name_spans(text: str) -> tuple[Span, ...]:
    """The same with positions, including repetitions."""
    quotes = [match for match in _QUOTED.finditer(text) if match.group()[0] in "《『" or _is_title(match.group(1))]
    spans = [Span(match.start(1), match.end(1), match.group(1).strip()) for match in quotes]
    for match in _NAME.finditer(text):
        name = _clean(match.group())
        is_first = not text[: match.start()].rstrip("\"“‘'( ").rstrip()[-1:].strip(".!?:\n")
        if not name or (is_first and " " not in name and is_common(name)):
            continue
        if not any(quote.start() <= match.start() < quote.end() for quote in quotes):
            start = match.start() + match.group().rfind(name)
            spans.append(Span(start, start + len(name), name))
    return tuple(sorted(spans))


_ORDINARY = listed("ordinary")
_TITLES = listed("titles")


def _is_title(quotation: str) -> bool:
    """Whether a quotation is a name rather than someone's words."""
    parts = quotation.split()
    capitals = sum(part[0].isupper() for part in parts)
    return capitals > 0 and (capitals * 2 >= len(parts) or (len(parts) <= 6 and not re.search(r"[,.;]", quotation)))


def _clean(run: str) -> str:
    """A capitalised run without ordinary words at its ends, titles or possessives; empty if nothing is left."""
    run = re.sub(r"['’]s?$", "", run.rstrip(".,;:&- ")) if not re.fullmatch(r"(?:[A-Z]\.)+", run) else run
    parts = run.split()
    while parts and (_is_ordinary(parts[0]) or not parts[0][0].isupper()):
        if parts[0] == "The" and len(parts) > 2 and parts[1][0].isupper():  # "The Glass Meridian" is a title
            break
        parts = parts[1:]
    while len(parts) > 1 and parts[0].rstrip(".").lower() in _TITLES and parts[1][0].isupper():
        parts = parts[1:]
    while parts and _is_ordinary(parts[-1]):
        parts = parts[:-1]
    return " ".join(parts)


def _is_ordinary(word: str) -> bool:
    """Whether a word, in any case, is a function word, a calendar word or an adverb ("US" is not "us")."""
    is_adverb = "ADV" in (parts := parts_of_speech(word)) and "NOUN" not in parts
    return word in (word.lower(), word.capitalize()) and (is_adverb or word.lower() in _ORDINARY)


def contains_name(text: str, name: str) -> bool:
    """Whether a text contains a name as a whole."""
    if not name:
        return False
    if is_chinese(name):
        return name in text
    return re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", text.casefold()) is not None
