"""A small results folder, as left by runs, with a hostile report: two runs to compare, a failed one, a sweep."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aiq.core.events import Decision, Event, ModelCalled, Round, StageChanged, ToolCalled, ToolReturned
from aiq.core.reports import Metric
from aiq.core.samples import SampleKey
from aiq.core.usage import Usage
from aiq.runs.events import EventFiles
from aiq.runs.folder import RunFolder
from aiq.runs.manifest import JudgeSpec, Manifest
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.runs.sweeps import SweepFolder
from tests.site.seen import EVIL

RUN: dict[str, Any] = json.loads(Path(__file__).with_name("run.json").read_text(encoding="utf-8"))
"""A manifest, a completed row and a failed one."""
CONFIG: dict[str, Any] = {
    "epochs": 1,
    "agent": {"target": "a.b:Agent"},
    "odd": EVIL,
    "runner": {
        "concurrency": 1,
        "max_error_rate": 0.1,
        "agent_failures": "worst",
        "retry_failed": False,
        "progress": False,
    },
    "citations": {"verify": True, "pages": "window", "page_window": 2, "accept": ["retrieved"]},
}
RELAXED = "fresheval.relaxed"
JUDGE = JudgeSpec(name="fresheval", version="1", hash="h", metrics=(Metric.share(RELAXED),))
PASSAGE = "Ilan Corvey has been the mayor of Tessmark since May 2026."
SOURCE = f"Tessmark is a city. {PASSAGE} It has a town hall. {EVIL}"
ADDRESS = "https://atlas.offline.example/tessmark"
REPORT = (
    "# Findings\n\nThe mayor of Tessmark is Ilan Corvey [1]. Others say otherwise [2].\n\n"
    f"{EVIL} </script><script>alert(2)</script> \u2028 ![x](data:text/html,x) [a](javascript:alert(3)) "
    "[b](data:text/html;base64,PHNjcmlwdD4=) [c](https://good.example/a?b=1&c=2)\n\n"
    "| a | b |\n| :- | -: |\n| 1 | 2 |\n\n"
    f"## References\n[1] Tessmark - {ADDRESS}\n[2] Invented - https://invented.example/\n"
)


def row(number: int, epoch: int = 1, *, failed: bool = False) -> SampleRow:
    """Sample 1 has the hostile report, sample 2 a hostile question."""
    fields = RUN["failed" if failed else "completed"] | {"sample_id": f"s{number}", "epoch": epoch}
    fields["question"] = f"Who is the mayor of city {number}? {EVIL if number == 2 else ''}"
    if not failed:
        source = {"url": ADDRESS, "title": f"Tessmark {EVIL}", "text": SOURCE, "call_id": "call-1", "tool": "search"}
        text = REPORT if number == 1 else f"It is mayor {number}, I think [1].\n\n## References\n[1] Page - {ADDRESS}\n"
        usage = {"own.agent": Usage(calls=2, input_tokens=1000 * number, output_tokens=10, cost_usd=0.01 * number)}
        fields |= {"report": text, "raw_report": text, "sources": [source], "audit": None, "usage": usage}
        fields["timing"] = {"started": "2026-11-21T00:00:00+00:00", "seconds": float(number)}
    return SampleRow.model_validate(fields)


def score(of: SampleRow, value: float) -> ScoreRow:
    failed = of.status == "failed"
    return ScoreRow(
        **of.key._asdict(),
        attempt=1,
        judge="fresheval",
        judge_hash="h",
        judge_version="1",
        judge_model="offline-1",
        prompt_hash=None,
        metric=RELAXED,
        status="agent_failed" if failed else "scored",
        value=value,
        detail={} if failed else {"judgements": [{"answer": f"comment: because {EVIL}"}], "tries": 1},
    )


def events(text: str) -> Iterator[Event]:
    """A stage, a round, a tool with a model call inside, and the call that writes the report."""
    ask = {"role": "user", "content": "Who is it?"}
    common = {"model": "offline-1", "attempt": 0, "status": 200, "latency_ms": 900.0}
    yield StageChanged(seq=0, stage="research", time_ns=10**9)
    yield Round(seq=1, number=1, queries=("mayor",), new_sources=(ADDRESS,), time_ns=10**9)
    yield ToolCalled(seq=2, call_id="call-1", tool="search", arguments={"query": "mayor"}, time_ns=10**9)
    inner = {"call_id": "m1", "role": "own.helper", "messages": [ask], "reply": {"role": "assistant", "content": "yes"}}
    yield ModelCalled(seq=3, parent_id="call-1", time_ns=2 * 10**9, **common, **inner)
    yield ToolReturned(seq=4, call_id="call-1", tool="search", success=True, content=SOURCE, time_ns=3 * 10**9)
    yield Decision(seq=5, name="enough", value=True, cause="a source", time_ns=3 * 10**9)
    writer = {"call_id": "m2", "role": "own.writer", "messages": [ask, ask], "usage": Usage(calls=1, output_tokens=9)}
    yield ModelCalled(seq=6, reply={"role": "assistant", "content": text}, time_ns=5 * 10**9, **common, **writer)


def write_made_run(path: Path, rows: list[SampleRow], wrong: set[tuple[str, int]], **changed: Any) -> RunFolder:
    """`wrong`: the keys that score 0; `changed`: fields of the manifest."""
    folder = RunFolder(path)
    folder.create()
    common = {
        "config": CONFIG,
        "judges": [JUDGE.model_dump()],
        "run_id": path.name,
        "experiment": "made",
        "overrides": ["experiment=made", "judge=[fresheval]", "agent.phrases=[it isn't]"],
    }
    manifest = RUN["manifest"] | common | changed
    folder.write_manifest(Manifest.model_validate(manifest))
    scores = [score(r, 0.0 if r.key in wrong or r.status == "failed" else 1.0) for r in rows]
    for file, lines in ((folder.samples_path, rows), (folder.scores_path, scores)):
        file.write_text("".join(f"{line.model_dump_json()}\n" for line in lines), encoding="utf-8")
    files = EventFiles(folder)
    for row in rows:
        with files.session(SampleKey(row.sample_id, row.epoch), 1, "agent") as write:
            for event in events(row.raw_report or ""):
                write(event)
    files.close()
    return folder


def write_results(results: Path) -> None:
    """`made/a` and `made/b` differ in s3, whose epochs differ in `a`; `made/c` failed; `made/sweep` has two points."""
    from tests.site.test_sweep_page import sweep_of

    rows = [row(number, epoch) for number in (1, 2, 3) for epoch in (1, 2)]
    write_made_run(results / "made/a", rows, {("s2", 1), ("s2", 2), ("s3", 2)}, config=CONFIG | {"epochs": 2})
    write_made_run(
        results / "made/b", rows, {("s2", 1), ("s2", 2), ("s3", 1), ("s3", 2)}, config=CONFIG | {"epochs": 2}
    )
    old = {"run": "made/a", "models": {}, "overrides": []}
    failed = [row(number, failed=True) for number in (1, 2)]
    write_made_run(results / "made/c", failed, set(), started="2026-11-22", rescored=old)
    sweep = SweepFolder(results / "made/sweep")
    sweep.create()
    sweep.write(sweep_of(2, experiment="made"))
