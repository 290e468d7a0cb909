"""Shared by the tests of judging: requests, hand-written cases, and reports made worse in a known way."""

import json
import random
import re
from pathlib import Path
from typing import Any

from aiq.citations.passages import without_citations
from aiq.core.files import shipped
from aiq.core.samples import Criterion, Rubric
from aiq.judges.race_scores import compare
from aiq.judges.wording import PROMPTS
from aiq.offline.chat import ChatMessage, ChatRequest
from aiq.offline.judging import judge
from tests.cases import rows


def cases(name: str) -> list[dict[str, Any]]:
    """The hand-written cases in a file beside this one."""
    return rows(Path(__file__).parent / f"{name}.jsonl")


def asked(*texts: str, seed: int = 1, **fields: Any) -> ChatRequest:
    """A request whose messages are all from a user."""
    messages = tuple(ChatMessage(role="user", content=text) for text in texts)
    return ChatRequest(model="m", messages=messages, seed=seed, **fields)


def ask(text: str, seed: int = 1, **fields: Any) -> str:
    reply = judge(asked(text, seed=seed, **fields))
    assert reply is not None, "the request was not taken for a judge's"
    return reply.text


DRB = {
    name: {str(row["id"]): row for row in rows(shipped("benchmarks/drb_mini") / f"{name}.jsonl")}
    for name in ("query", "criteria", "reference")
}
TASKS = tuple(DRB["query"])


def reference(task: str) -> str:
    return without_citations(DRB["reference"][task]["article"])


def rubric(task: str) -> Rubric:
    row = DRB["criteria"][task]
    criteria = {name: tuple(Criterion(**item) for item in items) for name, items in row["criterions"].items()}
    return Rubric(dimension_weight=row["dimension_weight"], criteria=criteria)


def race_prompt(task: str, kind: str = "race", **articles: str) -> str:
    dimensions = {
        name: [{"criterion": c.criterion, "explanation": c.explanation} for c in items]
        for name, items in rubric(task).criteria.items()
    }
    query, criteria = DRB["query"][task], json.dumps(dimensions, ensure_ascii=False)
    return PROMPTS.render(f"{kind}_{query['language']}.j2", task=query["prompt"], criteria=criteria, **articles)


def share(task: str, first: str, second: str, seed: int = 1) -> float:
    """RACE overall of the first article against the second, 0 to 1."""
    return compare(ask(race_prompt(task, article_1=first, article_2=second), seed), rubric(task)).figures["overall"]


def shuffled(text: str) -> str:
    """The words (in Chinese, the characters) of every paragraph in random order."""
    order, paragraphs = random.Random(1), []
    for paragraph in text.split("\n\n"):
        chinese = re.search(r"[\u4e00-\u9fff]", paragraph)
        words = re.findall(r"[\u4e00-\u9fff]|[A-Za-z0-9]+|\S", paragraph) if chinese else paragraph.split()
        order.shuffle(words)
        paragraphs.append(("" if chinese else " ").join(words))
    return "\n\n".join(paragraphs)


def halved(text: str) -> str:
    """Every other section."""
    parts = re.split(r"(?m)^(?=## )", text)
    return "".join(parts[:1] + parts[1::2])


def spam(task: str) -> str:
    """Words from the task among random numbers."""
    rng, words = random.Random(1), re.findall(r"[\u4e00-\u9fff]{2}|[A-Za-z]+", DRB["query"][task]["prompt"])
    tokens = [rng.choice(words) if rng.random() < 0.7 else str(rng.randint(2, 9999)) for _ in range(400)]
    return "\n\n".join(" ".join(tokens[start : start + 40]) + "." for start in range(0, 400, 40))
