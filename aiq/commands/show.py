"""Show a run and its samples, worst first; or one sample: what happened, report, gold answer, citations, scores.

aiq show RUN
aiq show RUN SAMPLE
"""

from argparse import ArgumentParser, Namespace

from aiq.commands import add_results, add_run
from aiq.core.errors import UserError
from aiq.core.samples import SampleKey
from aiq.core.text import join_first
from aiq.runs.events import events_of
from aiq.runs.folder import RunFolder, find_run, natural
from aiq.runs.reader import read_dataset, read_samples, read_scores, summary_of
from aiq.runs.rows import SampleRow


def add_arguments(parser: ArgumentParser) -> None:
    add_run(parser)
    parser.add_argument("sample", nargs="?", metavar="SAMPLE", help="a sample's id")
    parser.add_argument("--epoch", type=int, metavar="N", help="which repetition of SAMPLE (1)")
    parser.add_argument("--judge", action="store_true", help="show the judges' requests and replies instead")
    parser.add_argument("--full", action="store_true", help="do not shorten anything")
    add_results(parser)


def run(args: Namespace) -> int:
    from aiq.site.tables import Output, replay_note
    from aiq.site.transcript import render_events, shortener, transcript

    folder = find_run(args.run, args.results)
    if args.sample is None:
        if args.epoch is not None or args.judge or args.full:
            raise UserError("--epoch, --judge and --full need a sample: aiq show RUN SAMPLE")
        return _run(folder)
    key = SampleKey(args.sample, 1 if args.epoch is None else args.epoch)
    row, manifest = _row(folder, key), folder.read_manifest()
    short = shortener(None if args.full else 700)
    events = events_of(folder, row.key, row.attempt, "judge" if args.judge else "agent")
    console, notes = Output(highlight=False), [*replay_note(manifest)]
    if args.judge:
        console.print(render_events(events, short))
    else:
        samples, problem = read_dataset(manifest)
        notes += [f"the gold answer is unknown: {problem}"] if problem else []
        scores = read_scores(folder, {row.key: row})[row.key]
        console.print(transcript(row, events, scores, samples.get(row.sample_id), short))
    for note in notes:
        console.print(f"\n{note}", style="yellow")
    return 0


def _run(folder: RunFolder) -> int:
    from aiq.site.listing import samples_sheet
    from aiq.site.tables import print_summary, show

    manifest, rows = folder.read_manifest(), read_samples(folder, SampleRow.compact)
    show(samples_sheet(manifest, rows, read_scores(folder, rows)), "")
    print_summary(summary_of(folder, manifest), folder)
    return 0


def _row(folder: RunFolder, key: SampleKey) -> SampleRow:
    """The last attempt at the key. Raises UserError, which says what there is instead."""
    rows = read_samples(folder, lambda row: row if row.key == key else row.compact())
    if key in rows:
        return rows[key]
    epochs = sorted(epoch for sample, epoch in rows if sample == key.sample_id)
    if epochs:
        available = ", ".join(map(str, epochs))
        raise UserError(f"sample {key.sample_id} has no epoch {key.epoch} in {folder.path}; it has {available}")
    samples = sorted({sample for sample, _ in rows}, key=natural)
    raise UserError(f"{folder.path} has no sample {key.sample_id}; it has {len(samples)}: {join_first(samples)}")
