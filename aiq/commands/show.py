"""Print one attempt of a run readably: the question, what happened in order, report, sources and scores.

RUN is a run folder, a run id below results/, or `latest`.
"""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aiq.core.errors import UserError
from aiq.core.samples import SampleKey
from aiq.runs.folder import RunFolder, find_run, natural
from aiq.runs.journal import read_rows, whole_lines
from aiq.runs.rows import SampleRow, ScoreRow


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run folder, a run id, or `latest`")
    parser.add_argument("sample", metavar="SAMPLE", help="a sample's id")
    parser.add_argument("--epoch", type=int, default=1, metavar="N", help="which repetition (1)")
    parser.add_argument("--judge", action="store_true", help="show what the judges asked and were told instead")
    parser.add_argument("--full", action="store_true", help="shorten nothing")
    parser.add_argument("--results", default="results", metavar="DIR", help="where runs are looked for (results)")


def run(args: Namespace) -> int:
    from rich.console import Console

    from aiq.site.transcript import events_shown, shortener, transcript

    folder = find_run(args.run, args.results)
    row = _row(folder, SampleKey(args.sample, args.epoch))
    short = shortener(None if args.full else 700)
    events = _events(folder.events_path(row.key, judge=args.judge))
    shown = events_shown(events, short) if args.judge else transcript(row, events, _scores(folder, row), short)
    Console(highlight=False).print(shown)
    return 0


def _row(folder: RunFolder, key: SampleKey) -> SampleRow:
    """The last attempt at the key. Raises UserError that says what there is instead."""
    found: SampleRow | None = None
    epochs: set[int] = set()
    samples: set[str] = set()
    for path in sorted(folder.path.glob("samples*.jsonl")):
        for row in read_rows(path, SampleRow):
            samples.add(row.sample_id)
            if row.sample_id == key.sample_id:
                epochs.add(row.epoch)
            if row.key == key:
                found = row
    if found is not None:
        return found
    if epochs:
        raise UserError(f"sample {key.sample_id} has no epoch {key.epoch} in {folder.path} (it has {sorted(epochs)})")
    raise UserError(f"{folder.path} has no sample {key.sample_id}; it has {len(samples)}: {_some(samples)}")


def _some(samples: set[str]) -> str:
    shown = sorted(samples, key=natural)
    return ", ".join(shown[:8]) + (", ..." if len(shown) > 8 else "")


def _scores(folder: RunFolder, row: SampleRow) -> list[ScoreRow]:
    last: dict[tuple[str, str], ScoreRow] = {}
    for path in sorted(folder.path.glob("scores*.jsonl")):
        for score in read_rows(path, ScoreRow):
            if score.key == row.key and score.attempt == row.attempt:
                last[score.judge, score.metric] = score
    return list(last.values())


def _events(path: Path) -> Iterator[dict[str, Any]]:
    """Events as plain JSON."""
    return (json.loads(line) for line in whole_lines(path))
