"""Writes the mini FreshQA in the official columns, with its truth beside it."""

import csv
from collections.abc import Sequence
from pathlib import Path

from aiq.core.samples import TruthRow
from aiq.offline.world.addresses import source_url
from aiq.offline.world.asked import Asked
from aiq.offline.world.entities import World
from aiq.offline.world.relations import BY_KEY
from aiq.offline.world.truth import hop
from aiq.offline.world.write import jsonl

COLUMNS = (
    *("id", "split", "question", "effective_year", "next_review", "false_premise", "num_hops", "fact_type", "source"),
    *(f"answer_{index}" for index in range(10)),
    "note",
)
_REVIEW = {"never": "N/A", "slow": "occasionally", "fast": "frequently"}


def write_freshqa(folder: Path, world: World, questions: Sequence[Asked]) -> None:
    """`freshqa_mini.csv` and `truth.jsonl`; ids count from 1, every sixth row is of split DEV."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "freshqa_mini.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for number, asked in enumerate(questions, start=1):
            writer.writerow(_row(world, number, asked))
    jsonl(folder / "truth.jsonl", (_truth(number, asked) for number, asked in enumerate(questions, start=1)))


def _row(world: World, number: int, asked: Asked) -> list[str]:
    sources = dict.fromkeys(source_url(world, fact) for fact in asked.facts)
    return [
        str(number),
        "DEV" if number % 6 == 0 else "TEST",
        asked.text,
        _effective_year(asked),
        _REVIEW[asked.change],
        "TRUE" if asked.false_premise else "FALSE",
        "one-hop" if asked.hops == 1 else "multi-hop",
        f"{asked.change}-changing",
        "\n".join(sources),
        *asked.answers,
        *[""] * (10 - len(asked.answers)),
        "",
    ]


def _effective_year(asked: Asked) -> str:
    """The year since which the answer is as it is."""
    changing = [fact for fact in asked.facts if BY_KEY[fact.subject.kind, fact.relation].change != "never"]
    year = max((fact.changed.year for fact in changing), default=0)
    return str(year) if year >= 2022 else "before 2022"


def _truth(number: int, asked: Asked) -> TruthRow:
    facts = tuple(hop(fact, depth) for depth, fact in enumerate(asked.facts, start=1))
    return TruthRow(sample_id=str(number), hops=asked.hops, needs_depth=asked.needs_depth, facts=facts)
