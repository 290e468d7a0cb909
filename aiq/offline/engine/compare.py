"""Questions whose answer is reckoned from several values: comparisons, choices, superlatives, spans of time, yes or no."""

import re
from dataclasses import dataclass, replace

from aiq.offline.engine import dates
from aiq.offline.engine.analysis import analyse
from aiq.offline.engine.evidence import Evidence
from aiq.offline.engine.extract import denies, names_in
from aiq.offline.engine.lexicon import kind_of, stem
from aiq.offline.engine.lookup import Finding, Lookup
from aiq.offline.engine.quantities import numbers
from aiq.offline.engine.question import FUNCTION_WORDS, Ask, parse
from aiq.offline.engine.text import is_chinese, name_spans

_ORIGIN = "founded born built opened established"
_LENGTH = "metre|foot|feet|kilometre|mile|inch|centimetre|米|公里"
_DEGREES = {  # base of a comparative: the words of its property, kind, units, whether "more of it" is the greater value
    "tall": ("height tall", "number", _LENGTH, True), "high": ("height high", "number", _LENGTH, True), "low": ("height high", "number", _LENGTH, False),
    "short": ("length height long", "number", _LENGTH, False), "long": ("length long", "number", "", True), "big": ("size population area", "number", "", True),
    "large": ("size population area", "number", "", True), "small": ("size population area", "number", "", False), "old": (_ORIGIN, "date", "", False),
    "young": (_ORIGIN, "date", "", True), "new": (_ORIGIN, "date", "", True), "early": ("", "date", "", False), "first": ("", "date", "", False), "late": ("", "date", "", True),
    "heavy": ("weight", "number", "gram|kilogram|tonne|公斤|吨", True), "light": ("weight", "number", "gram|kilogram|tonne", False), "deep": ("depth deep", "number", _LENGTH, True),
    "wide": ("width wide", "number", _LENGTH, True), "fast": ("speed", "number", "", True), "slow": ("speed", "number", "", False), "cheap": ("price cost", "number", "", False),
    "populous": ("population", "number", "people|inhabitant|resident|人", True), "expensive": ("price cost", "number", "", True), "far": ("distance", "number", _LENGTH, True), "near": ("distance", "number", _LENGTH, False),
    "高": ("高", "number", "米", True), "长": ("长", "number", "米|公里", True), "大": ("面积 人口", "number", "", True), "小": ("面积 人口", "number", "", False), "早": ("", "date", "", False), "晚": ("", "date", "", True), "多": ("", "number", "", True), "少": ("", "number", "", False), "古老": ("建 创立", "date", "", False),
}  # fmt: skip
_IRREGULAR = {"more": "many", "most": "many", "fewer": "few", "fewest": "few", "less": "few", "least": "few", "further": "far", "farther": "far", "farthest": "far", "furthest": "far", "elder": "old", "eldest": "old", "later": "late", "latest": "late", "earlier": "early", "first": "first", "bigger": "big", "biggest": "big"}  # fmt: skip
_LASTS = frozenset(stem(w) for w in "live last take serve reign stay".split())
_TO_BASE = {"kilometre": 1000.0, "mile": 1609.0, "centimetre": 0.01, "millimetre": 0.001, "foot": 0.3048, "feet": 0.3048, "inch": 0.0254, "tonne": 1000.0, "gram": 0.001, "公里": 1000.0, "千米": 1000.0, "厘米": 0.01, "吨": 1000.0, "month": 1 / 12, "week": 1 / 52, "day": 1 / 365}  # fmt: skip


@dataclass(frozen=True)
class _Degree:
    """What is compared: the word that says so, the property's words, kind and units, and whether the greatest is wanted."""

    word: str
    words: tuple[str, ...]
    kind: str
    units: str
    greatest: bool


def reckon(text: str, look: Lookup) -> Finding | None:
    """The answer to a question that compares, chooses, counts time or asks yes or no; None for any other question."""
    degree = _degree(text) if not re.search(r"\b(?:came|come|finished) first\b", text) else None
    options = _options(text)
    if len(options) >= 2:
        return _compare(text, options, degree, look) if degree else _choose(text, options, look)
    ask = parse(text)
    if ask.kind == "yes":
        than = re.search(r"\bthan\b|比", text)
        if degree and than and len(ask.names) >= 2:
            return _more_than(text, ask.names[:2], degree, look)
        return _verify(ask, look)
    if degree and degree.word not in ("latest", "newest") and (members := _set(text)):
        return _among(text, members, degree, look)
    return _span(text, ask, look)


def _degree(text: str) -> _Degree | None:
    """The comparative or superlative of a question."""
    if is_chinese(text):
        match = re.search(
            r"[最更](古老|[高长大小早晚多少])|(?<=哪)(?:个|座|条|所).{0,4}?([高长大小早晚多少])|较?([早晚])", text
        )
        word = next((g for g in match.groups() if g), "") if match else ""
        return _Degree(word, tuple(_DEGREES[word][0].split()), *_DEGREES[word][1:]) if word else None
    for match in re.finditer(r"[a-z]+", text.lower()):
        word = match.group()
        following = re.match(r"\s+(\w+)", text[match.end() :])
        after = following[1].lower() if following else ""
        base = _IRREGULAR.get(word) or re.sub(r"(?:i?er|i?est)$", "", word)
        if base in ("many", "few"):
            if after in _DEGREES:
                words, kind, units, _ = _DEGREES[after]
                return _Degree(word, tuple(words.split()), kind, units, base == "many")
            if after and after not in FUNCTION_WORDS | {"recent", "recently", "of"}:
                return _Degree(
                    word,
                    (after,),
                    "number",
                    "people|person" if kind_of(after) == "person" else stem(after),
                    base == "many",
                )
            continue
        if base == word and word != "first":
            continue
        if kind_of(after) == "number" and not word.endswith("er"):
            return _Degree(word, (after,), "number", "", base not in ("low", "small", "short"))
        for form in (base, base + "e", base + "y", base[:-1]):
            if form in _DEGREES:
                words, kind, units, greatest = _DEGREES[form]
                return _Degree(word, tuple(words.split()), kind, units, greatest)
    return None


def _options(text: str) -> list[str]:
    """The things that a question offers to choose from, as it writes them."""
    if is_chinese(text):
        match = re.search(
            r"([^，,。？?]{2,30}?)(?:和|与|、|还是)([^，,。？?、]{2,30}?)(?:，|,|哪|谁|相比|之间|中)", text
        )
        return [match[1], match[2]] if match and re.search(r"哪|谁|还是", text) else []
    listed = re.search(r"(?:[:,]|\bbetween|\bof)\s+([^:?]+?,?\s+or\s+[^?,]+)\??$|([^,:?]+\s+or\s+[^?,]+)\??$", text)
    if not listed:
        listed = re.match(r"(?:Of|Among|Between|Out of)\s+(.+?),?\s+(?:which|who|what)\b", text, re.IGNORECASE)
    if not listed:
        return []
    region = next(group for group in listed.groups() if group)
    named = [span.text for span in name_spans(region)]
    parts = [p.strip() for p in re.split(r",\s*(?:or|and)?\s*|\s+(?:or|and)\s+", region) if p.strip()]
    if len(named) >= len(parts) >= 2 or (len(named) >= 2 and " or " not in region):
        return named
    if len(parts) < 2 or any(len(p.split()) > 7 for p in parts[1:]):
        return []
    parts[0] = re.sub(r"^.*\b(?=the\s)", "", parts[0])
    parts = [re.sub(r"^(?:the|an?)\s+", "", p) for p in parts]
    last = parts[-1].split()
    if len(last) > 1:  # "the red or the blue house": the noun stands once
        parts = [p if last[-1] in p.split() or name_spans(p) else f"{p} {last[-1]}" for p in parts]
    return parts


def _rest(text: str, options: list[str], degree: _Degree | None) -> tuple[str, ...]:
    """The words of the question besides its options and what compares them."""
    for option in options:
        text = text.replace(option, " ")
        for word in option.split():
            text = re.sub(rf"\b{re.escape(word)}\b", " ", text)
    drop = {degree.word, *degree.words} if degree else set()
    generic = {"two", "three", "four", "one", "came", "come", "is", "thing"}
    return tuple(w for w in parse(text.strip(" ?,.:") or "x").words if w.lower() not in drop | generic)


def _value_ask(option: str, degree: _Degree, rest: tuple[str, ...]) -> Ask:
    words = rest if rest and degree.word in ("first", "earlier", "later", "more", "fewer") else (*degree.words, *rest)
    if degree.words[:1] == ("length",) and any(stem(w) in _LASTS for w in rest):
        return Ask(f"{' '.join(rest)} {option}", "number", "", "year|month|week|day|hour|minute|年|天", (option,), rest)
    words = tuple(dict.fromkeys((*words, *(degree.words if degree.kind == "number" else ()))))
    words = words or tuple(("建于 始建 创立 创办 成立 出生" if is_chinese(option) else _ORIGIN).split())
    head = degree.words[0] if degree.kind == "number" and degree.words else ""
    return Ask(f"{' '.join(words)} {option}", degree.kind, head, degree.units, (option,), words)


def _measure(value: str, kind: str) -> float | None:
    """A value as a comparable number."""
    if kind == "date":
        found = dates.find(value)
        return found[0].year + found[0].month / 12 + found[0].day / 400 if found else None
    quantities = numbers(value)
    return quantities[0].value * _TO_BASE.get(quantities[0].unit, 1.0) if quantities else None


def _measured(
    options: list[str], degree: _Degree, rest: tuple[str, ...], look: Lookup
) -> tuple[list[tuple[float, str, Finding]], tuple[str, ...]]:
    """Each option with its number where the material gives one, and the queries for the others."""
    found, wanted = [], []
    for option in options:
        ask = _value_ask(option, degree, rest)
        finding = _of(option, ask, look)
        measure = _measure(finding.value, degree.kind) if finding.confidence > 0.4 else None
        if any(measure == other and finding.evidence[0].sentence == f.evidence[0].sentence for other, _, f in found):
            measure = None  # one value is said of one thing
        if measure is not None:
            found.append((measure, option, finding))
        if measure is None or finding.confidence < 0.45:
            wanted += look.queries(ask, 0.0)[:1] if measure is None else list(finding.wanted[:1])
    return found, tuple(wanted)


def _of(option: str, ask: Ask, look: Lookup) -> Finding:
    """The best value whose page title, or else whose sentence, names the option."""
    roots = {t.root for t in analyse(option).tokens if t.text.lower() not in FUNCTION_WORDS}
    options = look.values(ask)
    entitled = [c for c in options if roots <= c.hit.page.title.roots.keys() and c.score > 0.4]
    for candidate in entitled or [c for c in options if roots <= c.hit.sentence.roots.keys()]:
        score = look.trust(ask, candidate)
        return Finding(candidate.value, (candidate.hit.evidence,), score, look.queries(ask, score))
    return Finding(wanted=look.queries(ask, 0.0))


def _compare(text: str, options: list[str], degree: _Degree, look: Lookup) -> Finding:
    """The option with the greatest or least value."""
    found, wanted = _measured(options, degree, _rest(text, options, degree), look)
    if not found:
        return Finding(wanted=wanted)
    best = (max if degree.greatest else min)(found, key=lambda f: f[0])
    complete = len(found) == len(options)
    confidence = min(f[2].confidence for f in found) ** 0.5 if complete else 0.2
    evidence = tuple(e for f in found for e in f[2].evidence)
    return Finding(best[1], evidence, confidence, wanted)


def _more_than(text: str, pair: tuple[str, ...], degree: _Degree, look: Lookup) -> Finding:
    """Yes or no to "is A taller than B"."""
    options = list(pair)
    result = _compare(text, options, degree, look)
    if not result.value:
        return result
    return replace(result, value=_word(text, result.value == options[0]))


def _word(text: str, true: bool) -> str:
    return ("是" if true else "否") if is_chinese(text) else ("Yes" if true else "No")


def _choose(text: str, options: list[str], look: Lookup) -> Finding:
    """The option that the evidence connects best with the question's other words."""
    rest = _rest(text, options, None)
    names = tuple(n for n in parse(text).names if not any(n in o or o in n for o in options))
    scored: list[tuple[float, str, tuple[Evidence, ...]]] = []
    wanted: list[str] = []
    for option in options:
        ask = Ask(f"{option} {' '.join(rest)}", "yes", "", "", (option, *names), rest)
        hits = [h for h in look.material.find(ask, 3) if not denies(h)]
        scored.append((hits[0].score if hits else 0.0, option, (hits[0].evidence,) if hits else ()))
        wanted += look.queries(ask, scored[-1][0])[:1]
    best = max(scored, key=lambda s: s[0])
    return Finding(best[1] if best[0] > 0.3 else "", best[2], best[0] * 0.9, tuple(wanted))


def _set(text: str) -> str:
    """The words for a set of which the greatest or least is asked ("the companies in X"), or ""."""
    match = re.search(r"\b(?:which|what|who)\b.*?\b(?:of (?:the|its|all)\s+)(.+?)\??$", text, re.IGNORECASE)
    if match:
        return match[1]
    match = re.search(r"\b(?:which|what|who)\b\s+(?:(?:is|was|are)\s+the\s+)?(.+?)\??$", text, re.IGNORECASE)
    return match[1] if match else ""


def _among(text: str, members: str, degree: _Degree, look: Lookup) -> Finding | None:
    """The greatest or least of a set: said outright, or by the value of each member that the material lists."""
    ask = parse(text)
    ask = replace(ask, kind="name" if ask.kind in ("phrase", "date") else ask.kind)
    outright = look.best(ask)
    if outright.confidence >= 0.4 and any(
        re.search(rf"\b{degree.word}\b", e.sentence, re.IGNORECASE) for e in outright.evidence
    ):
        return outright
    rest = tuple(w for w in ask.words if w.lower() not in {degree.word, *degree.words} and stem(w) != stem(degree.word))
    names_of_set = replace(ask, words=rest, kind=ask.kind)
    hits = look.material.find(names_of_set, 12)
    near = [hit for hit in hits if hit.score >= 0.7 * hits[0].score]
    groups = [[n for n in names_in(hit) if not any(n in m or m in n for m in ask.names)] for hit in near]
    longest = max(groups, key=len, default=[])
    listed = longest if len(longest) >= 3 else list(dict.fromkeys(n for group in groups for n in group))
    if len(listed) < 2:
        return replace(outright, wanted=(*look.queries(names_of_set, 0.0), *outright.wanted))
    dated = replace(degree, words=degree.words or tuple(_ORIGIN.split())) if degree.kind == "date" else degree
    found, wanted = _measured(listed[:8], dated, (), look)
    if not found:
        return replace(outright, wanted=(*wanted, *outright.wanted))
    top = (max if degree.greatest else min)(found, key=lambda f: f[0])
    share = len(found) / len(listed[:8])
    return Finding(top[1], tuple(e for f in found for e in f[2].evidence), 0.75 * share, wanted)


def _verify(ask: Ask, look: Lookup) -> Finding:
    """Yes or no to a statement, by the newest sentence that speaks of it."""
    hits = [hit for hit in look.material.find(ask, 12) if hit.own > 0]
    if not hits:
        return Finding(wanted=look.queries(ask, 0.0))
    near = [hit for hit in hits if hit.score >= 0.7 * hits[0].score]
    best = max(near, key=lambda hit: (hit.day, hit.score)) if not ask.past else hits[0]
    value_names = ask.names[1:]
    true = not denies(best)
    if value_names and not any(n in best.sentence.text for n in value_names):
        subject = replace(ask, names=ask.names[:1], kind="place", text=ask.names[0])
        options = [c for c in look.values(subject, known=ask.names[0]) if c.score > 0.4]
        true = bool(options) and any(options[0].value in n or n in options[0].value for n in value_names)
        best = options[0].hit if options else best
    score = best.score * 0.9
    return Finding(_word(ask.text, true), (best.evidence,), score, look.queries(ask, score))


def _span(text: str, ask: Ask, look: Lookup) -> Finding | None:
    """Years between two dated things, or somebody's age at some time."""
    between = re.search(r"\bbetween (?P<a>.+?) and (?P<b>.+?)\??$|\bfrom (?P<c>.+?) (?:to|until) (?P<d>.+?)\??$", text)
    asks: list[Ask] = []
    if ask.kind == "age" and ask.names:
        event = re.search(r"\b(?:when|at the time of|in)\s+(.+?)\??$", text)
        asks = [
            Ask(f"born founded {ask.names[0]}", "date", "", "", ask.names[:1], ("born", "founded", "built", "opened"))
        ]
        asks += [replace(parse(f"When did {event[1]}?"), kind="date")] if event else []
    elif between and re.search(r"\bhow (?:many years|long)\b", text, re.IGNORECASE):
        asks = [replace(parse(f"When was {part}?"), kind="date") for part in between.groups() if part]
    elif re.search(r"\bhow many years\b|\bhow long\b|多少年|多久", text, re.IGNORECASE) and ask.kind == "number":
        return _years_in(ask, look)
    if not asks:
        return None
    found = [look.best(one) for one in asks]
    days = [dates.find(f.value) for f in found]
    evidence = tuple(e for f in found for e in f.evidence)
    wanted = tuple(q for f in found for q in f.wanted)
    if not all(days) or (len(asks) == 1 and look.now is None):
        return Finding(evidence=evidence, wanted=wanted)
    first, last = days[0][0].when, days[1][0].when if len(days) > 1 else look.now
    first, last = sorted((first, last or first))
    exact = all(d[0].month for d in days)
    years = last.year - first.year - (exact and (last.month, last.day) < (first.month, first.day))
    return Finding(str(years), evidence, min(f.confidence for f in found) ** 0.7, wanted)


def _years_in(ask: Ask, look: Lookup) -> Finding | None:
    """A span that a sentence gives only by its two years, where no sentence gives it in words."""
    said = look.best(ask)
    if said.confidence >= 0.5:
        return said
    for hit in look.material.find(ask, 4):
        years = [d.year for d in hit.sentence.dates]
        if len(years) == 2 and years[1] > years[0] and hit.own >= 0.4 and len(analyse(hit.sentence.text).tokens) < 60:
            return Finding(
                str(years[1] - years[0]), (hit.evidence,), max(said.confidence, hit.score * 0.75), said.wanted
            )
    return None
