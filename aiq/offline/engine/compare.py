"""Questions answered by computing with several values: comparisons, choices, superlatives, durations, yes or no."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from aiq.offline.engine import dates
from aiq.offline.engine.analysis import analyse
from aiq.offline.engine.evidence import Hit
from aiq.offline.engine.extract import denies
from aiq.offline.engine.lexicon import kind_of, table
from aiq.offline.engine.lookup import Finding, Lookup
from aiq.offline.engine.quantities import base_value, numbers
from aiq.offline.engine.question import FUNCTION_WORDS, Ask, parse
from aiq.offline.engine.text import is_chinese, name_spans, names

_MIN_CONFIDENCE = 0.4
"""The confidence from which a value counts in a comparison."""

_PEER_SHARE = 0.7
"""Sentences whose score is at least this share of the best one's speak of the same thing."""


_ORIGIN_WORDS = ("born built established founded opened", "出生 创办 创立 始建 建于 成立")
"""Words for the beginning of a life or a thing, in English and Chinese."""


@dataclass(frozen=True)
class _Degree:
    """What is compared: the degree word, the words of the property, the kind of its values, and whether most wins."""

    word: str
    words: tuple[str, ...]
    kind: str
    most: bool


def reckon(text: str, look: Lookup) -> Finding | None:
    """The answer to a question that compares, chooses, counts time or asks yes or no; None for any other question."""
    ask, degree, options = parse(text), _degree(text), _options(text)
    if ask.kind == "yes" and degree and len(ask.names) >= 2 and re.search(r"\bthan\b|比", text):
        result = _extreme(ask.names[:2], degree, _rest(text, ask.names[:2], degree), look)
        return replace(result, value=_yes_or_no(text, result.value == ask.names[0]) if result.value else "")
    if len(options) >= 2:
        rest = _rest(text, options, degree)
        return _extreme(options, degree, rest, look) if degree else _choose(ask, options, rest, look)
    if ask.kind == "yes":
        return _verify(ask, look)
    if degree and degree.word not in ("latest", "newest") and re.search(r"\b(?:which|what|who)\b|哪|谁", text.lower()):
        return _among(ask, degree, look)
    return _difference(_end_asks(text, ask), look)


def _degree(text: str) -> _Degree | None:
    """The comparative or superlative in a question."""
    degrees = table("degrees")
    if is_chinese(text):
        match = re.search(
            r"[最更](古老|[高长大小早晚多少])|(?<=哪)[个座条所].{0,4}?([高长大小早晚多少])|较?([早晚])", text
        )
        word = next((group for group in match.groups() if group), "") if match else ""
        return _Degree(word, tuple(degrees[word][0].split()), *degrees[word][1:]) if word else None
    tokens = re.findall(r"[a-z]+", re.sub(r"\b(?:came|come|finished) first\b", "", text.lower()))
    for word, noun in pairwise([*tokens, ""]):
        base = table("irregular").get(word) or re.sub(r"(?:i?er|i?est)$", "", word)
        is_count = base in ("many", "few")
        if base == word and word != "first":
            continue
        for form in (noun,) if is_count else (base, base + "e", base + "y", base[:-1]):
            if form in degrees:
                words, kind, most = degrees[form]
                return _Degree(word, tuple(words.split()), kind, base == "many" if is_count else most)
        if (is_count and noun not in FUNCTION_WORDS | {""}) or (word.endswith("est") and kind_of(noun) == "number"):
            return _Degree(word, (noun,), "number", base not in ("few", "low", "small", "short"))
    return None


def _options(text: str) -> list[str]:
    """The things that a question offers to choose from, as written."""
    if is_chinese(text):
        pair = re.search(
            r"([^，,。？?]{2,30}?)(?:和|与|、|还是)([^，,。？?、]{2,30}?)(?:，|,|哪|谁|相比|之间|中)", text
        )
        return [pair[1], pair[2]] if pair and re.search(r"哪|谁|还是", text) else []
    match = re.search(r"(?:[:,]|\bbetween|\bof)\s+([^:?]+?,?\s+or\s+[^?,]+)\??$|([^,:?]+\s+or\s+[^?,]+)\??$", text)
    match = match or re.match(r"(?:Of|Among|Between|Out of)\s+(.+?),?\s+(?:which|who|what)\b", text, re.IGNORECASE)
    region = next((group for group in match.groups() if group), "") if match else ""
    proper_names = [span.text for span in name_spans(region)]
    parts = [re.sub(r"^.*\b(?:the|an?) ", "", p) for p in re.split(r",?\s+(?:or|and)\s+|,\s+", region) if p.strip()]
    return proper_names if len(proper_names) >= 2 else parts if all(len(part.split()) <= 7 for part in parts) else []


def _rest(text: str, options: Sequence[str], degree: _Degree | None) -> tuple[str, ...]:
    """The words of the question apart from its options and the comparison."""
    for word in sorted((w for option in options for w in (option, *option.split())), key=len, reverse=True):
        text = text.replace(word, " ")
    ignored = {degree.word, *degree.words} if degree else set()
    return tuple(w for w in parse(text.strip(" ?,.:") or "x").words if w.lower() not in ignored and len(w) > 1)


def _value_ask(option: str, degree: _Degree, rest: tuple[str, ...]) -> Ask:
    """The ask for the value of one thing."""
    units, words = "", tuple(dict.fromkeys((*degree.words, *rest)))
    if degree.words:
        units = table("units").get(degree.words[0], "people|person" if kind_of(degree.words[0]) == "person" else "")
    words = words or tuple(_ORIGIN_WORDS[is_chinese(option)].split())
    return Ask(f"{' '.join(words)} {option}", degree.kind, (*degree.words, "")[0], units, (option,), words)


def _value_of(ask: Ask, look: Lookup) -> Finding:
    """The best value whose page title, or failing that whose sentence, contains the name asked about."""
    roots = {t.root for t in analyse(ask.names[0]).tokens if t.text.lower() not in FUNCTION_WORDS}
    candidates = look.values(ask)
    by_title = [c for c in candidates if roots <= c.hit.page.title.roots.keys() and c.score > _MIN_CONFIDENCE]
    for candidate in by_title or [c for c in candidates if roots <= c.hit.sentence.roots.keys()]:
        return Finding(candidate.value, (candidate.hit.evidence,), candidate.score)
    return Finding()


def _measure(finding: Finding, kind: str) -> float | None:
    """A value as a comparable number: in years, or in the base unit; None if it is too doubtful."""
    if finding.confidence <= _MIN_CONFIDENCE:
        return None
    if kind == "date":
        days = dates.find(finding.value)
        return days[0].year + days[0].month / 12 + days[0].day / 400 if days else None
    quantities = numbers(finding.value)
    return base_value(quantities[0]) if quantities else None


def _extreme(options: Sequence[str], degree: _Degree, rest: tuple[str, ...], look: Lookup) -> Finding:
    """The option with the greatest or least value."""
    entries: list[tuple[float, str, Finding]] = []
    queries: tuple[str, ...] = ()
    for option in options:
        ask = _value_ask(option, degree, rest)
        finding = _value_of(ask, look)
        measure = _measure(finding, degree.kind)
        if measure is None or any(finding.evidence == f.evidence and finding.value == f.value for _, _, f in entries):
            queries += look.queries(ask, 0.0)[:1]
        else:
            entries.append((measure, option, finding))
    if not entries:
        return Finding(wanted=queries)
    best = (max if degree.most else min)(entries, key=lambda f: f[0])
    confidence = min(f[2].confidence for f in entries) ** 0.5 if len(entries) == len(options) else 0.2
    return Finding(best[1], tuple(e for f in entries for e in f[2].evidence), confidence, queries)


def _choose(ask: Ask, options: list[str], rest: tuple[str, ...], look: Lookup) -> Finding:
    """The option that the evidence links to the other words of the question."""
    ask = replace(ask, names=tuple(name for name in ask.names if name not in options), words=rest)
    for hit in look.material.find(ask):
        mentioned = [option for option in options if option in hit.sentence.text]
        if len(mentioned) == 1 and not denies(hit):
            return Finding(mentioned[0], (hit.evidence,), hit.score * 0.9, look.queries(ask, hit.score))
    return Finding(wanted=tuple(q for option in options for q in look.queries(replace(ask, names=(option,)), 0.0)[:1]))


def _among(ask: Ask, degree: _Degree, look: Lookup) -> Finding:
    """The greatest or least of a set: stated outright, or by the values of the members that the material lists."""
    ask = replace(ask, kind="name" if ask.kind in ("phrase", "date") else ask.kind)
    direct = look.best(ask)
    is_stated = any(re.search(rf"\b{degree.word}\b", e.sentence, re.IGNORECASE) for e in direct.evidence)
    if direct.confidence >= _MIN_CONFIDENCE and is_stated:
        return direct
    rest = tuple(w for w in ask.words if w.lower() not in (degree.word, *degree.words))
    members = replace(ask, words=rest)
    hits = look.material.find(members)
    peers = [hit for hit in hits if hit.score >= _PEER_SHARE * hits[0].score]
    groups = [[n for n in names(hit.sentence.text) if not any(n in m or m in n for m in ask.names)] for hit in peers]
    longest = max(groups, key=len, default=[])
    options = longest if len(longest) >= 3 else [*dict.fromkeys(name for group in groups for name in group)]
    if len(options) < 2:
        return replace(direct, wanted=(*look.queries(members, 0.0), *direct.wanted))
    finding = _extreme(options[:8], degree, (), look)
    if not finding.value:
        return replace(direct, wanted=(*finding.wanted, *direct.wanted))
    return replace(finding, confidence=0.75 * len(finding.evidence) / len(options[:8]))


def _yes_or_no(text: str, holds: bool) -> str:
    return ("是" if holds else "否") if is_chinese(text) else ("Yes" if holds else "No")


def _verify(ask: Ask, look: Lookup) -> Finding:
    """Whether a statement is true, by the newest sentence about it; no value if none settles it."""
    hits = [hit for hit in look.material.find(ask) if hit.own_share > 0]
    if not hits:
        return Finding(wanted=look.queries(ask, 0.0))
    peers = [hit for hit in hits if hit.score >= _PEER_SHARE * hits[0].score]
    best = hits[0] if ask.past else max(peers, key=lambda hit: (hit.day, hit.score))
    holds = _holds(ask, best, peers)
    if holds is None:
        return Finding("", (best.evidence,), 0.0, look.queries(ask, 0.0))
    score = best.score * 0.9
    return Finding(_yes_or_no(ask.text, holds and not denies(best)), (best.evidence,), score, look.queries(ask, score))


def _holds(ask: Ask, best: Hit, peers: Sequence[Hit]) -> bool | None:
    """Whether a sentence says what is asked: the same year, number or name; None if it has nothing of that kind."""
    years, stated = ({d.year for d in dates.find(text)} for text in (ask.text, best.sentence.text))
    if years and stated:
        early, late = (re.search(rf"\b(?:{word})\b", ask.text.lower()) for word in ("before|by|prior", "after|since"))
        return min(stated) < min(years) if early else max(stated) > max(years) if late else bool(years & stated)
    counts = [q for q in numbers(ask.text) if not q.is_year and q.unit]
    figures = [q for q in best.sentence.numbers if not q.is_year]
    if years or (counts and not figures):
        return None
    if counts:
        return any(base_value(count) == base_value(q) for count in counts for q in figures)
    missing = [n for n in ask.names if not any(n in f"{h.page.title.text} {h.sentence.text}" for h in (best, *peers))]
    if not missing:
        return True
    other_names = [n for n in names(best.sentence.text) if not any(n in m or m in n for m in ask.names)]
    return False if other_names and len(missing) < len(ask.names) else None


_SPANS = (
    r"\b(?:between|from) (.+?) (?:and|to|until) (.+?)\??$",
    r"\bhow (?:many years|long) (?:after|before) (.+?),? (?:did|was|were|had|is) (.+?)\??$",
    r"从(.+?)到(.+?)(?:[，,。？?]|一共|总共|相隔|用|有|经)",
)


def _end_asks(text: str, ask: Ask) -> list[Ask]:
    """The two asks whose values are subtracted; only one for an age today; none for any other question."""
    low = text.lower()
    if (ask.kind == "age" or re.search(r"\bage (?:did|was)\b", low)) and ask.names:
        event = re.search(r"\b(?:when|at the time of|(?:what|which) age (?:did|was))\s+(.+?)\??$", text)
        questions = ["When was it born?", *([f"When did {event[1]}?"] if event else [])]
        birth, *later = [replace(parse(question), kind="date") for question in questions]
        return [replace(birth, names=ask.names[:1]), *later]
    if re.search(r"\bhow (?:many years|long)\b|多少年|多久", low) and ask.kind == "number":
        match = next((m for pattern in _SPANS if (m := re.search(pattern, text, re.IGNORECASE))), None)
        return [replace(parse(f"When was {part}?"), kind="date") for part in match.groups()] if match else []
    years = re.search(r"\b(?:between|from) (\d{4}) (?:and|to) (\d{4})\b", text)
    if years and re.search(r"\bhow (?:much|many)\b", low):
        return [parse(text.replace(years.group(), f"in {year}")) for year in years.groups()]
    return []


def _difference(asks: list[Ask], look: Lookup) -> Finding | None:
    """Someone's age, the years between two dated things, or the difference of two values."""
    if not asks:
        return None
    findings = [look.best(ask) for ask in asks]
    evidence = tuple(e for f in findings for e in f.evidence)
    partial = Finding(evidence=evidence, wanted=tuple(q for f in findings for q in f.wanted))
    confidence = min(f.confidence for f in findings) ** 0.7
    if asks[0].kind != "date":
        first, last = ((*numbers(f.value), None)[0] for f in findings)
        if not first or not last or first == last:
            return partial
        value = findings[1].value.replace(last.text, f"{abs(last.value - first.value):g}")
        return replace(partial, value=value, confidence=confidence)
    days = [matches[0] for f in findings if (matches := dates.find(f.value))]
    bounds = sorted([*(d.when for d in days), *([look.now] if look.now and len(asks) == 1 else [])])
    if len(bounds) < 2:
        return partial
    not_yet = all(d.month for d in days) and (bounds[1].month, bounds[1].day) < (bounds[0].month, bounds[0].day)
    return replace(partial, value=str(bounds[1].year - bounds[0].year - not_yet), confidence=confidence)
