"""Writes a report: a title, sections of cited sentences grouped by what they are about, a table, a conclusion."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from aiq.offline.engine import research
from aiq.offline.engine.analysis import BOILERPLATE
from aiq.offline.engine.answer import answer, rank
from aiq.offline.engine.cite import Citations, Facts, facts
from aiq.offline.engine.evidence import Evidence
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.lookup import SURE
from aiq.offline.engine.read import Situation
from aiq.offline.engine.source import Source
from aiq.offline.engine.text import names, sentences, stems

MOST_SENTENCES = 220
"""The most sentences in all sections together."""
TABLE_ROWS, TABLE_COLUMNS = 8, 4
CELL = 80
"""The most characters in a table cell."""
LEAST = 640
"""A section with fewer characters is short."""
UNDER = 0.3
"""The bonus a sentence gets for a section under whose title the material has it."""
ROOM = 0.85
"""The share of a report's words that go to its sections."""
CLUTTER = re.compile(
    r"[?？]$|^#|^\*\*|^https?://|^(?:source|url|published|posted)\b|all rights reserved|版权所有|^.{0,12}$"
    r"|(?:page|article|updated|revised|edited|页|更新|修订)\W[^.。]{0,30}?\d{4}-\d\d-\d\d",
    re.IGNORECASE,
)
"""Text in which pages describe themselves, and questions: not findings."""
_PHRASES = {
    False: (
        *("Conclusion", "Nothing was found on this.", "Nothing was found on: {}.", "What is the {} of {}?"),
        "The sources are of {} to {}; what has changed since is not in them.",
    ),
    True: (
        *("结论", "没有找到相关资料。", "没有找到资料的方面：{}。", "{1}的{0}是什么？"),
        "资料的日期为{}至{}，此后的变化不在其中。",
    ),
}
_LIMITS = re.compile(r"limit|uncertain|caveat|open question|局限|限制|不确定|不足", re.IGNORECASE)
"""Titles of a section on what the evidence leaves open."""


def report(situation: Situation, orders: Orders) -> str:
    """The report on the situation's task: only sentences from its sources, each with its citation."""
    return _Report(situation, orders).text()


class _Report:
    """One report: its topic, its section titles, and the facts that go into them."""

    def __init__(self, situation: Situation, orders: Orders) -> None:
        self.situation = situation
        self.orders = orders
        self.topic = research.topic(situation.task)
        self.headings = situation.headings
        titles = [head.lstrip("# ") for head, after in pairwise([*self.headings, ""]) if not _is_above(head, after)]
        titles = titles or [*(orders.sections or situation.sections or research.outline(self.topic))]
        barred = [name.lstrip("# ") for name in orders.barred]
        self.body = [t for t in titles if not (t in barred or research.CONCLUSION.search(t) or _LIMITS.search(t))]
        self.told = [(b.text.partition("\n")[0].strip("#* :"), b.text) for b in situation.blocks]
        self.last = [t for t in titles if research.CONCLUSION.search(t)]
        self.citations = Citations(orders)
        self.conclusion, self.nothing, self.empty, self.asking, self.of = _PHRASES[self.topic.chinese]
        self.nothing = f"{orders.abstain}." if orders.abstain else self.nothing

    def text(self) -> str:
        orders, all_facts = self.orders, self._facts()
        sections = self._by_section(all_facts)
        if self.headings:
            return self.citations.complete("\n\n".join(filter(None, self._outline_parts(sections))))
        parts = [f"# {self.topic.title}"] if orders.title else []
        for title in self.body:
            if sections[title] or orders.sections:
                parts.append(f"## {title}\n\n{self._section(sections[title]) or self.nothing}")
        if orders.table is not False and (self.topic.compare or orders.table):
            parts.insert(orders.title + 1, self._table(all_facts))
        if orders.conclusion and (self.last or not orders.sections):
            conclusion = self._conclusion([title for title in self.body if not sections[title]])
            parts.append(f"## {(*self.last, self.conclusion)[0]}\n\n{conclusion}" if conclusion else "")
        return self.citations.complete("\n\n".join(filter(None, parts)))

    def _outline_parts(self, sections: Mapping[str, Facts]) -> Iterator[str]:
        """The headings that the prompt shows, unchanged, each followed by what belongs there."""
        empty = [title for title in self.body if not sections[title]]
        days = sorted(str(source.day)[:7] for source in self.situation.sources if source.day)
        for heading, after in pairwise([*self.headings, ""]):
            title = heading.lstrip("# ")
            yield heading
            if title in sections:
                yield self._section(sections[title])
                yield self.nothing if self._is_thin(sections[title]) else ""
            elif _LIMITS.search(title):
                yield self.empty.format("; ".join(empty)) if empty else ""
                yield self.of.format(days[0], days[-1]) if days else ""
            elif not _is_above(heading, after):
                yield self._conclusion(())

    def _facts(self) -> Facts:
        """The sentences of all sources in order of arrival; if there are too many, those most relevant to the task,
        then the first of the others."""
        sources = [source for source in self.situation.sources if source.key]
        evidence = (Evidence(s, source, 0.0) for source in sources for s in sentences(source.text))
        all_facts = facts(e for e in evidence if not (CLUTTER.search(e.sentence) or BOILERPLATE.match(e.sentence)))
        longest, size = self.orders.words[1], sum(len(sentence.split()) for sentence in all_facts)
        limit = min(MOST_SENTENCES, int(len(all_facts) * longest * ROOM / (size or 1)) if longest else MOST_SENTENCES)
        if len(all_facts) <= limit:
            return all_facts
        query = " ".join([self.topic.subject, *(facet.title for facet in self.topic.facets)])
        best = (sentence for sentence in facts(rank(query, sources, most=MOST_SENTENCES)) if sentence in all_facts)
        informative = [s for s in all_facts if longest and research.is_informative(s, self.topic.text)]
        selection = [*dict.fromkeys([*informative, *best, *all_facts])][:limit]
        return {sentence: all_facts[sentence] for sentence in all_facts if sentence in selection}

    def _by_section(self, all_facts: Facts) -> dict[str, Facts]:
        """Each sentence in the section that shares most words with it or whose title the material has it under; failing
        that, in its page's. Long sections then give up sentences to short ones whose title they were under."""
        sections: dict[str, Facts] = {title: {} for title in self.body}
        for sentence, sources in all_facts.items() if self.body else ():
            home = self._best_section(sentence) or self._best_section(sources[0].text) or self.body[0]
            sections[home][sentence] = sources
        for title, sentence in ((title, s) for title in self.body for s in all_facts if self._is_under(title, s)):
            home = next(name for name in self.body if sentence in sections[name])
            remaining = {s: sources for s, sources in sections[home].items() if s != sentence}
            if self._is_thin(sections[title]) and not self._is_thin(remaining):
                sections[title][sentence] = sections[home].pop(sentence)
        return sections

    def _is_thin(self, section: Facts) -> bool:
        """Whether a section is short, or cites fewer than two sources."""
        keys = {source.key for sources in section.values() for source in sources if self.citations.cites(source)}
        return sum(map(len, section)) < LEAST or len(keys) < 2

    def _is_under(self, title: str, sentence: str) -> bool:
        """Whether a sentence is in a part of the material that opens with the section's title."""
        return any(name == title and sentence.rstrip(".。") in text for name, text in self.told)

    def _best_section(self, text: str) -> str | None:
        """The section whose title, with the facets it names, shares most with a text; None if nothing is shared."""
        text_stems = stems(text)
        scores: dict[str, float] = {}
        for title in self.body:
            facet_stems = [f.stems for f in self.topic.facets if f.stems & stems(title)]
            meaning = stems(title).union(*facet_stems) - stems(self.topic.subject)
            scores[title] = len(meaning & text_stems) / (1 + len(meaning) ** 0.5) + UNDER * self._is_under(title, text)
        best = max(self.body, key=lambda title: scores[title])
        return best if scores[best] else None

    def _section(self, section: Facts) -> str:
        """Paragraphs, one for each thing that sentences name first; the request's seed chooses which comes first."""
        groups: dict[str, Facts] = {}
        for sentence, sources in section.items():
            groups.setdefault((*names(sentence), sources[0].title)[0], {})[sentence] = sources
        start = (self.situation.request.seed or 0) % max(1, len(groups))
        ordered = [*groups.values()][start:] + [*groups.values()][:start]
        return "\n\n".join(map(self.citations.text, ordered))

    def _table(self, all_facts: Facts) -> str:
        """Things against facets, with the cells that the evidence answers; empty if under two rows have a value."""
        leading = [name for sentence in all_facts for name in names(sentence)[:1] if name not in self.topic.text]
        heads = [min((n for n in leading if name.startswith(n)), key=len) for name in leading]
        rows = sorted((n for n in dict.fromkeys(heads) if heads.count(n) > 1), key=lambda n: -heads.count(n))
        columns = [facet.title for facet in self.topic.facets if len(facet.words) <= 5][:TABLE_COLUMNS]
        lines = [[name, *(self._cell(name, column) for column in columns)] for name in rows[:TABLE_ROWS]]
        filled = [line for line in lines if any(line[1:])]
        table = [["", *columns], ["---"] * (len(columns) + 1), *filled]
        return "\n".join(f"| {' | '.join(cell or '–' for cell in line)} |" for line in table) if len(filled) > 1 else ""

    def _cell(self, name: str, facet: str) -> str:
        sources: list[Source] = [s for s in self.situation.sources if name in s.text or name in s.title]
        question = self.asking.format(facet[:1].lower() + facet[1:], name)
        result = answer(question, sources, self.situation.now)
        fits = result.kind == "value" and result.confidence >= SURE and len(result.value) <= CELL and result.evidence
        text = self.citations.with_marks(result.value, [result.evidence[-1].source]) if fits else ""
        return text.rstrip(".。").replace("|", "/")

    def _conclusion(self, empty: Sequence[str]) -> str:
        """The sentences most relevant to the task as a whole, and what was not found."""
        best = rank(self.topic.subject, self.situation.sources, self.situation.now, most=4)
        selection = facts(evidence for evidence in best if evidence.source.key)
        selection |= {self.empty.format("; ".join(empty)): []} if empty else {}
        return self.citations.text(selection)


def _is_above(heading: str, after: str) -> bool:
    """Whether the next heading is below this one."""
    return len(after) - len(after.lstrip("#")) > len(heading) - len(heading.lstrip("#"))
