"""Weighing a request: how complex it is, whether the material suffices, contradicts itself or supports a statement.

Each measure is a number from 0 to 1, computed by a stated rule; a truth value, a score or one of several options is
chosen by it. `Weighing.measure` finds the one that the words of a field or an option mean (`fields.toml`).
"""

import re
import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Any

from aiq.offline.engine import dates, research
from aiq.offline.engine.answer import Answer, Evidence, answer, rank
from aiq.offline.engine.lexicon import stem
from aiq.offline.engine.read import Situation, Source
from aiq.offline.engine.text import names, sentences, stems, words
from aiq.offline.engine.write import is_small_talk
from aiq.tools.tokens import tokens

FRAMES = {
    "parts": "The task asks for {0} thing(s): {1}.|任务包含{0}个部分：{1}。",
    "asked": "The task asks for it: {0}|任务要求：{0}",
    "meant": "What is meant in “{0}”?|“{0}”指的是什么？",
    "unanswered": "Not answered: {0}|未回答：{0}",
    "uncited": "No source is cited.|没有引用来源。",
    "dated": "The answer is of {0}.|答案的日期为{0}。",
    "sections": "Evidence, Open questions|证据, 未解决的问题",
    "nothing": "{0}: nothing found yet|{0}：没有找到资料",
}
"""The words that a reply may hold beside those of the request, English and Chinese."""
CITE = re.compile(r"\bcit(?:e|es|ed|ing|ations?)\b|\breferenc(?:e|es|ing)\b|引用", re.I)
_DRAFT = re.compile(r"answer|response|draft|report|article|candidate|output|reply|回答|答案|报告|草稿", re.I)
_TALK = re.compile(r"dialog|feedback|remark|comment|revis|clarif|对话|反馈|意见", re.I)
_STATEMENT = re.compile(r"^[ *#>-]*(?:claim|statement|assertion|hypothesis|论断|陈述)[ *]*[:：]\s*(.+)", re.I | re.M)
_ABSTAINS = re.compile(
    r"(?:could|can|did|was|were|am|is|are|do|does)(?: ?not|n't)(?: been)? (?:able to )?"
    r"(?:find|found|determine|answer|know|say|confirm|verify|identify|locate|available|(?:have )?enough)\b"
    r"(?! any (?!information|data|evidence|source|answer|mention|record))|unable to|not enough|unknown|unclear"
    r"|\bcannot (?:find|answer|determine|say|confirm|identify)|insufficient|nothing was found|limited information"
    r"|no (?:relevant |reliable )?(?:information|answer|evidence|data|source)|未找到|没有找到|无法|不知道|不足|不清楚",
    re.I,
)
_CITED = re.compile(r"\[\d|https?://|【\d|\]\(")
_WHEN = re.compile(r"\b(?:when|what year|which year|what date)\b|何时|哪一年|什么时候", re.I)
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
"""A numbered list: what is to be judged, no evidence."""
_FIGURE = re.compile(r"\d[\d,.]*\d|\d")
_NEGATION = frozenset(("not", "no", "non", "without", "lacks"))
_YEAR_OLD = 365
_BRIEF, _LONGEST, _MOST = 4000, 8000, 20
"""Characters of a task and of a source that are read; sources, and questions put to the reader."""
_PARTS = 15
"""Parts of a task that make up the range of complexity."""


@cache
def vocabulary(part: str) -> dict[str, tuple[str, bool]]:
    """A table of `fields.toml` turned round: of each word, by its stem, the meaning, and whether it is the opposite."""
    table = tomllib.loads((files("aiq.offline.engine") / "fields.toml").read_text("utf-8"))[part]
    sides = [(side, name, at > 0) for name, told in table.items() for at, side in enumerate(told.split("|"))]
    return {stem(word) if word.isascii() else word: (name, less) for side, name, less in sides for word in side.split()}


def spoken(name: str) -> str:
    """A key as words: `subQuestions` and `sub_questions` are "sub questions"."""
    return re.sub(r"[_\-./]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)).strip().lower()


@lru_cache(maxsize=4096)
def meanings(text: str, part: str) -> list[tuple[str, bool]]:
    """What the words of a text mean in a table, in their order; Chinese words are found inside the text."""
    known = vocabulary(part)
    found = [known[key] for word in tokens(text) if (key := stem(word)) in known]
    return found or [known[word] for word in known if not word.isascii() and word in text]


class Weighing:
    """One request's material, and what can be measured of it."""

    def __init__(self, situation: Situation, ask: bool = True) -> None:
        self.situation = situation
        self.may_ask = ask
        blocks = situation.blocks
        self.task = (situation.task or ("" if blocks or situation.sources else situation.request.last_user))[:_BRIEF]
        self.now = situation.now
        self.count = 0
        self.chinese = situation.language == "zh"
        self.is_talk = is_small_talk(self.task)
        self.draft = next(
            (b.text[: 3 * _LONGEST] for b in reversed(blocks) if _DRAFT.search(b.label)), ""
        )  # to be judged or repaired
        self.said = "\n".join(b.text for b in blocks if _TALK.search(b.label))  # what the user answered or remarked
        stated = _STATEMENT.search("\n".join([*(f"{b.label}: {b.text[:_BRIEF]}" for b in blocks), self.task]))
        self.statement = stated[1].strip() if stated else ""  # what is to be checked
        self.topic = research.topic(self.task)
        self.is_question = research.is_question(self.task) and (
            self.task.rstrip()[-1:] in "?？" or not self.topic.facets
        )
        self.facets = [] if self.is_question else [facet.title for facet in self.topic.facets]
        self.subject = (*names(self.topic.subject), self.topic.subject)[0]

    @cached_property
    def sources(self) -> list[Source]:
        """The evidence without the draft; where there is none, the marked texts, or the text that the task brings."""
        aside = (self.situation.task.strip(), self.draft.strip())
        found = [s for s in self.situation.sources if s.text.strip() != aside[1] and not _NUMBERED.fullmatch(s.text)]
        blocks = [b for b in self.situation.blocks if b.text.strip() not in aside and not _TALK.search(b.label)]
        found = found or [Source(b.text, title=b.label) for b in blocks]
        return [replace(s, text=s.text[:_LONGEST]) for s in found[:_MOST]]

    @cached_property
    def evidence(self) -> list[Evidence]:
        return [Evidence(sentence, source, 0.0) for source in self.sources for sentence in sentences(source.text)]

    @cached_property
    def found(self) -> Answer:
        history = "\n".join(text for _, text in self.situation.history)
        return self.reads(self.task, context=history, asked=self.asked)

    @cached_property
    def asked(self) -> list[str]:
        """What was searched for so far."""
        return [v for step in self.situation.steps for v in step.arguments.values() if isinstance(v, str)]

    def reads(self, question: str, **more: Any) -> Answer:
        """What the reader finds in the sources; nothing more after many questions."""
        self.count += 1
        asks = question and self.count <= _MOST
        return answer(question, self.sources, self.now, **more) if asks else Answer("none")

    @cached_property
    def ranked(self) -> list[Evidence]:
        """The sentences that speak to the task: the answer's evidence, then by rank; without a task all, in order."""
        more = rank(self.task, self.sources, self.now, most=12) if self.task else self.evidence[:_LONGEST]
        return list({e.sentence: e for e in (*reversed(self.found.evidence), *more)}.values())

    def framed(self, frame: str, *parts: object) -> str:
        """A sentence of `FRAMES` in the language of the task."""
        return FRAMES[frame].split("|")[self.chinese].format(*parts)

    # what stands in the way

    @cached_property
    def open_facets(self) -> list[str]:
        """The facets of which no sentence of the sources, or of the draft, has half the words."""
        told = [stems(s) for s in (sentences(self.draft) if self.draft else [e.sentence for e in self.evidence])]
        wanted = {facet: stems(facet) - stems(self.topic.subject) for facet in self.facets}
        return [f for f, want in wanted.items() if not any(len(want & has) * 2 >= len(want) for has in told)]

    @cached_property
    def faults(self) -> list[str]:
        """What the draft leaves open: it abstains, says nothing of a part, cites nothing where that is wanted, or is
        of more than a year ago where the newest is asked for."""
        told = sentences(self.draft)
        found = [s for s in told[:3] if _ABSTAINS.search(s)][:1]
        found += [self.framed("unanswered", facet) for facet in self.open_facets[:1]]
        if _WHEN.search(self.task) and not re.search(r"\d{4}", self.draft):
            found.append(self.framed("unanswered", self.task))
        if CITE.search(self.situation.instructions) and not _CITED.search(self.draft):
            found.append(self.framed("uncited"))
        newest = max((day for s in told if (day := dates.stated(s))), default=None)
        if newest and self.now and _NEWEST.search(self.task) and (self.now - newest).days > _YEAR_OLD:
            found.append(self.framed("dated", newest.isoformat()[:7]))
        return found

    @cached_property
    def conflicts(self) -> list[str]:
        """Statements set against each other and not settled: in the draft by such words, in the sources where two say
        almost the same with different figures."""
        if self.draft:
            return [] if _SETTLED.search(self.draft) else [s for s in sentences(self.draft) if _OPPOSED.search(s)]
        pairs = [(a.sentence, b.sentence) for a in self.ranked[:4] for b in self.evidence if a.source != b.source]
        return list(dict.fromkeys(" / ".join(sorted(pair)) for pair in pairs if contrary(*pair)))

    def depends(self, number: int) -> list[int]:
        """The earlier facets, counted from 0, whose words a facet takes up beyond the subject's."""
        told = [stems(facet) - stems(self.topic.subject) for facet in self.facets[: number + 1]]
        return [n for n in range(len(told[:number])) if told[n] and told[n] <= told[-1]]

    def reason(self, text: str) -> str:
        """What was found wrong or counted, in a frame; `text`: the thing that is to be justified."""
        first = self.faults + self.conflicts if self.draft else []
        parts = self.framed("parts", max(1, len(self.facets)), self.topic.subject)
        return self.framed("asked", text) if text else next(iter(first), parts)

    @property
    def vague(self) -> bool:
        """Whether the task points at something that neither it nor an earlier turn names, or asks for a report on a
        subject of one word without saying what to look at."""
        if names(self.task) or self.situation.history or self.said or not self.may_ask:
            return False
        bare = not self.is_question and not self.facets and len(words(self.topic.subject)) <= 1
        return bare or (len(words(self.task)) <= 3 and _POINTING.search(self.task) is not None)

    # measures

    def measure(self, name: str, text: str = "", number: int = 1) -> float | None:
        """What the words of a field or an option mean, measured; None where they mean nothing measurable. `text`: the
        statement or thing in question, `number` its place in its list."""
        known = meaning(name)
        if known is None:
            return None
        text = text or self.statement
        rules: dict[str, Callable[[], float]] = {
            "ambiguous": lambda: self.vague,
            "conflict": lambda: (
                any(contrary(e.sentence, text) for e in self.evidence) if text else self.conflicts != []
            ),
            "fresh": lambda: _NEWEST.search(self.task) is not None,
            "talk": lambda: self.is_talk,
            "complex": lambda: 0.3 if self.is_question or self.is_talk else min(1.0, 0.6 + len(self.facets) / _PARTS),
            "chained": lambda: any(map(self.depends, range(len(self.facets)))),
            "order": lambda: max(0.0, 1 - (number - 1) / 3),
            "relevant": lambda: self._relevance(text),
            "supported": lambda: self._support(text) if text else self._enough(),
            "enough": lambda: max(self._support(text), rules["conflict"]()) if text else self._enough(),
        }
        value = float(rules[known[0]]())
        return 1 - value if known[1] != bool(_NEGATION & set(spoken(name).split())) else value

    def _relevance(self, text: str) -> float:
        """The share of the task's content words in the text, or in the sentence that speaks to it most."""
        wanted = stems(self.task)
        told = [text] if text else [e.sentence for e in self.ranked]
        return max((len(wanted & stems(t)) / len(wanted) for t in told if wanted), default=0.0)

    def _support(self, text: str) -> float:
        """How far the best sentence of the sources says what a statement says; of a question, how far the reader
        answers it."""
        if text.endswith(("?", "？")):
            return self.reads(text).confidence
        return max((backs(e.sentence, text) for e in self.evidence), default=0.0)

    def _enough(self) -> float:
        """With a draft: 1 if nothing is open and nothing contradicts. Else, for a question, the reader's confidence;
        for a report, the share of facets on which something was found."""
        if self.draft or any(_DRAFT.search(b.label) for b in self.situation.blocks):
            return float(bool(self.draft) and not (self.faults or self.conflicts))
        if self.is_talk or self.is_question:
            return 1.0 if self.is_talk else self.found.confidence
        return 1 - len(self.open_facets) / len(self.facets) if self.facets else float(bool(self.ranked))


def meaning(name: str) -> tuple[str, bool] | None:
    """The first measure of the table that the words of a name mean, and whether they mean its opposite."""
    order = [measure for measure, _ in vocabulary("measures").values()]
    return min(meanings(spoken(name), "measures"), key=lambda known: order.index(known[0]), default=None)


def backs(sentence: str, statement: str) -> float:
    """How far a sentence says what a statement says: the share of its content words and figures, 0 below one half or
    where a figure is missing."""
    wanted, has = (stems(t) | set(_FIGURE.findall(t)) for t in (statement, sentence))
    share = len(wanted & has) / max(1, len(wanted))
    return share if share >= 0.5 and not any(w[0].isdigit() for w in wanted - has) else 0.0


def contrary(one: str, other: str) -> bool:
    """Whether two sentences say almost the same with different figures, neither of another date."""
    figures = [set(_FIGURE.findall(s)) for s in (one, other)]
    plain = [{w for w in stems(s) if not w[0].isdigit()} for s in (one, other)]
    alike = len(plain[0] & plain[1]) >= 0.6 * max(map(len, plain)) and dates.stated(one) == dates.stated(other)
    return alike and all(figures) and not figures[0] & figures[1]
