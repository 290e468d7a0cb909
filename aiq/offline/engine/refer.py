"""What a question in a conversation refers to: "And who is its mayor?" is rewritten to name what it means.

Earlier names are told apart by what is known of them: the answer to "who" is a person, "Orl Film Festival" is a
festival. A question about an earlier answer ("what did you say first?") is replaced by the question it answered.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from aiq.offline.engine.analysis import PARTICLES
from aiq.offline.engine.answer import answer
from aiq.offline.engine.lexicon import ENDINGS, kind_of, similar
from aiq.offline.engine.question import THINGS, parse
from aiq.offline.engine.research import is_question
from aiq.offline.engine.source import Source, prose
from aiq.offline.engine.text import is_chinese, name_spans, names, stems

_PERSON = "he|she|they|his|her|their|him|them"
_REFERRING = re.compile(
    rf"\b(?:(?P<person>{_PERSON})|(?P<place>there)(?! (?:is|are|was|were)\b)|(?P<it>its?)"
    r"|(?P<det>this|that|the) (?P<noun>[a-z]+)(?! (?:of|that|which|who|where)\b))\b",
    re.IGNORECASE,
)
_REFERRING_IN_CHINESE = re.compile(
    rf"(?:(?P<person>[他她])|(?P<it>它|其(?![他中余])))们?|[这那该此][个位所家座条本部只项]?(?=(?P<noun>[^\W{''.join(sorted(PARTICLES))}]{{1,4}}))"
)
_POSSESSIVE = ("his", "her", "its", "their")
_RECALLS = re.compile(
    r"\b(?:did|have|had) you\b[^.?]{0,40}\b(?:say|said|answer|answered|tell|told|name|named|mention|mentioned|reply)\b"
    r"|\byou (?:said|answered|told|named|mentioned|replied)\b|\byour (?:\w+ ){0,2}(?:answer|reply|response)\b"
    r"|你.{0,14}(?:回答|提到|说过|说的|告诉)",
    re.IGNORECASE,
)
_ORDINALS = (r"\bfirst\b|第一|最初", r"\bsecond\b|第二", r"\bthird\b|第三")
_LATEST = re.compile(r"\b(?:last|latest|previous|just)\b|上一|刚才", re.IGNORECASE)


class Turn(NamedTuple):
    """An earlier question, rewritten to stand alone, and its answer."""

    question: str
    reply: str


class Named(NamedTuple):
    """Something that was named. `kind` (see `lexicon.kind_of`), `head`: the noun in the question about it; or ""."""

    name: str
    kind: str = ""
    head: str = ""


@lru_cache(maxsize=512)
def standalone(task: str, history: tuple[tuple[str, str], ...]) -> str:
    """The task without its dependence on the history, (role, text) each; unchanged unless it is a short question."""
    if not history or not is_question(task):
        return task
    if _RECALLS.search(task):
        turns = _turns(history)
        return _recalled_turn(task, turns).question if turns else task
    if _mentions(task):
        return _resolve(task, _turns(history))
    return task


def _turns(history: Sequence[tuple[str, str]]) -> list[Turn]:
    turns: list[Turn] = []
    for role, text in history:
        if role == "user":
            turns.append(Turn(_resolve(text, turns) if _mentions(text) else text, ""))
        elif turns:
            turns[-1] = turns[-1]._replace(reply=prose(text))
    return turns


def _recalled_turn(task: str, turns: Sequence[Turn]) -> Turn:
    """The turn that a question about an earlier answer means: by its number, else by the words they share."""
    index = next((n for n, pattern in enumerate(_ORDINALS) if re.search(pattern, task, re.IGNORECASE)), None)
    if index is not None and index < len(turns):
        return turns[index]
    if _LATEST.search(task):
        return turns[-1]
    return max(reversed(turns), key=lambda turn: len(stems(task) & stems(turn.question)))


def _mentions(text: str) -> list[tuple[re.Match[str], str, str]]:
    """References to something said before, each with its noun and kind; none if the text has names."""
    if is_chinese(text):
        return [(match, *meaning) for match in _REFERRING_IN_CHINESE.finditer(text) if (meaning := _meaning(match))]
    return [] if name_spans(text) else [(m, *meaning) for m in _REFERRING.finditer(text) if (meaning := _meaning(m))]


def _meaning(match: re.Match[str]) -> tuple[str, str] | None:
    """Noun and kind; None for a noun that refers to nothing: "the mayor" is what is asked, "that runs" has a verb."""
    if (noun := match["noun"]) is None:
        return "", next((kind for kind in ("person", "place") if match.groupdict().get(kind)), "")
    for end in range(len(noun), 0, -1) if is_chinese(noun) else [len(noun)]:
        kind = kind_of(noun[:end])
        if not kind and end == 1 and match.group() in "该此":  # the last character stands for the whole noun
            kind = next((kind for kind, endings in ENDINGS.items() if noun[0] in endings), "")
        if kind in THINGS and not (kind == "person" and match.groupdict().get("det", "").lower() == "the"):
            return noun[:end], kind
    return None


def _resolve(text: str, turns: Sequence[Turn]) -> str:
    """The text with its first reference replaced by the name it means, if one fits."""
    candidates = list(_named_things(turns))
    for match, noun, kind in _mentions(text):
        best = max(candidates, key=lambda named: _fit(named, noun, kind, bool(match["it"])), default=None)
        if best and _fit(best, noun, kind, bool(match["it"])):
            end = match.end() + len(noun) if is_chinese(text) else match.end()
            prefix = "in " if match.groupdict().get("place") else ""
            suffix = "'s" if match.group().lower() in _POSSESSIVE else ""
            return f"{text[: match.start()]}{prefix}{best.name}{suffix}{text[end:]}"
    return text


def _named_things(turns: Sequence[Turn]) -> Iterator[Named]:
    """What was named, latest first: the answer of a turn before what its question is about."""
    for question, reply in reversed(turns):
        ask = parse(question)
        if reply and ask.kind not in ("date", "number", "age", "yes", "reason"):
            result = answer(question, [Source(reply)])
            new_names = (name for name in names(reply) if name not in question)  # in a reply that is not a sentence
            if value := result.value if result.kind == "value" else next(new_names, ""):
                yield Named(value, ask.kind if ask.kind in THINGS else "", ask.head)
        for name in ask.names or names(reply):
            kind = kind_of(name if is_chinese(name) else name.split()[-1])
            yield Named(name, kind if kind in THINGS else "")


def _fit(named: Named, noun: str, kind: str, is_thing: bool) -> int:
    """How well a name fits a reference: 0 not at all, 1 asked for by another noun, 2 as far as is known, 3 by its kind,
    4 by containing the noun."""
    if noun and noun.lower() in named.name.lower():
        return 4
    if is_thing:
        return 0 if named.kind == "person" else 2
    if named.kind and kind and named.kind != kind:
        return 0
    if kind != "person" and named.head and noun not in named.head and not similar(noun, named.head):
        return 1
    return 3 if named.kind else 2
