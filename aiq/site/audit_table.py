"""The audit on the terminal: an aligned table of one report's citations, or a line a report; and the totals."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from aiq.citations.files import AuditLine, AuditRecord, EntryRow, total
from aiq.citations.metrics import CitationMetrics

_GAP = "  "
_NARROWEST = 24  # cells that a shortened URL keeps, however narrow the terminal
_STYLES = {"valid": "green", "invalid": "red", "unsafe": "bold red", "duplicate": "yellow", "unverifiable": "magenta"}
_CONTROLS = dict.fromkeys((*range(9), *range(14, 32), *range(127, 160)), "\ufffd")
"""What a terminal would obey, out of texts that others wrote."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the table; the last cell gives way where the terminal is narrow."""

    cells: tuple[str, ...]
    styles: tuple[str, ...] = ()


def print_audit(record: AuditRecord, console: Console) -> None:
    """Every entry with its outcome, what is wrong in the body, and what it all comes to."""
    rows = [*_entries(record), *_in_body(record)]
    if rows:
        head = ("old", "new", "outcome", "cited")
        _print([_Row(head, ("bold",) * len(head)), *rows], console)
        console.print()
    for line in _totals(record):
        console.print(line, highlight=False, soft_wrap=True)


def print_audits(lines: Sequence[AuditLine], console: Console) -> None:
    """A line for each of several reports, and one for all of them."""
    head = ("entries", "valid", "removed", "dangling", "uncited", "valid rate", "exact rate", "report")
    rows = [_Row(head, ("bold",) * len(head))]
    for line in lines:
        style = "" if line.record.clean else "red"
        rows.append(_Row((*_counts([line.record]), *_rates(line.metrics), line.name), ("", "", style, style)))
    every = (*_counts([line.record for line in lines]), *_rates(total(lines)), "all")
    _print([*rows, _Row(every, ("bold",) * len(every))], console, right=len(head) - 1)
    unclean = sum(not line.record.clean for line in lines)
    console.print(f"\n{_many(len(lines), 'report', 'reports')}, {unclean} with something to remove", highlight=False)


def _entries(record: AuditRecord) -> list[_Row]:
    rows = []
    for entry in record.entries:
        cited = entry.url or entry.citation_key or entry.text
        style = _STYLES.get(entry.outcome or "", "dim")
        cells = (str(entry.number), str(entry.new_number or "-"), _outcome(entry), cited)
        rows.append(_Row(cells, ("", "", style)))
        if entry.source is not None and entry.source != cited:
            rows.append(_Row(("", "", "", f"-> {entry.source}"), ("", "", "", "dim")))
    return rows


def _outcome(entry: EntryRow) -> str:
    """The level of what is valid, else the reason; with what a person should look at."""
    said = f"valid, {entry.level}" if entry.outcome == "valid" else entry.reason or ""
    notes = [entry.seen_as] if entry.seen_as else []
    return " ".join([said, *(f"({note})" for note in (*notes, *entry.flags))])


def _in_body(record: AuditRecord) -> list[_Row]:
    """What the body cites that no list has, and URLs that go although no entry goes with them."""
    rows = [_Row((str(number), "-", "dangling", "-"), ("", "", "red")) for number in record.dangling]
    for removed in record.removed_citations:
        if removed.number is None:
            rows.append(_Row(("-", "-", removed.reason, removed.target), ("", "", "bold red")))
    return rows


def _totals(record: AuditRecord) -> list[str]:
    outcomes: Counter[str] = Counter(entry.outcome or "not checked" for entry in record.entries)
    parts = [f"{outcomes[name]} {name}" for name in (*_STYLES, "not checked") if outcomes[name]]
    lines = [f"{_many(len(record.entries), 'entry', 'entries')}" + (f": {', '.join(parts)}" if parts else "")]
    marks = len({(row.start, row.end) for row in record.citations})
    lines.append(
        f"{_many(marks, 'citation', 'citations')} in the text, {_many(len(record.dangling), 'number', 'numbers')} "
        f"dangling, {_many(len(record.unused), 'entry', 'entries')} never cited, "
        f"{_many(len(record.uncited_paragraphs), 'paragraph', 'paragraphs')} without citation"
    )
    rates = {name: value for name, value in record.metrics.items() if isinstance(value, float)}
    if rates:
        lines.append(", ".join(f"{name} {value:.3f}" for name, value in rates.items()))
    return lines


def _many(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _counts(records: Sequence[AuditRecord]) -> tuple[str, ...]:
    """Entries, valid ones, what is removed, dangling numbers and uncited paragraphs of these reports."""
    return (
        str(sum(len(record.entries) for record in records)),
        str(sum(len(record.valid_citations) for record in records)) if records[0].with_sources else "-",
        str(sum(len(record.removed_citations) for record in records)),
        str(sum(len(record.dangling) for record in records)),
        str(sum(len(record.uncited_paragraphs) for record in records)),
    )


def _rates(metrics: CitationMetrics) -> tuple[str, ...]:
    return tuple(f"{rate.value:.3f}" if rate else "-" for rate in (metrics.valid, metrics.exact))


def _print(rows: Sequence[_Row], console: Console, *, right: int = 2) -> None:
    """Columns as wide as their cells (CJK letters take two), the first `right` flush right, the last shortened."""
    plain = [[" ".join(cell.translate(_CONTROLS).split()) for cell in row.cells] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*plain, strict=True)]
    limited = console.is_terminal or "COLUMNS" in os.environ
    rest = console.width - sum(widths[:-1]) - len(_GAP) * (len(widths) - 1)
    most = max(rest, _NARROWEST) if limited else widths[-1]
    for cells, row in zip(plain, rows, strict=True):
        line = Text()
        for number, cell in enumerate(cells[:-1]):
            padded = " " * (widths[number] - cell_len(cell)) + cell if number < right else ""
            line.append(padded or set_cell_size(cell, widths[number]), _style(row, number)).append(_GAP)
        line.append(shortened(cells[-1], most), _style(row, len(cells) - 1))
        line.rstrip()
        console.print(line, highlight=False, soft_wrap=True)


def _style(row: _Row, number: int) -> str:
    return row.styles[number] if number < len(row.styles) else ""


def shortened(text: str, cells: int) -> str:
    """The text in at most so many cells of a terminal, cut in the middle: a URL's host and end tell most."""
    if cell_len(text) <= cells:
        return text
    head = (cells - 1) * 3 // 5
    first = set_cell_size(text, head)
    last = set_cell_size(text[::-1], cells - 1 - cell_len(first))[::-1]
    return f"{first}…{last}"
