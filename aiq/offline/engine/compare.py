"""Questions whose answer is reckoned from several values: comparisons, choices, superlatives, spans, yes or no."""

import re
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise

from aiq.offline.engine import dates
from aiq.offline.engine.analysis import analyse
from aiq.offline.engine.lexicon import kind_of, listed, stem, table
from aiq.offline.engine.lookup import Finding, Lookup
from aiq.offline.engine.quantities import base_value, numbers
from aiq.offline.engine.question import FUNCTION_WORDS, Ask, parse
from aiq.offline.engine.standing import denies
from aiq.offline.engine.text import is_chinese, name_spans, names

_MEASURED = 0.4
"""Confidence from which a value enters a comparison."""

_LASTING_VERB = re.compile(r"\b(?:live|last|take|serve|reign|stay)")


@dataclass(frozen=True)
class _Degree:
    """What is compared: the word that says so, the property's words, the kind of its values, and whether most wins."""

    word: str
    words: tuple[str, ...]
    kind: str
    most: bool


def reckon(text: str, look: Lookup) -> Finding | None:
    """The answer to a question that compares, chooses, counts time or asks yes or no; None for any other question."""
    degree = _degree(text)
    options = _options(text)
    if len(options) >= 2:
        return _compare(text, options, degree, look) if degree else _choose(text, options, look)
    ask = parse(text)
    if ask.kind == "yes":
        if degree and len(ask.names) >= 2 and re.search(r"\bthan\b|比", text):
            result = _compare(text, [*ask.names[:2]], degree, look)
            return replace(result, value=_yes_or_no(text, result.value == ask.names[0]) if result.value else "")
        return _verify(ask, look)
    if degree and degree.word not in ("latest", "newest") and re.search(r"\b(?:which|what|who)\b|哪|谁", text.lower()):
        return _among(ask, degree, look)
    return _span(text, ask, look)


def _degree(text: str) -> _Degree | None:
    """The comparative or superlative of a question."""
    if is_chinese(text):
        match = re.search(
            r"[最更](古老|[高长大小早晚多少])|(?<=哪)[个座条所].{0,4}?([高长大小早晚多少])|较?([早晚])", text
        )
        word = next((group for group in match.groups() if group), "") if match else ""
        return _of_base(word, word)
    found = re.findall(r"[a-z]+", re.sub(r"\b(?:came|come|finished) first\b", "", text.lower()))
    for word, after in pairwise([*found, ""]):
        base = table("irregular").get(word) or re.sub(r"(?:i?er|i?est)$", "", word)
        if base in ("many", "few"):
            if after in table("degrees"):
                return replace(_of_base(after, word) or _Degree(word, (), "", True), most=base == "many")
            if after not in FUNCTION_WORDS | {""}:
                return _Degree(word, (after,), "number", base == "many")
        elif kind_of(after) == "number" and word.endswith("est"):
            return _Degree(word, (after,), "number", base not in ("low", "small", "short"))
        elif base != word or word == "first":
            for form in (base, base + "e", base + "y", base[:-1]):
                if degree := _of_base(form, word):
                    return degree
    return None


def _of_base(base: str, word: str) -> _Degree | None:
    if base not in table("degrees"):
        return None
    words, kind, most = table("degrees")[base]
    return _Degree(word, tuple(words.split()), kind, most)


def _options(text: str) -> list[str]:
    """The things that a question offers to choose from, as it writes them."""
    if is_chinese(text):
        pair = re.search(
            r"([^，,。？?]{2,30}?)(?:和|与|、|还是)([^，,。？?、]{2,30}?)(?:，|,|哪|谁|相比|之间|中)", text
        )
        return [pair[1], pair[2]] if pair and re.search(r"哪|谁|还是", text) else []
    found = re.search(r"(?:[:,]|\bbetween|\bof)\s+([^:?]+?,?\s+or\s+[^?,]+)\??$|([^,:?]+\s+or\s+[^?,]+)\??$", text)
    found = found or re.match(r"(?:Of|Among|Between|Out of)\s+(.+?),?\s+(?:which|who|what)\b", text, re.IGNORECASE)
    region = next((group for group in found.groups() if group), "") if found else ""
    named = [span.text for span in name_spans(region)]
    parts = [p.strip() for p in re.split(r",\s*(?:or|and)?\s*|\s+(?:or|and)\s+", region) if p.strip()]
    if len(named) >= len(parts) >= 2 or (len(named) >= 2 and " or " not in region):
        return named
    if len(parts) < 2 or any(len(part.split()) > 7 for part in parts[1:]):
        return []
    parts = [re.sub(r"^(?:.*\bthe|the|an?)\s+", "", part) for part in parts]
    noun = parts[-1].split()[-1]  # "the red or the blue house": the noun stands once
    return [part if noun in part.split() or name_spans(part) else f"{part} {noun}" for part in parts]


def _value_ask(option: str, degree: _Degree, rest: tuple[str, ...]) -> Ask:
    """The ask for one thing's value."""
    units = table("units").get(degree.words[0], "") if degree.words else ""
    words = (*degree.words, *rest)
    if degree.words[:1] == ("length",) and _LASTING_VERB.search(" ".join(rest)):
        words, units = rest, table("units")["duration"]
    elif degree.words and kind_of(degree.words[0]) == "person":
        units = "people|person"
    words = tuple(dict.fromkeys(words)) or tuple(sorted(listed("chinese_origin" if is_chinese(option) else "origin")))
    head = degree.words[0] if degree.kind == "number" and degree.words else ""
    return Ask(f"{' '.join(words)} {option}", degree.kind, head, units, (option,), words)


def _measured(
    options: list[str], degree: _Degree, rest: tuple[str, ...], look: Lookup
) -> tuple[list[tuple[float, str, Finding]], tuple[str, ...]]:
    """Each option with its number where the material gives one, and the queries for the others."""
    found: list[tuple[float, str, Finding]] = []
    wanted: list[tuple[int, str]] = []
    for option in options:
        ask = _value_ask(option, degree, rest)
        finding = _of(option, ask, look)
        measure = _measure(finding.value, degree.kind) if finding.confidence > _MEASURED else None
        if any(measure == other and finding.evidence[0].sentence == f.evidence[0].sentence for other, _, f in found):
            measure = None  # one value is said of one thing
        if measure is None:
            wanted += [(look.tried(ask), query) for query in look.queries(ask, 0.0)[:1]]
        else:
            found.append((measure, option, finding))
    return found, tuple(query for _, query in sorted(wanted, key=lambda w: w[0]))


def _of(option: str, ask: Ask, look: Lookup) -> Finding:
    """The best value whose page title, or else whose sentence, names the option."""
    roots = {t.root for t in analyse(option).tokens if t.text.lower() not in FUNCTION_WORDS}
    options = look.values(ask)
    entitled = [c for c in options if roots <= c.hit.page.title.roots.keys() and c.score > _MEASURED]
    for candidate in entitled or [c for c in options if roots <= c.hit.sentence.roots.keys()]:
        return Finding(candidate.value, (candidate.hit.evidence,), candidate.score)
    return Finding()


def _measure(value: str, kind: str) -> float | None:
    """A value as a comparable number: years, or units of the same base."""
    if kind == "date":
        found = dates.find(value)
        return found[0].year + found[0].month / 12 + found[0].day / 400 if found else None
    quantities = numbers(value)
    return base_value(quantities[0]) if quantities else None


def _rest(text: str, options: list[str], degree: _Degree | None) -> tuple[str, ...]:
    """The words of the question besides its options and what compares them."""
    for word in sorted((w for option in options for w in (option, *option.split())), key=len, reverse=True):
        text = text.replace(word, " ")
    drop = {degree.word, *degree.words} if degree else set()
    return tuple(w for w in parse(text.strip(" ?,.:") or "x").words if w.lower() not in drop and len(w) > 1)


def _compare(text: str, options: list[str], degree: _Degree, look: Lookup) -> Finding:
    """The option with the greatest or least value."""
    found, wanted = _measured(options, degree, _rest(text, options, degree), look)
    if not found:
        return Finding(wanted=wanted)
    best = (max if degree.most else min)(found, key=lambda f: f[0])
    complete = len(found) == len(options)
    confidence = min(f[2].confidence for f in found) ** 0.5 if complete else 0.2
    return Finding(best[1], tuple(e for f in found for e in f[2].evidence), confidence, wanted)


def _choose(text: str, options: list[str], look: Lookup) -> Finding:
    """The option that the evidence connects best with the question's other words."""
    rest = _rest(text, options, None)
    best = Finding()
    wanted: list[str] = []
    for option in options:
        ask = Ask(f"{option} {' '.join(rest)}", "yes", names=(option,), words=rest)
        hit = next((h for h in look.material.find(ask, 3) if not denies(h)), None)
        wanted += look.queries(ask, hit.score if hit else 0.0)[:1]
        if hit and hit.score * 0.9 > best.confidence:
            best = Finding(option, (hit.evidence,), hit.score * 0.9)
    return replace(best, wanted=tuple(wanted))


def _among(ask: Ask, degree: _Degree, look: Lookup) -> Finding:
    """The greatest or least of a set: said outright, or by the value of each member that the material lists."""
    ask = replace(ask, kind="name" if ask.kind in ("phrase", "date") else ask.kind)
    outright = look.best(ask)
    said = any(re.search(rf"\b{degree.word}\b", e.sentence, re.IGNORECASE) for e in outright.evidence)
    if outright.confidence >= _MEASURED and said:
        return outright
    rest = tuple(w for w in ask.words if w.lower() not in degree.words and stem(w) != stem(degree.word))
    members = replace(ask, words=rest)
    hits = look.material.find(members)
    near = [hit for hit in hits if hit.score >= 0.7 * hits[0].score]
    groups = [[n for n in names(hit.sentence.text) if not any(n in m or m in n for m in ask.names)] for hit in near]
    longest = max(groups, key=len, default=[])
    named = longest if len(longest) >= 3 else [*dict.fromkeys(name for group in groups for name in group)]
    found, wanted = _measured(named[:8], degree, (), look) if len(named) >= 2 else ([], look.queries(members, 0.0))
    if not found:
        return replace(outright, wanted=(*wanted, *outright.wanted))
    best = (max if degree.most else min)(found, key=lambda f: f[0])
    evidence = tuple(e for f in found for e in f[2].evidence)
    return Finding(best[1], evidence, 0.75 * len(found) / len(named[:8]), wanted)


def _yes_or_no(text: str, true: bool) -> str:
    return ("是" if true else "否") if is_chinese(text) else ("Yes" if true else "No")


def _verify(ask: Ask, look: Lookup) -> Finding:
    """Yes or no to a statement, by the newest sentence that speaks of it."""
    hits = [hit for hit in look.material.find(ask) if hit.own > 0]
    if not hits:
        return Finding(wanted=look.queries(ask, 0.0))
    near = [hit for hit in hits if hit.score >= 0.7 * hits[0].score]
    best = hits[0] if ask.past else max(near, key=lambda hit: (hit.day, hit.score))
    true = not denies(best)
    if ask.names[1:] and not any(name in best.sentence.text for name in ask.names[1:]):
        subject = replace(ask, names=ask.names[:1], kind="place", text=ask.names[0])
        options = [c for c in look.values(subject, known=ask.names[0]) if c.score > _MEASURED]
        true = bool(options) and any(options[0].value in n or n in options[0].value for n in ask.names[1:])
        best = options[0].hit if options else best
    score = best.score * 0.9
    return Finding(_yes_or_no(ask.text, true), (best.evidence,), score, look.queries(ask, score))


def _span(text: str, ask: Ask, look: Lookup) -> Finding | None:
    """Somebody's age, or the years between two dated things."""
    asks: list[Ask] = []
    if ask.kind == "age" and ask.names:
        origin = tuple(sorted(listed("origin")))
        asks.append(Ask(f"born founded {ask.names[0]}", "date", names=ask.names[:1], words=origin))
        if event := re.search(r"\b(?:when|at the time of)\s+(.+?)\??$", text):
            asks.append(replace(parse(f"When did {event[1]}?"), kind="date"))
    elif re.search(r"\bhow (?:many years|long)\b|多少年|多久", text, re.IGNORECASE) and ask.kind == "number":
        between = re.search(r"\bbetween (.+?) and (.+?)\??$|\bfrom (.+?) (?:to|until) (.+?)\??$", text)
        if not between:
            return _years_in(ask, look)
        asks = [replace(parse(f"When was {part}?"), kind="date") for part in between.groups() if part]
    if not asks:
        return None
    found = [look.best(one) for one in asks]
    days = [stated[0] for f in found if (stated := dates.find(f.value))]
    evidence = tuple(e for f in found for e in f.evidence)
    wanted = tuple(q for f in found for q in f.wanted)
    if len(days) < len(asks) or (len(days) == 1 and look.now is None):
        return Finding(evidence=evidence, wanted=wanted)
    ends: list[date] = sorted([*(d.when for d in days), *([look.now] if look.now and len(days) == 1 else [])])
    not_yet = all(d.month for d in days) and (ends[1].month, ends[1].day) < (ends[0].month, ends[0].day)
    confidence = min(f.confidence for f in found) ** 0.7
    return Finding(str(ends[1].year - ends[0].year - not_yet), evidence, confidence, wanted)


def _years_in(ask: Ask, look: Lookup) -> Finding | None:
    """A span that a sentence gives only by its two years, where none gives it in words."""
    said = look.best(ask)
    if said.confidence >= 0.5:
        return said
    for hit in look.material.find(ask, 4):
        years = [stated.year for stated in hit.sentence.dates]
        if len(years) == 2 and years[1] > years[0] and hit.own >= 0.4:
            confidence = max(said.confidence, hit.score * 0.75)
            return Finding(str(years[1] - years[0]), (hit.evidence,), confidence, said.wanted)
    return None
