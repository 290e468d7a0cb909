"""`python -m benchmarks.paraphrases`: the offline model with the shipped prompts and with paraphrases of them.

Each suite of agents runs with both and is judged with the shipped prompts; then the judges score the same reports with
both. Prints both figures and their difference; the exit code is 1 if a share falls by more than 0.05, or a count by
more than a fifth.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

PARAPHRASES = Path("tests/offline/engine/paraphrases")  # names and meanings of the shipped prompts, in other words
PARAPHRASED = "--paraphrased"  # precedes a side and an `aiq` command to run with the side's paraphrases
MOST_LOST = 0.05  # for shares
MOST_LOST_OF_COUNTS = 0.2  # relative to the count with the shipped prompts
COUNTS = ("citations.kept", "fact.citations")

AGENTS: dict[str, tuple[list[str], list[str]]] = {
    "shallow_freshqa": ([], ["fresheval.relaxed", "citations.kept"]),
    "full_freshqa": (["limit=40"], ["fresheval.relaxed", "world.coverage"]),
    "deep_drb": ([], ["world.coverage", "race.overall", "fact.citations", "citations.kept"]),
    "chat_drb": (["agent=ai_q", "user.kind=simulated", "agent.clarifier.enable_plan_approval=true"],
                 ["world.coverage", "citations.kept"]),
    "escalation_freshqa": (["agent.escalation.policy=assessed"], ["escalation.recall", "fresheval.relaxed"]),
    "documents_qa": ([], ["fresheval.relaxed", "world.coverage"]),
}  # fmt: skip
"""Settings and metrics of the agents' suites; each is an experiment (`chat_drb`: deep_drb through the whole graph)."""

JUDGES: dict[str, tuple[str, list[str], list[str]]] = {
    "fresheval": ("shallow_freshqa", ["judge=[fresheval]", "judge.fresheval.mode=both"],
                  ["fresheval.relaxed", "fresheval.strict"]),
    "race, fact": ("deep_drb", ["judge=[race,fact]"], ["race.overall", "fact.citation_accuracy", "fact.citations"]),
    "all by model": ("deep_drb", ["judge=[race,race_absolute,fact]", "judge.race.cleaning=model",
                                   "judge.race.criteria=generate", "judge.fact.deduplication=model"],
                     ["race.overall", "race_absolute.overall", "fact.citation_accuracy", "fact.citations"]),
}  # fmt: skip
"""By name: the suite whose reports are scored, the settings of the judges, and their metrics."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paraphrases", description=__doc__)
    parser.add_argument("suites", nargs="*", default=[*AGENTS, *JUDGES], help="all by default: %(default)s")
    parser.add_argument("--out", type=Path, default=Path("results/paraphrases"), help="folder for the runs")
    options = parser.parse_args()
    for suite in set(options.suites) - {*AGENTS, *JUDGES}:
        parser.error(f"there is no suite {suite}")
    print(f"{'suite':20} {'metric':24} {'shipped':>8} {'paraphr.':>8} {'change':>8}")
    lost = False
    for suite in (name for name in AGENTS if name in options.suites):
        runs = [_run(suite, side, options.out) for side in ("shipped", "agents")]
        lost |= _loses(suite, runs, AGENTS[suite][1])
    for suite in (name for name in JUDGES if name in options.suites):
        source, settings, metrics = JUDGES[suite]
        reports = _run(source, "shipped", options.out)
        runs = [_rescored(reports, side, settings) for side in ("shipped", "judges")]
        lost |= _loses(suite, runs, metrics)
        matches = [a == b for a, b in zip(*(_verdicts(run, metrics[0]) for run in runs), strict=True)]
        print(f"{suite:20} {metrics[0]}: {sum(matches)} of {len(matches)} reports get the same score", flush=True)
    return int(lost)


@cache
def _run(suite: str, side: str, out: Path) -> Path:
    """The folder of the suite's run, with the shipped prompts or paraphrases."""
    experiment = suite.replace("chat", "deep")
    _aiq(["run", f"experiment={experiment}", *AGENTS[suite][0], f"name={suite}_{side}", f"output_dir={out}"], side)
    return _newest(out / f"{suite}_{side}")


def _rescored(run: Path, side: str, settings: Sequence[str]) -> Path:
    """The folder of a rescored copy of the run; the run itself if only its own judges are needed."""
    if side == "shipped" and len(settings) == 1:
        return run
    _aiq(["rescore", str(run), *settings, "runner.max_error_rate=1"], side)
    return _newest(run.parent)


def _newest(folder: Path) -> Path:
    return max(folder.glob("*/summary.json"), key=lambda file: file.stat().st_mtime).parent


def _aiq(command: Sequence[str], side: str) -> None:
    module = ["aiq"] if side == "shipped" else ["benchmarks.paraphrases", PARAPHRASED, side]
    if (proc := subprocess.run([sys.executable, "-m", *module, *command], capture_output=True, text=True)).returncode:
        sys.exit(f"aiq {' '.join(command)}: {proc.stderr.strip()}")


def _with_paraphrases(side: str, command: Sequence[str]) -> int:
    """Run an `aiq` command in this process, with the prompts of one side (agents, judges) replaced by paraphrases."""
    from aiq.core.prompts import Prompts

    shipped = Prompts.__init__
    with tempfile.TemporaryDirectory() as temporary:

        def load(prompts: Prompts, folder: Path) -> None:
            merged = Path(temporary) / "-".join(folder.parts[-3:])
            shutil.copytree(folder, merged, dirs_exist_ok=True)
            for file in merged.glob("*.j2"):
                if (paraphrase := PARAPHRASES / side / file.name).exists():
                    shutil.copy(paraphrase, file)
            shipped(prompts, merged)

        Prompts.__init__ = load  # type: ignore[assignment, method-assign]
        from aiq.__main__ import main as aiq

        return aiq(command)


def _loses(suite: str, runs: Iterable[Path], metrics: Iterable[str]) -> bool:
    """Print the metrics of both runs; returns whether one falls by more than allowed."""
    tables = [json.loads((run / "summary.json").read_text(encoding="utf-8"))["metrics"] for run in runs]
    lost = False
    for metric in metrics:
        shipped, paraphrased = (float(table[metric]["mean"] if metric in table else 0) for table in tables)
        print(f"{suite:20} {metric:24} {shipped:8.3f} {paraphrased:8.3f} {paraphrased - shipped:+8.3f}", flush=True)
        lost |= shipped - paraphrased > (MOST_LOST_OF_COUNTS * shipped if metric in COUNTS else MOST_LOST)
    return lost


def _verdicts(run: Path, metric: str) -> list[float | None]:
    rows = map(json.loads, (run / "scores.jsonl").read_text(encoding="utf-8").splitlines())
    return [row["value"] for row in sorted(rows, key=lambda row: str(row["sample_id"])) if row["metric"] == metric]


if __name__ == "__main__":
    sys.exit(_with_paraphrases(sys.argv[2], sys.argv[3:]) if PARAPHRASED in sys.argv[1:2] else main())
