"""Weighs a request: how complex it is, and whether the material suffices, contradicts itself or supports a statement.

Each measure is a number from 0 to 1, computed by a stated rule; it decides a boolean, a score or one of several
options.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from aiq.offline.engine import dates, research
from aiq.offline.engine.answer import Answer, answer, rank
from aiq.offline.engine.counts import facts
from aiq.offline.engine.evidence import Evidence
from aiq.offline.engine.fields import measure_of
from aiq.offline.engine.question import parse
from aiq.offline.engine.read import Situation
from aiq.offline.engine.source import Source
from aiq.offline.engine.text import names, sentences, stems, words

FRAMES = {
    "asked": "The task asks for it: {0}|任务要求：{0}",
    "meant": "What is meant in “{0}”?|“{0}”指的是什么？",
    "unanswered": "Not answered: {0}|未回答：{0}",
    "uncited": "No source is cited.|没有引用来源。",
    "dated": "The answer is of {0}.|答案的日期为{0}。",
    "sections": "Evidence, Open questions|证据, 未解决的问题",
    "part": "{0} (as part of: {1})|{0}（属于：{1}）",
    "told": "What do the sources say about {0}?|关于{0}，资料说了什么？",
    "when": "As of when do they say so of {0}?|资料所说的{0}是什么时候的？",
    "nothing": "{0}: nothing found yet|{0}：没有找到资料",
}
"""The only words of its own that a reply may have besides those of the request, English and Chinese."""
CITE = re.compile(r"\bcit(?:e|es|ed|ing|ations?)\b|\breferenc(?:e|es|ing)\b|引用", re.I)
_DRAFT = re.compile(r"answer|response|draft|report|article|candidate|output|reply|回答|答案|报告|草稿", re.I)
_TALK = re.compile(r"dialog|feedback|remark|comment|revis|clarif|对话|反馈|意见", re.I)
_STATEMENT = re.compile(
    r"^[ *#<-]*(?:claim|statement|assertion|hypothesis|论断|陈述)[ *]*[:：>]\s*([^<\n]+)", re.I | re.M
)
_ABSTAINS = re.compile(
    r"(?:could|can|did|was|were|am|is|are|do|does)(?: ?not|n't)(?: been)? (?:able to )?"
    r"(?:find|found|determine|answer|know|say|confirm|verify|identify|locate|available|(?:have )?enough)\b"
    r"(?! any (?!information|data|evidence|source|answer|mention|record))|unable to|not enough|unknown|unclear"
    r"|\bcannot (?:find|answer|determine|say|confirm|identify)|insufficient|nothing was found|limited information"
    r"|no (?:relevant |reliable )?(?:information|answer|evidence|data|source)|未找到|没有找到|无法|不知道|不足|不清楚",
    re.I,
)
_CITATION = re.compile(r"\[\d|https?://|【\d|\]\(")
_NEWEST = re.compile(
    r"\b(?:current(?:ly)?|latest|newest|now|today|these days|recent(?:ly)?|so far)\b|最新|目前|现在|当前|今", re.I
)
_OPPOSED = re.compile(
    r"\b(?:however|whereas|while|although|but|another|others?)\b.*\d|contradict|conflict|disagree|(?:但|另一).*\d|矛盾|不一致",
    re.I,
)
_SETTLED = re.compile(
    r"\b(?:newe[rs]t?|more recent|latest|older|outdated|official|holds|correct|since then)\b|较新|最新|官方|为准|过时",
    re.I,
)
_POINTING = re.compile(
    r"\b(?:it|its|they|their|them|this|that|these|those|he|she|his|her|one)\b|它|这个|那个|他|她", re.I
)
_NUMBERED = re.compile(r"\s*(?:\d+[.)] [^\n]*(?:\n\s*|$))+")
"""A numbered list: it is to be judged, and is not evidence."""
_FIGURE = re.compile(r"\d[\d,.]*\d|\d")
_YEAR_DAYS = 365
_LINE = 200
"""The most characters of a task restated in one line."""
_BRIEF, _LONGEST, _WHOLE, _MOST = 4000, 8000, 160_000, 20
"""Characters read of a task, of a source and of all sources; number of questions to the reader."""
_PARTS = 15
"""The number of parts of a task that spans the range of complexity."""


@dataclass(frozen=True)
class Referent:
    """What an object in the reply is about; without a text, the request itself. `number` counts from 1; `record`:
    what the prompt itself gives about it."""

    kind: str = ""
    text: str = ""
    number: int = 1
    source: Source | None = None
    record: Mapping[str, Any] = field(default_factory=dict)


class Weighing:
    """One request's material, and what can be measured from it."""

    def __init__(self, situation: Situation, may_ask: bool = True) -> None:
        self.situation = situation
        self.may_ask = may_ask
        blocks = situation.blocks
        fallback = "" if blocks or situation.sources else situation.request.last_user
        self.task = (situation.task or fallback)[:_BRIEF]
        drafts = [block.text[: 3 * _LONGEST] for block in blocks if _DRAFT.search(block.label)]
        self.draft = drafts[-1] if drafts else ""  # to be judged or repaired
        self.user_text = "\n".join(block.text for block in blocks if _TALK.search(block.label))  # by the user
        match = _STATEMENT.search(situation.request.last_user)
        self.statement = match[1].strip() if match else ""  # to be checked
        self.is_talk = research.is_small_talk(self.task)
        self.topic = research.topic(self.task)
        asks = self.task.rstrip()[-1:] in "?？" or not self.topic.facets
        self.is_question = asks and research.is_question(self.task)
        self.facets = [] if self.is_question else [facet.title for facet in self.topic.facets]
        self.subject = (*names(self.topic.subject), self.topic.subject)[0]
        self.asked = [v for step in situation.steps for v in step.arguments.values() if isinstance(v, str)]
        self._questions = 0

    @cached_property
    def sources(self) -> list[Source]:
        """The evidence without the draft; failing that, the marked texts."""
        excluded = (self.draft.strip(), self.situation.task.strip(), self.statement)
        blocks = [Source(b.text, title=b.label) for b in self.situation.blocks if not _TALK.search(b.label)]
        for pool in (self.situation.sources, blocks):
            sources = [s for s in pool if s.text.strip() not in excluded and not _NUMBERED.fullmatch(s.text)]
            if sources:
                sizes = accumulate(min(len(source.text), _LONGEST) for source in sources)
                kept = (source for source, size in zip(sources, sizes, strict=True) if size <= _WHOLE)
                return [replace(source, text=source.text[:_LONGEST]) for source in kept]
        return []

    @cached_property
    def given(self) -> list[Source]:
        """The text that the request itself gives to be read: sources without a URL, or the task."""
        return [s for s in self.sources if not s.key] or ([] if self.sources else [Source(self.task)])

    @cached_property
    def given_text(self) -> str:
        return "\n".join(s.text for s in self.given)

    @cached_property
    def theme(self) -> str:
        """The name by which the task asks about the given text, or ""."""
        matches = [n for n in parse(self.task).names if n in self.given_text or not self.task.startswith(n)]
        return (*matches, "")[0] if self.sources else ""

    @cached_property
    def evidence(self) -> list[Evidence]:
        return [Evidence(sentence, source, 0.0) for source in self.sources for sentence in sentences(source.text)]

    def reads(self, question: str, sources: Sequence[Source] = (), **more: Any) -> Answer:
        """What the reader finds in the sources, or in all; nothing once too many questions were put to all."""
        self._questions += not sources
        allowed = question and self._questions <= _MOST
        return answer(question, sources or self.sources, self.situation.now, **more) if allowed else Answer("none")

    @cached_property
    def found(self) -> Answer:
        """The reader's answer to the task."""
        return self.reads(self.task, asked=self.asked)

    @cached_property
    def ranked(self) -> list[Evidence]:
        """The sentences relevant to the task: the answer's evidence, then by rank; without a task all, in order."""
        rest = rank(self.task, self.sources, self.situation.now, most=12) if self.task else self.evidence[:_LONGEST]
        leading = (e for e in reversed(self.found.evidence) if not facts(e.sentence))
        return list({e.sentence: e for e in (*leading, *rest)}.values())

    def framed(self, frame: str, *parts: str) -> str:
        """A sentence from `FRAMES` in the language of the task."""
        return FRAMES[frame].split("|")[self.situation.language == "zh"].format(*parts)

    @property
    def restated(self) -> str:
        """The task in one line; if it is long, its subject and as many parts as there is room for."""
        line = " ".join(self.task.split())
        if len(line) > _LINE and self.facets:
            line = f"{self.topic.title}: {self.facets[0]}"
            for facet in self.facets[1:]:
                line += f"; {facet}" if len(f"{line}; {facet}") <= _LINE else ""
        return line

    # obstacles

    @cached_property
    def open_facets(self) -> list[str]:
        """The facets that no sentence of the draft, or of the sources, covers by half of its words."""
        texts = sentences(self.draft) if self.draft else [e.sentence for e in self.evidence]
        facet_stems = {facet: stems(facet) - stems(self.topic.subject) for facet in self.facets}
        return [facet for facet in self.facets if not any(share(facet_stems[facet], stems(s)) >= 0.5 for s in texts)]

    @cached_property
    def faults(self) -> list[str]:
        """What is wrong with the draft: it abstains, leaves out a part, lacks wanted citations, or is more than a year
        old although the newest is asked for."""
        statements = sentences(self.draft)
        faults = [sentence for sentence in statements[:3] if _ABSTAINS.search(sentence)][:1]
        faults += [self.framed("unanswered", facet) for facet in self.open_facets[:1]]
        if CITE.search(self.situation.instructions) and not _CITATION.search(self.draft):
            faults.append(self.framed("uncited"))
        now = self.situation.now
        newest = max(filter(None, map(dates.stated, statements)), default=now)
        if newest and now and _NEWEST.search(self.task) and (now - newest).days > _YEAR_DAYS:
            faults.append(self.framed("dated", newest.isoformat()[:7]))
        return faults

    @cached_property
    def gaps(self) -> list[str]:
        """What is open: the draft's faults, else what the answer still needs, or the facets without evidence."""
        if self.draft:
            return self.faults
        unanswered = [*self.found.missing, self.task][:1] if self.is_question and self.found.kind == "none" else []
        return unanswered or [self.framed("nothing", facet) for facet in self.open_facets]

    @cached_property
    def conflicts(self) -> list[str]:
        """Unresolved contradictions: sentences of the draft that say so, or two sources that say almost the same with
        different figures."""
        if self.draft:
            return [] if _SETTLED.search(self.draft) else [s for s in sentences(self.draft) if _OPPOSED.search(s)]
        pairs = [(a.sentence, b.sentence) for a in self.ranked[:4] for b in self.evidence if a.source != b.source]
        return list(dict.fromkeys(" / ".join(sorted(pair)) for pair in pairs if agreement(*pair) < 0))

    def dependencies(self, number: int) -> list[int]:
        """The earlier facets, counted from 1, whose words reappear in this facet, apart from the subject's."""
        *earlier, own_stems = [stems(facet) - stems(self.topic.subject) for facet in ("", *self.facets)[: number + 1]]
        return [index for index, facet_stems in enumerate(earlier) if facet_stems and facet_stems <= own_stems]

    @property
    def vague(self) -> bool:
        """Whether the task refers to something that neither it nor an earlier turn names, or is too short to show what
        to look up."""
        context = names(self.task) or self.situation.history or self.user_text or self.facets
        limit = 3 if _POINTING.search(self.task) else 0 if self.is_question else 1
        return self.may_ask and not context and len(words(self.topic.subject)) <= limit

    # measures

    def measure(self, names: Iterable[str], thing: Referent) -> float | None:
        """What the words of a field or an option mean, measured for a thing: by the first of its names that means
        something measurable; None if none does. Only things in a list have an order; if there is material, only a
        draft or a statement has a quality."""
        measure = next(filter(None, map(measure_of, names)), "")
        text = thing.text or self.statement
        texts = [text] if text else ["", *(e.sentence for e in self.ranked)]
        rules: dict[str, Callable[[], float | None]] = {
            "ambiguous": lambda: self.vague,
            "conflict": lambda: min(self._agreements(text)) < 0 if text else self.conflicts != [],
            "fresh": lambda: _NEWEST.search(self.task) is not None,
            "talk": lambda: self.is_talk,
            "complex": lambda: 0.3 if self.is_question or self.is_talk else min(1.0, 0.6 + len(self.facets) / _PARTS),
            "chained": lambda: any(map(self.dependencies, range(1, len(self.facets) + 1))),
            "order": lambda: max(0.0, 1 - (thing.number - 1) / 3) if thing.text else None,
            "relevant": lambda: max(share(stems(self.task), stems(sentence)) for sentence in texts),
            "supported": lambda: max(self._agreements(text)),
            "enough": lambda: max(map(abs, self._agreements(text))),
            "good": lambda: rules["enough"]() if text or self.draft or not self.sources else None,
        }
        value = rules[measure.lstrip("-")]() if measure else None
        return None if value is None else 1 - value if measure[0] == "-" else float(value)

    def _agreements(self, text: str) -> list[float]:
        """How far each sentence agrees with a statement; for a question, how far the reader can answer it. For the
        request: 1 if a draft leaves nothing open, else 0; without one, the confidence or the share of facets covered.
        """
        if text[-1:] not in ("", "?", "？"):
            return [agreement(e.sentence, text) for e in self.evidence] or [0.0]
        if text or (self.is_question and not self.draft):
            return [self.reads(text).confidence if text else self.found.confidence]
        if self.draft or self.is_talk:
            return [float(not self.faults and not self.conflicts)]
        return [1 - len(self.open_facets) / len(self.facets) if self.facets else float(self.ranked != [])]


def share(wanted: frozenset[str], told: frozenset[str]) -> float:
    return len(wanted & told) / max(1, len(wanted))


def agreement(sentence: str, statement: str) -> float:
    """How far a sentence says what a statement says: the share of its content words, 0 below one half or if a figure
    is missing; -1 if it says almost the same with other figures and both are of the same date."""
    own_stems, claim_stems = (stems(_FIGURE.sub(" ", text)) for text in (sentence, statement))
    figures, claim_figures = (set(_FIGURE.findall(text)) for text in (sentence, statement))
    overlap = share(claim_stems, own_stems)
    if claim_figures <= figures:
        return overlap if overlap >= 0.5 else 0.0
    is_alike = min(overlap, share(own_stems, claim_stems)) >= 0.6 and dates.stated(sentence) == dates.stated(statement)
    return -1.0 if is_alike and figures and not figures & claim_figures else 0.0
