"""`python -m benchmarks.judge_order RUN`: does RACE offline rank reports in the right order? Prints a row per task.

RUN is the folder of a run of `experiment=deep_drb`. Scored against each task's reference are the reference itself, the
agent's report, half of the report's sections, its words shuffled within paragraphs, and words of the task among random
numbers; the last lines count the tasks in which the better of two scores higher. The exit code is 1 below 11 of 12.
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiq.citations.passages import without_citations
from aiq.core.files import shipped
from aiq.core.samples import Criterion, Rubric
from aiq.judges.race_criteria import criteria_json
from aiq.judges.race_scores import compare
from aiq.judges.wording import PROMPTS
from aiq.offline.chat import ChatMessage, ChatRequest
from aiq.offline.judging import judge

NAMES = ("reference", "report", "half", "shuffled", "spam")
ORDER = ((0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (1, 4))
"""Pairs of positions in NAMES: the better and the worse."""


def rows(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of a JSONL file by their id."""
    values = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {str(value.get("id", value.get("sample_id"))): value for value in values}


def halved(report: str) -> str:
    """The report with only every other section."""
    parts = re.split(r"(?m)^(?=## )", report)
    return "".join([parts[0], *parts[1::2]])


def shuffled(report: str) -> str:
    """The report with the words (in Chinese, the characters) of each paragraph shuffled."""
    draw, paragraphs = random.Random(1), []
    for paragraph in report.split("\n\n"):
        chinese = re.search(r"[\u4e00-\u9fff]", paragraph) is not None
        words = re.findall(r"[\u4e00-\u9fff]|[A-Za-z0-9]+|\S", paragraph) if chinese else paragraph.split()
        draw.shuffle(words)
        paragraphs.append(("" if chinese else " ").join(words))
    return "\n\n".join(paragraphs)


def spam(task: str) -> str:
    """Words of the task among random numbers."""
    draw, words = random.Random(1), re.findall(r"[\u4e00-\u9fff]{2}|[A-Za-z]+", task)
    tokens = [draw.choice(words) if draw.random() < 0.7 else str(draw.randint(2, 9999)) for _ in range(400)]
    return "\n\n".join(" ".join(tokens[i : i + 40]) + "." for i in range(0, 400, 40))


def overall(query: Mapping[str, Any], rubric: Rubric, article: str, reference: str) -> float:
    """RACE overall, 0 to 1, of an article against the reference."""
    prompt = PROMPTS.render(
        f"race_{query['language']}.j2",
        task=query["prompt"],
        criteria=criteria_json(rubric),
        article_1=article,
        article_2=reference,
    )
    reply = judge(ChatRequest(model="m", messages=(ChatMessage(role="user", content=prompt),), seed=1))
    if reply is None:
        sys.exit("the offline model does not recognise the judge's prompt")
    return compare(reply.text, rubric).figures["overall"]


def main() -> int:
    """Print the table; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a run's folder, with samples.jsonl")
    path = parser.parse_args().run
    data = {name: rows(shipped("benchmarks/drb_mini") / f"{name}.jsonl") for name in ("query", "criteria", "reference")}
    wins, tasks = [0] * len(ORDER), rows(path / "samples.jsonl")
    print("task", *NAMES, sep="\t")
    for task in sorted(tasks, key=int):
        report, query, spec = without_citations(tasks[task]["report"]), data["query"][task], data["criteria"][task]
        criteria = {name: tuple(Criterion(**item) for item in items) for name, items in spec["criterions"].items()}
        rubric = Rubric(dimension_weight=spec["dimension_weight"], criteria=criteria)
        reference = without_citations(data["reference"][task]["article"])
        texts = (reference, report, halved(report), shuffled(report), spam(query["prompt"]))
        scores = [overall(query, rubric, text, reference) for text in texts]
        wins = [n + (scores[better] > scores[worse]) for n, (better, worse) in zip(wins, ORDER, strict=True)]
        print(task, *(f"{score:.3f}" for score in scores), sep="\t")
    for n, (better, worse) in zip(wins, ORDER, strict=True):
        print(f"{NAMES[better]} > {NAMES[worse]}: {n} of {len(tasks)}")
    return int(min(wins) < len(tasks) - 1)


if __name__ == "__main__":
    sys.exit(main())
