"""Reads judged citations in the official FACT layout: reports with cited URLs, page texts, statements, verdicts."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aiq.core.files import Files
from aiq.core.rows import read_rows
from benchmarks.claims.judged import Pair


def read_verdicts(path: Path) -> list[Pair]:
    """Every statement that has a verdict, with the text of the page it was judged by; pages are clusters."""
    return [pair for row in read_rows(Files(), path, "FILE", ()) for pair in _of_report(row.values)]


def _of_report(row: Mapping[str, Any]) -> Iterator[Pair]:
    for url, page in row["citations_deduped"].items():
        for result in page.get("validate_res") or []:
            statement, text = page["facts"][result["idx"]], page.get("url_content") or ""
            yield Pair(str(row["id"]), statement, text, result["result"], url)
