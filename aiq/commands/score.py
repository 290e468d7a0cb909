"""Aggregate official result files of Deep Research Bench, without any model.

`aiq score race FILE` takes a raw_results.jsonl, `aiq score fact FILE` a validated.jsonl; either may be
gzipped. Printed are the official figures as the official tools write them, and ours beside them, with
95 % intervals and what the official figures leave out.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("kind", choices=("race", "fact"), help="what the file holds")
    parser.add_argument("file", type=Path, metavar="FILE", help="raw_results.jsonl or validated.jsonl")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures here as well")


def run(args: Namespace) -> int:
    from aiq.analysis.official import fact_scores, race_scores
    from aiq.citations.files import write_text
    from aiq.site.analysis_tables import official_table
    from aiq.site.tables import show

    scores = race_scores(args.file) if args.kind == "race" else fact_scores(args.file)
    if args.json is not None:
        write_text(args.json, scores.model_dump_json(indent=2) + "\n")
    show(official_table(scores))
    return 0
