"""Which finding stands in which section of a report.

Facts about things go where their relation is asked for, by the part that the thing plays; any other finding goes to the
section that shares most words with it, or whose aspect it shows. Every finding is used once.
"""

import re
from collections.abc import Sequence

from aiq.offline.reading import facts, findings, outline, prose
from aiq.offline.reading.findings import Finding
from aiq.offline.reading.knowledge import Part
from aiq.offline.reading.text import words
from aiq.offline.writing import tables
from aiq.offline.writing.order import Order, Section

MOST_SENTENCES = 9
"""Sentences of one section that are no facts about things."""

_PARTS: dict[Part, str] = {
    "member": r"which|compan|novel|festival|club|each|leading|location|有哪些|总部|员工|举办|小说|俱乐部",
    "person": r"born|birth|origin|people|educat|stud|author|founder|出生|就读|作者|创始人",
    "school": r"institute|school|universit|college|studied|院校|学院|院长",
    "place": r"\bcit(?:y|ies)\b|mayor|population|home|birthplace|live\b|城市|市长|人口|家乡",
}
_DRAWN = re.compile(
    r"\b(?:overall|therefore|thus|suggest\w*|likely|promis\w+|remains?|demonstrat\w+|conclud\w+|challeng\w+"
    r"|potential|needed|crucial)\b|因此|表明|可能|潜力|仍然|关键",
    re.IGNORECASE,
)


def conclusive(order: Order) -> list[Finding]:
    """Where there are no facts to compare: three sentences that draw conclusions and suit the whole task best."""
    if order.known.members() or len(order.found) < 8:
        return []
    wanted = set(words(order.task.text))
    drawn = [finding for finding in order.found if _DRAWN.search(finding.text)]
    return sorted(drawn, key=lambda f: -len(wanted & set(words(f.text))))[:3]


def place(order: Order, kept: Sequence[Finding]) -> list[Section]:
    """The plan's sections with their material; those that got none are left out. `kept` stands elsewhere."""
    sections = [Section(title) for title in order.titles if not outline.is_conclusion(title)]
    sections = sections or [Section(order.title)]
    used = _place_facts(order, sections) | {finding.text for finding in kept}
    for finding in order.found:
        if finding.text not in used:
            used.add(finding.text)
            _place_other(order, finding, sections)
    _place_table(order, sections)
    return [section for section in sections if not section.empty()]


def _place_facts(order: Order, sections: Sequence[Section]) -> set[str]:
    """Returns the sentences placed."""
    used: set[str] = set()
    for thing in order.known.looked_up:
        for relation, evidence in thing.known.items():
            if evidence.sentence in used:
                continue
            used.add(evidence.sentence)
            scores = [_asks_for(section.title, thing.part, relation) for section in sections]
            best = sections[scores.index(max(scores))]
            best.about.setdefault(thing.name, []).append(findings.of(evidence.sentence, evidence.document))
    return used


def _asks_for(title: str, part: Part, relation: str) -> float:
    """How well a fact suits a section: 3 for the relation, 2 for the part; the first section wins a tie."""
    return 3.0 * (relation in facts.wanted(title).relations) + 2.0 * _speaks_of(title, part)


def _speaks_of(title: str, part: Part) -> bool:
    return re.search(_PARTS[part], title.casefold()) is not None


def _place_other(order: Order, finding: Finding, sections: Sequence[Section]) -> None:
    telling = prose.rarity([section.title for section in sections])
    scores = [_fit(order, finding, section, telling) for section in sections]
    best = sections[scores.index(max(scores))]
    if max(scores) <= 0 and order.known.members():
        general = [section for section in sections if outline.aspect_of(section.title) is outline.ASPECTS[0]]
        on_subject = any(facts.is_page_about(source.title, order.task.subject) for source in finding.sources)
        if not general or not on_subject:
            return
        best = general[0]
    known = [other.text for other in best.statements()]
    if len(best.other) < MOST_SENTENCES and not any(prose.alike(finding.text, text) for text in known):
        best.other.append(finding)


def _fit(order: Order, finding: Finding, section: Section, telling: prose.Rarity) -> float:
    """Shared words by their rarity, and the aspect; less where the section fills up, or is about people or places."""
    said = set(words(finding.text))
    own = outline.own_words(section.title, order.task.subject)
    shared = sum(telling.get(word, 1.0) for word in own if word in said)
    aspect = outline.aspect_of(section.title)
    told = aspect is not None and re.search(aspect.told, finding.text, re.IGNORECASE) is not None
    others: tuple[Part, ...] = ("person", "school", "place")
    of_others = bool(order.known.members()) and any(_speaks_of(section.title, part) for part in others)
    return shared + 0.6 * told - 0.05 * len(section.other) - 0.7 * of_others


def _place_table(order: Order, sections: Sequence[Section]) -> None:
    """The members' table stands in the section on comparison, else in the one that says most about them."""
    members = [thing for thing in order.known.members() if thing.known]
    if len(members) < 3 or len(tables.columns(members)) < 2:
        return
    compared = [section for section in sections if re.search(r"compar|比较|对比", section.title, re.IGNORECASE)]
    names = {thing.name for thing in members}
    sizes = [sum(len(group) for name, group in s.about.items() if name in names) for s in sections]
    chosen = compared[0] if compared else sections[sizes.index(max(sizes))]
    chosen.table_of.extend(members)
