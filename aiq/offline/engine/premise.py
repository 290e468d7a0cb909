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
    if denial := _denial(ask, look):
        return Finding(denial.sentence.text, (denial.evidence,), 0.7, premise=True)
    if _ENDS.search(text) and (still := _still(ask, look)):
        return still
    return _otherwise(ask, look) if len(ask.names) >= 2 and not _together(ask, look) else None


def _denial(ask: Ask, look: Lookup) -> Hit | None:
    """A sentence that denies what is asked about, said of the same names."""
    if DENIED.search(ask.text):
        return None
    asked = {t.root for word in ask.words for t in analyse(word).tokens}
    for hit in look.material.find(ask, 6):
        shown = analyse(f"{hit.page.title.text} {hit.sentence.text}").roots
        named = all(any(t.root in shown for t in analyse(name).tokens) for name in ask.names)
        if hit.score >= 0.4 and named and asked & set(denied(hit)):
            return hit
    return None


def _speaks_of(hit: Hit, ask: Ask) -> bool:
    """Whether a sentence with its page's title has all the names, and does not deny what it says."""
    return not denies(hit) and all(name in f"{hit.page.title.text} {hit.sentence.text}" for name in ask.names)


def _together(ask: Ask, look: Lookup) -> bool:
    """Whether a sentence says what is taken for granted."""
    return any(hit.own >= 0.3 and _speaks_of(hit, ask) for hit in look.material.find(ask))


def _state(ask: Ask) -> tuple[str, ...]:
    """The words of the state that the question says has ended: those besides the verb of ending."""
    staying = set(parse(_ENDS.sub(" ", ask.text)).words)
    return tuple(word for word in ask.words if word in staying)


def _otherwise(ask: Ask, look: Lookup) -> Finding | None:
    """Another value in the place of one of the names, where the evidence has that and never the name asked about."""
    words = _state(ask) or ask.words
    for name in reversed(ask.names):
        others = tuple(other for other in ask.names if other != name)
        for kind in ("person", "place", "organisation"):
            turned = Ask(" ".join((*others, *words)), kind, names=others, words=words, current=ask.current)
            options = [c for c in look.values(turned, known=" ".join(others)) if c.hit.own >= 0.35]
            if not options or options[0].score < _CONTRARY:
                continue
            near = [c.value for c in options if c.score > 0.6 * options[0].score]
            if not any(name in value or value in name for value in near):
                best = options[0]
                text = best.hit.sentence.text.rstrip(".。")
                text += f", 而不是{name}。" if is_chinese(ask.text) else f", not {name}."
                return Finding(text, (best.hit.evidence,), best.score, premise=True)
    return None


def _still(ask: Ask, look: Lookup) -> Finding | None:
    """The state that the question says has ended, where the evidence has it going on and none reports the end."""
    state = _state(ask)
    ended = tuple(word for word in ask.words if word not in state)
    if not state:
        return None
    lasting = [h for h in look.material.find(replace(ask, words=state), 8) if h.own >= 0.5 and _speaks_of(h, ask)]
    reports = look.material.find(replace(ask, words=ended), 6) if ended else []
    if not lasting or any(h.own >= 0.5 and set(names(h.sentence.text)) & set(ask.names) for h in reports):
        return None
    best = max(lasting, key=lambda h: h.day)
    return Finding(best.sentence.text, (best.evidence,), best.score * 0.9, premise=True)
