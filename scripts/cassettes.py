"""The committed recordings: without a network, each replays to the reports and scores of its committed baseline.

`scripts/cassettes.py` re-records what changed prompts affect (`cassette=refresh`) and writes the baselines
(`benchmarks/baselines/NAME.json`). `--check` replays instead, compares each run with its baseline like `aiq gate`,
lists samples that differ and exits with 1 if there are any. Names select recordings (default: all). `smollm2` is
recorded from a real model: llama.cpp's `llama-server` with SmolLM2-135M-Instruct at its default address. If none
answers, that recording is left as it is; replaying it does not need the model.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import aiq
from aiq.analysis.baselines import Baseline, BaselineFile
from aiq.analysis.gate import GateSettings, gate
from aiq.core.errors import UserError
from aiq.core.plugins import validate
from aiq.experiment.compose import compose_group
from aiq.runs.folder import RunFolder
from aiq.site.gate_report import gate_lines

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path("benchmarks/cassettes")
BASELINES = Path("benchmarks/baselines")
"""Relative to ROOT, like FOLDER."""

RUNS: Mapping[str, tuple[str, ...]] = {
    "deep_drb": ("experiment=deep_drb",),
    "shallow_freshqa": ("experiment=shallow_freshqa",),
    "escalation_freshqa": ("experiment=escalation_freshqa",),
    "smollm2": (
        *("experiment=shallow_freshqa", "agent=ai_q", "agent.escalation.policy=never", "limit=10"),
        *("llm=llama_cpp", "llm.model=smollm2", "llm.timeout_seconds=600", "agent.intent.timeout_seconds=600"),
        "runner.max_error_rate=1",
    ),
}
"""The settings of each recording."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="replay and compare; write nothing")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(RUNS)} (default: all)")
    args = parser.parse_args()
    if unknown := set(args.names) - set(RUNS):
        parser.error(f"unknown recording: {', '.join(sorted(unknown))}; choose from {', '.join(RUNS)}")
    os.chdir(ROOT)
    problems = 0
    for name in args.names or RUNS:
        for problem in checked(name) if args.check else recorded(name):
            problems += 1
            print(f"{name}: {problem}")
    return 1 if problems else 0


def checked(name: str) -> Iterator[str]:
    """What fails the gate, then a line for each sample and epoch whose replay differs from the committed baseline."""
    file = BaselineFile(BASELINES / f"{name}.json")
    with tempfile.TemporaryDirectory(prefix="cassettes-") as results:
        try:
            run = made(name, "replay", results)
            result = gate(file, run, validate(GateSettings, compose_group("gate", name, ()), "gate"))
        except UserError as error:
            yield str(error)
            return
        yield from [] if result.passed else gate_lines(result)
        yield from file.content.changes(Baseline.of(run))


def recorded(name: str) -> Iterator[str]:
    """Record what is new, drop what is unused, and write a replay's baseline; a line for each problem."""
    with tempfile.TemporaryDirectory(prefix="cassettes-") as results:
        baselines: dict[str, Baseline] = {}
        for mode in ("refresh", "replay"):
            try:
                baselines[mode] = Baseline.of(made(name, mode, results))
            except UserError as error:
                yield str(error)
    if (replay := baselines.get("replay")) is not None:
        replay.write(BASELINES / f"{name}.json")
        changes = baselines.get("refresh", replay).changes(replay)
        yield from (f"the replay differs from the recorded run: {change}" for change in changes)


def made(name: str, mode: str, results: str) -> RunFolder:
    """A run in this mode. Raises UserError if it is stopped."""
    overrides = (f"cassette={mode}", f"cassette.dir={FOLDER / name}", f"output_dir={results}", "runner.progress=false")
    return RunFolder(aiq.run([*RUNS[name], *overrides]).folder)


if __name__ == "__main__":
    sys.exit(main())
