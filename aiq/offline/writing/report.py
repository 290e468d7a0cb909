"""A report from findings: title, what matters first, the plan's sections, a conclusion, references.

Every finding stands in one section (`placing`); within it, sentences about one thing, or from one source, stand
together. A table compares things that have the same facts; beginning and end are `framing`'s.
"""

from collections.abc import Sequence

from aiq.offline.reading import findings
from aiq.offline.reading.findings import Finding
from aiq.offline.writing import framing, placing, tables
from aiq.offline.writing.order import Order, Section

_GENERAL_PARAGRAPH, _THINGS_PARAGRAPH = 4, 5
"""Sentences of a paragraph that is about no single thing."""


def write(order: Order) -> str:
    """The whole report as Markdown."""
    kept = placing.conclusive(order)
    sections = placing.place(order, kept)
    drawn = [*framing.comparisons(order), *kept]
    # What matters most stands first: the first conclusion, unless it is the only one.
    first = drawn[:1] if len(drawn) > 1 else []
    lead = [*framing.lead(order, sections), *first]
    closing = framing.closing(order, sections, drawn[len(first) :])
    numbers = findings.numbered([*lead, *(f for section in sections for f in _cited(section)), *closing])
    blocks = [f"# {order.title}", _paragraph(lead, numbers, order)]
    for section in sections:
        blocks += [f"## {section.title}", *_body(section, numbers, order)]
    blocks += [f"## {framing.closing_title(order)}", _paragraph(closing, numbers, order)]
    if order.references and numbers:
        blocks += ["## References", "\n".join(findings.source_lines(numbers))]
    return "\n\n".join(block for block in blocks if block)


def _cited(section: Section) -> list[Finding]:
    """A section's statements, then what its table cites."""
    shown = tables.columns(section.table_of)
    evidence = [e for thing in section.table_of for relation, e in thing.known.items() if relation in shown]
    return [*section.statements(), *(findings.of(e.sentence, e.document) for e in evidence)]


def _body(section: Section, numbers: findings.Numbers, order: Order) -> list[str]:
    """Paragraphs: what is said in general, one for each thing of which more is said, the other things, the table."""
    about = [group for group in section.about.values() if len(group) > 1]
    short = [finding for group in section.about.values() if len(group) == 1 for finding in group]
    groups = [*_cut(section.general(), _GENERAL_PARAGRAPH), *about, *_cut(short, _THINGS_PARAGRAPH)]
    table = tables.table(section.table_of, numbers, order.seed, chinese=order.task.chinese)
    return [*(_paragraph(group, numbers, order) for group in groups), table]


def _cut(statements: Sequence[Finding], size: int) -> list[Sequence[Finding]]:
    return [statements[start : start + size] for start in range(0, len(statements), size)]


def _paragraph(statements: Sequence[Finding], numbers: findings.Numbers, order: Order) -> str:
    space = "" if order.task.chinese else " "
    return space.join(findings.cite(s, numbers) if s.sources else s.text for s in statements)
