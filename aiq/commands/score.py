"""Aggregate official result files of Deep Research Bench, without any model.

`aiq score race FILE` takes a raw_results.jsonl, `aiq score fact FILE` a validated.jsonl; either may be
gzipped. Prints the official figures as the official tools write them, and beside them ours, with
95 % intervals and what the official figures leave out.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from aiq.commands import add_json, write_json


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("kind", choices=("race", "fact"), help="what the file holds")
    parser.add_argument("file", type=Path, metavar="FILE", help="raw_results.jsonl or validated.jsonl")
    add_json(parser)


def run(args: Namespace) -> int:
    from aiq.analysis.official import fact_scores, race_scores
    from aiq.site.analysis_tables import official_table
    from aiq.site.tables import show

    scores = race_scores(args.file) if args.kind == "race" else fact_scores(args.file)
    write_json(args.json, scores)
    show(official_table(scores))
    return 0
