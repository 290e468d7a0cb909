"""Writing a report: a title, sections of cited sentences grouped by what they are about, a table, a conclusion."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aiq.offline.engine import research
from aiq.offline.engine.answer import Answer, answer, rank
from aiq.offline.engine.cite import Citations, standalone, told
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Situation, Source
from aiq.offline.engine.text import is_chinese, names, sentences, stems

MOST_SENTENCES = 220
"""Sentences of all sections together."""
TABLE_ROWS, TABLE_COLUMNS = 8, 4
SURE = 0.6
"""The reader's confidence from which a value goes into a table."""
_CONCLUSION = re.compile(r"conclu|summary|outlook|结论|总结|小结", re.IGNORECASE)
_CLUTTER = re.compile(
    r"[?？]$|^#|^\*\*|^https?://|^(?:source|url|published|posted)\b|all rights reserved|版权所有"
    r"|(?:page|article|updated|revised|edited|页|更新|修订)\W[^.。]{0,30}?\d{4}-\d\d-\d\d",
    re.IGNORECASE,
)
"""What pages say of themselves, and questions: no findings."""


@dataclass(frozen=True)
class _Section:
    title: str
    stems: frozenset[str]


def report(situation: Situation, orders: Orders) -> str:
    """The report on the situation's task from its sources: only sentences of theirs, each with its citation."""
    topic = research.topic(situation.task)
    titles = situation.sections or orders.sections or research.outline(topic)
    body = [_Section(title, _meaning(title, topic)) for title in titles if not _CONCLUSION.search(title)]
    facts = _facts(situation.sources, topic)
    placed = _placed(facts, body)
    citations = Citations(orders)
    parts = [f"# {topic.title}"]
    for section in body:
        if text := _section(placed[section.title], citations, situation.request.seed or 0):
            parts.append(f"## {section.title}\n\n{text}")
        elif not orders.sections:
            continue
        else:
            nothing = "没有找到相关资料。" if topic.chinese else "Nothing was found on this."
            parts.append(f"## {section.title}\n\n{nothing}")
    if topic.compare and (table := _table(topic, facts, situation, citations)):
        parts.insert(2, table)
    parts.append(_conclusion(topic, situation, body, placed, citations, titles))
    return "\n\n".join(filter(None, [*parts, citations.listed()]))


def _meaning(title: str, topic: research.Topic) -> frozenset[str]:
    """The stems of a title and of the facets whose words it shares, without those of the subject."""
    own = stems(title)
    near = [stems(" ".join(f.words)) for f in topic.facets if stems(" ".join(f.words)) & own]
    return own.union(*near) - stems(topic.subject)


def _facts(sources: Sequence[Source], topic: research.Topic) -> list[tuple[str, Source]]:
    """The sentences of all sources, each once, fit to stand alone; in order of arrival."""
    found: dict[str, tuple[str, Source]] = {}
    for source in sources:
        for sentence in sentences(source.text):
            if source.key and len(sentence) > 12 and not _CLUTTER.search(sentence):
                alone = standalone(sentence, source)
                found.setdefault(alone.casefold(), (alone, source))
    if len(found) <= MOST_SENTENCES:
        return list(found.values())
    best = rank(f"{topic.subject} {' '.join(f.title for f in topic.facets)}", sources, most=MOST_SENTENCES)
    return [(standalone(e.sentence, e.source), e.source) for e in best]


def _placed(facts: Sequence[tuple[str, Source]], body: Sequence[_Section]) -> dict[str, list[tuple[str, Source]]]:
    """Each sentence in the section whose words it shares most; without any, where most of its page went."""
    placed: dict[str, list[tuple[str, Source]]] = {section.title: [] for section in body}
    if not body:
        return placed
    homes: dict[str, dict[str, int]] = {}
    waiting = []
    for sentence, source in facts:
        own = stems(sentence)
        shared = [len(section.stems & own) / (1 + len(section.stems) ** 0.5) for section in body]
        best = max(range(len(body)), key=lambda n: shared[n])
        if shared[best] == 0:
            waiting.append((sentence, source))
            continue
        placed[body[best].title].append((sentence, source))
        counted = homes.setdefault(source.key, {})
        counted[body[best].title] = counted.get(body[best].title, 0) + 1
    for sentence, source in waiting:
        home = homes.get(source.key)
        placed[max(home, key=lambda title: home[title]) if home else body[0].title].append((sentence, source))
    return placed


def _section(facts: Sequence[tuple[str, Source]], citations: Citations, seed: int) -> str:
    """Paragraphs, one for each thing that sentences begin with or name first; the seed chooses which comes first."""
    groups: dict[str, list[tuple[str, Source]]] = {}
    for sentence, source in facts:
        groups.setdefault((*names(sentence), source.title)[0], []).append((sentence, source))
    gap = "" if facts and is_chinese(facts[0][0]) else " "
    first = seed % max(1, len(groups))
    ordered = [*groups.values()][first:] + [*groups.values()][:first]
    return "\n\n".join(gap.join(told(group, citations)) for group in ordered)


def _table(
    topic: research.Topic, facts: Sequence[tuple[str, Source]], situation: Situation, citations: Citations
) -> str:
    """Things against facets, cells that the evidence answers; no table where fewer than two rows have a value."""
    counted: dict[str, int] = {}
    for sentence, _ in facts:
        for name in names(sentence)[:1]:
            counted[name] = counted.get(name, 0) + (name not in topic.text)
    rows = sorted((name for name, count in counted.items() if count > 1), key=lambda name: -counted[name])[:TABLE_ROWS]
    columns = [facet for facet in topic.facets if len(facet.words) <= 5][:TABLE_COLUMNS]
    lines = []
    for name in rows:
        sources = [s for s in situation.sources if name in s.text or name in s.title]
        found = [answer(_asked(facet.title, name, topic.chinese), sources, situation.now) for facet in columns]
        cells = [citations.said(f.value, f.evidence[-1].source).rstrip(".。") if _is_sure(f) else "–" for f in found]
        if any(cell != "–" for cell in cells):
            lines.append(f"| {name} | {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    if len(lines) < 2 or not columns:
        return ""
    head = " | ".join(facet.title for facet in columns)
    return "\n".join([f"|  | {head} |", "|" + " --- |" * (len(columns) + 1), *lines])


def _is_sure(found: Answer) -> bool:
    short = len(found.value.split()) <= 6 and len(found.value) <= 60
    return found.kind == "value" and found.confidence >= SURE and short and bool(found.evidence)


def _asked(facet: str, name: str, chinese: bool) -> str:
    return f"{name}的{facet}是什么？" if chinese else f"What is the {facet[:1].lower()}{facet[1:]} of {name}?"


def _conclusion(
    topic: research.Topic,
    situation: Situation,
    body: Sequence[_Section],
    placed: dict[str, list[tuple[str, Source]]],
    citations: Citations,
    titles: Sequence[str],
) -> str:
    """The sentences that speak most to the task as a whole, and what was not found."""
    heading = next((title for title in titles if _CONCLUSION.search(title)), "结论" if topic.chinese else "Conclusion")
    best = rank(topic.subject, situation.sources, situation.now, most=4)
    gap = "" if topic.chinese else " "
    lines = told([(e.sentence, e.source) for e in best if e.source.key], citations)
    empty = [section.title for section in body if not placed[section.title]]
    if empty:
        listed = ("、" if topic.chinese else "; ").join(empty)
        lines.append(f"没有找到资料的方面：{listed}。" if topic.chinese else f"Nothing was found on: {listed}.")
    return f"## {heading}\n\n{gap.join(lines)}" if lines else ""
