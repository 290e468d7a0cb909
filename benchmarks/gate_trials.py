"""`python -m benchmarks.gate_trials`: does the gate pass equal runs and fail worse ones?

Makes runs of `shallow_freshqa` that differ only in their seed, which draws the faults planted in the offline model. The
runs are gated against their own baselines, against one another, and against themselves after degrading their rows: a
tenth of the answers made wrong, citations broken, or cost doubled. The exit code is 1 if a run fails against its own
baseline, more than 2 % of the pairs fail, or a degradation passes or is not reported with its samples.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import aiq
from aiq.analysis.baselines import Baseline, BaselineFile, RunOrBaseline
from aiq.analysis.gate import GateResult, GateSettings, gate
from aiq.core.plugins import validate
from aiq.experiment.compose import compose_group
from aiq.runs.folder import RunFolder

SETTINGS = (
    *("experiment=shallow_freshqa", "runner.progress=false", "llm.prices.offline-1={input: 1, output: 4}"),
    *("offline.faults.wrong_fact=0.2", "offline.faults.fabricated_citation=0.1"),
    *("offline.faults.garbled_citation=0.1", "offline.faults.malformed_tool_call=0.05"),
)
MOST_FALSE = 0.02
SHARE = 0.1  # share of the answers that a degradation makes worse

Row = dict[str, Any]
Degradation = Callable[[list[Row], list[Row], random.Random], set[str]]
"""Changes the rows of samples and scores, and returns the samples made worse."""


def wrong(samples: list[Row], scores: list[Row], draw: random.Random) -> set[str]:
    right = [row for row in scores if row["metric"] == "fresheval.relaxed" and row["value"]]
    chosen = draw.sample(right, round(SHARE * len(samples)))
    for row in chosen:
        row["value"] = 0.0
    return {row["sample_id"] for row in chosen}


def broken(samples: list[Row], scores: list[Row], draw: random.Random) -> set[str]:
    cited = [row for row in scores if row["metric"] == "citations.valid_rate" and row["numerator"]]
    chosen = draw.sample(cited, round(SHARE * len(samples)))
    for row in chosen:
        row["numerator"] = 0.0
    return {row["sample_id"] for row in chosen}


def costly(samples: list[Row], scores: list[Row], draw: random.Random) -> set[str]:
    for row in samples:
        for usage in row["usage"].values():
            usage["cost_usd"] *= 2
    return {row["sample_id"] for row in samples}


DEGRADATIONS: dict[str, tuple[str, Degradation]] = {
    "a tenth of the answers wrong": ("fresheval.relaxed", wrong),
    "a tenth of the reports with broken citations": ("citations.valid_rate", broken),
    "cost doubled": ("cost (1.5 times)", costly),
}
"""By name: the metric or limit that must report the degradation, and the function that makes it."""


def made(seed: int, limit: int, results: Path) -> RunFolder:
    overrides = (f"seed={seed}", f"limit={limit}", f"output_dir={results}")
    return RunFolder(aiq.run([*SETTINGS, *overrides]).folder)


def degraded(run: RunFolder, how: Degradation, seed: int) -> tuple[RunFolder, set[str]]:
    """A degraded copy of the run, and the samples in which it is worse."""
    copy = RunFolder(run.path.with_name(f"{run.path.name}-{how.__name__}"))
    shutil.copytree(run.path, copy.path)
    paths = copy.samples_path, copy.scores_path
    samples, scores = ([json.loads(line) for line in path.open(encoding="utf-8")] for path in paths)
    worse = how(samples, scores, random.Random(seed))
    for path, rows in zip(paths, (samples, scores), strict=True):
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return copy, worse


def named(found: GateResult, what: str) -> set[str]:
    """The samples that a failed gate names for a metric or limit."""
    metrics = {item.metric: set(item.samples) for item in found.metrics if item.standing == "worse"}
    limits = {item.name: set(item.samples) for item in found.limits if item.broken}
    return {**metrics, **limits}.get(what, set())


def trials(runs: Sequence[RunFolder], settings: GateSettings) -> int:
    """Print the outcome of each trial; returns the number of broken promises."""
    baselines: list[RunOrBaseline] = []
    for run in runs:
        path = run.path.with_suffix(".json")
        Baseline.of(run).write(path)
        baselines.append(BaselineFile(path))
    strict = settings.model_copy(update={"inconclusive": "fail"})
    passed = sum(gate(baseline, run, strict).passed for baseline, run in zip(baselines, runs, strict=True))
    print(f"against its own baseline: {passed} of {len(runs)} pass")
    pairs = [gate(first, second, settings) for first, second in permutations(baselines, 2)]
    alarms = sum(not result.passed for result in pairs)
    print(f"differing only in seed: {alarms} of {len(pairs)} pairs fail (at most {MOST_FALSE:.0%})")
    problems = (passed < len(runs)) + (alarms > MOST_FALSE * len(pairs))
    for name, (figure, degrade) in DEGRADATIONS.items():
        detected, failed = 0, []
        for index, run in enumerate(runs):
            copy, worse = degraded(run, degrade, index)
            detected += named(gate(baselines[index], copy, settings), figure) == worse
            failed += [not gate(base, copy, settings).passed for base in baselines if base is not baselines[index]]
        print(f"{name}: {detected} of {len(runs)} fail and name {figure} and the samples", end="")
        print(f"; against the baseline of another seed {sum(failed)} of {len(failed)} fail" if failed else "")
        problems += detected < len(runs)
    return problems


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15, help="number of seeds (15, which gives 210 pairs)")
    parser.add_argument("--limit", type=int, default=120, help="questions per run (120)")
    args = parser.parse_args(arguments)
    settings = validate(GateSettings, compose_group("gate", "default", ()), "gate")
    with tempfile.TemporaryDirectory(prefix="gate-") as results:
        runs = [made(seed, args.limit, Path(results)) for seed in range(1, args.runs + 1)]
        return 1 if trials(runs, settings) else 0


if __name__ == "__main__":
    sys.exit(main())
