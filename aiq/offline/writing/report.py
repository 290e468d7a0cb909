"""A report from findings: title, what matters first, the plan's sections, a conclusion, references.

1. Every finding goes to the one section that it suits best: facts about things by the relation that the section's title
   asks for and by the part that the thing plays, all others by the words that title and sentence share.
2. Within a section, sentences about one thing, or from one source, stand together.
3. A table where the task compares, or where several things have the same facts; comparisons of the facts and what stayed
   open close the report.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from aiq.core.base import Record
from aiq.offline.reading import facts, findings, outline, prose
from aiq.offline.reading.findings import Finding, Reference
from aiq.offline.reading.knowledge import Knowledge, Part, Thing
from aiq.offline.reading.tasks import Task
from aiq.offline.reading.text import words
from aiq.offline.writing import insights, phrases, tables

MOST_SENTENCES = 9
"""Sentences of one section that are no facts about things."""

_PARTS: dict[Part, str] = {
    "member": r"which|compan|novel|festival|club|each|leading|location|有哪些|总部|员工|举办|小说|俱乐部",
    "person": r"born|birth|origin|people|educat|stud|author|founder|出生|就读|作者|创始人",
    "school": r"institute|school|universit|college|studied|院校|学院|院长",
    "place": r"\bcit(?:y|ies)\b|mayor|population|home|birthplace|live\b|城市|市长|人口|家乡",
}


class Order(Record):
    """What the report is to be: its plan, its material, and whether a list of references is asked for."""

    task: Task
    title: str
    titles: tuple[str, ...]
    found: tuple[Finding, ...]
    known: Knowledge
    seed: int | None
    references: bool


@dataclass(slots=True)
class _Section:
    title: str
    about: dict[str, list[Finding]] = field(default_factory=dict)  # by thing
    other: list[Finding] = field(default_factory=list)
    table_of: list[Thing] = field(default_factory=list)

    def empty(self) -> bool:
        return not (self.about or self.other or self.table_of)


def write(order: Order) -> str:
    """The whole report as Markdown."""
    kept = _kept_for_the_end(order)
    sections = _sections(order, kept)
    closing = _closing(order, sections, kept)
    lead = _lead(order, sections, closing)
    cited = [*lead, *(f for s in sections for f in _in_order(s)), *closing]
    numbers = findings.numbered([*cited, *_of_tables(sections)])
    blocks = [f"# {order.title}", _paragraph(lead, numbers, order)]
    for section in sections:
        blocks += [f"## {section.title}", *_body(section, numbers, order)]
    blocks += [f"## {_closing_title(order)}", _paragraph(closing, numbers, order)]
    if order.references and numbers:
        blocks += ["## References", "\n".join(findings.source_lines(numbers))]
    return "\n\n".join(block for block in blocks if block)


def _kept_for_the_end(order: Order) -> list[Finding]:
    """Where there are no facts to compare: two sentences that draw conclusions and suit the whole task best."""
    if order.known.members() or len(order.found) < 8:
        return []
    wanted = set(words(order.task.text))
    drawn = [f for f in order.found if _DRAWN.search(f.text)]
    return sorted(drawn, key=lambda f: -len(wanted & set(words(f.text))))[:2]


_DRAWN = re.compile(
    r"\b(?:overall|therefore|thus|suggest\w*|likely|promis\w+|remains?|demonstrat\w+|conclud\w+|challeng\w+|potential|needed|crucial)\b"
    r"|因此|表明|可能|潜力|仍然|关键",
    re.IGNORECASE,
)


def _sections(order: Order, kept: Sequence[Finding]) -> list[_Section]:
    """The plan's sections with their material; those that got none are left out."""
    sections = [_Section(title) for title in order.titles if not outline.is_conclusion(title)]
    sections = sections or [_Section(order.title)]
    used = _place_facts(order, sections) | {finding.text for finding in kept}
    for finding in order.found:
        if finding.text not in used:
            used.add(finding.text)
            _place(order, finding, sections)
    _place_table(order, sections)
    return [section for section in sections if not section.empty()]


def _place_facts(order: Order, sections: Sequence[_Section]) -> set[str]:
    """Facts about things go where their relation is asked for. Returns the sentences placed."""
    used: set[str] = set()
    for thing in order.known.looked_up:
        for relation, evidence in thing.known.items():
            if evidence.sentence in used:
                continue
            used.add(evidence.sentence)
            best = max(sections, key=lambda s: _wants(s.title, thing.part, relation))
            best.about.setdefault(thing.name, []).append(findings.of(evidence.sentence, evidence.document))
    return used


def _wants(title: str, part: Part, relation: str) -> float:
    """How well a fact suits a section: 3 for the relation, up to 2 for the part; the first section wins a tie."""
    lowered = title.casefold()
    score = 3.0 * (relation in facts.wanted(title).relations)
    return score + 2.0 * (re.search(_PARTS[part], lowered) is not None)


def _place(order: Order, finding: Finding, sections: Sequence[_Section]) -> None:
    """Any other finding goes to the section that shares most words with it, where there is room."""
    said = set(words(finding.text))
    telling = prose.rarity([section.title for section in sections])

    def fit(section: _Section) -> float:
        own = outline.own_words(section.title, order.task.subject)
        shared = sum(telling.get(word, 1.0) for word in own if word in said)
        aspect = outline.aspect_of(section.title)
        told = aspect is not None and re.search(aspect.told, finding.text, re.IGNORECASE) is not None
        of_others = bool(order.known.members()) and any(
            re.search(_PARTS[p], section.title.casefold()) for p in _PARTS if p != "member"
        )
        return shared + 0.6 * told - 0.05 * len(section.other) - 0.7 * of_others

    best = max(sections, key=fit)
    if fit(best) <= 0 and order.known.members():
        general = [s for s in sections if (a := outline.aspect_of(s.title)) is not None and a is outline.ASPECTS[0]]
        if not general or not any(facts.is_page_about(s.title, order.task.subject) for s in finding.sources):
            return
        best = general[0]
    known = (*(f.text for f in best.other), *(f.text for group in best.about.values() for f in group))
    if len(best.other) < MOST_SENTENCES and not any(prose.alike(finding.text, text) for text in known):
        best.other.append(finding)


def _place_table(order: Order, sections: Sequence[_Section]) -> None:
    """The members' table stands in the section on comparison, else in the one that says most about them."""
    members = [thing for thing in order.known.members() if thing.known]
    if len(members) < 3 or len(tables.columns(members)) < 2:
        return
    compared = [s for s in sections if re.search(r"compar|比较|对比", s.title, re.IGNORECASE)]
    names = {thing.name for thing in members}
    fullest = max(sections, key=lambda s: sum(len(group) for name, group in s.about.items() if name in names))
    (compared[0] if compared else fullest).table_of.extend(members)


def _in_order(section: _Section) -> list[Finding]:
    return [*section.other, *(finding for group in section.about.values() for finding in group)]


def _of_tables(sections: Sequence[_Section]) -> list[Finding]:
    """Sources that only a table cites."""
    evidence = [
        e for s in sections for thing in s.table_of for r, e in thing.known.items() if r in tables.columns(s.table_of)
    ]
    return [findings.of(e.sentence, e.document) for e in evidence]


def _body(section: _Section, numbers: dict[str, tuple[int, Reference]], order: Order) -> list[str]:
    """Paragraphs: first what is said in general, a source at a time, then one for each thing; the table last."""
    by_source: dict[str, list[Finding]] = {}
    for finding in section.other:
        by_source.setdefault(finding.sources[0].key, []).append(finding)
    general = [finding for group in by_source.values() for finding in group]
    paragraphs = [_paragraph(general[i : i + 4], numbers, order) for i in range(0, len(general), 4)]
    paragraphs += _about_things(section, numbers, order)
    return [*paragraphs, tables.table(section.table_of, numbers, order.seed, chinese=order.task.chinese)]


def _about_things(section: _Section, numbers: dict[str, tuple[int, Reference]], order: Order) -> list[str]:
    """A paragraph a thing; things with one sentence each share paragraphs."""
    paragraphs, short = [], []
    for group in section.about.values():
        if len(group) > 1:
            paragraphs.append(_paragraph(group, numbers, order))
        else:
            short += group
    return [*paragraphs, *(_paragraph(short[i : i + 5], numbers, order) for i in range(0, len(short), 5))]


def _paragraph(statements: Sequence[Finding], numbers: dict[str, tuple[int, Reference]], order: Order) -> str:
    space = "" if order.task.chinese else " "
    return space.join(findings.cite(s, numbers) if s.sources else s.text for s in statements)


def _plain(text: str) -> Finding:
    """A statement about the report itself, which needs no source."""
    return Finding(text=text, sources=())


def _lead(order: Order, sections: Sequence[_Section], closing: Sequence[Finding]) -> list[Finding]:
    """What matters most: the first comparison, else the sentence that suits the subject best."""
    chinese, seed = order.task.chinese, order.seed
    subject = order.task.subject if chinese else phrases.lowered(order.task.subject)
    lead = [_plain(phrases.say("lead", seed, chinese=chinese, subject=subject))]
    members = [thing.name for thing in order.known.members()]
    if not sections:
        return lead
    listed = members[:8] or [s.title if chinese else phrases.lowered(s.title) for s in sections]
    lead.append(
        _plain(
            phrases.say(
                "things" if members else "parts",
                seed,
                chinese=chinese,
                list=phrases.enumerate_(listed, chinese=chinese),
            )
        )
    )
    return lead


def _closing_title(order: Order) -> str:
    given = [title for title in order.titles if outline.is_conclusion(title)]
    return given[-1] if given else ("结论" if order.task.chinese else "Conclusion")


def _closing(order: Order, sections: Sequence[_Section], kept: Sequence[Finding]) -> list[Finding]:
    """Comparisons, the strength of the evidence, and what stayed open."""
    chinese, seed = order.task.chinese, order.seed
    closing: list[Finding] = []
    for part in ("member", "person", "school", "place"):
        same = [thing for thing in order.known.looked_up if thing.part == part]
        closing += insights.compare(same, seed, chinese=chinese)[:3]
    strong = sorted(sections, key=lambda s: -len(_in_order(s)))[:2]
    names = [s.title if chinese else phrases.lowered(s.title) for s in strong]
    if not closing and names:
        told = phrases.enumerate_(names, chinese=chinese)
        closing.append(_plain(phrases.say("together", seed, chinese=chinese, strong=told)))
    closing += kept
    if not order.found:
        closing.append(_plain(phrases.say("nothing", seed, chinese=chinese)))
    weak = [
        t
        for t in order.titles
        if not outline.is_conclusion(t) and t not in [s.title for s in sections if len(_in_order(s)) > 1 or s.table_of]
    ]
    if weak and sections:
        told = phrases.enumerate_([t if chinese else phrases.lowered(t) for t in weak], chinese=chinese)
        closing.append(_plain(phrases.say("weak", seed, chinese=chinese, list=told)))
    closing += _open(order)
    if order.known.looked_up:
        closing.append(_plain(phrases.say("dated", seed, chinese=chinese)))
    return closing


def _open(order: Order) -> list[Finding]:
    """Facts that most of the members have and some lack."""
    members = order.known.members()
    found = []
    for relation in tables.columns(members):
        missing = [thing.name for thing in members if not thing.has(relation)]
        if missing and 3 * len(missing) <= len(members):
            text = phrases.say(
                "open",
                order.seed,
                chinese=order.task.chinese,
                noun=facts.noun(relation, chinese=order.task.chinese),
                list=phrases.enumerate_(missing, chinese=order.task.chinese),
            )
            found.append(_plain(text))
    return found[:2]
