"""What a question takes for granted: whether the evidence denies it or says otherwise."""

import re
from dataclasses import replace

from aiq.offline.engine.analysis import analyse
from aiq.offline.engine.evidence import Hit
from aiq.offline.engine.extract import DENIED, denies
from aiq.offline.engine.lookup import Finding, Lookup
from aiq.offline.engine.question import Ask, parse
from aiq.offline.engine.text import is_chinese, names

_ASSUMES = ("date", "reason", "number")
"""Kinds of question that take a statement for granted and ask for a circumstance of it."""

_ENDS = re.compile(
    r"\b(?:resign|step(?:ped)? down|leave|left|quit|stop|cease|lose|lost|close|shut|give up|gave up|retire|end|die|move|sell|abolish|abandon)\b|辞|卸任|离开|停止|关闭|搬",
    re.IGNORECASE,
)


def check(text: str, look: Lookup) -> Finding | None:
    """A correction of what the question takes for granted, or None where nothing speaks against it."""
    ask = parse(text)
    if ask.kind not in _ASSUMES or not ask.names:
        return None
    if denial := _denied(ask, look):
        return Finding(denial.sentence.text, (denial.evidence,), 0.7, premise=True)
    if ask.kind not in ("date", "reason"):
        return None
    if _ENDS.search(text) and (still := _still(ask, look)):
        return still
    if len(ask.names) >= 2 and not _together(ask, look):
        return _otherwise(ask, look)
    return None


def _denied(ask: Ask, look: Lookup) -> Hit | None:
    """A sentence that denies what is asked about: a word of the question right after "no", "not" or "never"."""
    if DENIED.search(ask.text):
        return None
    asked = {t.root for word in ask.words for t in analyse(word).tokens}
    for hit in look.material.find(ask, 6):
        text = hit.sentence.text
        for match in DENIED.finditer(text):
            reach = re.split(r"[,;.:，；。]|\bbut\b|而是", text[match.end() :])[0]
            first = hit.sentence.at(match.end())
            last = hit.sentence.at(match.end() + len(reach))
            if match.group().lower() in ("ruled out", "disproved", "unfounded", "untrue"):
                first, last = max(0, first - 6), first
            near = [hit.sentence.tokens[place].root for place, _ in hit.places if first <= place < min(last, first + 6)]
            shown = analyse(f"{hit.page.title.text} {text}").roots.keys()
            named = all(any(t.root in shown for t in analyse(name).tokens) for name in ask.names)
            if hit.score >= 0.4 and named and any(root in asked for root in near):
                return hit
    return None


def _together(ask: Ask, look: Lookup) -> bool:
    """Whether a sentence, or one with its page's title, says what is taken for granted of all the names."""
    for hit in look.material.find(ask, 12):
        shown = f"{hit.page.title.text} {hit.sentence.text}"
        if hit.own >= 0.3 and all(name in shown for name in ask.names) and not denies(hit):
            return True
    return False


def _otherwise(ask: Ask, look: Lookup) -> Finding | None:
    """Another value in the place of one of the names, where the evidence connects that and never the name asked about."""
    for name in reversed(ask.names):
        others = tuple(n for n in ask.names if n != name)
        for kind in ("person", "place", "organisation"):
            staying = set(parse(_ENDS.sub(" ", ask.text)).words)
            words = tuple(w for w in ask.words if w in staying) or ask.words
            turned = replace(
                ask,
                text=" ".join((*others, *words)),
                words=words,
                kind=kind,
                names=others,
                head="",
                units="",
                past=False,
            )
            options = [c for c in look.values(turned, known=" ".join(others)) if c.hit.own >= 0.35]
            if (
                not options
                or options[0].score < 0.55
                or any((name in c.value or c.value in name) and c.score > 0.6 * options[0].score for c in options)
            ):
                continue
            best = options[0]
            text = f"{best.hit.sentence.text.rstrip('.。')} ({'并非' if is_chinese(ask.text) else 'not'} {name})."
            return Finding(text, (best.hit.evidence,), best.score, premise=True)
    return None


def _still(ask: Ask, look: Lookup) -> Finding | None:
    """The state that the question says has ended, where the newest evidence has it going on and none reports the end."""
    staying = set(parse(_ENDS.sub(" ", ask.text)).words)
    state = tuple(w for w in ask.words if w in staying)
    ended = tuple(w for w in ask.words if w not in staying)
    if not state or not ended:
        return None
    lasting = [h for h in look.material.find(replace(ask, words=state), 8) if h.own >= 0.5 and not denies(h)]
    lasting = [h for h in lasting if all(n in f"{h.page.title.text} {h.sentence.text}" for n in ask.names)]
    reports = [
        h
        for h in look.material.find(replace(ask, words=ended), 6)
        if h.own >= 0.5 and set(names(h.sentence.text)) & set(ask.names)
    ]
    if lasting and not reports:
        best = max(lasting, key=lambda h: h.day)
        return Finding(best.sentence.text, (best.evidence,), best.score * 0.9, premise=True)
    return None
