"""Weighing a request: how complex it is, whether the material suffices, contradicts itself or supports a statement.

Each measure is a number from 0 to 1, computed by the rule in its docstring; a boolean, a score or one of several options
is chosen by it. `measure` finds the one that a field's or an option's words mean.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cached_property

from aiq.offline.engine import dates, research
from aiq.offline.engine.answer import Answer, Evidence, answer, rank
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Situation, Source
from aiq.offline.engine.text import is_chinese, names, sentences, stem, stems, words
from aiq.offline.engine.write import is_small_talk

_DRAFT = re.compile(
    r"(?:answer|response|draft|report|article|candidate|output|reply|回答|答案|报告|草稿)", re.IGNORECASE
)
_TALK = re.compile(r"dialog|feedback|remark|comment|revis|clarif|对话|反馈|意见", re.IGNORECASE)
_ABSTAINS = re.compile(
    r"(?:could|can|did|was|were|am|is|are|do|does)(?: ?not|n't)(?: been)? (?:able to )?(?:find|found|determine|answer|know|say|"
    r"confirm|verify|identify|locate|available|enough)|\bcannot (?:find|answer|determine|say|confirm|identify)|unable to"
    r"|no (?:relevant |reliable )?(?:information|answer|evidence|data|source)|insufficient|not enough|unknown|unclear"
    r"|nothing was found|limited information|未找到|没有找到|无法|不知道|不足|不清楚",
    re.IGNORECASE,
)
_FOUND_NOTHING_WRONG = re.compile(
    r"(?:find|found|identify|locate) any (?!information|data|evidence|source|answer|mention|rec)", re.I
)
_CITED = re.compile(r"\[\d|https?://|【\d|\]\(")
_NEWEST = re.compile(
    r"\b(?:current(?:ly)?|latest|newest|now|today|these days|recent(?:ly)?|most recent|so far)\b|最新|目前|现在|当前|今",
    re.I,
)
_OPPOSED = re.compile(
    r"\b(?:however|whereas|while|although|but|contradict\w*|disagree\w*|conflict\w*|other sources?|another|in contrast|others (?:say|give))\b"
    r"|但|然而|不过|矛盾|另一|不一致",
    re.IGNORECASE,
)
_SETTLED = re.compile(
    r"\b(?:newe[rs]t?|more recent|latest|older|outdated|official|holds|correct|supersed\w*|since then|estimate)\b|较新|最新|官方|为准|过时",
    re.I,
)
_OPEN_WORDS = re.compile(
    r"\b(?:it|its|they|their|them|this|that|these|those|he|she|his|her|one|thing|something|stuff)\b|它|这个|那个|他|她",
    re.I,
)
_POSITIVE = stems(
    "good great excellent love happy best success win gain grow improve positive benefit praise strong like perfect helpful"
)
_NEGATIVE = stems(
    "bad poor terrible hate sad worst failure lose loss decline worsen negative harm criticise weak broken awful slow angry problem"
)
_ASKS = re.compile(
    r"(?:please|extract|find|list|give|tell|identify|classify|summari[sz]e|return|write|read|fill|who|what|when|where|which|how|请|提取|列出)\b",
    re.I,
)
_PARTS = 6
"""Parts of a task from which it counts as fully complex."""

_MEANT = """
ambiguous: ambiguous ambiguity unclear clarification clarify vague disambiguate 澄清 歧义 模糊
conflict: contradiction contradictory contradict conflict conflicting inconsistent disputed disagree 矛盾 冲突
consistent: consistent consistency agree agreement 一致
old: outdated stale obsolete old 过时
fresh: current latest recent recency temporal realtime fresh newest 最新 时效
talk: meta greeting chat chitchat smalltalk conversational conversation casual talk 闲聊 寒暄 聊天
refuted: unsupported unverified refuted false invalid incorrect hallucinated fabricated wrong contradicts 不支持 错误
supported: supported support verified verify confirmed true valid correct grounded accurate factual entailed faithful 支持 属实 正确
complex: complex complexity deep depth difficult difficulty hard thorough comprehensive advanced multi hybrid detailed elaborate 复杂 深入 深度 困难
simple: simple shallow easy quick fast direct basic light single standard brief 简单 浅 快速
compared: comparison comparative compare versus 比较 对比
irrelevant: irrelevant unrelated 无关
relevant: relevant relevance related useful pertinent 相关
positive: positive favourable favorable optimistic 正面 积极
negative: negative unfavourable unfavorable critical pessimistic 负面 消极
neutral: neutral balanced 中性
lacking: insufficient incomplete missing gap lack continue more further additional revise revision need require failed fail search retrieve scan 不足 缺失 继续 不完整
enough: sufficient suffice enough complete completed answered answerable adequate done finish finalize stop synthesize synthesis pass passed approve approved ok covered ready resolved 充分 足够 完整 完成
research: research lookup informational question knowledge 研究 检索
covered: coverage completeness completion progress percentage 覆盖
sure: confidence confident certainty certain probability likelihood score quality 置信 可信
"""


def _read_meanings() -> dict[str, str]:
    lines = (line.partition(":") for line in _MEANT.strip().splitlines())
    return {stem(word): name for name, _, listed in lines for word in listed.split()}


_MEANING = _read_meanings()
_ORDER = [line.partition(":")[0] for line in _MEANT.strip().splitlines()]
_NEGATION = frozenset(("not", "no", "non", "without", "un", "lacks"))


def spoken(name: str) -> str:
    """A key as words: `subQuestions` and `sub_questions` are "sub questions"."""
    return re.sub(r"[_\-./]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)).strip()


class Weighing:
    """One request's material, and what can be measured of it."""

    def __init__(self, situation: Situation, orders: Orders) -> None:
        self.situation = situation
        self.orders = orders
        self.task = situation.task
        self.now = situation.now
        self.chinese = situation.language == "zh"

    @cached_property
    def draft(self) -> str:
        """The text that the request wants judged or repaired: a marked answer, draft or reply."""
        marked = [b.text for b in self.situation.blocks if _DRAFT.search(b.label)]
        return marked[-1] if marked else ""

    @cached_property
    def said(self) -> str:
        """What the user answered or remarked beside the task."""
        return "\n".join(b.text for b in self.situation.blocks if _TALK.search(b.label))

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """The evidence; where there is none, the texts of the prompt, or the statements of the task itself."""
        found = [s for s in self.situation.sources if s.text.strip() != self.draft.strip()]
        if not found:
            told = [b for b in self.situation.blocks if b.text.strip() not in (self.task.strip(), self.draft.strip())]
            found = [Source(b.text, title=b.label, message=b.message) for b in told if not _TALK.search(b.label)]
        if not found:
            body = re.split(r"[:：]\s+|\n", self.task, maxsplit=1)[-1]
            stated = [s for s in sentences(body) if not re.search(r"[?？]\s*$", s) and not _ASKS.match(s)]
            found = [Source(" ".join(stated))] if stated and body != self.task else []
        return tuple(found)

    @cached_property
    def topic(self) -> research.Topic:
        return research.topic(self.task)

    @cached_property
    def found(self) -> Answer:
        history = "\n".join(text for _, text in self.situation.history)
        return answer(self.task, self.sources, self.now, asked=self.asked, context=history)

    @cached_property
    def ranked(self) -> list[Evidence]:
        """The sentences that speak to the task: the answer's evidence, then by rank."""
        more = rank(self.task, self.sources, self.now, most=12)
        return list({e.sentence: e for e in (*self.found.evidence, *more)}.values())

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """What was searched for so far."""
        return tuple(v for step in self.situation.steps for v in step.arguments.values() if isinstance(v, str))

    @cached_property
    def is_question(self) -> bool:
        return research.is_question(self.task)

    @cached_property
    def parts(self) -> int:
        """Parts of the task: its facets, one for a single question."""
        return 1 if self.is_question else max(1, len(self.topic.facets))

    @cached_property
    def faults(self) -> tuple[str, ...]:
        """What the draft leaves open: it abstains, a question word has no fitting value, nothing is cited, it is old."""
        lead = " ".join(sentences(self.draft)[:3])
        question = self.task
        found = []
        if _ABSTAINS.search(lead) and not _FOUND_NOTHING_WRONG.search(lead):
            found.append(next((s for s in sentences(lead) if _ABSTAINS.search(s)), lead))
        if missing := self._unanswered(question):
            found.append(f"未回答：{missing}" if self.chinese else f"Not answered: {missing}")
        cite = re.search(r"\bcit(?:e|es|ed|ation|ations|ing)\b|sources?\b|引用|来源", self.situation.instructions)
        if cite and not _CITED.search(self.draft):
            found.append("没有引用来源。" if self.chinese else "No source is cited.")
        stated = [d for s in sentences(self.draft) if (d := dates.stated(s))]
        if stated and self.now and _NEWEST.search(question) and (self.now - max(stated)).days > 365:
            told = max(stated).isoformat()[:7]
            found.append(f"答案的日期为{told}。" if self.chinese else f"The answer is of {told}.")
        return tuple(found)

    def _unanswered(self, question: str) -> str:
        """The first part of the question of which the draft says nothing."""
        body = self.draft
        fresh = [n for n in names(body) if n not in question]
        wants = [
            (r"\bhow (?:many|much|tall|long|old|large|big|far|high|populous)\b|多少|几", bool(re.search(r"\d|[一二三四五六七八九十百]", body))),
            (r"\b(?:when|what year|which year|what date)\b|何时|哪一年|什么时候", bool(dates.find(body))),
            (r"\bwho(?:m|se)?\b", bool(fresh) or is_chinese(body)),
        ]  # fmt: skip
        for pattern, given in wants:
            if (asked := re.search(pattern, question, re.IGNORECASE)) and not given:
                return asked.group() if not self.is_question else question
        if not self.is_question:
            said = stems(body)
            return next((f.title for f in self.topic.facets if not stems(" ".join(f.words)) & said), "")
        return ""

    @cached_property
    def conflicts(self) -> tuple[str, ...]:
        """Statements set against each other and not settled: opposed words with two figures in the draft, or two
        sources that say almost the same with different figures and without a newer date."""
        text = self.draft
        found = []
        for s in sentences(text):
            opposed = _OPPOSED.search(s) and not _SETTLED.search(text)
            if opposed and (
                len(re.findall(r"\d[\d,.]*", text)) > 1 or re.search(r"contradict|conflict|disagree|矛盾|不一致", s)
            ):
                found.append(s)
        if not text:
            for i, a in enumerate(self.ranked[:8]):
                found += [f"{a.sentence} / {b.sentence}" for b in self.ranked[i + 1 : 8] if _differ(a, b)]
        return tuple(found)

    @cached_property
    def rivals(self) -> tuple[str, ...]:
        """Several things of the evidence under one name that the task does not tell apart: "X (a)", "X (b)"."""
        titles = [s.title for s in self.sources]
        found: dict[str, list[str]] = {}
        for title in titles:
            if match := re.fullmatch(r"(.{2,}?)\s*[(（,，]\s*([^)）]+)[)）]?", title):
                found.setdefault(match[1].casefold(), []).append(title)
        for base, listed in found.items():
            unlike = list(dict.fromkeys(t for t in listed if not stems(t) - stems(base) & stems(self.task)))
            if base in self.task.casefold() and len(unlike) == len(set(listed)) > 1:
                return tuple(unlike)
        return ()

    @cached_property
    def vague(self) -> bool:
        """Whether the task points at something that it does not name and nothing before it does."""
        return (
            not names(self.task)
            and not self.situation.history
            and len(words(self.task)) <= 3
            and _OPEN_WORDS.search(self.task) is not None
        )

    def enough(self) -> float:
        """With a draft: 1 if nothing is open and nothing contradicts. Else, for a question, the reader's confidence;
        for a report, the share of facets on which something was found."""
        if self.draft:
            return 0.0 if self.faults or self.conflicts else 1.0
        if self.is_talk:
            return 1.0
        if self.is_question:
            return self.found.confidence if self.found.kind != "none" else 0.0
        return self.covered(self.topic.facets)

    def covered(self, facets: Sequence[research.Facet]) -> float:
        """The share of facets on which a sentence was found."""
        told = [stems(s) for source in self.sources for s in sentences(source.text)]
        wanted = [stems(" ".join(facet.words)) for facet in facets]
        hits = sum(any(len(want & has) * 2 > len(want) for has in told) for want in wanted)
        return hits / len(facets) if facets else float(bool(self.ranked))

    @cached_property
    def is_talk(self) -> bool:
        return is_small_talk(self.task)

    def supported(self, text: str) -> float:
        """The share of a statement's content words, and of its figures, that the best sentence of the sources has."""
        wanted = stems(text) | {n for n in re.findall(r"\d[\d,.]*\d|\d", text)}
        best = max((self._share(wanted, s) for source in self.sources for s in sentences(source.text)), default=0.0)
        return best if best >= 0.5 else 0.0

    @staticmethod
    def _share(wanted: frozenset[str] | set[str], sentence: str) -> float:
        has = stems(sentence) | set(re.findall(r"\d[\d,.]*\d|\d", sentence))
        missing = [w for w in wanted - has if w[:1].isdigit()]
        return 0.0 if missing or not wanted else len(wanted & has) / len(wanted)

    def sentiment(self) -> float:
        told = stems(" ".join(s.text for s in self.sources) or self.task)
        good, bad = len(told & _POSITIVE), len(told & _NEGATIVE)
        return 0.5 if good == bad else good / (good + bad)

    def measure(self, name: str, text: str = "") -> float | None:
        """What the words of a field or an option mean, measured; None where they mean nothing measurable. `text`: the
        statement or thing in question, where there is one."""
        told = spoken(name).split()
        known = {_MEANING[stem(w.lower())] for w in told if stem(w.lower()) in _MEANING}
        known |= {m for w, m in _MEANING.items() if not w.isascii() and w in name}
        meaning = next((m for m in _ORDER if m in known), None)
        if meaning is None:
            return None
        value = self._value(meaning, text)
        return value if value is None or not any(w.lower() in _NEGATION for w in told) else 1 - value

    def _value(self, meaning: str, text: str) -> float | None:
        opposite = {"consistent": "conflict", "refuted": "supported", "simple": "complex", "irrelevant": "relevant",
                    "negative": "positive", "lacking": "enough", "research": "talk"}  # fmt: skip
        if meaning in opposite:
            value = self._value(opposite[meaning], text)
            return None if value is None else 1 - value
        if meaning in ("supported", "relevant", "sure") and text:
            return self.supported(text)
        plain: Mapping[str, float | bool] = {
            "ambiguous": not self.said and (self.vague or bool(self.rivals)),
            "talk": self.is_talk,
            "complex": 0.2 if self.is_talk else 0.3 if self.is_question else min(1.0, 0.5 + self.parts / 2 / _PARTS),
            "compared": self.topic.compare,
            "fresh": _NEWEST.search(self.task) is not None,
        }
        if meaning in plain:
            return float(plain[meaning])
        late: Mapping[str, object] = {
            "conflict": lambda: float(bool(self.conflicts)),
            "old": lambda: float(any("of" in f and re.search(r"\d{4}", f) for f in self.faults)),
            "positive": self.sentiment,
            "neutral": lambda: 1 - abs(self.sentiment() * 2 - 1),
            "covered": lambda: self.covered(self.topic.facets) if not self.is_question else self.enough(),
            "supported": lambda: self.supported(self.draft) if self.draft else self.enough(),
            "relevant": lambda: min(1.0, len(self.ranked) / 3) if self.sources else None,
            "sure": self.enough,
            "enough": self.enough,
        }
        call = late[meaning]
        return call() if callable(call) else None


def _differ(a: Evidence, b: Evidence) -> bool:
    """Whether two sentences of different sources say the same of the same thing with other figures, and neither newer."""
    figures = [set(re.findall(r"\d[\d,.]*\d", e.sentence)) for e in (a, b)]
    plain = [frozenset(w for w in stems(e.sentence) if not w[0].isdigit()) for e in (a, b)]
    if a.source == b.source or not all(figures) or figures[0] & figures[1] or a.sentence == b.sentence:
        return False
    days: list[date | None] = [dates.stated(e.sentence) or e.source.day for e in (a, b)]
    alike = len(plain[0] & plain[1]) >= 0.6 * max(1, min(len(p) for p in plain))
    return alike and (days[0] is None or days[0] == days[1])
