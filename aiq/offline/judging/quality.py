"""How good an article is, by what can be checked: its facts and sentences, the task, what another article says."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache

from aiq.offline.engine import dates
from aiq.offline.engine.quantities import numbers
from aiq.offline.engine.text import is_chinese, sentences, words
from aiq.offline.judging.clauses import (
    among_any,
    concepts,
    listed,
    named_in,
    pattern,
    plain,
    roots,
    share,
)  # fmt: skip

_DETERMINERS, _PREPOSITIONS, _JOINERS = listed("determiners"), listed("prepositions"), listed("joiners")
_VERBS, _OPENERS = listed("verbs"), listed("openers")
_FUNCTION = _DETERMINERS | _PREPOSITIONS | _VERBS | _JOINERS
_GAP, _REASONING, _CLOSING = pattern("gap"), pattern("reasoning"), pattern("closing")
_HAN_NEVER_FIRST = "的了着们月日号率性岁"
_HAN_NEVER_LAST = "在和与由从是于被将把及为向以并或而且该其每各"
_HAN_TORN = re.compile(
    r"的[的了是]|\d[的是于在和]\d|是于|在是|于在|的，|[年月]\d{3}|[，。；：、]{2,}|[\u3400-\u9fff]\s+(?=[\u3400-\u9fff])"
    r"|\d(?![\d.,%年月日人个名岁届所家座位万亿千百公里米元次种项条）)、，。；\s]|$)"
)
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+\S|\*\*[^*\n]{2,80}\*\*\s*$)")


def saturating(amount: float, half: float) -> float:
    """0 at nothing, 0.5 at `half`, towards 1 beyond: more is better, ever less so."""
    return amount / (amount + half)


@lru_cache(maxsize=65536)
def order(sentence: str) -> float:
    """How well the words of a sentence follow each other, 0 to 1: the share of small words in a fit place."""
    return _han_order(sentence) if is_chinese(sentence) else _latin_order(sentence)


def _latin_order(sentence: str) -> float:
    told = re.findall(r"[A-Za-z][\w'’-]*|\d[\d.,]*|[.!?,;:]", sentence)
    if not told:
        return 1.0
    small = bad = 0
    for number, (word, after) in enumerate(zip(told, [*told[1:], "."], strict=False)):
        word = word.lower() if number == 0 else word
        if word in _FUNCTION:
            small += 1
            bad += _misplaced(word, after)
        elif number and word in _OPENERS and after[0].islower():  # the first word of a sentence, within one
            bad += 1
    torn = len(re.findall(r"[a-z]\.\s+[a-z]", sentence)) + (not (told[0][0].isupper() or told[0][0].isdigit()))
    return max(0.0, 1 - 2.5 * (bad + torn + (told[-1] not in ".!?:" and len(told) > 12)) / (small + 2))


def _misplaced(word: str, after: str) -> bool:
    """Whether a small word cannot stand before the next one."""
    if word in _DETERMINERS:
        return after in _FUNCTION or not after[0].isalnum()
    if word in _PREPOSITIONS:
        return after in _VERBS or after in _JOINERS - {"which", "who", "that"} or after[0] in ".,;:!?"
    return after[0] in ".;:!?"


def _han_order(sentence: str) -> float:
    parts = [part for part in re.split(r"[，。；：、！？（）()|,:;]+", sentence) if part]
    bad = sum((part[0] in _HAN_NEVER_FIRST) + (part[-1] in _HAN_NEVER_LAST) + len(part) // 30 for part in parts)
    return max(0.0, 1 - 1.2 * (bad + len(_HAN_TORN.findall(sentence))) / max(1, len(parts)))


class Article:
    """One article with what a judge finds in it, each computed when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = plain(re.sub(r"^(#{1,6} .*)$", r"\1\n", text, flags=re.MULTILINE))
        self.lines = [line.strip() for line in text.splitlines() if line.strip()]
        self.headings = [line for line in self.lines if _HEADING.match(line)]
        self.prose = [plain(line) for line in self.lines if not _HEADING.match(line) and not line.startswith("|")]

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of the prose; a paragraph's words in a heap make few of them."""
        return tuple(s for line in self.prose for s in sentences(line))

    @cached_property
    def order(self) -> float:
        """How well formed the sentences are, by their length."""
        sizes = [len(s) for s in self.sentences]
        return sum(size * order(s) for s, size in zip(self.sentences, sizes, strict=True)) / max(1, sum(sizes))

    @cached_property
    def telling(self) -> tuple[str, ...]:
        """The sentences that state a fact in good order; those that only say what was not found are none."""
        return tuple(s for s in self.sentences if order(s) > 0.6 and _pairs(s) and not _GAP.search(s))

    @cached_property
    def told(self) -> Counter[tuple[str, str]]:
        """(who, value) pairs, how often each is told: a name with another name, a number or a date of its sentence."""
        found: Counter[tuple[str, str]] = Counter()
        for sentence in self.telling:
            found.update(_pairs(sentence))
        for line in self.lines:
            cells = [plain(cell).strip() for cell in line.strip("|").split("|")] if line.startswith("|") else [""]
            found.update((_key(cells[0]), _key(cell)) for cell in cells[1:] if re.search(r"\w", cell) and cells[0])
        return found

    @cached_property
    def facts(self) -> frozenset[tuple[str, str]]:
        return frozenset(self.told)

    @cached_property
    def retold(self) -> float:
        """The share of the facts told that were told before, in whatever words or in a table."""
        return 1 - len(self.told) / max(1, self.told.total())

    @cached_property
    def doubled(self) -> float:
        """The share of the sentences that stand there twice."""
        return 1 - len(set(self.sentences)) / max(1, len(self.sentences))

    @cached_property
    def reasoning(self) -> float:
        """Well-formed sentences that compare, explain or date a change, saturating."""
        return saturating(
            len({s for s in self.sentences if order(s) > 0.6 and _REASONING.search(s) and not _GAP.search(s)}), 3
        )

    @cached_property
    def noise(self) -> float:
        """How much is numbers without words, or the same few words: 0 as in prose to 1 as in a list."""
        told = re.findall(r"\d[\d.,]*|[A-Za-z]+|[\u3400-\u9fff]{2}", self.text)
        figures: float = sum(word[0].isdigit() for word in told) / max(1, len(told))
        variety: float = len(set(told)) / max(1.0, float(len(told)) ** 0.75)
        return max(min(1.0, max(0.0, figures - 0.14) / 0.14), min(1.0, max(0.0, 0.9 - variety)))

    @cached_property
    def structure(self) -> float:
        """Headings, and paragraphs and sentences of a readable size."""
        sizes = [len(words(line)) for line in self.prose] or [0]
        readable = sum(3 <= size <= 160 for size in sizes) / len(sizes)
        return 0.3 * saturating(len(self.headings), 2) + 0.4 * readable + 0.3 * self.closed

    @cached_property
    def closed(self) -> bool:
        """Whether the article ends in a section that concludes."""
        last = max((n for n, line in enumerate(self.lines) if _HEADING.match(line)), default=0)
        return _CLOSING.search(self.lines[last] if self.lines else "") is not None or any(
            _REASONING.search(line) for line in self.lines[-1:]
        )


def _key(text: str) -> str:
    figures = numbers(text)
    if figures and len(re.sub(r"[\d.,\s]", "", text)) < 4:
        return f"{figures[0].value:g}"
    return " ".join(text.casefold().split())


def _pairs(sentence: str) -> set[tuple[str, str]]:
    named = _names(sentence)
    stated = [f"{d.year}-{d.month}" for d in dates.find(sentence)]
    figures = [
        f"{n.value:g}" for n in numbers(sentence) if not any(d.start <= n.start < d.end for d in dates.find(sentence))
    ]
    values = [*figures, *stated]
    if not named:
        return set()
    return {(named[0], v) for v in values} | {(named[0], other) for other in named[1:]}


_HAN_CHUNK = re.compile(
    r"的|是|由|在|于|自|为|和|与|担任|位于|毕业|出生|曾|开始|创办|成立|收购|拥有|获胜|领导|说明|提起|有|[^\u3400-\u9fff·]+"
)


def _names(sentence: str) -> list[str]:
    """The names of a sentence; in Chinese foreign names with a dot, and what ends as organisations and places do."""
    if is_chinese(sentence):
        chunks = _HAN_CHUNK.split(sentence)
        return [
            c
            for c in chunks
            if "·" in c or re.search(r".{2}(?:公司|大学|学院|俱乐部|节|市|省|县|奖|社|队|院|馆|集团|银行)$", c)
        ]
    return [s.text.casefold() for s in named_in(sentence)]


_LISTED = re.compile(r"[：:]([^。.：:]{2,}、[^。.]*)|例如([^。]*)|如([^。]*、[^。]*)")


def named_things(text: str) -> tuple[str, ...]:
    """What a criterion or task names: capitalised names, and the items of Chinese enumerations."""
    found = [s.text for s in named_in(text) if s.start > 0]
    found += re.findall(r"(?:关于|介绍|综述|概述)([\u3400-\u9fff]{2,12}?)的", text)
    for match in _LISTED.finditer(text):
        inside = next(group for group in match.groups() if group)
        found += [item.strip() for item in re.split(r"[、,，]|和", inside) if len(item.strip()) > 1]
    return tuple(dict.fromkeys(found))


def aspects(task: str) -> list[frozenset[str]]:
    """What a task asks for, part by part: the stems of each piece between commas and joining words."""
    pieces = re.split(r"[,，;；、:：()（）。.]|\band\b|\bof\b|\bincluding\b|\bwith\b|以及|和|及", task)
    return [r for r in dict.fromkeys(concepts(p) for p in pieces) if r]


_DIMENSIONS = (
    (
        "readability",
        r"readab|clear|clarity|structur|languag|organi[sz]|fluen|format|presentation|可读|结构|语言|清晰|流畅|格式",
    ),
    (
        "insight",
        r"insight|analy|compar|depth|why|caus|reason|original|trend|change|judg|link|洞察|分析|比较|原因|深度|逻辑|趋势",
    ),
    ("instruction_following", r"instruction|scope|relevan|adher|task|question|evidence|指令|范围|任务|要求|相关"),
)


def dimension_of(text: str) -> str:
    """The dimension that a criterion belongs to by its words."""
    return next((name for name, pattern in _DIMENSIONS if re.search(pattern, text, re.IGNORECASE)), "comprehensiveness")


@lru_cache(maxsize=256)
def article(text: str) -> Article:
    """The article taken apart, kept for the next criterion."""
    return Article(text)


def quality(
    text: str, criterion: str, task: str, others: Sequence[str] = (), dimension: str = "", about: str = ""
) -> float:
    """How well an article meets a criterion, 0 to 1. `others`: articles on the same task, none of which is believed
    more. `about`: what else says what the task is about, such as all its criteria.

    Facts count that another article has too, others less; what is off the subject, out of order, repeated, or numbers
    without words costs; nothing that the article says of itself counts.
    """
    if not words(text):
        return 0.0
    parts = _parts(text, task, tuple(others), about)
    named = named_things(criterion)
    parts = {**parts, "named": _covered(article(text), named) if named else parts["asked"]}
    weights = _WEIGHTS.get(dimension) or _WEIGHTS[dimension_of(criterion)]
    met = sum(weight * parts[name] for name, weight in weights.items())
    score: float = (0.15 * parts["words"] + 0.85 * parts["order"] * (0.7 + 0.3 * parts["focus"]) * met) * parts["prose"]
    return score


_WEIGHTS = {
    "comprehensiveness": {"named": 0.35, "asked": 0.37, "facts": 0.2, "sure": 0.08},
    "insight": {"reasoning": 0.55, "asked": 0.27, "facts": 0.1, "sure": 0.08},
    "instruction_following": {"asked": 0.4, "named": 0.25, "focus": 0.35},
    "readability": {"structure": 0.5, "unrepeated": 0.3, "asked": 0.2},
}


@lru_cache(maxsize=256)
def _parts(text: str, task: str, others: tuple[str, ...], about: str) -> dict[str, float]:
    """What the weights weigh: each part 0 to 1, the same for every criterion."""
    this, rest = article(text), [article(other) for other in others]
    named = frozenset(name.casefold() for name in (*named_things(task), *named_things(about)))
    known = _linked(this, named.union(*(fact for other in rest for fact in other.facts)))
    asked = frozenset(root for part in aspects(task) for root in part)
    focus = sum(_near(s, known, asked) for s in this.sentences) / max(1, len(this.sentences))
    topic = frozenset().union(*(roots(other.text) for other in rest)) if rest else frozenset()
    given = frozenset().union(*(other.facts for other in rest)) if rest else frozenset()
    own = {fact for fact in this.facts - given if fact[0] in known}
    shared = len(this.facts & given)
    vocabulary = roots(this.text) - roots(task)
    there = topic - roots(task)
    return {
        "asked": _asked([s for s in this.telling if _tied(s, known)], aspects(task)),
        "facts": saturating(shared + len(own) / (8 if rest else 2), 20),
        "sure": (shared + 2) / (len(this.facts) + 4) if rest else 0.5,
        "focus": focus,
        "reasoning": this.reasoning,
        "unrepeated": max(0.0, 1 - 2 * max(this.retold, this.doubled)),
        "structure": this.structure,
        "order": min(1.0, max(0.0, (this.order - 0.5) / 0.35)),
        "prose": (1 - 0.8 * this.noise) * (1 - 0.3 * this.doubled),
        "words": len(vocabulary & there) / max(1, len(vocabulary) * len(there)) ** 0.5
        if there
        else saturating(len(vocabulary), 60),
    }


def _linked(this: Article, seeds: frozenset[str]) -> frozenset[str]:
    """The names that facts tie to those the task or another article names, over any number of steps."""
    known = seeds or frozenset(name for fact in this.facts for name in fact)
    for _ in range(3):
        known |= {name for s in this.telling if _tied(s, known) for name in _names(s)}
    return known


def _near(sentence: str, known: frozenset[str], asked: frozenset[str]) -> float:
    """How near a sentence is to the task: 1 where it says what is asked of a thing tied to it."""
    fits = among_any(concepts(sentence), asked) or _REASONING.search(sentence) is not None
    return 0.5 * fits + 0.5 * (_tied(sentence, known) if _names(sentence) else fits)


def _tied(sentence: str, known: frozenset[str]) -> bool:
    """Whether a sentence names something that is tied to the task."""
    told = sentence.casefold()
    return any(name in told for name in known if name and not name[0].isdigit())


def _covered(this: Article, names: Sequence[str]) -> float:
    """The share of the names that a telling sentence has."""
    told = " ".join(this.telling).casefold()
    return sum(name.casefold() in told for name in names) / len(names)


def _asked(telling: Sequence[str], asked: Sequence[frozenset[str]]) -> float:
    """How far each part of the task is spoken of: by how many telling sentences, saturating."""
    counts = [sum(share(part, concepts(s)) >= 0.5 for s in telling) for part in asked]
    return sum(saturating(count, 1) for count in counts) / len(counts) if counts else 0.5
