"""The parts of a question that describe something to be found first: "the city where X is held"."""

import re
from dataclasses import dataclass, replace

from aiq.offline.engine.lexicon import kind_of, listed, parts_of_speech
from aiq.offline.engine.question import FUNCTION_WORDS, PARTICLES_PATTERN, PREPOSITIONS, Ask, parse, tidy
from aiq.offline.engine.text import is_chinese, name_spans

_AUXILIARIES, _AFTERTHOUGHTS = listed("auxiliaries"), listed("afterthoughts")
_TAGS = {"the": "t", "a": "i", "an": "i", "that": "h", "which": "h", "who": "h", ",": "c", ";": "c", ":": "c", "?": "c"}
_TAGS |= dict.fromkeys(("its", "their", "his", "her"), "o") | dict.fromkeys(("where", "whose", "when", "whom"), "w")
_THINGS = ("person", "place", "organisation", "work", "thing")
_PARTICIPLE = re.compile(r"(?:ed|ing|wn|en|ought|aught|ept|elt|uilt|ade|eld|et|un|ung|old|ent)$")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,;:?]")
_DESCRIPTION = re.compile(
    r"(?P<head>[kns][knsdv]{0,4}?)"
    r"(?:(?:w|p[wh]|h(?=[Nt]))[^Nc]*(?:N(?:pN)*[kn]*[xf]*(?:[tio][knsv]*|[knsv](?:o[knsv]+)?)?)?"  # its subject first
    r"|[hv][^Nc]*(?:N(?:pN)*[kn]*)?"
    r"|(?<=k)p[^Nxc]*(?:N(?:pN)*[kn]*)?)"
    r"(?:p[Nd]|p(?=c|$))?"
)
"""Noun and clause, or noun and preposition, up to a verb that is not theirs, as tags of words (see `_tagged`)."""

_ASKED_ITSELF = re.compile(
    r"(?:(?:who|what|which)(?:'s| is| are| was| were| has been)?(?: currently| now)?|name)?|.*\bwhich of"
)


@dataclass(frozen=True)
class Description:
    """A description in a question: its place in `rewritten(question)`, and what it asks."""

    start: int
    end: int
    ask: Ask


def rewritten(question: str) -> str:
    """The question with possessives as "the ... of", as the places of `description` counts in it."""
    text = tidy(question)
    if is_chinese(text):
        return text
    for span in reversed(name_spans(text)):
        stop, chain = span.end, ""
        while owned := re.match(r"['’]s?((?:\s+[a-z][\w-]*)+)", text[stop:]):
            nouns = _nouns(owned[1].split())
            if not nouns:
                break
            chain = f"the {' '.join(nouns)} of {chain}"
            stop += re.match(r"\W*s?\s*" + r"\s+".join(nouns), text[stop:]).end()  # type: ignore[union-attr]
        if chain:
            article = re.search(r"\b(?:the|an?)\s+$", text[: span.start], re.IGNORECASE)
            start = article.start() if article else span.start
            text = f"{text[:start]}{chain}{'the ' if article else ''}{span.text}{text[stop:]}"
    return text


def _nouns(words: list[str]) -> list[str]:
    """The words of what is owned: up to a function word or a verb."""
    for n, word in enumerate(words):
        verb = n and "NOUN" in parts_of_speech(words[n - 1]) and "NOUN" not in (parts_of_speech(word) or ("NOUN",))
        if verb or word in FUNCTION_WORDS | PREPOSITIONS:
            return words[:n]
    return words


def description(question: str) -> Description | None:
    """The innermost description; None where the question is plain."""
    text = rewritten(question)
    if is_chinese(text):
        return _in_chinese(text)
    tags, places = _tagged(text)
    for i in range(len(tags) - 2, -1, -1):
        match = _DESCRIPTION.match(tags, i + 1) if tags[i] in "tio" else None
        known = match and (tags[i] != "i" or tags[match.end("head")] in "wh")
        if match and known and (found := _described(text, tags, places, match)):
            return found
    return None


def _tagged(text: str) -> tuple[str, list[tuple[int, int]]]:
    """A tag for each word, and its place.

    N: name, d: number, t, i, o: "the", "a", "its", p: preposition, h: "that", w: "where", x: auxiliary, f: other
    function word, c: punctuation, v: participle that opens a clause, k: noun of a known kind, n: other noun,
    s: other word.
    """
    names = {(span.start, span.end): "N" for span in name_spans(text)}
    words = [m for m in _WORD.finditer(text) if not any(a <= m.start() < b for a, b in names)]
    places = sorted([*names, *(m.span() for m in words)])
    tags = ""
    for at, after in zip(places, [*places[1:], (0, 0)], strict=False):
        word, following = (text[a:b].lower() for a, b in (at, after))
        opens = following in PREPOSITIONS - {"of"} or (
            word.endswith("ing") and (after in names or following in ("the", "a"))
        )
        if at in names or word in _TAGS:
            tags += names.get(at) or _TAGS[word]
        elif word in PREPOSITIONS | _AUXILIARIES:
            tags += "p" if word in PREPOSITIONS else "x"
        elif word in FUNCTION_WORDS - {"current", "latest", "newest", "recent"} or word.isdigit():
            tags += "d" if word.isdigit() else "f"
        elif opens and _PARTICIPLE.search(word) and (word.endswith(("ed", "ing")) or not kind_of(word)):
            tags += "v"
        else:
            noun = (parts_of_speech(word) or {"NOUN"}) & {"NOUN", "VERB", "ADV"} == {"NOUN"}
            tags += "k" if kind_of(word) in _THINGS else "n" if noun else "s"
    return tags, places


def _described(text: str, tags: str, places: list[tuple[int, int]], match: re.Match[str]) -> Description | None:
    """The description matched, unless it says nothing or is what the question asks itself."""
    start, link, end = match.start(), match.end("head"), match.end()
    told = [n for n in range(link + 1, end) if tags[n] == "N" or places[n][1] - places[n][0] > 3]
    before = text[: places[start - 1][0]].strip().lower()
    rest = {text[a:b].lower() for a, b in places[end:]} - _AFTERTHOUGHTS
    if not told or before.endswith("which of") or (not rest and _ASKED_ITSELF.fullmatch(before)):
        return None
    noun = text[slice(*places[link - 1])].lower()
    kind = kind_of(noun)
    ask = parse("Which " + text[places[start][0] : places[end - 1][1]])
    ask = replace(ask, kind=kind or "name", head=noun, units="", current=ask.current or kind == "person")
    return Description(places[start - 1][0], places[end - 1][1], ask)


_OF = re.compile(r"(?P<of>[^，。？、,?]{2,40}?)的(?P<head>[^，。？、,?的是]{1,6})")
_ASKED_IN_CHINESE = re.compile(r"(?:是|叫|为|在)?(?:谁|什么|哪里|哪.{0,4}|什么名字|何人|何处)(?:呢|啊)?")


def _in_chinese(text: str) -> Description | None:
    """The first link of a chain "X的A的B": what "X的A" stands for, when something is asked of it."""
    for match in _OF.finditer(text):
        first = re.split(r"[有多少几哪什谁，]|" + PARTICLES_PATTERN, match["head"])[0]
        noun = next((first[:n] for n in range(len(first), 0, -1) if kind_of(first[:n])), "")
        end = match.start("head") + len(noun)
        kind, rest = kind_of(noun), re.sub(r"[？?。\s]", "", text[end:])
        asked = _ASKED_IN_CHINESE.fullmatch(rest) or re.search(r"哪|谁|什么", match["of"])
        if kind not in ("", "number", "time") and not asked:
            ask = parse(text[match.start() : end])
            ask = replace(ask, kind=kind, head=noun, units="", current=ask.current or kind == "person")
            return Description(match.start(), end, ask)
    return None
