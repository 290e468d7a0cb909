"""Print a run's FreshEval accuracies in the form of the official table: by kind of question and split."""

from argparse import ArgumentParser, Namespace

from aiq.commands import add_results, add_run


def add_arguments(parser: ArgumentParser) -> None:
    add_run(parser)
    add_results(parser)


def run(args: Namespace) -> int:
    from rich.text import Text

    from aiq.analysis.fresheval import fresheval_tables
    from aiq.runs.folder import find_run
    from aiq.site.analysis_tables import fresheval_table
    from aiq.site.tables import notes, show

    folder = find_run(args.run, args.results)
    for table in fresheval_tables(folder):
        show(fresheval_table(table))
        if table.unjudged:
            show(Text(f"{table.unjudged} questions left out: the judge failed on them", style="red"))
    if folder.summary_path.exists():
        show(*(Text(note, style="yellow") for note in notes(folder.read_summary())))
    return 0
