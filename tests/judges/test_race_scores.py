"""RACE's arithmetic against a plain implementation of the official one, and against officially published figures."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.errors import JudgeError
from aiq.core.samples import Criterion, Rubric
from aiq.judges.race import Race, RaceSettings
from aiq.judges.race_scores import DIMENSIONS, compare, match, published
from tests.judges.parts import RUBRIC, TASK, Card, as_report, card, scripted
from tests.settings import configured

NAMES = st.text(alphabet="abcAB ", min_size=1, max_size=6).filter(lambda name: name.strip() == name)


def criteria(*named: tuple[str, float]) -> tuple[Criterion, ...]:
    return tuple(Criterion(criterion=name, explanation="", weight=weight) for name, weight in named)


def test_matching_goes_from_equal_to_contained() -> None:
    named = criteria(("A", 1), ("A and B", 1), ("Costs", 1))
    assert match(["A and B.", "a", "Running COSTS"], named) == [1, 0, 2]
    assert match(["nothing like it at ll", "A"], criteria(("A", 1))) == [None, 0]
    assert match(["A", "A"], criteria(("A", 1), ("B", 1))) == [0, 0]


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True), st.lists(NAMES, max_size=6))
def test_no_criterion_is_given_away_twice_by_containment(keys: list[str], names: list[str]) -> None:
    found = match(names, criteria(*((key, 1.0) for key in keys)))
    equal = [key.lower() for key in keys]
    for position in range(len(keys)):
        takers = [name for name, at in zip(names, found, strict=True) if at == position]
        assert len([name for name in takers if name.lower() not in equal]) <= 1


def worked(first: tuple[float, float], second: tuple[float, float]) -> dict[str, Any]:
    """Shares and means of one dimension with criteria of weights 0.75 and 0.25, every dimension alike."""
    rubric = Rubric(
        dimension_weight=dict.fromkeys(DIMENSIONS, 0.25),
        criteria=dict.fromkeys(DIMENSIONS, criteria(("Depth", 0.75), ("Breadth", 0.25))),
    )
    marks = [("depth ", *first), ("Breadth of it", *second)]
    entries = [{"criterion": n, "article_1_score": ours, "article_2_score": theirs} for n, ours, theirs in marks]
    found = compare(json.dumps(dict.fromkeys(DIMENSIONS, entries)), rubric)
    return {"share": found.figures["insight"], **{side: means["insight"] for side, means in found.means.items()}}


def test_a_worked_example() -> None:
    assert worked((8, 6), (4, 10)) == {"share": 0.5, "ours": 7.0, "reference": 7.0}


def test_nothing_against_nothing_is_zero_as_officially() -> None:
    assert worked((0, 0), (0, 0))["share"] == 0.0


@pytest.mark.shared_data
def test_published_results_to_all_printed_digits(shared_data: Path, read_rows: Any) -> None:
    folder = shared_data / "deep_research_bench/results/race"
    rows = read_rows(folder / "claude-3-7-sonnet-latest.raw_results.jsonl")
    names = (*DIMENSIONS, "overall_score")
    means = published([{name: row[name] for name in names} for row in rows])
    printed = (folder / "claude-3-7-sonnet-latest.race_result.txt").read_text(encoding="utf-8")
    figures = re.findall(r"^(.+): ([\d.]+)$", printed, re.MULTILINE)
    assert len(rows) == 100
    assert len(figures) == 5
    for label, figure in figures:
        name = label.lower().replace(" ", "_")
        assert f"{means[name]:.4f}" == figure, name


_WORDS = (
    "harbour", "tariff", "census", "dialect", "glacier", "subsidy", "voltage", "migration", "orchard", "treaty",
    "铁路", "人口", "关税", "冰川", "方言",
)  # fmt: skip


def rubric(drawn: random.Random) -> Rubric:
    """One to eight criteria a dimension, none contained in another, weights as uneven as real ones."""

    def criteria(dimension: str) -> tuple[Criterion, ...]:
        chosen = drawn.sample(_WORDS, drawn.randint(1, 8))
        weights = [drawn.uniform(0.02, 1) for _ in chosen]
        return tuple(
            Criterion(criterion=f"{word} in {dimension}", explanation=f"On {word}.", weight=round(weight, 3))
            for word, weight in zip(chosen, weights, strict=True)
        )

    return Rubric(
        dimension_weight={name: round(drawn.uniform(0.05, 0.5), 2) for name in DIMENSIONS},
        criteria={name: criteria(name) for name in DIMENSIONS},
    )


def drawn_card(drawn: random.Random, task: Rubric) -> Card:
    """A complete answer with scores as models write them: whole, halves, hundredths, zero and ten among them."""

    def score() -> float:
        return drawn.choice([drawn.randint(0, 10), drawn.randint(0, 20) / 2, round(drawn.uniform(0, 10), 2), 0, 10.0])

    return {
        name: [
            {"criterion": c.criterion, "analysis": "…", "article_1_score": score(), "article_2_score": score()}
            for c in task.criteria[name]
        ]
        for name in DIMENSIONS
    }


def official(answer: Card, task: Rubric) -> dict[str, float]:
    """The official score calculation, written down plainly from its definition: no code of ours is used."""
    totals = [0.0, 0.0]
    shares = {}
    for dimension, entries in ((name, answer[name]) for name in DIMENSIONS):
        listed = [(c.criterion, c.weight) for c in task.criteria[dimension]]
        sums, weights = [0.0, 0.0], 0.0
        for entry in entries:
            name = entry["criterion"].strip()
            weight = dict(listed).get(name)
            if weight is None:
                weight = {key.lower(): value for key, value in listed}.get(name.lower())
            if weight is None:
                inside = [v for key, v in listed if name.lower() in key.lower() or key.lower() in name.lower()]
                weight = inside[0] if inside else sum(value for _, value in listed) / len(listed)
            sums[0] += entry["article_1_score"] * weight
            sums[1] += entry["article_2_score"] * weight
            weights += weight
        means = [one / weights for one in sums]
        shares[dimension] = means[0] / (means[0] + means[1]) if sum(means) > 0 else 0.0
        totals = [total + mean * task.dimension_weight[dimension] for total, mean in zip(totals, means, strict=True)]
    shares["overall"] = totals[0] / sum(totals) if sum(totals) > 0 else 0.0
    return shares


def _respell(drawn: random.Random, answer: Card) -> None:
    spellings: list[Callable[[str], str]] = [
        str.upper, str.title, lambda n: f" {n}\n", lambda n: n[:-4], lambda n: f"{n} (weighted)",
        lambda n: "zz" + "y" * len(n),
    ]  # fmt: skip
    for entries in answer.values():
        for entry in entries:
            if drawn.random() < 0.6:
                entry["criterion"] = drawn.choice(spellings)(entry["criterion"])


def _more_keys(drawn: random.Random, answer: Card) -> None:
    for entries in answer.values():
        for entry in entries:
            entry |= {"article_1_analysis": '"quoted" {braces} [1]', "weight": 99, "score": "n/a"}
            if drawn.random() < 0.5:
                entry.pop("analysis")


def _other_order(drawn: random.Random, answer: Card) -> None:
    for name in drawn.sample(DIMENSIONS, 4):
        answer[name] = answer.pop(name)
        drawn.shuffle(answer[name])


_SHAPES: tuple[Callable[[random.Random, Card], object], ...] = (
    lambda drawn, answer: None,
    _respell,
    _more_keys,
    _other_order,
    lambda drawn, answer: [change(drawn, answer) for change in (_respell, _more_keys, _other_order)],
)
_WRAPPINGS: tuple[Callable[[Card], str], ...] = (
    lambda a: json.dumps(a),
    lambda a: json.dumps(a, ensure_ascii=False, indent=2),
    lambda a: f"```json\n{json.dumps(a)}\n```",
    lambda a: f"Here is my evaluation [1], as asked.\n\n{json.dumps(a, indent=4)}\n\nI hope that it helps!",
    lambda a: f'<think>Perhaps {{"insight": 3}}?</think>\n以下是评分：\n{json.dumps(a, ensure_ascii=False)}',
    lambda a: f"<json_output>\n{json.dumps(a | {'overall': 11, 'note': 'article 1 wins'})}\n</json_output>",
)


@pytest.mark.parametrize("number", range(120))
def test_usable_answers_give_the_official_figures(number: int) -> None:
    drawn = random.Random(number)
    task = rubric(drawn)
    answer = drawn_card(drawn, task)
    _SHAPES[number % len(_SHAPES)](drawn, answer)
    text = _WRAPPINGS[number % len(_WRAPPINGS)](answer)
    found = compare(text, task)
    assert found.figures == pytest.approx(official(answer, task), abs=1e-12, rel=0)
    strangers = [e["criterion"].strip() for n in DIMENSIONS for e in answer[n] if e["criterion"].startswith("zz")]
    assert sorted(found.unmatched) == sorted(strangers)


@pytest.mark.parametrize("bad", ["I like both.", '{"insight": []}', json.dumps(card(RUBRIC))[:-1]])
async def test_a_malformed_answer_is_asked_again_and_then_an_error(bad: str) -> None:
    async with scripted([bad, json.dumps(card(RUBRIC, 6, 4))]) as (session, endpoint):
        scores = await Race(configured(RaceSettings, tries=2)).score(TASK, as_report("Ours."), session)
        assert scores[0].value == pytest.approx(0.6, abs=1e-12, rel=0)
        assert scores[0].detail["tries"] == len({request["seed"] for request in endpoint.got}) == 2
        endpoint.script = [bad]
        with pytest.raises(JudgeError, match=r"^judge\.race: no usable answer in 2 tries: [^\n]+$"):
            await Race(configured(RaceSettings, tries=2)).score(TASK, as_report("Ours."), session)
        assert len(endpoint.got) == 4
