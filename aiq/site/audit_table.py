"""Audits on the terminal: a table of one report's citations, or a line for each of several reports; and the totals."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from aiq.citations.files import AuditedReport, AuditRecord, total
from aiq.citations.metrics import EXACT_RATE, KEPT, REMOVED, VALID_RATE
from aiq.core.text import counted

Row = tuple[str, ...]
"""A style, and the cells."""

_NARROWEST = 24  # cells that a shortened URL keeps, however narrow the terminal
_STYLES = {"valid": "green", "invalid": "red", "unsafe": "bold red", "duplicate": "yellow", "unverifiable": "magenta"}
_CONTROLS = dict.fromkeys((*range(9), *range(14, 32), *range(127, 160)), "\ufffd")
"""What a terminal would obey, in texts that others wrote."""


def print_audit(record: AuditRecord, console: Console) -> None:
    """Every entry with its outcome, what is wrong in the body, and the totals."""
    if rows := list(_rows(record)):
        _print([("bold", "old", "new", "outcome", "cited"), *rows], console, right=2)
        console.print()
    for line in _totals(record):
        console.print(line, highlight=False, soft_wrap=True)


def print_audits(lines: Sequence[AuditedReport], console: Console) -> None:
    """A line for each of several reports, and one for all of them."""
    headings = ("entries", "valid", "removed", "dangling", "uncited", "valid rate", "exact rate", "report")
    counts = [_counts(line.record) for line in lines]
    rows: list[Row] = [("bold", *headings)]
    for line, found in zip(lines, counts, strict=True):
        style = "" if line.record.clean else "red"
        rows.append((style, *_figures(found, line.record.metrics), line.case.name))
    together = [sum(column) for column in zip(*counts, strict=True)]
    rows.append(("bold", *_figures(together, total(lines)), "all"))
    _print(rows, console, right=len(headings) - 1)
    unclean = sum(not line.record.clean for line in lines)
    console.print(f"\n{counted(len(lines), 'report')}, {unclean} with something to remove", highlight=False)


def _counts(record: AuditRecord) -> list[int]:
    return [len(found) for found in (record.entries, record.dangling, record.uncited_paragraphs)]


def _figures(counts: Sequence[int], metrics: Mapping[str, float | None]) -> list[str]:
    """The cells of a line but the last; a metric that cannot be had is `-`."""
    entries, *missing = counts
    figures = (entries, metrics[KEPT], metrics[REMOVED], *missing, metrics[VALID_RATE], metrics[EXACT_RATE])
    return ["-" if each is None else f"{each:.3f}" if isinstance(each, float) else str(each) for each in figures]


def _rows(record: AuditRecord) -> Iterator[Row]:
    """The entries, numbers that no list has, and URLs that are removed although they belong to no entry."""
    for entry in record.entries:
        cited = entry.url or entry.citation_key or entry.text
        said = f"valid, {entry.level}" if entry.outcome == "valid" else entry.reason or ""
        notes = "".join(f" ({note})" for note in (entry.seen_as, *entry.flags) if note)
        style = _STYLES.get(entry.outcome or "", "dim")
        yield style, str(entry.number), str(entry.new_number or "-"), said + notes, cited
        if entry.source is not None and entry.source != cited:
            yield "dim", "", "", "", f"-> {entry.source}"
    yield from (("red", str(number), "-", "dangling", "-") for number in record.dangling)
    unlisted = (removed for removed in record.removed_citations if removed.number is None)
    yield from (("bold red", "-", "-", removed.reason, removed.target) for removed in unlisted)


def _totals(record: AuditRecord) -> Iterator[str]:
    outcomes: Counter[str] = Counter(entry.outcome or "not checked" for entry in record.entries)
    parts = [f"{outcomes[name]} {name}" for name in (*_STYLES, "not checked") if outcomes[name]]
    yield counted(len(record.entries), "entry", "entries") + (f": {', '.join(parts)}" if parts else "")
    marks = len({(row.start, row.end) for row in record.citations})
    yield (
        f"{counted(marks, 'citation')} in the text, {counted(len(record.dangling), 'number')} dangling, "
        f"{counted(len(record.unused), 'entry', 'entries')} never cited, "
        f"{counted(len(record.uncited_paragraphs), 'paragraph')} without citation"
    )
    rates = {name: value for name, value in record.metrics.items() if isinstance(value, float)}
    if rates:
        yield ", ".join(f"{name} {value:.3f}" for name, value in rates.items())


def _print(rows: Sequence[Row], console: Console, *, right: int) -> None:
    """Columns as wide as their cells (CJK letters take two), the first `right` flush right, the last shortened."""
    texts = [[" ".join(cell.translate(_CONTROLS).split()) for cell in cells] for _, *cells in rows]
    *widths, longest = [max(map(cell_len, column)) for column in zip(*texts, strict=True)]
    if console.is_terminal or "COLUMNS" in os.environ:
        longest = max(console.width - sum(widths) - 2 * len(widths), _NARROWEST)
    for (style, *_), (*cells, last) in zip(rows, texts, strict=True):
        blanks = [" " * (width - cell_len(cell)) for width, cell in zip(widths, cells, strict=True)]
        padded = [blank + cell for blank, cell in zip(blanks[:right], cells, strict=False)]
        padded += [cell + blank for blank, cell in zip(blanks[right:], cells[right:], strict=True)]
        line = "  ".join([*padded, shortened(last, longest)]).rstrip()
        console.print(Text(line, style), highlight=False, soft_wrap=True)


def shortened(text: str, cells: int) -> str:
    """The text in at most so many cells of a terminal, cut in the middle: a URL's host and end say most."""
    if cell_len(text) <= cells:
        return text
    first = set_cell_size(text, (cells - 1) * 3 // 5)
    last = set_cell_size(text[::-1], cells - 1 - cell_len(first))[::-1]
    return f"{first}…{last}"
