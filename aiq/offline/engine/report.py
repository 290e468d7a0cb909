"""Writing a report: a title, sections of cited sentences grouped by what they are about, a table, a conclusion."""

import re
from collections.abc import Sequence

from aiq.offline.engine import research
from aiq.offline.engine.answer import Evidence, answer, rank
from aiq.offline.engine.cite import Citations, Facts, facts
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Situation, Source
from aiq.offline.engine.text import names, sentences, stems

MOST_SENTENCES = 220
"""Sentences of all sections together."""
TABLE_ROWS, TABLE_COLUMNS = 8, 4
SURE = 0.6
"""The reader's confidence from which a value goes into a table."""
CELL = 80
"""Characters of a value that fits into a table."""
_CLUTTER = re.compile(
    r"[?？]$|^#|^\*\*|^https?://|^(?:source|url|published|posted)\b|all rights reserved|版权所有|^.{0,12}$"
    r"|(?:page|article|updated|revised|edited|页|更新|修订)\W[^.。]{0,30}?\d{4}-\d\d-\d\d",
    re.IGNORECASE,
)
"""What pages say of themselves, and questions: no findings."""
_PHRASES = {
    False: ("Conclusion", "Nothing was found on this.", "Nothing was found on: {}.", "What is the {} of {}?"),
    True: ("结论", "没有找到相关资料。", "没有找到资料的方面：{}。", "{1}的{0}是什么？"),
}


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
        barred = [name.lstrip("# ") for name in orders.barred]
        self.body = [t for t in titles if t not in barred and not research.CONCLUSION.search(t)]
        self.last = [t for t in titles if research.CONCLUSION.search(t)]
        self.citations = Citations(orders)
        self.conclusion, self.nothing, self.empty, self.asking = _PHRASES[self.topic.chinese]

    def text(self) -> str:
        orders, told = self.orders, self._facts()
        placed = self._placed(told)
        parts = [f"# {self.topic.title}"] if orders.title else []
        for title in self.body:
            if placed[title] or orders.sections:
                parts.append(f"## {title}\n\n{self._section(placed[title]) or self.nothing}")
        if orders.table is not False and (self.topic.compare or orders.table):
            parts.insert(orders.title + 1, self._table(told))
        if orders.conclusion and (self.last or not orders.sections):
            parts.append(self._conclusion([title for title in self.body if not placed[title]]))
        return self.citations.complete("\n\n".join(filter(None, parts)))

    def _facts(self) -> Facts:
        """The sentences of all sources in order of arrival; of too many, those that speak most to the task, then the
        first of the others."""
        sources = [source for source in self.situation.sources if source.key]
        told = facts(
            Evidence(s, source, 0.0) for source in sources for s in sentences(source.text) if not _CLUTTER.search(s)
        )
        if len(told) <= MOST_SENTENCES:
            return told
        asked = " ".join([self.topic.subject, *(facet.title for facet in self.topic.facets)])
        best = (sentence for sentence in facts(rank(asked, sources, most=MOST_SENTENCES)) if sentence in told)
        chosen = [*dict.fromkeys([*best, *told])][:MOST_SENTENCES]
        return {sentence: told[sentence] for sentence in told if sentence in chosen}

    def _placed(self, told: Facts) -> dict[str, Facts]:
        """Each sentence in the section whose words it shares most; without any, in that of its page."""
        placed: dict[str, Facts] = {title: {} for title in self.body}
        for sentence, sources in told.items() if self.body else ():
            home = self._home(sentence) or self._home(sources[0].text) or self.body[0]
            placed[home][sentence] = sources
        return placed

    def _home(self, text: str) -> str | None:
        """The section whose title, or the facets it names, share most with a text; none where nothing is shared."""
        own = stems(text)
        shared: dict[str, float] = {}
        for title in self.body:
            near = [f.stems for f in self.topic.facets if f.stems & stems(title)]
            meaning = stems(title).union(*near) - stems(self.topic.subject)
            shared[title] = len(meaning & own) / (1 + len(meaning) ** 0.5)
        best = max(self.body, key=lambda title: shared[title])
        return best if shared[best] else None

    def _section(self, told: Facts) -> str:
        """Paragraphs, one for each thing that sentences name first; the request's seed chooses which comes first."""
        groups: dict[str, Facts] = {}
        for sentence, sources in told.items():
            groups.setdefault((*names(sentence), sources[0].title)[0], {})[sentence] = sources
        first = (self.situation.request.seed or 0) % max(1, len(groups))
        ordered = [*groups.values()][first:] + [*groups.values()][:first]
        return "\n\n".join(map(self.citations.text, ordered))

    def _table(self, told: Facts) -> str:
        """Things against facets, cells that the evidence answers; none where fewer than two rows have a value."""
        leading = [name for sentence in told for name in names(sentence)[:1] if name not in self.topic.text]
        heads = [min((n for n in leading if name.startswith(n)), key=len) for name in leading]
        rows = sorted((n for n in dict.fromkeys(heads) if heads.count(n) > 1), key=lambda n: -heads.count(n))
        columns = [facet.title for facet in self.topic.facets if len(facet.words) <= 5][:TABLE_COLUMNS]
        lines = [[name, *(self._cell(name, column) for column in columns)] for name in rows[:TABLE_ROWS]]
        known = [line for line in lines if any(line[1:])]
        table = [["", *columns], ["---"] * (len(columns) + 1), *known]
        return "\n".join(f"| {' | '.join(cell or '–' for cell in line)} |" for line in table) if len(known) > 1 else ""

    def _cell(self, name: str, facet: str) -> str:
        sources: list[Source] = [s for s in self.situation.sources if name in s.text or name in s.title]
        asked = self.asking.format(facet[:1].lower() + facet[1:], name)
        found = answer(asked, sources, self.situation.now)
        fits = found.kind == "value" and found.confidence >= SURE and len(found.value) <= CELL and found.evidence
        said = self.citations.said(found.value, [found.evidence[-1].source]) if fits else ""
        return said.rstrip(".。").replace("|", "/")

    def _conclusion(self, empty: Sequence[str]) -> str:
        """The sentences that speak most to the task as a whole, and what was not found."""
        best = rank(self.topic.subject, self.situation.sources, self.situation.now, most=4)
        said = facts(evidence for evidence in best if evidence.source.key)
        said |= {self.empty.format("; ".join(empty)): []} if empty else {}
        return f"## {(*self.last, self.conclusion)[0]}\n\n{self.citations.text(said)}" if said else ""
