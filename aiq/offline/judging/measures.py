"""What can be counted in a report: names, numbers, structure, reasoning words; every measure from 0 to 1."""

import re
from functools import cached_property

from aiq.offline.judging.numbers import numbers
from aiq.offline.reading.text import is_chinese, names, sentences, words

_REASONING = re.compile(
    r"\b(?:because|therefore|however|whereas|although|despite|while|compared|comparison|trend|grew|growth|rose|fell|decline"
    r"|increase\w*|decrease\w*|largest|smallest|oldest|youngest|largely|suggests?|implies|driven|due to|as a result"
    r"|per cent|percent|share|pattern|in contrast|on the other hand|overall|differ\w*|disagree\w*)\b"
    r"|因此|因为|由于|然而|相比|对比|比较|趋势|增长|下降|上升|减少|最大|最小|最早|说明|表明|意味|矛盾|不同|规律|占比|总体",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+\S|\*\*[^*\n]{2,80}\*\*\s*$)", re.MULTILINE)
_LISTED = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+|^\s*\|", re.MULTILINE)
_ENUMERATED = re.compile(r"[：:]([^。.：:]{2,}、[^。.]*)|例如([^。]*)|such as ([^.]*)")


def saturating(amount: float, half: float) -> float:
    """0 at nothing, 0.5 at `half`, towards 1 beyond: more is better, ever less so."""
    return amount / (amount + half)


class Article:
    """One article with its counts, each computed when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = text.casefold()

    @cached_property
    def words(self) -> tuple[str, ...]:
        return words(self.text)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def facts(self) -> float:
        """Different numbers and names, saturating."""
        return saturating(len({n.value for n in numbers(self.text)}) + len(set(names(self.text))), 70)

    @cached_property
    def length(self) -> float:
        return saturating(len(self.words), 500)

    @cached_property
    def reasoning(self) -> float:
        """Words that compare, explain or date a change, per hundred words, saturating."""
        found = len(_REASONING.findall(self.text))
        return saturating(found, 10) * 0.6 + saturating(100 * found / max(1, len(self.words)), 1.5) * 0.4

    @cached_property
    def structure(self) -> float:
        """Headings, paragraphs of a readable size, and few sentences said twice."""
        paragraphs = [p for p in re.split(r"\n\s*\n", self.text) if p.strip()]
        told = sentences(self.text)
        readable = sum(4 <= len(words(p)) <= 160 for p in paragraphs) / len(paragraphs) if paragraphs else 0.0
        headings = saturating(len(_HEADING.findall(self.text)), 2.5)
        listed = saturating(len(_LISTED.findall(self.text)), 12)
        unrepeated = len(set(told)) / len(told) if told else 0.0
        return 0.4 * headings + 0.3 * readable + 0.1 * listed + 0.2 * max(0.0, 4 * unrepeated - 3)

    @cached_property
    def sentence_size(self) -> float:
        """1 where sentences have a good length on average, less where they are stubs or endless."""
        told = sentences(self.text)
        mean = len(self.words) / len(told) if told else 0.0
        return max(0.0, 1 - abs(mean - (22 if is_chinese(self.text) else 12)) / 30)

    def covers(self, terms: tuple[str, ...]) -> float:
        """Which share of the terms stands in the article: names as written, words in their search form."""
        if not terms:
            return 0.5
        return sum(self._has(term) for term in terms) / len(terms)

    def _has(self, term: str) -> bool:
        return term.casefold() in self.folded or (" " not in term and term in self.vocabulary)

    def stays_with(self, terms: tuple[str, ...]) -> float:
        """Which share of the paragraphs mentions any of the terms."""
        paragraphs = [p.casefold() for p in re.split(r"\n\s*\n", self.text) if len(words(p)) >= 4]
        if not paragraphs or not terms:
            return 0.5
        return sum(any(term.casefold() in p for term in terms) for p in paragraphs) / len(paragraphs)


def named_things(text: str) -> tuple[str, ...]:
    """What a criterion or task names: capitalised names, quoted titles, and the items of Chinese enumerations."""
    found = list(names(text))
    for match in _ENUMERATED.finditer(text):
        inside = next(group for group in match.groups() if group)
        found += [item.strip() for item in re.split(r"[、,，]|\band\b|和", inside) if len(item.strip()) > 1]
    return tuple(dict.fromkeys(found))
