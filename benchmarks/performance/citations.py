"""What citation checks cost, as ratios within one process: python -m benchmarks.performance.citations [--quick].

Compared code runs in turns, several times, and the medians count. The exit code is 1 if a promise of this folder's
README is broken; `--quick` only shows that everything runs.
"""

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from markdown_it import MarkdownIt

from aiq.citations import documents, parse, sanitise, urls
from aiq.citations.audit import audit_report
from aiq.citations.match import SourceIndex
from aiq.citations.parse import parse_report
from aiq.core.sources import Source
from benchmarks.performance.linear import LinearRegistry
from benchmarks.performance.workload import cited_urls, missing_urls, report, source_urls


@dataclass(frozen=True)
class Sizes:
    """Sizes of everything measured."""

    registries: tuple[int, ...]
    """Numbers of sources, smallest first."""
    characters: int
    citations: int
    compared: int
    """Number of sources for the linear implementation."""
    misses: int
    repeats: int


FULL = Sizes((100, 1_000, 10_000, 100_000), 1_000_000, 5_000, 10_000, 1_000, 5)
QUICK = Sizes((100, 300), 20_000, 100, 300, 30, 1)


@dataclass(frozen=True)
class Row:
    """One line of the table: what was timed, the median in seconds, and the promised ratio, if any."""

    what: str
    seconds: float
    ratio: float | None = None
    promise: str = ""
    kept: bool = True


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and say whether the promises hold."""
    parser = argparse.ArgumentParser(prog="citations", description="What citation checks cost.")
    parser.add_argument("--quick", action="store_true", help="small sizes, no promises: does it run?")
    quick = parser.parse_args(arguments).quick
    sizes = QUICK if quick else FULL
    rows = [*registry_sizes(sizes), *against_parsing(sizes), *against_linear(sizes)]
    print(f"{'what':<62}{'seconds':>12}{'ratio':>9}  promise")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        verdict = "" if row.kept or quick else "  BROKEN"
        print(f"{row.what:<62}{row.seconds:>12.6f}{ratio:>9}  {row.promise}{verdict}".rstrip())
    return 0 if quick or all(row.kept for row in rows) else 1


def registry_sizes(sizes: Sizes) -> list[Row]:
    """One report against registries with its sources and more and more others; and what their indexes cost."""
    registries = [_sources(size) for size in sizes.registries]
    build = _medians([partial(_index, sources) for sources in registries], sizes.repeats)
    indexes = [_index(sources) for sources in registries]
    parsed = parse_report(report(cited_urls(sizes.registries[0], 100), characters=20_000, citations=200))
    audits = _medians([partial(audit_report, parsed, index) for index in indexes], 4 * sizes.repeats)
    rows = []
    for size, seconds in zip(sizes.registries, audits, strict=True):
        ratio = seconds / audits[0]
        rows.append(Row(f"audit of one report, {size:,} sources", seconds, ratio, "under 2", ratio < 2))
    for size, seconds in zip(sizes.registries, build, strict=True):
        ratio = seconds / size / (build[0] / sizes.registries[0])
        rows.append(Row(f"index of {size:,} sources", seconds, ratio, "a source: under 2", ratio < 2))
    return rows


def against_parsing(sizes: Sizes) -> list[Row]:
    """A large report against the largest registry, compared with plainly parsing it as Markdown."""
    size = sizes.registries[-1]
    index = _index(_sources(size))
    plain = MarkdownIt("commonmark").enable("table")
    rows = []
    for entries in (sizes.citations // 5, sizes.citations):
        text = report(cited_urls(size, entries), characters=sizes.characters, citations=sizes.citations)
        parsing, audit = _medians([partial(plain.parse, text), partial(_audit, text, index)], sizes.repeats)
        name = f"{len(text):,} characters, {sizes.citations:,} citations of {entries:,} entries"
        rows += [
            Row(f"plain parsing: {name}", parsing),
            Row(f"audit: {name}", audit, audit / parsing, "under 3", audit / parsing < 3),
        ]
    return rows


def against_linear(sizes: Sizes) -> list[Row]:
    """URLs of no source, looked up in the index and by trying all sources."""
    known = source_urls(sizes.compared)
    index, linear = _index(_sources(sizes.compared)), LinearRegistry(known)
    missing = missing_urls(known, sizes.misses)
    fast, slow = _medians(
        [lambda: [index.match_url(url) for url in missing], lambda: [linear.find(url) for url in missing]],
        sizes.repeats,
    )
    name = f"{sizes.misses:,} misses, {sizes.compared:,} sources"
    ratio = slow / fast
    return [
        Row(f"index: {name}", fast),
        Row(f"linear: {name}", slow, ratio, "at least 200 times the index", ratio >= 200),
    ]


def _audit(text: str, index: SourceIndex) -> object:
    return audit_report(parse_report(text), index)


def _sources(size: int) -> list[Source]:
    return [Source(url=url) for url in source_urls(size)]


def _index(sources: Sequence[Source]) -> SourceIndex:
    """The index with all its tables, some of which are only built on first use."""
    index = SourceIndex(sources)
    index.match_url("https://nowhere.example/cut-off...")
    return index


def _medians(works: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Median seconds of each, run in turns, with caches cleared between them."""
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for work, times in zip(works, seconds, strict=True):
            _clear_caches()
            gc.collect()
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
    return [statistics.median(times) for times in seconds]


def _clear_caches() -> None:
    """Empty the caches of reports, URLs and documents."""
    for module in (documents, parse, sanitise, urls):
        for function in vars(module).values():
            if getattr(function, "__module__", "") == module.__name__ and hasattr(function, "cache_clear"):
                function.cache_clear()


if __name__ == "__main__":
    raise SystemExit(main())
