"""How long the results site makes a reader wait: python -m benchmarks.performance.site (exit code 1: broken promise).

A real browser opens pages from disk. Promises are about the median processor time of the page's main thread, which
hardly depends on the machine's load; the wall-clock seconds (minimum of several times) are for orientation.
"""

import resource
import shutil
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

from aiq.core.events import ModelCalled, ToolCalled, ToolReturned
from aiq.core.reports import Metric
from aiq.core.sources import Source
from aiq.core.usage import Usage
from aiq.runs.events import EventFiles
from aiq.runs.folder import RunFolder
from aiq.runs.manifest import DatasetIdentity, Hashes, JudgeSpec, Manifest
from aiq.runs.reader import summary_of
from aiq.runs.rows import SampleRow, ScoreRow, Timing
from aiq.site.pages import data_line, data_records, update_index, write_run
from benchmarks.browser import installed_browser

TIMES: Final = 5
METRIC: Final = "fresheval.relaxed"
CONFIG: Final[dict[str, Any]] = {
    "epochs": 1,
    "agent": {"target": "a.b:Agent"},
    "runner": {
        "concurrency": 1,
        "max_error_rate": 1,
        "agent_failures": "worst",
        "retry_failed": False,
        "progress": False,
    },
    "citations": {"verify": True, "pages": "window", "page_window": 2, "accept": ["retrieved"]},
}
SENTENCE: Final = "The register of Nevshaw listed {} inhabitants on 7 June 2026 and fewer at the count before [{}]. "
_SORT: Final = """(name) => {
    document.querySelector(`th[data-name="${name}"] button`).click();
    document.body.offsetHeight;  // has the page laid out
}"""
_FILTER: Final = """(word) => {
    const box = document.querySelector("input.filter");
    box.value = `fresheval.relaxed = 0 ${word}`;
    box.dispatchEvent(new Event("input"));
    document.body.offsetHeight;
}"""
_PAINTED: Final = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


def made(path: Path, rows: Iterable[SampleRow], events: int) -> RunFolder:
    """A run with these rows, each with a score and `events` events."""
    folder = RunFolder(path)
    folder.create()
    judge = JudgeSpec(name="fresheval", version="1", hash="h", metrics=(Metric.share(METRIC),))
    folder.write_manifest(
        Manifest(
            run_id=path.name,
            experiment=path.parent.name,
            status="finished",
            started="2026-11-21T00:00:00+00:00",
            config=CONFIG,
            overrides=("experiment=made",),
            hashes=Hashes(config="c", agent="a", judges={"fresheval": "h"}, prompts={}),
            judges=(judge,),
            models={"default": "offline-1"},
            dataset=DatasetIdentity(name="made", fingerprint="f", size=1, samples=1),
            clock="2026-11-01T09:00:00+00:00",
            offline=True,
            versions={},
            git_revision=None,
        )
    )
    common = {"judge": "fresheval", "judge_hash": "h", "judge_version": "1", "judge_model": None, "prompt_hash": None}
    files = EventFiles(folder)
    with closing(files), folder.samples_path.open("w") as samples, folder.scores_path.open("w") as scores:
        for number, row in enumerate(rows):
            samples.write(row.model_dump_json() + "\n")
            score = ScoreRow(
                **row.key._asdict(), attempt=1, metric=METRIC, status="scored", value=number % 3 and 1, **common
            )
            scores.write(score.model_dump_json() + "\n")
            with files.session(row.key, 1, "agent") as write:
                for seq in range(0, events, 3):
                    call, stamp = f"call-{seq}", {"time_ns": seq * 10**8}
                    write(ToolCalled(seq=seq, call_id=call, tool="search", arguments={"query": "Nevshaw"}, **stamp))
                    text = SENTENCE.format(seq, 1) * 20
                    write(ToolReturned(seq=seq + 1, call_id=call, tool="search", success=True, content=text, **stamp))
                    answer = {"role": "assistant", "content": text}
                    meta = {"call_id": f"m{seq}", "role": "own.agent", "model": "m", "attempt": 0, "status": 200}
                    write(ModelCalled(seq=seq + 2, latency_ms=90.0, messages=[answer], reply=answer, **meta, **stamp))
    return folder


def row(number: int, characters: int = 300, sources: int = 2) -> SampleRow:
    address = "https://atlas.offline.example/page-{}"
    body = "".join(SENTENCE.format(i, i % sources + 1) for i in range(max(1, characters // len(SENTENCE))))
    references = "\n".join(f"[{i + 1}] Page {i} - {address.format(i)}" for i in range(sources))
    text = f"# Findings\n\n{body}\n\n## References\n{references}\n"
    return SampleRow(
        sample_id=str(number),
        sample_hash="0" * 16,
        epoch=1,
        attempt=1,
        status="completed",
        question=f"How many people live in the city of Nevshaw, and how many lived there {number} years ago?",
        tags={"kind": str(number % 5)},
        report=text,
        raw_report=text,
        route="deep" if number % 4 else "shallow",
        outcome="ok",
        sources=tuple(
            Source(url=address.format(i), title=f"Page {i}", text=SENTENCE.format(i, 1) * 10, tool="search")
            for i in range(sources)
        ),
        usage={
            "own.agent": Usage(calls=2, input_tokens=number * 7 % 5000, output_tokens=90, cost_usd=number % 97 / 1000)
        },
        timing=Timing(started="2026-11-21T00:00:00+00:00", seconds=number % 89 / 7),
    )


class Stopwatch:
    """Measures actions of a page, several times each."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._devtools = page.context.new_cdp_session(page)
        self._devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds(self, action: Callable[[], object], *, leave: bool = False) -> tuple[float, float]:
        """Median processor time of the page's main thread and minimum wall-clock time, until the page is painted.

        `leave`: leave the page before each time.
        """
        measurements = [self._once(action, leave) for _ in range(TIMES)]
        return median(processor for processor, _ in measurements), min(clock for _, clock in measurements)

    def opened(self, address: str, ready: str) -> tuple[float, float]:
        def open_page() -> None:
            self._page.goto(address)
            self._page.wait_for_selector(ready)

        return self.seconds(open_page, leave=True)

    def _once(self, action: Callable[[], object], leave: bool) -> tuple[float, float]:
        if leave:
            self._page.goto("about:blank")
        start, before = time.perf_counter(), self._processor()
        action()
        self._page.evaluate(_PAINTED)
        return self._processor() - before, time.perf_counter() - start

    def _processor(self) -> float:
        metrics = self._devtools.send("Performance.getMetrics")["metrics"]
        return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="does it run? small sizes, no promises")
    small = parser.parse_args().quick
    from playwright.sync_api import sync_playwright

    if (program := installed_browser()) is None:
        sys.exit("site: there is no Chromium on this machine; install chromium or chromium-headless-shell")
    results = Path(tempfile.mkdtemp())
    runs, samples = (50, 200) if small else (1000, 10_000)
    start = time.process_time()
    folder = made(results / "made/many", (row(number) for number in range(samples)), 3)
    folder.write_summary(summary_of(folder, folder.read_manifest()))  # as at the end of a run
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"made {samples:,} samples in {time.process_time() - start:.1f} s of processor time")
    start = time.process_time()
    write_run(folder)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    mean = (time.process_time() - start) / samples
    print(f"pages of {samples:,} samples: {1000 * mean:.2f} ms of processor time a sample, {grown:.0f} MB more memory")
    write_run(made(results / "made/long", [row(1, 1000 if small else 100_000, 40)], 30 if small else 300))
    line = next(iter(data_records(results / "site/runs.js")))
    update_index(results, {f"made/r{number}": line | {"run_id": f"r{number}"} for number in range(runs)})
    lines = [line | {"path": f"made/r{number}", "run_id": f"r{number}"} for number in range(runs)]
    (results / "site/runs.js").write_text("".join(map(data_line, lines)), encoding="utf-8")
    measured: dict[str, tuple[tuple[float, float], float]] = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        home, watch = results.as_uri(), Stopwatch(page)
        measured[f"an index of {runs:,} runs opens"] = watch.opened(f"{home}/index.html", ".sortable tbody a"), 2.0
        event = watch.opened(f"{home}/made/long/index.html#1.1/e2", "details[data-part=e2][open] pre")
        measured["a sample with a report of 100 kB and 300 events opens, its timeline too"] = event, 1.0
        run = watch.opened(f"{home}/made/many/index.html", ".sortable tbody a")
        measured[f"a run of {samples:,} samples opens"] = run, 2.0
        for name, script, values in (
            ("sorts", _SORT, ("cost", METRIC, "question")),
            ("is filtered", _FILTER, ("nevshaw",)),
        ):
            slowest = max(watch.seconds(partial(page.evaluate, script, value)) for value in values)
            measured[f"a run of {samples:,} samples {name}"] = slowest, 0.3
        browser.close()
    for name, ((processor, clock), limit) in measured.items():
        print(f"{name}: {processor:.3f} s of processor time (promise: {limit:g} s), {clock:.3f} s on the clock")
    shutil.rmtree(results)
    return int(not small and any(cpu > limit for (cpu, _), limit in measured.values()))


if __name__ == "__main__":
    sys.exit(main())
