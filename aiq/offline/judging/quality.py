"""How good an article is, by what can be checked: its facts and sentences, the task, what another article says."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from aiq.offline.engine.text import is_chinese, sentences, words
from aiq.offline.judging.facts import DATA, claim, named_in, pattern, plain, read, roots, share

_LEADING, _FOLLOWED, _OPENERS = (frozenset(DATA[name].split()) for name in ("leading", "followed", "openers"))
_GAP, _REASONING, _CLOSING = pattern("gap"), pattern("reasoning"), pattern("closing")
_HAN_TORN = re.compile(
    r"的[的了是]|\d[的是于在和]\d|[是在]于|的，|[年月]\d{3}|[，。；：、]{2,}|[\u3400-\u9fff]\s+(?=[\u3400-\u9fff])"
    r"|(?<![^，。；：、！？（）()|,:;])[的了着们月日号率性岁]|[在和与由从是于被将把及为向以并或而且该其每各](?=[，。；：、！？（）()|,:;])"
    r"|[^，。；：、！？（）()|,:;\s]{40}"
)
_HEADING = re.compile(r"#{1,6}\s+\S|\*\*[^*]{2,80}\*\*$")
_DIMENSIONS: Final = DATA["dimensions"]


class Article(NamedTuple):
    """What a judge finds in an article. `facts`: how often it ties a name to a value; `telling`: sentences that do.

    `order`: how well its words follow each other; `noise`: numbers without words; both 0 to 1, as is `structure`.
    """

    sentences: tuple[str, ...]
    telling: tuple[str, ...]
    facts: Counter[tuple[str, str]]
    order: float
    noise: float
    structure: float


def saturating(amount: float, half: float) -> float:
    """0 at nothing, 0.5 at `half`, towards 1 beyond: more is better, ever less so."""
    return amount / (amount + half)


@lru_cache(maxsize=65536)
def order(sentence: str) -> float:
    """How well the words of a sentence follow each other, 0 to 1: the share of small words in a fit place."""
    if is_chinese(sentence):
        return max(0.0, 1 - 2.5 * len(_HAN_TORN.findall(sentence)) / len(re.findall(r"[，。；：、]|$", sentence)))
    told = re.findall(r"[A-Za-z][\w'’-]*|\d[\d.,]*|[.!?,;:]", sentence) or ["."]
    small, bad = 2, int(not (told[0][0].isupper() or told[0][0].isdigit()))
    for word, after in zip([told[0].lower(), *told[1:]], [*told[1:], "."], strict=True):
        small += word in _LEADING | _FOLLOWED
        bad += word in _LEADING and (after[0] in ".,;:!?" or after in _FOLLOWED)
        bad += word in _FOLLOWED and after[0] in ".;:!?"
        bad += word in _OPENERS and after[0].islower()
    return max(0.0, 1 - 2.5 * bad / small)


@lru_cache(maxsize=256)
def article(text: str) -> Article:
    """The article taken apart, kept for the next criterion."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    headings = [line for line in lines if _HEADING.match(line)]
    prose = [plain(line) for line in lines if line not in headings and not line.startswith("|")]
    told = tuple(sentence for line in prose for sentence in sentences(line))
    telling = tuple(s for s in told if order(s) > 0.6 and not _GAP.search(s))
    size = sum(map(len, told)) or 1
    tokens = re.findall(r"\d[\d.,]*|[A-Za-z]+|[\u3400-\u9fff]{2}", text) or [""]
    figures = sum(token[:1].isdigit() for token in tokens) / len(tokens)
    noise = min(1.0, max(0.0, figures - 0.2) / 0.13)
    readable = sum(3 <= len(words(line)) <= 160 for line in prose) / max(1, len(prose))
    closed = any(_REASONING.search(line) or _CLOSING.search(line) for line in [*headings[-1:], *lines[-1:]])
    structure = 0.3 * saturating(len(headings), 2) + 0.4 * readable + 0.3 * closed
    well = sum(order(s) * len(s) for s in told) / size
    return Article(told, telling, _facts(telling, lines), well, noise, structure)


def _facts(telling: Sequence[str], lines: Sequence[str]) -> Counter[tuple[str, str]]:
    """(what, value) of every clause and of every cell of a table: a value with each word that it is said of."""
    rows = [[plain(cell).strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    claims = [told for sentence in telling for clauses in read(sentence) for told in clauses]
    claims += [claim(f"{name}: {cell}", name) for name, *cells in rows for cell in cells if re.search(r"\w", cell)]
    found: Counter[tuple[str, str]] = Counter()
    for told in claims:
        values = [f"{n.value:g}" for n in told.numbers] + [f"{d.year}-{d.month}" for d in told.days] + [*told.names]
        what = told.relation | roots(told.subject)
        found.update((root, value.casefold()) for value in values if value != told.subject for root in what)
    return found


def quality(text: str, criterion: str, task: str, others: Sequence[str] = (), dimension: str = "") -> float:
    """How well an article meets a criterion, 0 to 1. `others`: articles on the same task, none of which is believed
    more.

    Facts count that another article has too, others less; what is off the subject, out of order, repeated, or numbers
    without words costs; nothing that the article says of itself counts.
    """
    name = next((d for d, row in _DIMENSIONS.items() if re.search(row["words"], f"{criterion}", re.I)), "")
    parts = _parts(text, task, tuple(others))
    weights = _DIMENSIONS.get(dimension or name, _DIMENSIONS["comprehensiveness"])["parts"]
    met: float = sum(weight * parts[part] for part, weight in weights.items())
    return parts["sense"] * met


@lru_cache(maxsize=256)
def _parts(text: str, task: str, others: tuple[str, ...]) -> dict[str, float]:
    """What the weights weigh: each part 0 to 1, the same for every criterion."""
    this, rest = article(text), [article(other) for other in others]
    given = {fact for other in rest for fact in other.facts}
    shared, known = len(given & this.facts.keys()), {value for _, value in given}
    own = sum(value in known or not rest for _, value in this.facts.keys() - given)
    asked = [
        part
        for piece in re.split(r"[,，;；、:：()（）。.]|\b(?:and|of|including|with)\b|以及|和|及", task)
        if (part := roots(piece))
    ]
    on = [sum(share(part, roots(s)) >= 0.5 for s in this.telling) for part in asked]
    spoken = [len(roots(task) & roots(told)) for told in (text, *others)]
    topic = next((span.text for span in named_in(task) if span.start and not is_chinese(task)), "")
    focus = min(1.0, 2 * spoken[0] / max(1, *spoken)) * (1.0 if topic in text else 0.5)
    asked = [
        part
        for piece in re.split(r"[,，;；、:：()（）。.]|\b(?:and|of|including|with)\b|以及|和|及", task)
        if (part := roots(piece))
    ]
    on = [sum(share(part, roots(s)) >= 0.5 for s in this.telling) for part in asked]
    told = this.facts.total() + len(this.sentences)
    again = 1 - (len(this.facts) + len(set(this.sentences))) / max(1, told)
    return {
        "asked": sum(min(1, count) for count in on) / max(1, len(on)),
        "facts": saturating(shared + own / 20, 80),
        "sure": (shared + 2) / (len(this.facts) + 4) if rest else 0.5,
        "reasoning": saturating(sum(_REASONING.search(s) is not None for s in set(this.telling)), 3),
        "structure": this.structure,
        "unrepeated": max(0.0, 1 - 2 * again),
        "focus": focus,
        "sense": min(1.0, max(0.0, (this.order - 0.3) / 0.6))
        * (1 - 0.9 * this.noise)
        * min(1.0, len(this.sentences) / 4)
        * (1 - 0.2 * again)
        * (0.7 + 0.3 * focus),
    }
