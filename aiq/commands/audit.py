"""Check a report's citations against the sources of its run, and print what is kept and what is removed.

SOURCES is a JSONL file (gzipped or not) with a row {"url" or "citation_key", "title", "text"} per
source that a tool returned. Exit code 1 says that something would be removed.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from aiq.core.audit import Audit

_HEADER = ("new", "old", "outcome", "level or reason", "cited", "source")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("report", type=Path, metavar="REPORT.md", help="the report, Markdown")
    parser.add_argument("--sources", type=Path, required=True, metavar="SOURCES.jsonl", help="what was retrieved")
    parser.add_argument("--repaired", type=Path, metavar="FILE", help="write the verified report here")


def run(args: Namespace) -> int:
    from aiq.citations.files import read_report, read_sources, write_report
    from aiq.citations.verify import verify

    verified = verify(read_report(args.report), read_sources(args.sources))
    print(table(verified.audit))
    if args.repaired is not None:
        write_report(args.repaired, verified.text)
    return 1 if verified.audit.removed_citations or verified.audit.dangling else 0


def table(audit: Audit) -> str:
    """The audit in aligned columns, and a line that counts."""
    rows = [
        *((str(v.number), str(v.original_number), "valid", v.level, v.target, v.source) for v in audit.valid_citations),
        *(("-", str(r.number or "-"), "removed", r.reason, r.target, "-") for r in audit.removed_citations),
        *(("-", str(number), "removed", "dangling", "-", "-") for number in audit.dangling),
    ]
    counts = [
        f"{len(audit.valid_citations)} valid",
        f"{len(audit.removed_citations)} removed",
        f"{len(audit.dangling)} dangling",
        f"{len(audit.unused)} never cited",
    ]
    return "\n".join([*(_aligned([_HEADER, *rows]) if rows else ["no citations"]), "", ", ".join(counts)])


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, columns padded to the width a terminal shows (CJK letters take two cells)."""
    from rich.cells import cell_len, set_cell_size

    plain = [[" ".join(cell.split()) for cell in row] for row in rows]
    widths = [max(cell_len(cell) for cell in column) for column in zip(*plain, strict=True)]
    return ["  ".join(map(set_cell_size, row, widths)).rstrip() for row in plain]
