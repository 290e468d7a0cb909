"""Weighing a request: how complex it is, whether the material suffices, contradicts itself or supports a statement.

Each measure is a number from 0 to 1, computed by a stated rule; a truth value, a score or one of several options is
chosen by it. `Weighing.measure` finds the one that the words of a field or an option mean (`fields.toml`).
"""

import re
import tomllib
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from importlib.resources import files

from aiq.offline.engine import dates, research
from aiq.offline.engine.answer import Answer, Evidence, answer, rank
from aiq.offline.engine.read import Situation, Source
from aiq.offline.engine.text import is_chinese, names, sentences, stem, stems, words
from aiq.offline.engine.write import is_small_talk
from aiq.tools.tokens import tokens

FRAMES = {
    "parts": "The task asks for {0} thing(s): {1}.|任务包含{0}个部分：{1}。",
    "spoken": "{0} of {1} sources speak to it.|{1}个来源中有{0}个谈到这一点。",
    "stated": "Stated by {0}|来源：{0}",
    "asked": "The task asks for it: {0}|任务要求：{0}",
    "talk": "The message asks nothing of the world.|这不是研究问题。",
    "which": "Which do you mean: {0}?|您指的是{0}？",
    "meant": "What is meant in “{0}”?|“{0}”指的是什么？",
    "unanswered": "Not answered: {0}|未回答：{0}",
    "uncited": "No source is cited.|没有引用来源。",
    "dated": "The answer is of {0}.|答案的日期为{0}。",
    "sections": "Evidence, Open questions|证据, 未解决的问题",
    "nothing": "{0}: nothing found yet|{0}：没有找到资料",
}
"""The words that a reply may hold beside those of the request, English and Chinese."""
_DRAFT = re.compile(r"answer|response|draft|report|article|candidate|output|reply|回答|答案|报告|草稿", re.I)
_TALK = re.compile(r"dialog|feedback|remark|comment|revis|clarif|对话|反馈|意见", re.I)
_STATEMENT = re.compile(
    r"^[ *#>-]{0,9}(?:claim|statement|assertion|hypothesis|论断|陈述)[ *]{0,4}[:：]\s*(.+)", re.I | re.M
)
_ABSTAINS = re.compile(
    r"(?:could|can|did|was|were|am|is|are|do|does)(?: ?not|n't)(?: been)? (?:able to )?(?:find|found|determine|answer"
    r"|know|say|confirm|verify|identify|locate|available|enough)"
    r"|\bcannot (?:find|answer|determine|say|confirm|identify)"
    r"|unable to|no (?:relevant |reliable )?(?:information|answer|evidence|data|source)|insufficient|not enough|unknown"
    r"|unclear|nothing was found|limited information|未找到|没有找到|无法|不知道|不足|不清楚",
    re.I,
)
_FOUND_NONE = re.compile(
    r"(?:find|identify|locate) any (?!information|data|evidence|source|answer|mention|record)", re.I
)
_CITED = re.compile(r"\[\d|https?://|【\d|\]\(")
_CITE = re.compile(r"\bcit(?:e|es|ed|ation|ations|ing)\b|\bsources?\b|引用|来源", re.I)
_NEWEST = re.compile(
    r"\b(?:current(?:ly)?|latest|newest|now|today|these days|recent(?:ly)?|so far)\b|最新|目前|现在|当前|今", re.I
)
_OPPOSED = re.compile(
    r"\b(?:however|whereas|while|although|but|other sources?|another|others? (?:say|give))\b|但|另一", re.I
)
_CONTRARY = re.compile(r"contradict|conflict|disagree|矛盾|不一致", re.I)
_SETTLED = re.compile(
    r"\b(?:newe[rs]t?|more recent|latest|older|outdated|official|holds|correct|since then)\b|较新|最新|官方|为准|过时",
    re.I,
)
_OPEN_WORDS = re.compile(
    r"\b(?:it|its|they|their|them|this|that|these|those|he|she|his|her|one)\b|它|这个|那个|他|她", re.I
)
_WANTS = (
    (r"\bhow (?:many|much|tall|long|old|large|big|far|high|populous)\b|多少|几", r"[\d一二三四五六七八九十百]"),
    (r"\b(?:when|what year|which year|what date)\b|何时|哪一年|什么时候", r"\d{4}"),
)
"""A question word and what an answer to it must contain."""
_BROUGHT = re.compile(
    r"[^:：\n]*\b(?:text|following|from|message|review|passage|e-?mail|sentence|extract|classify|below|文本|以下|下面)\b[^:：\n]*"
    r"[:：]\s*(\S.*)",
    re.I | re.S,
)
"""A task that brings its text: "Extract the names from this text: ..."."""
_NUMBERED = re.compile(r"\s*(?:\d+[.)] [^\n]*(?:\n\s*|$))+")
"""A numbered list: what is to be judged, no evidence."""
_FIGURE = re.compile(r"\d[\d,.]*\d|\d")
_YEAR_OLD = 365
_BRIEF = 4000
"""Characters of a task, and of each source, that are looked through for single words."""
_PARTS = 6
"""Parts of a task from which it counts as fully complex."""
_NEGATION = frozenset(("not", "no", "non", "without", "lacks"))


@cache
def vocabulary(part: str) -> dict[str, str]:
    """A table of `fields.toml` turned round: the meaning of each word, by its stem."""
    table = tomllib.loads((files("aiq.offline.engine") / "fields.toml").read_text("utf-8"))[part]
    return table if part == "words" else {key(w): name for name, listed in table.items() for w in listed.split()}


def key(word: str) -> str:
    """A word as vocabularies are compared: singular, without its ending."""
    return stem((tokens(word) or [word])[0]) if word.isascii() else word


def spoken(name: str) -> str:
    """A key as words: `subQuestions` and `sub_questions` are "sub questions"."""
    return re.sub(r"[_\-./]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)).strip().lower()


def meanings(text: str, part: str) -> list[str]:
    """What the words of a text mean in a table, in their order; Chinese words are found inside the text."""
    known = vocabulary(part)
    found = [known[key(word)] for word in re.findall(r"[a-z]+", text.lower()) if key(word) in known]
    return found or [meaning for word, meaning in known.items() if not word.isascii() and word in text]


class Weighing:
    """One request's material, and what can be measured of it."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        alone = not situation.blocks and not situation.sources
        self.task = situation.task or (situation.request.last_user if alone else "")
        self.now = situation.now
        self.chinese = situation.language == "zh"

    @cached_property
    def draft(self) -> str:
        """The text that the request wants judged or repaired: a marked answer, draft or reply."""
        marked = [b.text for b in self.situation.blocks if _DRAFT.search(b.label)]
        return marked[-1] if marked else ""

    @cached_property
    def statement(self) -> str:
        """The statement that the request wants checked."""
        match = _STATEMENT.search("\n".join([*(f"{b.label}: {b.text}" for b in self.situation.blocks), self.task]))
        return match[1].strip() if match else ""

    @cached_property
    def said(self) -> str:
        """What the user answered or remarked beside the task."""
        return "\n".join(b.text for b in self.situation.blocks if _TALK.search(b.label))

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """The evidence without the draft; where there is none, the marked texts, or the text that the task brings."""
        aside = (self.task.strip(), self.draft.strip())
        found = [s for s in self.situation.sources if s.text.strip() != aside[1] and not _NUMBERED.fullmatch(s.text)]
        if not found:
            blocks = [b for b in self.situation.blocks if b.text.strip() not in aside and not _TALK.search(b.label)]
            found = [Source(b.text, title=b.label, message=b.message) for b in blocks]
        if not found and (brought := _BROUGHT.match(self.task[:_BRIEF])):
            found = [Source(brought[1])]
        return tuple(found)

    @property
    def evidence(self) -> list[Source]:
        """The sources that have a key, or all where none has: what numbers count."""
        return [s for s in self.sources if s.key] or list(self.sources)

    @cached_property
    def material(self) -> str:
        """Task and short material as one text, for finding words in it."""
        return "\n".join([self.task, self.draft, *(s.text[:_BRIEF] for s in self.sources[:5])])

    @cached_property
    def topic(self) -> research.Topic:
        return research.topic(self.task)

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """What was searched for so far."""
        return tuple(v for step in self.situation.steps for v in step.arguments.values() if isinstance(v, str))

    @cached_property
    def found(self) -> Answer:
        history = "\n".join(text for _, text in self.situation.history)
        return answer(self.task, self.sources, self.now, asked=self.asked, context=history)

    @cached_property
    def ranked(self) -> list[Evidence]:
        """The sentences that speak to the task: the answer's evidence, then by rank; without a task all, in order."""
        if not self.task:
            return [Evidence(s, source, 0.0) for source in self.sources[:5] for s in sentences(source.text)[:40]]
        more = rank(self.task, self.sources, self.now, most=12)
        return list({e.sentence: e for e in (*reversed(self.found.evidence), *more)}.values())

    @cached_property
    def is_talk(self) -> bool:
        return is_small_talk(self.task)

    @cached_property
    def is_question(self) -> bool:
        return research.is_question(self.task) and (self.task.rstrip().endswith(("?", "？")) or not self.topic.facets)

    @cached_property
    def parts(self) -> int:
        """Parts of the task: its facets, one for a single question."""
        return 1 if self.is_question else max(1, len(self.topic.facets))

    def framed(self, frame: str, *parts: object) -> str:
        """A sentence of `FRAMES` in the language of the task."""
        return FRAMES[frame].split("|")[self.chinese].format(*parts)

    @cached_property
    def subject(self) -> str:
        """What the task is about: for a question the name in it."""
        named = names(self.topic.subject) if self.is_question else ()
        return named[0] if named else self.topic.subject if self.task else ""

    # what stands in the way

    @cached_property
    def open_facets(self) -> list[research.Facet]:
        """The facets of the task of which no sentence of the sources has half the words."""
        told = [stems(s) for source in self.sources for s in sentences(source.text)]
        wanted = [(facet, stems(" ".join(facet.words))) for facet in self.topic.facets]
        return [facet for facet, want in wanted if not any(len(want & has) * 2 >= len(want) for has in told)]

    @cached_property
    def faults(self) -> tuple[str, ...]:
        """What the draft leaves open: it abstains, says nothing of a part, cites nothing where that is wanted, or is
        of more than a year ago where the newest is asked for."""
        lead = " ".join(sentences(self.draft)[:3])
        found = []
        if _ABSTAINS.search(lead) and not _FOUND_NONE.search(lead):
            found.append(next((s for s in sentences(lead) if _ABSTAINS.search(s)), lead))
        if missing := self._unanswered():
            found.append(self.framed("unanswered", missing))
        if _CITE.search(self.situation.instructions) and not _CITED.search(self.draft):
            found.append(self.framed("uncited"))
        told = [day for s in sentences(self.draft) if (day := dates.stated(s))]
        if told and self.now and _NEWEST.search(self.task) and (self.now - max(told)).days > _YEAR_OLD:
            found.append(self.framed("dated", max(told).isoformat()[:7]))
        return tuple(found)

    def _unanswered(self) -> str:
        """The first part of the question of which the draft says nothing."""
        for asks, given in _WANTS:
            if re.search(asks, self.task, re.I) and not re.search(given, self.draft):
                return self.task
        wants_name = re.search(r"\bwho(?:m|se)?\b", self.task, re.I) and not is_chinese(self.draft)
        if wants_name and all(name in self.task for name in names(self.draft)):
            return self.task
        told = stems(self.draft)
        return next(
            (f.title for f in self.topic.facets if not self.is_question and not stems(" ".join(f.words)) & told), ""
        )

    @cached_property
    def conflicts(self) -> tuple[str, ...]:
        """Statements set against each other and not settled: in the draft by such words, in the sources where two say
        almost the same with different figures and neither is newer."""
        if self.draft:
            opposed = [s for s in sentences(self.draft) if _OPPOSED.search(s) and len(_FIGURE.findall(self.draft)) > 1]
            opposed += [s for s in sentences(self.draft) if _CONTRARY.search(s)]
            return () if _SETTLED.search(self.draft) else tuple(dict.fromkeys(opposed))
        told = [(s, source) for source in self.sources[:20] for s in sentences(source.text)[:200]]
        pairs = [(e.sentence, s) for e in self.ranked[:4] for s, of in told if of != e.source and contrary(e, s, of)]
        return tuple(dict.fromkeys(" / ".join(sorted(pair)) for pair in pairs))

    @cached_property
    def rivals(self) -> tuple[str, ...]:
        """Several things of the evidence under one name that the task does not tell apart: "X (a)" and "X (b)"."""
        found: dict[str, list[str]] = {}
        for source in self.sources:
            if match := re.fullmatch(r"(.{2,}?)\s*[(（]([^)）]+)[)）]", source.title):
                found.setdefault(match[1].casefold(), []).append(source.title)
        for base, listed in found.items():
            unlike = [t for t in dict.fromkeys(listed) if not (stems(t) - stems(base)) & stems(self.task)]
            if base in self.task.casefold() and len(unlike) == len(set(listed)) > 1:
                return tuple(unlike)
        return ()

    @cached_property
    def vague(self) -> bool:
        """Whether the task points at something that neither it nor an earlier turn names."""
        told = names(self.task) or self.situation.history or len(words(self.task)) > 3
        return not told and _OPEN_WORDS.search(self.task) is not None

    # measures

    def enough(self) -> float:
        """With a draft: 1 if nothing is open and nothing contradicts. Else, for a question, the reader's confidence;
        for a report, the share of facets on which something was found."""
        if self.draft or any(_DRAFT.search(b.label) for b in self.situation.blocks):
            return 0.0 if self.faults or self.conflicts or not self.draft else 1.0
        if self.statement:
            return self.supported(self.statement)
        if self.is_talk or self.is_question:
            return 1.0 if self.is_talk else self.found.confidence if self.found.kind != "none" else 0.0
        return 1 - len(self.open_facets) / len(self.topic.facets) if self.topic.facets else float(bool(self.ranked))

    def supported(self, text: str) -> float:
        """The share of a statement's content words that the best sentence of the sources has; below one half, or with
        a figure missing, 0. A question counts as supported as far as the reader answers it."""
        if text.rstrip().endswith(("?", "？")):
            found = answer(text, self.sources, self.now)
            return found.confidence if found.kind == "value" else 0.0
        return max((backs(s, text) for source in self.evidence for s in sentences(source.text)), default=0.0)

    def refuted(self, text: str) -> float:
        """1 if a source contradicts a statement; 0.6, a doubt, if none supports it; else 0."""
        told = (s for source in self.evidence for s in sentences(source.text))
        return 1.0 if any(contrary(s, text) for s in told) else 0.0 if self.supported(text) else 0.6

    def measure(self, name: str, text: str = "") -> float | None:
        """What the words of a field or an option mean, measured; None where they mean nothing measurable. `text`: the
        statement or thing in question, where there is one."""
        known = self.meaning(name)
        value = self._measured(known, text) if known else None
        return 1 - value if value is not None and _NEGATION & set(spoken(name).split()) else value

    def of_field(self, name: str, about: str, text: str) -> float | None:
        """What a field means, measured: by its name, by its description where the name says nothing or only "score"."""
        if self.meaning(name) in (None, "sure") and (value := self.measure(about.split(".")[0], text)) is not None:
            return value
        return self.measure(name, text)

    @staticmethod
    def meaning(name: str) -> str | None:
        """The first measure that the words of a name mean."""
        found = meanings(spoken(name), "measures")
        return next((m for m in dict.fromkeys(vocabulary("measures").values()) if m in found), None)

    def _measured(self, meaning: str, text: str) -> float | None:
        opposite = dict(pair.split(":") for pair in vocabulary("words")["opposites"].split())
        if text and meaning in ("refuted", "enough"):
            refuted = self.refuted(text)
            return refuted if meaning == "refuted" else max(self.supported(text), refuted if refuted == 1 else 0.0)
        if text and meaning == "relevant":
            return len(stems(text) & stems(self.task)) / max(1, len(stems(self.task)))
        if meaning in opposite:
            value = self._measured(opposite[meaning], text)
            return None if value is None else 1 - value
        if text and meaning in ("supported", "sure", "covered"):
            return self.supported(text)
        rules: dict[str, Callable[[], float | bool | None]] = {
            "ambiguous": lambda: not self.said and (self.vague or bool(self.rivals)),
            "conflict": lambda: bool(self.conflicts),
            "old": lambda: any(re.search(r"\d{4}-\d\d", fault) for fault in self.faults),
            "fresh": lambda: _NEWEST.search(self.task) is not None,
            "talk": lambda: self.is_talk,
            "complex": lambda: 0.3 if self.is_question or self.is_talk else min(1.0, 0.5 + self.parts / 2 / _PARTS),
            "compared": lambda: self.topic.compare,
            "chained": lambda: any(depends(self.topic, n) for n in range(len(self.topic.facets))),
            "positive": lambda: self.enough() if self.draft else self._sentiment(),
            "neutral": lambda: 1 - abs(self._sentiment() * 2 - 1),
            "supported": lambda: self.supported(self.statement or self.draft) if self.draft else self.enough(),
            "relevant": lambda: self._relevant() if self.sources else None,
        }
        value = rules.get(meaning, self.enough)()
        return None if value is None else float(value)

    def _relevant(self) -> float:
        """The share of the task's content words in the sentence that speaks to it most; 1 if it answers."""
        wanted = stems(self.task)
        shares = [len(wanted & stems(e.sentence)) / len(wanted) for e in self.ranked if wanted]
        return 1.0 if self.found.confidence > 0.5 else max(shares, default=0.0)

    def _sentiment(self) -> float:
        """The share of favourable among favourable and unfavourable words; one half where there are none."""
        told = {key(w) for w in tokens(self.material)}
        good, bad = (
            len(told & {key(w) for w in vocabulary("words")[side].split()}) for side in ("positive", "negative")
        )
        return good / (good + bad) if good + bad else 0.5


def backs(sentence: str, statement: str) -> float:
    """How far a sentence says what a statement says: the share of its content words and figures, 0 below one half or
    where a figure is missing."""
    wanted, has = (stems(t) | set(_FIGURE.findall(t)) for t in (statement, sentence))
    missing = [w for w in wanted - has if w[:1].isdigit()]
    share = len(wanted & has) / len(wanted) if wanted else 0.0
    return share if share >= 0.5 and not missing else 0.0


def contrary(one: Evidence | str, other: str, of: Source | None = None) -> bool:
    """Whether two sentences say almost the same with different figures, neither of them of a newer date."""
    first = one if isinstance(one, str) else one.sentence
    figures = [set(_FIGURE.findall(s)) for s in (first, other)]
    plain = [frozenset(w for w in stems(s) if not w[0].isdigit()) for s in (first, other)]
    if not all(figures) or figures[0] & figures[1] or len(plain[0] & plain[1]) < 0.6 * max(map(len, plain)):
        return False
    days = [dates.stated(first) or (one.source.day if isinstance(one, Evidence) else None)]
    days.append(dates.stated(other) or (of.day if of else None))
    return days[0] is None or days[0] == days[1]


def depends(topic: research.Topic, number: int) -> list[int]:
    """The earlier facets of a topic, counted from 0, whose words a facet takes up beyond the subject's."""
    kept: Iterable[frozenset[str]] = [stems(f.title) for f in topic.facets]
    told = [k - stems(topic.subject) for k in kept]
    return [n for n in range(number) if told[n] and len(told[n] & told[number]) * 2 >= len(told[n])]
