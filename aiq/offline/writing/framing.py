"""How a report begins and ends: what it treats and what matters most; comparisons, and what stayed open."""

from collections.abc import Sequence

from aiq.offline.reading import facts, outline
from aiq.offline.reading.findings import Finding
from aiq.offline.reading.knowledge import Part
from aiq.offline.writing import insights, phrases, tables
from aiq.offline.writing.order import Order, Section

_SHOWN_THINGS = 8
_PARTS: tuple[Part, ...] = ("member", "person", "school", "place")


def lead(order: Order, sections: Sequence[Section]) -> list[Finding]:
    """What the report treats, and its things or its parts."""
    chinese = order.task.chinese
    subject = order.task.subject if chinese else phrases.lowered(order.task.subject)
    opening = _plain(order, "lead", subject=subject)
    members = [thing.name for thing in order.known.members()][:_SHOWN_THINGS]
    listed = members or _titles(order, [section.title for section in sections])
    if not sections:
        return [opening]
    return [opening, _plain(order, "things" if members else "parts", list=_enumerated(order, listed))]


def comparisons(order: Order) -> list[Finding]:
    """What comparing the facts shows, the members first."""
    found = []
    for part in _PARTS:
        same = [thing for thing in order.known.looked_up if thing.part == part]
        found += insights.compare(same, order.seed, chinese=order.task.chinese)[:3]
    return found


def closing(order: Order, sections: Sequence[Section], drawn: Sequence[Finding]) -> list[Finding]:
    """The conclusions drawn, the strength of the evidence, and what stayed open."""
    statements = list(drawn)
    if not order.found:
        statements.append(_plain(order, "nothing"))
    elif not order.known.members():
        strong = sorted(sections, key=lambda section: -len(section.statements()))[:2]
        titles = _titles(order, [section.title for section in strong])
        statements.insert(0, _plain(order, "together", strong=_enumerated(order, titles)))
    supported = [section.title for section in sections if len(section.statements()) > 1 or section.table_of]
    weak = [title for title in order.titles if not outline.is_conclusion(title) and title not in supported]
    if weak and sections:
        statements.append(_plain(order, "weak", list=_enumerated(order, _titles(order, weak))))
    statements += _open(order)
    if order.known.looked_up:
        statements.append(_plain(order, "dated"))
    return statements


def closing_title(order: Order) -> str:
    given = [title for title in order.titles if outline.is_conclusion(title)]
    return given[-1] if given else ("结论" if order.task.chinese else "Conclusion")


def _open(order: Order) -> list[Finding]:
    """Facts that most of the members have and some lack."""
    members = order.known.members()
    found = []
    for relation in tables.columns(members):
        missing = [thing.name for thing in members if not thing.has(relation)]
        if missing and 3 * len(missing) <= len(members):
            noun = facts.noun(relation, chinese=order.task.chinese)
            found.append(_plain(order, "open", noun=noun, list=_enumerated(order, missing)))
    return found[:2]


def _plain(order: Order, kind: str, **values: str) -> Finding:
    """A statement about the report itself, which needs no source."""
    return Finding(text=phrases.say(kind, order.seed, chinese=order.task.chinese, **values), sources=())


def _titles(order: Order, titles: Sequence[str]) -> list[str]:
    return list(titles) if order.task.chinese else [phrases.lowered(title) for title in titles]


def _enumerated(order: Order, items: Sequence[str]) -> str:
    return phrases.enumerate_(items, chinese=order.task.chinese)
