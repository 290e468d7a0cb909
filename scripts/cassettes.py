"""The committed recordings: each replays, without a network, to the reports and scores that lie beside it.

`scripts/cassettes.py` records anew what changed prompts touch (`cassette=refresh`) and writes `expected.jsonl`: a line
a sample and epoch with its status, the first 16 hex digits of the SHA-256 of its report, and its scores.
`--check` replays and compares instead, lists what differs and exits with 1. Names choose (default: all). `smollm2` is
recorded from a real model, so it wants one: llama.cpp's `llama-server` with SmolLM2-135M-Instruct under its own default
address. Where none answers, that recording is left as it is; it replays without one.
"""

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import aiq
from aiq.core.errors import UserError
from aiq.runs.folder import RunFolder, natural
from aiq.runs.reader import read_samples, read_scores
from aiq.runs.rows import ScoreRow

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path("benchmarks/cassettes")
"""Below ROOT."""

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
"""Settings by recording."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="replay and compare, write nothing")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(RUNS)} (all)")
    args = parser.parse_args()
    if unknown := set(args.names) - set(RUNS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(RUNS)}")
    os.chdir(ROOT)
    problems = 0
    for name in args.names or RUNS:
        for problem in checked(name) if args.check else recorded(name):
            problems += 1
            print(f"{name}: {problem}")
    return 1 if problems else 0


def checked(name: str) -> Iterator[str]:
    """A line for each sample and epoch that does not replay to what is committed."""
    path = FOLDER / name / "expected.jsonl"
    expected = {(row["sample"], row["epoch"]): row for row in map(json.loads, path.open(encoding="utf-8"))}
    try:
        found = {(row["sample"], row["epoch"]): row for row in outcomes(name, "replay")}
    except UserError as error:
        yield str(error)
        return
    for key in {**expected, **found}:
        before, now = expected.get(key, {}), found.get(key, {})
        if differing := [field for field in {**before, **now} if before.get(field) != now.get(field)]:
            yield f"{key[0]}, epoch {key[1]}: {', '.join(differing)}"


def recorded(name: str) -> Iterator[str]:
    """Record what is new, forget what is of no use, write what a replay gives; a line where that cannot be."""
    try:
        live = outcomes(name, "refresh")
        rows = outcomes(name, "replay")
    except UserError as error:
        yield str(error)
        return
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    (FOLDER / name / "expected.jsonl").write_text("".join(lines), encoding="utf-8")
    if live != rows:
        yield "the replay differs from the run that was recorded"


def outcomes(name: str, mode: str) -> list[dict[str, Any]]:
    """What a run in this mode gives, a row a sample and epoch. Raises UserError where it is stopped."""
    with tempfile.TemporaryDirectory(prefix="cassettes-") as results:
        own = (f"cassette={mode}", f"cassette.dir={FOLDER / name}", f"output_dir={results}", "runner.progress=false")
        run = aiq.run([*RUNS[name], *own])
        folder = RunFolder(run.folder)
        samples = read_samples(folder)
        scores = read_scores(folder, samples)
    return [
        {
            "sample": key.sample_id,
            "epoch": key.epoch,
            "status": row.status,
            "report": hashlib.sha256((row.report or "").encode()).hexdigest()[:16],
            "scores": {score.metric: shown(score) for score in sorted(scores[key], key=lambda score: score.metric)},
        }
        for key, row in sorted(samples.items(), key=lambda item: (natural(item[0].sample_id), item[0].epoch))
    ]


def shown(score: ScoreRow) -> float | str | None:
    """A value to 12 digits (the last ones may differ between machines), or why there is none."""
    if score.parts is None:
        return score.status
    numerator, denominator = score.parts
    return float(f"{numerator / denominator:.12g}") if denominator else score.status


if __name__ == "__main__":
    sys.exit(main())
