"""Writing a report: a title, sections of cited sentences grouped by what they are about, a table, a conclusion."""

import re
from collections.abc import Sequence

from aiq.offline.engine import research
from aiq.offline.engine.answer import answer, rank
from aiq.offline.engine.cite import Citations, standalone, told
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Situation, Source
from aiq.offline.engine.text import is_chinese, names, sentences, stems

MOST_SENTENCES = 220
"""Sentences of all sections together."""
TABLE_ROWS, TABLE_COLUMNS = 8, 4
SURE = 0.6
"""The reader's confidence from which a value goes into a table."""
CELL = 80
"""Characters of a value that fits into a table."""
_CLUTTER = re.compile(
    r"[?？]$|^#|^\*\*|^https?://|^(?:source|url|published|posted)\b|all rights reserved|版权所有"
    r"|(?:page|article|updated|revised|edited|页|更新|修订)\W[^.。]{0,30}?\d{4}-\d\d-\d\d",
    re.IGNORECASE,
)
"""What pages say of themselves, and questions: no findings."""

Facts = list[tuple[str, Source]]
"""Sentences fit to stand alone, each with a source that says it."""


def report(situation: Situation, orders: Orders) -> str:
    """The report on the situation's task from its sources: only sentences of theirs, each with its citation."""
    return _Report(situation, orders).text()


class _Report:
    """One report: its topic, its section titles, and the facts that go into them."""

    def __init__(self, situation: Situation, orders: Orders) -> None:
        self.situation = situation
        self.orders = orders
        self.topic = research.topic(situation.task)
        titles = orders.sections or situation.sections or research.outline(self.topic)
        unwanted = [name.lstrip("# ") for name in orders.barred]
        self.titles = [title for title in titles if title not in unwanted]
        self.body = [title for title in self.titles if not research.CONCLUSION.search(title)]
        self.facts = self._facts()
        self.citations = Citations(orders)
        self.nothing = "没有找到相关资料。" if self.topic.chinese else "Nothing was found on this."

    def text(self) -> str:
        placed = self._placed()
        parts = [f"# {self.topic.title}"] if self.orders.title else []
        for title in self.body:
            if placed[title]:
                parts.append(f"## {title}\n\n{self._section(placed[title])}")
            elif self.orders.sections:
                parts.append(f"## {title}\n\n{self.nothing}")
        if self.orders.table is not False and (self.topic.compare or self.orders.table):
            parts.insert(self.orders.title + 1, self._table())
        if self.orders.conclusion and not (self.orders.sections and self.body == self.titles):
            parts.append(self._conclusion([title for title in self.body if not placed[title]]))
        return "\n\n".join(filter(None, [*parts, self.citations.listed()]))

    def _facts(self) -> Facts:
        """The sentences of all sources, each once; in order of arrival, or the best where there are too many."""
        found: dict[str, tuple[str, Source]] = {}
        for source in filter(lambda source: source.key, self.situation.sources):
            for sentence in sentences(source.text):
                if len(sentence) > 12 and not _CLUTTER.search(sentence):
                    alone = standalone(sentence, source)
                    found.setdefault(alone.casefold(), (alone, source))
        if len(found) <= MOST_SENTENCES:
            return list(found.values())
        asked = f"{self.topic.subject} {' '.join(f.title for f in self.topic.facets)}"
        best = rank(asked, self.situation.sources, most=MOST_SENTENCES)
        return [(standalone(e.sentence, e.source), e.source) for e in best]

    def _meaning(self, title: str) -> frozenset[str]:
        """The stems of a title and of the facets whose words it shares, without those of the subject."""
        own = stems(title)
        near = [facet.stems for facet in self.topic.facets if facet.stems & own]
        return own.union(*near) - stems(self.topic.subject)

    def _placed(self) -> dict[str, Facts]:
        """Each sentence in the section whose words it shares most; without any, where most of its page went."""
        meanings = {title: self._meaning(title) for title in self.body}
        placed: dict[str, Facts] = {title: [] for title in self.body}
        homes: dict[str, list[str]] = {}
        waiting: Facts = []
        for sentence, source in self.facts if self.body else ():
            own = stems(sentence)
            shared = {title: len(means & own) / (1 + len(means) ** 0.5) for title, means in meanings.items()}
            best = max(self.body, key=lambda title: shared[title])
            if shared[best]:
                placed[best].append((sentence, source))
                homes.setdefault(source.key, []).append(best)
            else:
                waiting.append((sentence, source))
        for sentence, source in waiting:
            home = homes.get(source.key) or self.body
            placed[max(home, key=home.count)].append((sentence, source))
        return placed

    def _section(self, facts: Facts) -> str:
        """Paragraphs, one for each thing that sentences begin with or name first; the seed chooses which comes first.
        As a list where the prompt wants lists."""
        groups: dict[str, Facts] = {}
        for sentence, source in facts:
            groups.setdefault((*names(sentence), source.title)[0], []).append((sentence, source))
        first = (self.situation.request.seed or 0) % len(groups)
        ordered = [told(group, self.citations) for group in [*groups.values()][first:] + [*groups.values()][:first]]
        if self.orders.bullets:
            return "\n".join(f"- {line}" for lines in ordered for line in lines)
        return "\n\n".join(self._joined(lines) for lines in ordered)

    def _joined(self, lines: Sequence[str]) -> str:
        return ("" if lines and is_chinese(lines[0]) else " ").join(lines)

    def _table(self) -> str:
        """Things against facets, cells that the evidence answers; none where fewer than two rows have a value."""
        leading = [name for sentence, _ in self.facts for name in names(sentence)[:1] if name not in self.topic.text]
        heads = [min((n for n in leading if name.startswith(n)), key=len) for name in leading]
        rows = sorted((n for n in dict.fromkeys(heads) if heads.count(n) > 1), key=lambda n: -heads.count(n))
        columns = [facet.title for facet in self.topic.facets if len(facet.words) <= 5][:TABLE_COLUMNS]
        lines = [(name, [self._cell(name, column) for column in columns]) for name in rows[:TABLE_ROWS]]
        shown = [f"| {name} | {' | '.join(cells)} |" for name, cells in lines if any(cell != "–" for cell in cells)]
        head = [f"|  | {' | '.join(columns)} |", "|" + " --- |" * (len(columns) + 1)]
        return "\n".join([*head, *shown]) if len(shown) > 1 else ""

    def _cell(self, name: str, facet: str) -> str:
        sources = [s for s in self.situation.sources if name in s.text or name in s.title]
        of = f"What is the {facet[:1].lower()}{facet[1:]} of {name}?"
        found = answer(f"{name}的{facet}是什么？" if self.topic.chinese else of, sources, self.situation.now)
        fits = found.kind == "value" and found.confidence >= SURE and len(found.value) <= CELL and found.evidence
        said = self.citations.said(found.value, found.evidence[-1].source) if fits else "–"
        return said.rstrip(".。").replace("|", "/")

    def _conclusion(self, empty: Sequence[str]) -> str:
        """The sentences that speak most to the task as a whole, and what was not found."""
        chinese = self.topic.chinese
        titles = [title for title in self.titles if research.CONCLUSION.search(title)]
        best = rank(self.topic.subject, self.situation.sources, self.situation.now, most=4)
        lines = told([(e.sentence, e.source) for e in best if e.source.key], self.citations)
        if empty:
            listed = ("、" if chinese else "; ").join(empty)
            lines.append(f"没有找到资料的方面：{listed}。" if chinese else f"Nothing was found on: {listed}.")
        heading = (*titles, "结论" if chinese else "Conclusion")[0]
        return f"## {heading}\n\n{self._joined(lines)}" if lines else ""
