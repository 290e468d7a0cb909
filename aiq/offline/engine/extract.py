"""Taking the value out of a sentence: candidates of the expected kind, judged by where they stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from aiq.offline.engine.analysis import PARTICLES, Sentence, analyse
from aiq.offline.engine.dates import MONTHS
from aiq.offline.engine.evidence import Hit
from aiq.offline.engine.lexicon import is_occupation, kind_of, stem, vocabulary
from aiq.offline.engine.quantities import with_unit
from aiq.offline.engine.question import FUNCTION_WORDS, Ask
from aiq.offline.engine.text import Span, is_chinese

NAMED = ("person", "place", "organisation", "work", "thing", "name")


@dataclass(frozen=True)
class Candidate:
    """A value found. `score`: 0 to 1, how well the sentence and the place fit."""

    value: str
    hit: Hit
    score: float


@dataclass(frozen=True)
class _Piece:
    """A piece of a sentence that could be the value: its offsets, and how well it fits the kind, 0 to 1."""

    start: int
    end: int
    value: str
    fit: float


def candidates(ask: Ask, hit: Hit, known: str = "") -> list[Candidate]:
    """The values that a sentence may give, best first; none that only repeats what is `known`."""
    sentence = hit.sentence
    found = []
    for piece in _pieces(ask, hit):
        if _known(piece.value, ask, known) or _ordinary(piece, hit):
            continue
        score = hit.score * piece.fit * _nearness(ask, hit, piece) * _standing(ask, hit, piece)
        found.append(Candidate(piece.value, hit, min(score, 1.0)))
    return sorted(found, key=lambda c: -c.score)


def _pieces(ask: Ask, hit: Hit) -> Iterator[_Piece]:
    sentence = hit.sentence
    if ask.kind in NAMED:
        yield from _han_pieces(ask, hit) if is_chinese(sentence.text) else _names(ask, hit)
    elif ask.kind == "date":
        yield from _dates(ask, sentence)
    elif ask.kind in ("number", "age"):
        yield from _numbers(ask, sentence)
    elif ask.kind in ("colour", "material", "occupation"):
        yield from _of_class(ask, hit)
    elif ask.kind == "reason":
        yield from _reasons(sentence)
    elif not sentence.text.endswith(("?", "？")):
        yield from _han_pieces(ask, hit) if is_chinese(sentence.text) else _phrases(ask, sentence)
        yield from _clauses(sentence, hit)


def _ordinary(piece: _Piece | Span, hit: Hit) -> bool:
    """Whether a word has its capital only from standing first in the sentence."""
    at_start = piece.start >= 0 and not hit.sentence.text[: piece.start].strip("\"“(‘' ")
    word = hit.sentence.text[piece.start : piece.end].lower()
    if not at_start or " " in word or not word.isascii() or word in hit.page.proper:
        return False
    return stem(word) in vocabulary().groups or word in vocabulary().bases or hit.page.writes(word)


def names_in(hit: Hit) -> list[str]:
    """The proper names in a sentence, each once."""
    return list(dict.fromkeys(span.text for span in hit.sentence.names if not _ordinary(span, hit)))


def _known(value: str, ask: Ask, known: str) -> bool:
    """Whether a value only repeats what the question says."""
    asked = analyse(ask.text).roots.keys() | analyse(known).roots.keys()
    roots = [t.root for t in analyse(value).tokens if t.text.lower() not in FUNCTION_WORDS]
    return (
        bool(roots)
        and all(root in asked for root in roots)
        and not (ask.kind in ("number", "date") and value not in ask.text)
    )


def _names(ask: Ask, hit: Hit) -> Iterator[_Piece]:
    sentence = hit.sentence
    for span in sentence.names:
        full = _full_name(span.text, hit)
        yield _Piece(span.start, span.end, full, _name_fit(ask, full, sentence, span.start, span.end))
    if ask.head and not analyse(ask.head).groups.keys() & _TERRITORY.groups.keys() and ask.kind != "person":
        for match in _PLAIN_NOUN.finditer(sentence.text):
            yield _Piece(match.start(1), match.end(1), match[1], 0.5)
    subject = hit.page.subject
    if subject and not any(subject in span.text or span.text in subject for span in sentence.names):
        kind = _kind_of_name(subject)
        early = re.match(
            r"(?:the|it|he|she|they|its|his|her|their|since|in|after|this)\b", sentence.text, re.IGNORECASE
        )
        fit = 0.75 if early else 0.6
        if ask.kind == "person" or (kind and kind != ask.kind and ask.kind != "name"):
            fit *= 0.5
        if ask.head and not _is_a(subject, ask.head, hit):
            fit *= 0.85
        yield _Piece(-1, -1, subject, fit)


_PLAIN_NOUN = re.compile(
    r"\b(?:in|at|from|inside|by|as)\s+(an?\s+(?:[a-z-]+\s){0,2}?[a-z-]+)(?=[,.;]|\s+(?:in|on|at|of|by|and|with|from|for|near)\b)"
)
"""A thing without a name: "in a former bakery"."""


def _full_name(name: str, hit: Hit) -> str:
    """A surname or short form as the page first gives it in full."""
    if " " in name:
        return name
    for sentence in (hit.page.title, *hit.page.sentences):
        for span in sentence.names:
            if (
                span.text != name
                and span.text.endswith(" " + name)
                and len(span.text.split()) <= 4
                and not _kind_of_name(span.text)
            ):
                return span.text
    return name


def _kind_of_name(name: str) -> str:
    """What a name says of itself: "Harrow Polytechnic" is an organisation."""
    parts = re.findall(r"[^\W\d_]+", name)
    for word in [parts[-1], parts[0]] if parts else []:
        if (kind := kind_of(word)) in ("organisation", "place", "thing"):
            return kind
    return ""


def _is_a(name: str, head: str, hit: Hit) -> bool:
    """Whether the name or the start of the page about it says that it is one of these."""
    root = stem(head)
    if root in analyse(name).roots:
        return True
    return name in hit.page.title.text and any(root in s.roots for s in hit.page.sentences[:2])


_LEADS = re.compile(r"\s*,?\s*|.{0,40}\b(?:is|was|are|were|called|named|at)\b(?:\s+the)?\s*", re.IGNORECASE)


def _head_before(head: str, sentence: Sentence, start: int) -> str | None:
    """The text between the last word for the head noun before a name and the name."""
    wanted = analyse(head)
    ends = [
        t.end
        for t in sentence.tokens
        if t.end <= start and (t.root in wanted.roots or wanted.groups.keys() & _groups_of(t.root))
    ]
    return sentence.text[ends[-1] : start] if ends else None


_TERRITORY = analyse("city town village country region place area land")
"""What a name after "in" or "from" is taken for without further evidence."""


def _name_fit(ask: Ask, name: str, sentence: Sentence, start: int, end: int) -> float:
    kind = _kind_of_name(name)
    before, after = sentence.text[max(0, start - 24) : start], sentence.text[end : end + 40]
    if ask.kind == "person":
        if kind or re.search(r"\b(?:in|at|from|near)\s+(?:the\s+)?$", before):
            return 0.35
        return 0.95 if " " in name else 0.6
    head = stem(ask.head) if ask.head else ""
    if head and head in analyse(name).roots:
        return 1.0
    if head and (between := _head_before(ask.head, sentence, start)) is not None and _LEADS.fullmatch(between):
        return 1.0
    if head and head in analyse(re.split(r"[.;]", after)[0]).roots and re.match(r"\s*(?:,|is|was|\()", after):
        return 1.0
    said = _kind_of_name(name.split()[-1]) if head else ""
    if (
        said in ("place", "thing", "organisation")
        and not analyse(name.split()[-1]).groups.keys() & analyse(ask.head).groups.keys()
    ):
        return 0.4
    if head and not analyse(ask.head).groups.keys() & _TERRITORY.groups.keys():
        return 0.55
    if ask.kind == "place":
        if re.search(r"\b(?:in|at|to|from|near|of|on|into)\s+(?:the\s+)?$", before):
            return 0.9 if not kind or kind == "place" or not ask.head else 0.7
        return 0.6
    if ask.kind == "organisation":
        return 0.95 if kind == "organisation" else 0.65
    if ask.kind in ("work", "thing"):
        return 0.8
    return 0.85


def _dates(ask: Ask, sentence: Sentence) -> Iterator[_Piece]:
    for stated in sentence.dates:
        text = sentence.text[stated.start : stated.end]
        fit = 0.95
        if ask.head.startswith(("year", "decade")):
            text = str(stated.year)
        elif ask.head.startswith(("day", "date")) and not stated.day:
            fit = 0.6
        elif ask.head.startswith("month"):
            if not stated.month:
                continue
            text = MONTHS[stated.month - 1]
        yield _Piece(stated.start, stated.end, text, fit)
    if ask.head.startswith("month") or not ask.head:
        for match in re.finditer(
            rf"\b(?:{'|'.join(MONTHS)})\b(?!\s+\d{{4}})|\d{{1,2}}月(?:\d{{1,2}}日)?|农历\w{{1,6}}", sentence.text
        ):
            if not any(d.start <= match.start() < d.end for d in sentence.dates):
                yield _Piece(*match.span(), match.group(), 0.85 if ask.head else 0.6)
    for match in re.finditer(r"\b(?:1\d|20)\d0s\b", sentence.text):
        yield _Piece(*match.span(), match.group(), 0.7)


def _numbers(ask: Ask, sentence: Sentence) -> Iterator[_Piece]:
    in_date = [(d.start, d.end) for d in sentence.dates]
    for quantity in sentence.numbers:
        if any(start <= quantity.start < end for start, end in in_date):
            continue
        text = with_unit(sentence.text, quantity)
        fit = 0.7
        if ask.units:
            near = sentence.text[quantity.end : quantity.end + 40]
            unit = re.search(ask.units, quantity.unit) or (ask.head and _counts(ask.head, near))
            unit = unit or (ask.units.startswith(("people", "person")) and kind_of(quantity.unit) == "person")
            fit = 1.0 if unit else 0.25
        elif quantity.unit in "$€£¥元" and quantity.unit:
            fit = 0.9
        if _RELATIVE.match(sentence.text, quantity.end):
            fit *= 0.3
        yield _Piece(quantity.start, quantity.end, text, fit)


_RELATIVE = re.compile(
    r"\s*[\w°%]*\s+(?:lower|higher|taller|longer|shorter|more|less|fewer|older|younger|larger|smaller|later|earlier|than)\b"
)
"""What makes a number a difference."""


def _counts(head: str, after: str) -> bool:
    """Whether a number's next words are what is counted, or mean it."""
    wanted = analyse(head)
    next_words = analyse(" ".join(after.split()[:3]))
    return bool(wanted.roots.keys() & next_words.roots.keys() or wanted.groups.keys() & next_words.groups.keys())


def _of_class(ask: Ask, hit: Hit) -> Iterator[_Piece]:
    """Colours, materials and occupations, with the words before that make them exact ("dark brown")."""
    sentence = hit.sentence
    for n, token in enumerate(sentence.tokens):
        classed = (
            is_occupation(token.text)
            if ask.kind == "occupation"
            else vocabulary().classes.get(token.text.lower()) == ask.kind
        )
        if not classed:
            continue
        start = n
        while (
            start
            and ask.kind != "occupation"
            and sentence.tokens[start - 1].text.lower() in ("dark", "light", "pale", "bright", "deep")
        ):
            start -= 1
        said = re.search(
            r"\b(?:an?|as|former|retired|by)\s+(?:[a-z-]+\s+)?$|[一是名位的]$", sentence.text[: token.start]
        )
        fit = 0.95 if (said or ask.kind != "occupation") and (len(token.text) > 1) else 0.5
        yield _Piece(
            sentence.tokens[start].start, token.end, sentence.text[sentence.tokens[start].start : token.end], fit
        )
    if ask.kind == "occupation":
        for match in _AS_A.finditer(sentence.text):
            group = 1 if match[1] else 2
            fit = 0.85 if kind_of(match[group].split()[-1]) in ("", "person") else 0.4
            yield _Piece(match.start(group), match.end(group), match[group], fit)
        yield from (
            replace_fit(p, 0.6)
            for p in (_han_pieces(ask, hit) if is_chinese(sentence.text) else _phrases(ask, sentence))
            if not any(c.isdigit() for c in p.value)
        )


def replace_fit(piece: _Piece, fit: float) -> _Piece:
    return _Piece(piece.start, piece.end, piece.value, piece.fit * fit)


_AS_A = re.compile(
    r"\b(?:as|be|is|was|became|become|by|former(?:ly)?|then|,)\s+(?:an?|the)\s+((?:former |retired )?[a-z][a-z-]+(?:\s(?:and\s)?[a-z][a-z-]+)?)(?=[,.;]|\s+(?:who|by|from|in|at|and|under|then)\b|\s[A-Z])"
    r"|\b(?:trained|works?|worked) (?:.{0,20} )?(?:as|to be) an? ([a-z-]+)"
)
_REASON = re.compile(
    r"\b(?:because(?: of)?|since|as a result of|due to|owing to|so that|after|in order to|, as|to)\s+(?P<why>[^.;]{6,140})|(?:因为?|由于|为了)(?P<wei>[^,，。；]{2,40})",
    re.IGNORECASE,
)


def _reasons(sentence: Sentence) -> Iterator[_Piece]:
    for match in _REASON.finditer(sentence.text):
        group = "why" if match["why"] else "wei"
        strong = re.match(r"because|due|owing|as a result|因|由于", match.group(), re.IGNORECASE)
        yield _Piece(match.start(group), match.end(group), match[group].strip(), 0.95 if strong else 0.6)
    yield _Piece(0, len(sentence.text), sentence.text, 0.5)


def _clauses(sentence: Sentence, hit: Hit) -> Iterator[_Piece]:
    """The clause that has most of what was asked for, where no shorter phrase answers."""
    cuts = [0, *(m.end() for m in re.finditer(r"[,;:–—]\s+|[，；：]|\s(?=but\s)", sentence.text)), len(sentence.text)]
    for start, end in pairwise(cuts):
        first, last = sentence.at(start), sentence.at(end)
        worth = sum(w for place, w in hit.places if first <= place < last)
        total = sum(w for _, w in hit.places) or 1.0
        clause = sentence.text[start:end].strip(" ,.;:，。；")
        parts = clause.split()
        if (len(parts) > 1 and parts[-1].lower() not in FUNCTION_WORDS) or is_chinese(clause):
            yield _Piece(start, end, clause, 0.8 * worth / total)


_CUT = re.compile(
    r"[,;:()–—\"“”]|\s(?:which|that|who|when|where|because|and|but|while|until|after|before|than|although|whose|if)\s",
    re.IGNORECASE,
)
_MARK = re.compile(
    r"\b(?:is|was|are|were|be|been|as|for|of|on|by|with|from|in|into|at|to|than|but|a|an|the|had|has|have)\s+",
    re.IGNORECASE,
)


def _phrases(ask: Ask, sentence: Sentence) -> Iterator[_Piece]:
    """Stretches between punctuation, verbs and prepositions: what follows "is", "for", "of" or a word asked for."""
    text = sentence.text
    for span in sentence.names:
        yield _Piece(span.start, span.end, span.text, 0.7)
    for match in re.finditer(r"\bnot\b[^.;]*?\bbut\s+(?!also)([^.;]{3,80})", text):
        yield _Piece(0, match.end(1), match[1], 1.0)
    starts = {match.end() for match in _MARK.finditer(text)}
    starts |= {token.end + 1 for token in sentence.tokens}
    asked = analyse(ask.text)
    for start in sorted(starts):
        rest = text[start:]
        cut = _CUT.search(rest)
        phrase = rest[: cut.start()] if cut else rest
        phrase = phrase.strip(" .!?,;")
        parts = phrase.split()
        if not parts or len(parts) > 9 or parts[0].lower() in FUNCTION_WORDS - {"the", "a", "an"}:
            continue
        inside = analyse(phrase)
        repeated = sum(root in asked.roots or any(g in asked.groups for g in _groups_of(root)) for root in inside.roots)
        yield _Piece(start, start + len(phrase), phrase, 0.75 * (1 - 0.7 * repeated / max(1, len(inside.roots))))


def _groups_of(root: str) -> frozenset[int]:
    return vocabulary().groups.get(root, frozenset())


_HAN_CUT = re.compile(
    r"[^\w·\-]+|[是在为于由用被把的了过和与及因从向对以将并曾至到已]|当选|当过|选举|出生|毕业|任命|获得|担任|位于|现任|新一任|新任|一任|昨日|名叫|叫做|位"
)
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤柳耿尹"
)
_HAN_SUFFIX = {"place": "市县镇村省国州岛区城河湖山", "organisation": "司学院校馆局社部队行会厂"}


def _han_pieces(ask: Ask, hit: Hit) -> Iterator[_Piece]:
    """Pieces of a Chinese sentence between particles, punctuation, common verbs and the words asked for; titles whole."""
    text = hit.sentence.text
    for span in hit.sentence.names:
        yield _Piece(span.start, span.end, span.text, 0.95 if ask.kind in ("work", "name") else 0.5)
    cuts = {0, len(text)}
    for match in _HAN_CUT.finditer(text):
        cuts |= {match.start(), match.end()}
    asked = [hit.sentence.tokens[place] for place, _ in hit.places]
    cuts |= {edge for t in asked if t.root in vocabulary().groups or t.root in ask.words for edge in (t.start, t.end)}
    if ask.kind == "person":
        cuts |= {
            m.end()
            for m in vocabulary().chinese.finditer(text)
            if kind_of(m.group()) == "person" and m.end() - m.start() > 1
        }
    for start, end in pairwise(sorted(cuts)):
        yield from _han_piece(ask, text[start:end], start)


def _han_piece(ask: Ask, piece: str, start: int) -> Iterator[_Piece]:
    if not 2 <= len(piece) <= 14 or not is_chinese(piece) or piece in PARTICLES or piece in vocabulary().groups:
        return
    fit = 0.8
    if ask.kind == "person":
        fit = (
            0.95
            if (2 <= len(piece) <= 3 and piece[0] in _SURNAMES) or "·" in piece
            else 0.6
            if len(piece) <= 6
            else 0.3
        )
        fit *= 0.5 if piece[-1] in "".join(_HAN_SUFFIX.values()) else 1
    elif ask.kind in _HAN_SUFFIX:
        fit = 1.0 if piece[-1] in _HAN_SUFFIX[ask.kind] else 0.6
    elif ask.head and piece.endswith(ask.head):
        fit = 1.0
    if any(c.isdigit() for c in piece):
        fit *= 0.5
    repeated = any(root in analyse(ask.text).roots for root in analyse(piece).roots)
    yield _Piece(start, start + len(piece), piece, fit * (0.5 if repeated else 1))


def _nearness(ask: Ask, hit: Hit, piece: _Piece) -> float:
    """How near a piece is to the words asked for: 1 beside them, less with every token between."""
    if not hit.places:
        return 0.55
    if piece.start < 0:
        return 0.9
    sentence = hit.sentence
    first, last = sentence.at(piece.start), sentence.at(max(piece.start, piece.end - 1))
    clause = sentence.text
    total = weight = 0.0
    for place, worth in hit.places:
        gap = place - last if place > last else first - place if place < first else 0
        low, high = sorted((sentence.tokens[place].start, piece.start))
        gap += 3 * len(re.findall(r"[,;，；]|\b(?:and|but|who|which)\b", clause[low:high]))
        total += worth / (1 + 0.1 * max(gap - 1, 0))
        weight += worth
    return 0.4 + 0.6 * total / weight


ENDED = re.compile(
    r"\b(?:former(?:ly)?|until|previous(?:ly)?|used to|ex-|no longer|outgoing|had been|predecessor|in succession to|succeed(?:s|ed|ing)|retir|replac(?:es|ed|ing)|defeated|before)\b|原|前任|卸任|曾任|此前|接替",
    re.IGNORECASE,
)
DENIED = re.compile(
    r"\b(?:not(?! only\b| to be confused| just\b| least\b)|never|neither|nor|n't|no(?! longer than)|false|denied|rumou?r|contrary|myth|wrongly|mistaken(?:ly)?|abandoned|unlike|ruled out|disproved|unfounded|untrue)\b|n't\b|不是|并非|没有|未|误",
    re.IGNORECASE,
)


def _standing(ask: Ask, hit: Hit, piece: _Piece) -> float:
    """What the words just before and after a value say of it: denied, over, by whom."""
    sentence = hit.sentence
    if piece.start < 0:
        return 1.0
    before = re.split(r"[,;.，；]", sentence.text[: piece.start])[-1][-40:]
    after = sentence.text[piece.end : piece.end + 16]
    factor = 1.0
    if (denial := DENIED.search(before)) and not re.search(r"\bbut\b|而是", before[denial.start() :]):
        factor *= 0.4
    if not ask.past and (
        re.search(r"\b(?:succe|replac|defeat|beat|follow)\w*\s+(?:to\s+)?(?:[\w-]+\s+){0,2}$", before)
        or _is_over(sentence, hit)
    ):
        factor *= 0.5
    if (ask.kind == "person" or re.search(r"(?:er|or)s?$", ask.head)) and " by " in sentence.text:
        factor *= 1.15 if _is_agent(hit, piece) else 0.85
    if re.match(r"\s*(?:is|was|has been|became|founded|\()", after) and ask.kind in NAMED:
        factor *= 1.03
    return factor


def _is_agent(hit: Hit, piece: _Piece) -> bool:
    """Whether "by" joins a value to a word asked for that stands before it, no other name between."""
    starts = [
        hit.sentence.tokens[place].end for place, _ in hit.places if hit.sentence.tokens[place].end <= piece.start
    ]
    between = hit.sentence.text[max(starts) : piece.start] if starts else ""
    return bool(re.search(r"\bby\b", between)) and not any(
        max(starts) <= n.start < piece.start for n in hit.sentence.names
    )


def _is_over(sentence: Sentence, hit: Hit) -> bool:
    """Whether a word asked for is said to be past: "the former mayor", "until 2020 the mayor"."""
    starts = [sentence.tokens[place].start for place, _ in hit.places]
    return any(
        ENDED.search(re.split(r"[,;.，；]", sentence.text[max(0, start - 24) : start])[-1][-16:]) for start in starts
    )


def denies(hit: Hit) -> bool:
    """Whether a sentence denies what was found in it: a negation before a matching word of the same clause."""
    text = hit.sentence.text
    for match in DENIED.finditer(text):
        reach = re.match(r"[^,;.:，；。]*", text[match.end() :])
        first, last = hit.sentence.at(match.end()), hit.sentence.at(match.end() + (reach.end() if reach else 0))
        if any(first <= place < last for place, _ in hit.places):
            return True
    return False
