"""Write finished runs for other tools: tables, Inspect AI, MLflow, Weights & Biases, Deep Research Bench.

aiq export RUN [RUN ...] --format markdown           metrics with intervals and n, and what they cost; also latex
aiq export RUN [RUN ...] --format csv --to DIR       a file each for runs, metrics, samples, scores; also parquet
aiq export RUN --format inspect                      a log for `inspect view` (the extra inspect)
aiq export RUN --format mlflow                       through their own clients, only on this machine (the
aiq export RUN --format wandb                        extras mlflow and wandb)
aiq export RUN --format drb --to DIR                 raw_data, and the scores of the judges race and fact

RUN is a run (a folder, an id, an experiment for its latest run, `latest`), a sweep for its points, a folder of
runs, or a pattern of these. `aiq export drb RUN --out DIR`, from earlier versions, is the same as the last line.
"""

import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiq.commands import add_results
from aiq.core.errors import UserError

if TYPE_CHECKING:
    from aiq.runs.frames import RunFrames

_PLACES = {"csv": "export", "parquet": "export", "inspect": "logs", "mlflow": "mlruns", "wandb": "."}
"""Where each format is written without --to: where the tool itself looks, if it has such a place."""
_FORMATS = ("markdown", "latex", *_PLACES, "drb")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="runs, sweeps, folders of runs, or patterns of these")
    parser.add_argument("--format", choices=_FORMATS, help="what to write (markdown)")
    parser.add_argument(
        "--to",
        "--out",
        type=Path,
        metavar="PATH",
        help="the folder to write to (export/, logs/, mlruns/, ./wandb/), or the file (standard output)",
    )
    parser.add_argument("--name", metavar="MODEL", help="drb: the name of the files (the run's experiment)")
    parser.add_argument("--epoch", type=int, metavar="N", help="drb: which repetition (1)")
    add_results(parser)


def run(args: Namespace) -> int:
    from aiq.runs.frames import load_runs

    if args.format is None and args.runs[0] == "drb" and len(args.runs) > 1:
        args.format, args.runs = "drb", args.runs[1:]
    kind = args.format or "markdown"
    if kind != "drb" and (args.name, args.epoch) != (None, None):
        raise UserError("--name and --epoch are only for --format drb; other formats have every epoch, by run name")
    frames = load_runs(*args.runs, results=args.results)
    if kind in ("markdown", "latex"):
        _text(frames, kind, args.to)
        return 0
    if kind == "drb" and (args.to is None or len(frames.folders) != 1):
        raise UserError("--format drb takes one RUN, and --to DIR, the folder to write to")
    out = args.to or Path(_PLACES[kind])
    try:
        lines = list(_drb(frames, out, args) if kind == "drb" else _files(frames, kind, out))
    except OSError as error:
        path = error.filename or out
        raise UserError(f"{path}: cannot be written ({error.strerror}); name another folder with --to") from None
    print("\n".join(lines))
    return 0


def _text(frames: "RunFrames", kind: Any, path: Path | None) -> None:
    from aiq.core.files import write_text
    from aiq.site.results_tables import results_text

    text = results_text(frames, kind)
    if path is None:
        sys.stdout.write(text)
    else:
        write_text(path, text)
        print(path)


def _files(frames: "RunFrames", kind: Any, out: Path) -> Iterator[str]:
    """Write the files of a format; yields lines that say where they are, and what opens them."""
    if kind in ("csv", "parquet"):
        from aiq.analysis.export_tables import write_tables

        yield from map(str, write_tables(frames, out, kind))
    elif kind == "inspect":
        try:
            from aiq.analysis import export_inspect
        except ImportError as error:
            raise UserError(f"--format inspect needs Inspect AI: pip install 'aiq-bench[inspect]' ({error})") from None
        for folder in frames.folders:
            path, problem = export_inspect.export(folder, out)
            yield f"{path}{f': without targets: {problem}' if problem else ''}"
        yield f"inspect view --log-dir {shlex.quote(str(out))}"
    else:
        from aiq.analysis.export_trackers import read_tracked, to_mlflow, to_wandb

        write = to_mlflow if kind == "mlflow" else to_wandb
        yield from dict.fromkeys([write(read_tracked(folder), out) for folder in frames.folders])


def _drb(frames: "RunFrames", out: Path, args: Namespace) -> Iterator[str]:
    from aiq.analysis.export_drb import export
    from aiq.core.text import plural

    name = frames.manifests[0].experiment if args.name is None else args.name
    if not name or "/" in name or name.startswith("."):
        raise UserError(f"--name {name}: a file is named after it, so it must have no slash and no leading dot")
    files, missing = export(frames.folders[0], out, name, epoch=1 if args.epoch is None else args.epoch)
    yield from map(str, files)
    if missing:
        names = ", ".join(row.sample_id for row in missing)
        yield f"{plural(len(missing), 'sample')} without a report, not written: {names}"
