"""Compare finished runs, sample by sample: is B better than A, by how much, where, and at what cost?

aiq compare RUN_A RUN_B
aiq compare RUN_A RUN_B RUN_C --metric fresheval.relaxed

Every other run is compared with the first; each may also be a baseline (`aiq gate`). Runs that differ in dataset,
samples, epochs, judge or judge prompt are refused; --force compares what they share. --judges compares the judges of
two runs that have the same reports (`aiq rescore`).
"""

from argparse import ArgumentParser, Namespace
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING

from aiq.commands import A_RUN, add_effect, add_json, add_results, write_json

if TYPE_CHECKING:
    from aiq.analysis.compare import ComparedRun


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help=f"{A_RUN}, or a baseline; the first is A")
    parser.add_argument(
        "--metric", action="append", default=[], metavar="NAME", help="only this metric, also by slice; may be repeated"
    )
    add_effect(parser)
    parser.add_argument("--judges", action="store_true", help="compare judges on the same reports")
    parser.add_argument("--force", action="store_true", help="compare what runs share even if they differ otherwise")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables, with links to samples")
    add_json(parser)
    add_results(parser)


def run(args: Namespace) -> int:
    from aiq.analysis.baselines import find_run_or_baseline
    from aiq.analysis.compare import compare
    from aiq.analysis.reliability import reliability_note
    from aiq.core.files import check_outputs, write_text
    from aiq.runs.folder import RunFolder
    from aiq.site.analysis_tables import comparison_markdown, comparison_parts, comparison_text
    from aiq.site.tables import notes_of, replay_note, show

    check_outputs(args.json, args.markdown)
    folders = [find_run_or_baseline(name, args.results) for name in args.runs]
    result = compare(folders, metrics=args.metric, effect=args.effect, judges=args.judges, force=args.force)
    summaries = (folder.read_summary() for folder in folders)
    notes = [*notes_of(dict(zip((run.label for run in result.runs), summaries, strict=True)))]
    notes += [note for folder in folders for note in replay_note(folder.read_manifest())]
    notes += [
        note for folder in folders if isinstance(folder, RunFolder) for note in reliability_note(folder, result.leading)
    ]
    remarks = list(dict.fromkeys(notes))
    show(*comparison_text(comparison_parts(result, remarks)))
    write_json(args.json, result)
    if args.markdown is not None:

        def link(compared: "ComparedRun", sample: str) -> str:
            page = relpath(Path(compared.folder) / "index.html", args.markdown.parent)
            return sample if compared.folder.endswith(".json") else f"[{sample}]({page}#{sample}.1)"

        write_text(args.markdown, comparison_markdown(comparison_parts(result, remarks, link)))
    return 0
