"""Audits on the terminal: a table of one report's citations, or one line for each of several reports; and totals."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.text import Text

from aiq.citations.files import AuditedReport, AuditRecord, total
from aiq.citations.metrics import EXACT_RATE, KEPT, REMOVED, VALID_RATE
from aiq.core.text import plural, printable
from aiq.site.tables import Sheet, cell, show

Row = tuple[str, ...]
"""A style, and the cells."""

_STYLES = {"valid": "green", "invalid": "red", "unsafe": "bold red", "duplicate": "yellow", "unverifiable": "magenta"}


def print_audit(record: AuditRecord) -> None:
    """Every entry with its outcome, what is wrong in the body, and the totals."""
    if rows := list(_rows(record)):
        show(Sheet(("old", "new", "outcome", "cited"), _styled(rows), left=4), "")
    show(*_totals(record))


def print_audits(lines: Sequence[AuditedReport]) -> None:
    """One line for each of several reports, and one for all of them."""
    headings = ("report", "entries", "valid", "removed", "dangling", "uncited", "valid rate", "exact rate")
    records = (line.record for line in lines)
    counts = [[len(record.entries), len(record.dangling), len(record.uncited_paragraphs)] for record in records]
    rows: list[Row] = []
    for line, numbers in zip(lines, counts, strict=True):
        rows.append(("" if line.record.clean else "red", line.case.name, *_figures(numbers, line.record.metrics)))
    totals = [sum(column) for column in zip(*counts, strict=True)]
    rows.append(("bold", "all", *_figures(totals, total(lines))))
    unclean = sum(not line.record.clean for line in lines)
    show(Sheet(headings, _styled(rows)), f"\n{plural(len(lines), 'report')}, {unclean} with something to remove")


def _figures(counts: Sequence[int], metrics: Mapping[str, float | None]) -> list[str]:
    """The cells of a line except the first."""
    entries, *missing = counts
    return [*map(cell, (entries, metrics[KEPT], metrics[REMOVED], *missing, metrics[VALID_RATE], metrics[EXACT_RATE]))]


def _styled(rows: Iterable[Row]) -> list[list[Text]]:
    return [[Text(" ".join(printable(text).split()), style) for text in cells] for style, *cells in rows]


def _rows(record: AuditRecord) -> Iterator[Row]:
    """The entries, then what is in none: numbered links, numbers that no list has, and removed URLs."""
    for entry in record.entries:
        target = entry.url or entry.citation_key or entry.text
        verdict = f"valid, {entry.level}" if entry.outcome == "valid" else entry.reason or ""
        notes = "".join(f" ({note})" for note in (entry.seen_as, *entry.flags) if note)
        style = _STYLES.get(entry.outcome or "", "dim")
        yield style, str(entry.number), str(entry.new_number or "-"), verdict + notes, target
        if entry.source is not None and entry.source != target:
            yield "dim", "", "", "", f"-> {entry.source}"
    listed = {entry.new_number for entry in record.entries}
    for link in record.valid_citations:
        if link.number not in listed:
            yield _STYLES["valid"], str(link.original_number), str(link.number), f"valid, {link.level}", link.target
    yield from (("red", str(number), "-", "dangling", "-") for number in record.dangling)
    unlisted = (removed for removed in record.removed_citations if removed.number is None)
    yield from (("bold red", "-", "-", removed.reason, removed.target) for removed in unlisted)


def _totals(record: AuditRecord) -> Iterator[str]:
    outcomes: Counter[str] = Counter(entry.outcome or "not checked" for entry in record.entries)
    parts = [f"{outcomes[name]} {name}" for name in (*_STYLES, "not checked") if outcomes[name]]
    yield plural(len(record.entries), "entry", "entries") + (f": {', '.join(parts)}" if parts else "")
    marks = len({(row.start, row.end) for row in record.citations})
    yield (
        f"{plural(marks, 'citation')} in the text, {plural(len(record.dangling), 'number')} dangling, "
        f"{plural(len(record.unused), 'entry', 'entries')} never cited, "
        f"{plural(len(record.uncited_paragraphs), 'paragraph')} without citation"
    )
    rates = {name: value for name, value in record.metrics.items() if isinstance(value, float)}
    if rates:
        yield ", ".join(f"{name} {value:.3f}" for name, value in rates.items())
