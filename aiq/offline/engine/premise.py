"""What a question takes for granted: whether the evidence denies it or says otherwise."""

import re
from dataclasses import replace

from aiq.offline.engine.analysis import analyse
from aiq.offline.engine.evidence import Hit
from aiq.offline.engine.lookup import Finding, Lookup
from aiq.offline.engine.question import Ask, parse
from aiq.offline.engine.standing import DENIED, denied, denies
from aiq.offline.engine.text import is_chinese, names

_ENDS = re.compile(
    r"\b(?:resign|step(?:ped)? down|leave|left|quit|stop|cease|lose|lost|close|shut|give up|gave up|retire|end|die|move"
    r"|sell|abolish|abandon)\b|辞|卸任|离开|停止|关闭|搬",
    re.IGNORECASE,
)
_CONTRARY = 0.55
"""How well another value must be shown to correct the question."""


def check(text: str, look: Lookup) -> Finding | None:
    """A correction of what the question takes for granted, or None where nothing speaks against it."""
    ask = parse(text)
    if ask.kind not in ("date", "reason", "number") or not ask.names:
        return None
    hits = [hit for hit in look.material.find(ask) if _names_all(hit, ask)]
    asked = {t.root for word in ask.words for t in analyse(word).tokens}
    for hit in hits:
        if hit.score >= 0.4 and not DENIED.search(text) and asked & set(denied(hit)):
            return Finding(hit.sentence.text, (hit.evidence,), 0.7, premise=True)
    state = set(parse(_ENDS.sub(" ", ask.text)).words) if _ENDS.search(text) else set()
    lasting = tuple(word for word in ask.words if word in state)
    if lasting and (still := _still(ask, lasting, look)):
        return still
    said = any(hit.own >= 0.3 and not denies(hit) for hit in hits)
    return None if said or len(ask.names) < 2 else _otherwise(ask, lasting or ask.words, look)


def _names_all(hit: Hit, ask: Ask) -> bool:
    return all(name in f"{hit.page.title.text} {hit.sentence.text}" for name in ask.names)


def _otherwise(ask: Ask, words: tuple[str, ...], look: Lookup) -> Finding | None:
    """Another value in the place of one of the names, where the evidence has that and never the name asked about."""
    for name in reversed(ask.names):
        others = tuple(other for other in ask.names if other != name)
        for kind in ("person", "place", "organisation"):
            turned = Ask(" ".join((*others, *words)), kind, names=others, words=words, current=ask.current)
            found = [c for c in look.values(turned, known=" ".join(others)) if c.hit.own >= 0.35]
            near = [c.value for c in found if c.score > 0.6 * found[0].score]
            if found and found[0].score >= _CONTRARY and not any(name in value or value in name for value in near):
                text = found[0].hit.sentence.text.rstrip(".。")
                text += f", 而不是{name}。" if is_chinese(ask.text) else f", not {name}."
                return Finding(text, (found[0].hit.evidence,), found[0].score, premise=True)
    return None


def _still(ask: Ask, words: tuple[str, ...], look: Lookup) -> Finding | None:
    """The state that the question says has ended, where the evidence has it going on and none reports the end."""
    ended = tuple(word for word in ask.words if word not in words)
    reports = look.material.find(replace(ask, words=ended), 6) if ended else []
    if any(hit.own >= 0.5 and set(names(hit.sentence.text)) & set(ask.names) for hit in reports):
        return None
    hits = look.material.find(replace(ask, words=words), 8)
    lasting = [hit for hit in hits if hit.own >= 0.5 and _names_all(hit, ask) and not denies(hit)]
    best = max(lasting, key=lambda hit: hit.day, default=None)
    return Finding(best.sentence.text, (best.evidence,), best.score * 0.9, premise=True) if best else None
