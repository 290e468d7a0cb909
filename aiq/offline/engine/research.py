"""Open tasks: what the task of a report is about, what it wants to know, and what remains to be looked up.

A task is read as a subject and facets, in its own words. What the evidence names besides the subject is then looked
up in turn; things named together with a facet come first, so that each round of research goes one step further.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from aiq.offline.engine.source import Source
from aiq.offline.engine.text import is_chinese, names, sentences, stems, words

MOST_FACETS = 12
STEPS = 3
"""Steps from the subject to a thing named in the evidence: named with the subject, named with such a thing, etc."""
MOST_WORDS = 8
"""The most words in a query besides the thing it asks about."""

_PRODUCT = (
    r"(?:report|overview|analysis|study|survey|review|paper|essay|guide|picture|account|summary|profile|portrait"
    r"|comparison|explanation|article|research|plan|assessment|evaluation|framework|quer(?:y|ie)|question|keyword)"
)
_ASKING = (
    r"(?:analy[sz]e|assess|collect|compare|compile|conduct|consider|contrast|cover|create|describe|detail|develop"
    r"|discuss|draft|elaborate|evaluate|examine|explain|explore|find|focus|gather|generate|give|help|identify|include|investigate"
    r"|list|look|make|name|outline|prepare|present|produce|propose|provide|rank|recommend|report|research|review|say"
    r"|show|state|study|suggest|summari[sz]e|survey|tell|trace|write)(?:e?ing)?"
)
_LEAD = re.compile(
    r"^(?:(?:please|kindly|also|then|and|finally|additionally|furthermore|could you|can you|would you|let's"
    r"|(?:i|we)(?:'d| would)? (?:want|need|like)(?: you)?(?: to)?|your task is to"
    r"|as an? [\w ]{3,60},|in [\w -]{3,40},)\W+)+",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    rf"^(?:{_ASKING}\s+)?(?:(?:me|us|for me|for us)\s+)?(?:(?:(?:an?|the|some)\s+)?(?:[\w-]+\s+){{0,3}}?{_PRODUCT}s?\s+"
    r"(?:paper\s+)?(?:on|of|about|into|for|comparing|covering|that)\s+)?(?:(?:on|about|into|of|for)\s+)?",
    re.IGNORECASE,
)
_WANTS = re.compile(rf"\?|？|^{_ASKING}\b|\bshould\b|^(?:what|which|how|why|who|where|when)\b", re.IGNORECASE)
_CUT = re.compile(
    rf"\s*[;:?；：？。]\s*|\s*[,，、]\s*(?:and\s+|or\s+|as well as\s+)?|\s+as well as\s+|\s+and\s+(?={_ASKING}\b)"
)
_POINTING = re.compile(
    r"^(?:(?:its|their|his|her|these|those|this|that|the|an?|any|all|each|other|of|on|in|at|to|for|with|by|including|and|or"
    r"|such as|so that)\s+)+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"^(?:what|which|how|who|where|when|why)\s+(?:(?:is|are|was|were|do|does|did|there|have|has|characteri[sz]es|constitutes)\s+)*",
    re.IGNORECASE,
)
_PURPOSE = re.compile(
    r"(?:i am|i'm|we are) [\w' -]{4,50}? (?:in|on|about|into|for|of) (?P<what>[^.?!]{4,120})", re.IGNORECASE
)
_LONG = re.compile(
    r"^write\b|\b(?:report|essay|overview|analy[sz]e|analysis|discuss|survey|in detail|in-depth|comprehensive)\b"
    r"|报告|文章|撰写|调研|综述|指南|详细",
    re.IGNORECASE | re.MULTILINE,
)
_COMPARING = re.compile(r"\bcompar|\bcontrast|\bversus\b|\bvs\b|\brank|\bdifference|比较|对比|差异", re.IGNORECASE)
_AUDIENCE = re.compile(r"\s+for (?:an?|my|our|the) [\w ]{3,40}$")
_PART = re.compile(
    r"(?:.{0,40}\b(?:about|on|关于)\s*[:：]\s*)?(?P<part>.+?)\s*"
    r"[(（](?:related to|(?:in the )?context(?: of)?|(?:as )?part of|背景|属于)\W?\s*(?P<whole>.+)[)）]\W*",
    re.IGNORECASE | re.DOTALL,
)
"""A part of a task, followed in brackets by the whole it belongs to."""
_SUBJECT_END = re.compile(rf"[;:?.；：？。，]|,\s|\s+(?:covering|including|with regard to)\s|\s+and\s+(?={_ASKING}\b)")
_PRESENT = re.compile(
    r"\b(?:current(?:ly)?|latest|newest|upcoming|next|now|today|recent(?:ly)?)\b|最新|目前|现在|当前|近期",
    re.IGNORECASE,
)
THANKS = re.compile(r"\b(?:thanks?|thank you|cheers)\b|谢", re.IGNORECASE)
_GREETING = re.compile(
    r"\W*(?:(?:hi|hello|hey|good (?:morning|evening|day|afternoon|night)|thanks|thank you|cheers|(?:good)?bye"
    r"|how are you|(?:非常)?(?:你好|您好|谢谢|再见)(?:你|您)?|多谢)"
    r"(?:,? (?:there|all|again|so much|very much|a lot|today|doing|for [\w' ]{1,40}))*\W*)+",
    re.IGNORECASE,
)
_ABOUT_ME = re.compile(
    r"\b(?:who|what) are you\b|\bwhat (?:can|do) you do\b|\byour (?:name|capabilities)\b|你(?:是谁|能做什么|会什么)",
    re.IGNORECASE,
)
_CHINESE_SUBJECT = re.compile(
    r"关于(?P<report>[^，。；：]{2,40}?)的?(?:研究)?(?:报告|文章|指南|综述|分析|论文)|(?:调研|分析|研究|介绍|比较|概述|梳理"
    r"|评估|总结|说明|探讨|了解|考察|调查)(?:一下)?(?P<of>[^，。；：]{2,40})"
)
_CHINESE_LEAD = re.compile(r"^(?:以及|并且|并|和|请|其中|分别|各个|各位|这些|目前|该)+")
_CHINESE_NAME = re.compile(
    r"[\u4e00-\u9fff]{1,6}?(?:·[\u4e00-\u9fff]{1,6}?)+(?=[^\u4e00-\u9fff·]|[于是在的任和与由出创为从担现以曾即将就接])"
    r"|(?<=[是在于的、，为由])[\u4e00-\u9fff]{2,10}?(?:公司|集团|大学|学院|学校|研究所|协会|俱乐部)"
)
_CHINESE_LIST = re.compile(r"(?:有|是|为|包括|：)?([^，。；：有是为]{2,14}(?:[、和及][^，。；：、和及]{2,14})+)")


CONCLUSION = re.compile(r"conclu|summary|outlook|结论|总结|小结", re.IGNORECASE)
"""Titles of a concluding section."""


@dataclass(frozen=True)
class Facet:
    """Something that the task wants to know; `title` in the task's words, usable as a heading."""

    title: str
    words: tuple[str, ...]

    @property
    def stems(self) -> frozenset[str]:
        return stems(" ".join(self.words))


@dataclass(frozen=True)
class Topic:
    """A task as a subject and facets. `compare`: it asks for a comparison; `part`: it is part of another task."""

    text: str
    subject: str
    facets: tuple[Facet, ...]
    compare: bool
    chinese: bool
    part: bool = False

    @property
    def title(self) -> str:
        return _heading(self.subject)


# the task


def is_small_talk(text: str) -> bool:
    """Whether a message only greets or thanks, or is about the assistant rather than the world."""
    if len(text) >= 80:
        return False
    greeting = _GREETING.match(text)
    rest = text[greeting.end() :] if greeting else text
    return _ABOUT_ME.search(text) is not None or not (greeting is None or words(rest) or re.search(r"[?？]", rest))


def is_question(task: str) -> bool:
    """Whether a task wants one short answer: a single question or request that asks for no report and lists nothing."""
    if _PART.fullmatch(task):
        return False
    bare = [_without_lead(sentence) for sentence in sentences(task)]
    long = len(task) > (60 if is_chinese(task) else 320)
    product = _LONG.search("\n".join(bare))
    return not (long or product) and sum(_WANTS.search(sentence) is not None for sentence in bare) <= 1


@lru_cache(maxsize=256)
def topic(task: str) -> Topic:
    """The task's subject and facets; every task has a subject. A part of a task has the subject of the whole."""
    chinese = is_chinese(task)
    part = _PART.fullmatch(task)
    whole, task = (topic(part["whole"]).subject, part["part"]) if part else ("", task)
    texts = [task] if chinese else list(sentences(task))
    requests = [s for s in texts if _WANTS.search(_without_lead(s))] or texts[:1] or [task]
    match = _CHINESE_SUBJECT.search(task) if chinese else None
    subject = whole or ((match["report"] or match["of"]) if match else _subject(requests[0], texts))
    facets: dict[tuple[str, ...], Facet] = {}
    for piece in (piece for sentence in requests for piece in _pieces(sentence)):
        key = tuple(word for word in dict.fromkeys(words(piece)) if word not in words(subject))
        title = _heading(re.sub(r"\s*[(（][^)）]*[)）]", "", piece))
        if key and title and subject not in piece and not any(set(key) <= set(other) for other in facets):
            facets[key] = Facet(title, key)
    compare = _COMPARING.search(task) is not None
    return Topic(task, subject, tuple(facets.values())[:MOST_FACETS], compare, chinese, bool(whole and facets))


def of_question(task: str) -> str:
    """The task; if it is part of a question, that question."""
    part = _PART.fullmatch(task)
    return part["whole"] if part and part["whole"].rstrip()[-1] in "?？" else task


def _subject(sentence: str, texts: Sequence[str]) -> str:
    """What the first sentence that asks is about; if it names nothing, what an earlier sentence says they work on."""
    body = _content(re.sub(r"\s*\([^)]*\)", "", _without_lead(sentence)))
    if not names(body):
        body = next((match["what"] for s in texts if (match := _PURPOSE.match(s))), body)
    body = _AUDIENCE.sub("", _SUBJECT_END.split(body)[0])
    return " ".join(_POINTING.sub("", body).split()[:18]).strip(" .\"'“”") or sentence


def _without_lead(sentence: str) -> str:
    """A sentence without polite openings or brackets at its start."""
    return _LEAD.sub("", re.sub(r"^\([^)]*\)\s*:?\s*", "", sentence.strip()))


def _content(sentence: str) -> str:
    """What a request asks for, without the asking words."""
    return _CLAUSE.sub("", _REQUEST.sub("", sentence, count=1))


def _pieces(sentence: str) -> list[str]:
    """The parts of a sentence that could be facets; brackets stay with what they explain."""
    masked = re.sub(r"[(（][^)）]*[)）]", lambda m: re.sub(r"[,，、;；:：]", "\x00", m[0]), _without_lead(sentence))
    parts = (part.replace("\x00", ",").strip(" .?!。？！\"'“”") for part in _CUT.split(masked))
    pieces = [_POINTING.sub("", _content(_CHINESE_LEAD.sub("", part))) for part in parts]
    return [piece for piece in pieces if len(piece) > 1 and len(piece.split()) <= 24]


def _heading(text: str) -> str:
    text = text.strip(" .,:;，。；：？?")
    return text[:1].upper() + text[1:]


def outline(of: Topic, least: int = 4, most: int = 8) -> tuple[str, ...]:
    """Section titles: the task's facets in order, the last ones joined if there are too many, and a conclusion."""
    background, conclusion, joint = ("背景", "结论", "；") if of.chinese else ("Background", "Conclusion", "; ")
    titles = [facet.title for facet in of.facets]
    if len(titles) >= most > 1:
        titles[most - 2 :] = [joint.join(titles[most - 2 :])]
    if len(titles) < least - 1:
        titles.insert(0, background)
    return tuple(dict.fromkeys([*titles, conclusion]))


# queries


def queries(of: Topic) -> list[str]:
    """First queries: the subject alone, then the subject with each facet; for a part of a task, only with its
    facets."""
    facets = [_query(of.subject, [facet]) for facet in of.facets if len(facet.words) <= MOST_WORDS]
    return list(dict.fromkeys([*([] if of.part and facets else [of.subject]), *facets]))


def independent(queries: Sequence[str]) -> list[str]:
    """The first query about each thing: the others only reword it."""
    return list({(*names(query), query)[0]: query for query in reversed(queries)}.values())[::-1]


def dated(query: str, task: str, now: date | None) -> str:
    """A query, with the current year added if it is about something the task wants the present state of."""
    present = _PRESENT.search(task)
    present_stems = stems(" ".join(task[present.end() :].split()[:3])) if present else frozenset()
    return f"{query} {now.year}" if now and present_stems & stems(query) and str(now.year) not in query else query


def _query(thing: str, facets: Sequence[Facet]) -> str:
    """A thing and what the facets ask about it, the first facet first: their words, or in Chinese two titles."""
    if is_chinese(thing):
        return " ".join([thing, *(facet.title for facet in facets[:2])])
    terms = dict.fromkeys(word for facet in facets for word in facet.words if word not in thing.casefold())
    return f"{thing} {' '.join(list(terms)[:MOST_WORDS])}".strip()[:400]


# gaps


def gaps(of: Topic, sources: Sequence[Source], asked: Sequence[str]) -> list[str]:
    """Queries for what the evidence leaves open, most important first: things it names that nobody looked up, then
    facets on which nothing was found. `asked`: the queries sent so far."""
    looked_up = " \n ".join(asked).casefold()
    things = {n: facet for n, facet in _things(of, sources, asked).items() if n.casefold() not in looked_up}
    thing_queries = [_query(name, sorted(of.facets, key=lambda f: f is not facet)) for name, facet in things.items()]
    source_stems = frozenset[str]().union(*(stems(source.text) for source in sources))
    open_facets = [facet for facet in of.facets if len(facet.stems & source_stems) * 2 <= len(facet.stems)]
    return thing_queries + [query for facet in open_facets if (query := _query(of.subject, [facet])) not in asked]


def _things(task: Topic, sources: Sequence[Source], asked: Sequence[str]) -> dict[str, Facet | None]:
    """Names in sentences about the subject or about a thing from an earlier step, with the facet they came with.

    Nearest to the subject first; within a step, things that come with a facet first, then the most frequent.
    """
    passages = [(sentence, f"{source.title}\n{sentence}") for source in sources for sentence in sentences(source.text)]
    proper_names = {name for name in _proper_names([sentence for sentence, _ in passages]) if name not in task.text}
    subject_stems = stems(task.subject)
    reached: dict[str, Facet | None] = {}
    known = [name for query in asked for name in names(query)[:1]]
    for step in range(STEPS):
        occurrences: dict[str, list[Facet | None]] = {}
        for sentence, text in passages:
            is_near = not step and len(subject_stems & stems(text)) * 2 > len(subject_stems)
            if is_near or any(name in text for name in known):
                facet = max(task.facets, key=lambda f: len(f.stems & stems(sentence)), default=None)
                for name in (name for name in names_in(sentence) if name in proper_names and name not in reached):
                    occurrences.setdefault(name, []).append(facet if facet and facet.stems & stems(sentence) else None)
        facets = {name: next(filter(None, occurrences[name]), None) for name in occurrences}
        known = sorted(facets, key=lambda name: (facets[name] is None, -len(occurrences[name])))
        reached |= {name: facets[name] for name in known}
    return reached


def _proper_names(texts: Sequence[str]) -> frozenset[str]:
    """Names that are not ordinary words: they have several words, are Chinese, or also occur inside a sentence."""
    candidates = {name for sentence in texts for name in names_in(sentence)}
    return frozenset(n for n in candidates if re.search("[ ·]", n) or any(sentence.find(n) > 0 for sentence in texts))


def is_informative(sentence: str, known: str) -> bool:
    """Whether a sentence has a figure, or a name that is not in `known`."""
    return re.search(r"\d", sentence) is not None or any(name not in known for name in names_in(sentence))


def names_in(sentence: str) -> tuple[str, ...]:
    """The names in a sentence; in Chinese, which has no capitals, by their form and the lists they occur in."""
    found_names = list(names(sentence))
    if is_chinese(sentence):
        items = (part for parts in _CHINESE_LIST.findall(sentence) for part in re.split(r"[、和及]", parts))
        found_names += [*_CHINESE_NAME.findall(sentence), *(part for part in items if 2 <= len(part) <= 14)]
    return tuple(dict.fromkeys(found_names))
