"""The offline RACE judge: better reports score higher, position does not matter, and nothing is unasked for."""

import json
from typing import Any

import pytest

from aiq.core.paths import shipped
from aiq.core.samples import Criterion, Rubric
from aiq.judges.clean import without_citations
from aiq.judges.fencing import PROMPTS
from aiq.judges.race_answer import read_marks
from aiq.judges.race_arithmetic import outcome
from aiq.offline.chat import ChatMessage, ChatRequest
from aiq.offline.roles.judge.race import reply


def rows(name: str) -> list[dict[str, Any]]:
    text = (shipped("benchmarks/drb_mini") / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


QUERIES, CRITERIA, REFERENCES = rows("query"), rows("criteria"), rows("reference")
ENGLISH = next(n for n, row in enumerate(QUERIES) if row["language"] == "en")
CHINESE = next(n for n, row in enumerate(QUERIES) if row["language"] == "zh")


def rubric(task: int) -> Rubric:
    row = CRITERIA[task]
    given = {name: tuple(Criterion(**item) for item in items) for name, items in row["criterions"].items()}
    return Rubric(dimension_weight=row["dimension_weight"], criteria=given)


def prompt(task: int, first: str, second: str) -> str:
    shown = {
        name: [{"criterion": c.criterion, "explanation": c.explanation} for c in items]
        for name, items in rubric(task).criteria.items()
    }
    return PROMPTS.render(
        f"race_{QUERIES[task]['language']}.j2",
        task=QUERIES[task]["prompt"],
        criteria=json.dumps(shown, ensure_ascii=False),
        article_1=without_citations(first),
        article_2=without_citations(second),
    )


def ask(text: str, seed: int = 1) -> str:
    return reply(ChatRequest(model="m", messages=(ChatMessage(role="user", content=text),), seed=seed)).text


def share(task: int, first: str, second: str, seed: int = 1) -> float:
    return outcome(read_marks(ask(prompt(task, first, second), seed), rubric(task)), rubric(task)).overall.share


def paragraphs(task: int, part: float) -> str:
    whole = without_citations(REFERENCES[task]["article"]).split("\n\n")
    return "\n\n".join(whole[: int(len(whole) * part)])


@pytest.mark.parametrize("task", [ENGLISH, CHINESE])
def test_the_more_is_covered_the_higher_the_share(task: int) -> None:
    reference = REFERENCES[task]["article"]
    shares = [share(task, paragraphs(task, part), reference) for part in (0.2, 0.4, 0.7, 1.0)]
    assert shares == sorted(shares)
    assert shares[0] < 0.45 < 0.48 < shares[-1] < 0.52
    other = REFERENCES[(task + 1) % len(REFERENCES)]["article"]
    assert share(task, other, reference) < 0.47
    assert share(task, "I do not know.", reference) == 0 or share(task, "I do not know.", reference) < 0.25


@pytest.mark.parametrize("task", [ENGLISH, CHINESE])
def test_longer_is_not_always_better(task: int) -> None:
    whole = without_citations(REFERENCES[task]["article"])
    readability = []
    for text in (whole, "\n\n".join([whole] * 4)):
        marks = read_marks(ask(prompt(task, text, whole)), rubric(task))
        readability.append(outcome(marks, rubric(task)).dimensions["readability"].share)
    assert readability[1] < readability[0] - 0.02


def test_order_matters_little() -> None:
    better, worse = REFERENCES[ENGLISH]["article"], paragraphs(ENGLISH, 0.5)
    assert share(ENGLISH, better, worse) + share(ENGLISH, worse, better) == pytest.approx(1, abs=0.02)


def test_seeds_differ_a_little_and_repeat() -> None:
    text = prompt(ENGLISH, paragraphs(ENGLISH, 0.6), REFERENCES[ENGLISH]["article"])
    assert ask(text, 1) == ask(text, 1) != ask(text, 2)
    first, second = (outcome(read_marks(ask(text, seed), rubric(ENGLISH)), rubric(ENGLISH)) for seed in (1, 2))
    assert first.overall.share == pytest.approx(second.overall.share, abs=0.03)


def test_only_what_the_prompt_asks_for() -> None:
    full = prompt(ENGLISH, "a", "b")
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(ask(full.replace('"article_1_score"', '"score"')))
    assert "insight" not in json.loads(ask(full.replace('"insight"', '"depth"')))
    names = [c.criterion for c in rubric(ENGLISH).criteria["insight"]]
    assert [mark["criterion"] for mark in json.loads(ask(full))["insight"]] == names
    assert [m["criterion"] for m in json.loads(ask(full.replace("word for word", "")))["insight"]] != names
    scored = json.loads(ask(full.replace("from 0 to 10", "")))["insight"]
    assert all(mark["article_1_score"] <= 5 for mark in scored)
