"""What the material says to a question: the value that answers, the sentences that show it, what is missing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import Literal

from aiq.offline.engine import premise
from aiq.offline.engine.compare import reckon
from aiq.offline.engine.evidence import Evidence, Material, distinct, is_statement
from aiq.offline.engine.lookup import SURE, Finding, Lookup, key
from aiq.offline.engine.question import descriptions, parse, rewritten
from aiq.offline.engine.read import Source
from aiq.offline.engine.text import name_spans

__all__ = ["Answer", "Evidence", "answer", "rank"]

_BEAM = 3
"""How many values of a hop are followed."""
_MOST_HOPS = 4
_DOUBTFUL, _LIKELY = 0.25, 0.5
"""Between these scores a hop is followed before it is confirmed."""


@dataclass(frozen=True)
class Answer:
    """What was found. `kind`: `value`, `premise` (the question takes something wrong for granted), or `none`.

    `value`: the phrase that answers ("1931", "Elma Vorn", "yes"); for `premise` what is true instead, if known.
    `evidence`: the sentences that show it, in the order of the hops. `missing`: queries that would bring what is
    missing, best first; empty where nothing is. `confidence`: 0 to 1.
    """

    kind: Literal["value", "premise", "none"]
    value: str = ""
    evidence: tuple[Evidence, ...] = ()
    missing: tuple[str, ...] = ()
    confidence: float = 0.0


@dataclass(frozen=True)
class _Path:
    """A way through the hops: the question as it now reads, how sure the hops are, and what they found and want."""

    question: str
    sure: float = 1.0
    evidence: tuple[Evidence, ...] = ()
    wanted: tuple[str, ...] = ()
    later: tuple[str, ...] = ()


def answer(
    question: str, sources: Sequence[Source], now: date | None = None, *, asked: Sequence[str] = (), context: str = ""
) -> Answer:
    """The answer that the sources give. `asked`: queries already sent, never proposed again. `context`: the earlier
    turns of the conversation, to which words such as "its" may refer. With no sources, `missing` holds first queries.
    """
    question = _in_context(question, context) if context else question
    question = _titles_quoted(question, sources)
    look = Lookup(Material(sources), question, asked, now)
    found = _follow(_Path(rewritten(question)), look)
    path, best = max(found, key=lambda f: _confidence(*f))
    wanted = [q for p, f in sorted(found, key=lambda f: -f[0].sure) for q in (*p.wanted, *f.wanted)]
    wanted += [q for p, _ in found for q in p.later]
    wanted = [q for q in dict.fromkeys([*wanted, question]) if key(q) not in look.asked]
    confidence = _confidence(path, best)
    kind: Literal["value", "premise", "none"] = "premise" if best.premise else "value" if best.value else "none"
    evidence = tuple(dict.fromkeys((*path.evidence, *best.evidence)))
    return Answer(kind, best.value, evidence, () if confidence >= SURE else tuple(wanted), confidence)


def rank(query: str, sources: Sequence[Source], now: date | None = None, *, most: int = 10) -> list[Evidence]:
    """The sentences of the sources that speak to a query, best first, no two that say the same."""
    hits = [hit for hit in Material(sources).find(parse(query), 10 * most) if is_statement(hit.sentence.text)]
    return [hit.evidence for hit in distinct(hits, most)]


def _confidence(path: _Path, found: Finding) -> float:
    return min(1.0, path.sure * found.confidence)


def _follow(path: _Path, look: Lookup, depth: int = 0) -> list[tuple[_Path, Finding]]:
    """The ways from here to an answer: looking up the innermost description first, or answering at once."""
    inner = descriptions(path.question) if depth < _MOST_HOPS else []
    direct = _settle(path.question, look)
    if not inner:
        return [(path, direct)]
    first = 0.0
    found = [
        (path, replace(direct, wanted=(), confidence=direct.confidence * (0.4 if len(direct.evidence) > 1 else 0.85)))
    ]
    for number, description in enumerate(inner):
        options = look.values(description.ask)
        if number and first >= 0.4:
            break
        first = options[0].score if options else 0.0
        if any(o.value == direct.value for o in options):  # what only stands for the thing asked about
            found[0] = (path, Finding())
        options = [o for o in options[:_BEAM] if o.score >= 0.65 * options[0].score and o.value not in path.question]
        hop = look.trust(description.ask, options[0]) if options else 0.0
        queries = look.queries(description.ask, hop)
        doubtful = _DOUBTFUL <= hop < _LIKELY  # go on with it first
        wanted, later = (path.wanted, (*path.later, *queries)) if doubtful else ((*path.wanted, *queries), path.later)
        if not options:
            found.append((replace(path, wanted=wanted), Finding()))
        for option in options:
            text = path.question[: description.start] + option.value + path.question[description.end :]
            sure = path.sure * min(1.0, 0.3 + 0.9 * look.trust(description.ask, option))
            found += _follow(_Path(text, sure, (*path.evidence, option.hit.evidence), wanted, later), look, depth + 1)
    return found


def _settle(question: str, look: Lookup) -> Finding:
    """The answer to a question as it reads."""
    if corrected := premise.check(question, look):
        return corrected
    return reckon(question, look) or look.best(parse(question))


def _titles_quoted(question: str, sources: Sequence[Source]) -> str:
    """The question with titles such as Songs for Children in quotation marks where the sources have them as a whole."""
    spans = name_spans(question)
    for left, right in reversed([*pairwise(spans)]):
        whole = question[left.start : right.end]
        joined = re.fullmatch(r"\s(?:for|to|with|on|under|and)(?: the| an?)?\s", question[left.end : right.start])
        if joined and any(whole in source.title or f"{whole}," in source.text for source in sources):
            question = f"{question[: left.start]}“{whole}”{question[right.end :]}"
    return question


_REFERRING = re.compile(
    r"\b(?:he|she|they|it|his|her|its|their|him|them|there|that (?:city|town|company|person|place|one))\b",
    re.IGNORECASE,
)


def _in_context(question: str, context: str) -> str:
    """The question with a word such as "its" replaced by the last name of the earlier turns, if it names nothing itself."""
    earlier = name_spans(context)
    if not earlier or name_spans(question):
        return question
    name = earlier[-1].text

    def put(match: re.Match[str]) -> str:
        return name + ("'s" if match.group().lower() in ("his", "her", "its", "their") else "")

    return _REFERRING.sub(put, question, count=1)
