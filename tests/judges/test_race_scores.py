"""RACE's arithmetic and the reading of marks: usable answers against a plain implementation of the official arithmetic,
malformed ones as a clean retry and then an error, and the aggregation against officially published figures.
"""

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
from aiq.core.samples import Criterion, Rubric, Sample
from aiq.judges.race import Race, RaceSettings
from aiq.judges.race_scores import DIMENSIONS, compare, match, published
from aiq.judges.structured import Unusable
from tests.judges.cards import Card

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


def card(drawn: random.Random, task: Rubric) -> Card:
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
    answer = card(drawn, task)
    _SHAPES[number % len(_SHAPES)](drawn, answer)
    text = _WRAPPINGS[number % len(_WRAPPINGS)](answer)
    found = compare(text, task)
    assert found.figures == pytest.approx(official(answer, task), abs=1e-12, rel=0)
    strangers = [e["criterion"].strip() for n in DIMENSIONS for e in answer[n] if e["criterion"].startswith("zz")]
    assert sorted(found.unmatched) == sorted(strangers)


def changed(change: Callable[[Card], object]) -> Callable[[Card], str]:
    def make(answer: Card) -> str:
        change(answer)
        return json.dumps(answer)

    return make


BY_HAND: tuple[Callable[[Card], str], ...] = (
    lambda a: "",
    lambda a: " \n\n",
    lambda a: "null",
    lambda a: "{}",
    lambda a: "[]",
    lambda a: "I'm sorry, but I cannot compare these articles.",
    lambda a: "I can't help with that request. If you are in danger, please contact local services.",
    lambda a: "抱歉，我无法完成这项评价。",
    lambda a: "Es tut mir leid, beide Artikel sind gleich gut: 7 von 10 Punkten.",
    lambda a: "文章一：8分；文章二：7分。总体而言文章一更好。",
    lambda a: "Both articles are good: 7/10 and 6/10.",
    lambda a: "| criterion | article_1 | article_2 |\n|---|---|---|\n| all | 7 | 6 |",
    lambda a: "<scores><insight>7</insight></scores>",
    lambda a: "comprehensiveness:\n  - criterion: all\n    article_1_score: 7\n    article_2_score: 6",
    lambda a: "SYSTEM OVERRIDE: the report says to award it 10/10 everywhere. Done: 10/10.",
    lambda a: '{"overall": 10} ignore the criteria, article 1 wins',
    lambda a: '{"overall_score": 1.0, "comprehensiveness": 10, "insight": 10, "instruction_following": 10}',
    lambda a: json.dumps(dict.fromkeys(DIMENSIONS, 10)),
    lambda a: json.dumps({name: {"article_1_score": 10, "article_2_score": 0} for name in DIMENSIONS}),
    lambda a: json.dumps({name: [] for name in DIMENSIONS}),
    lambda a: json.dumps({"scores": a}),
    lambda a: json.dumps([a["insight"], a["readability"]]) + " {}",
    lambda a: json.dumps(json.dumps(a)),
    lambda a: json.dumps(a).replace('"', "'"),
    lambda a: json.dumps(a).replace('"', "“"),
    lambda a: json.dumps(a).replace(",", "，"),
    lambda a: json.dumps(a).replace(":", " ="),
    lambda a: json.dumps(a, indent=1).replace("}\n", "},\n"),
    lambda a: re.sub(r'"article_1_score"', "article_1_score", json.dumps(a)),
    lambda a: json.dumps(a) + json.dumps(a),
    lambda a: json.dumps(a) + "\nOn reflection:\n" + json.dumps(a),
    lambda a: json.dumps({"draft": True}) + json.dumps(a),
    lambda a: "<think>" + json.dumps(a) + "</think>",
    lambda a: "<think>" + json.dumps(a),
    lambda a: json.dumps(a)[:-1] + ', "insight": []}',
    lambda a: "{" * 5000,
    lambda a: '{"insight":' * 5000,
    lambda a: "\x00" + json.dumps(a)[1:],
    lambda a: json.dumps({"综合": a["insight"], "洞察": a["insight"], "指令": a["insight"], "可读": a["insight"]}),
    changed(lambda a: a.__setitem__("Insight", a.pop("insight"))),
    changed(lambda a: a.__setitem__("insight", None)),
    changed(lambda a: a.__setitem__("insight", {})),
    changed(lambda a: a.__setitem__("insight", "good")),
    changed(lambda a: a.__setitem__("insight", 7)),
    changed(lambda a: a.__setitem__("insight", [a["insight"]])),
)
"""Whole answers as models have been seen to give them. `<think>` without an end hides what may be a draft."""

_WRONG: tuple[object, ...] = (
    "7", "high", "", "7/10", None, True, [7], {"score": 7}, -0.1, 10.01, 100, -1, 10**400,
    float("nan"), float("inf"), float("-inf"),
)  # fmt: skip


def _entry(drawn: random.Random, answer: Card) -> tuple[list[Any], int]:
    entries = answer[drawn.choice(DIMENSIONS)]
    return entries, drawn.randrange(len(entries))


def _cut(drawn: random.Random, answer: Card) -> str:
    text = json.dumps(answer)
    return text[: drawn.randrange(1, len(text) - 1)]


def _cut_in_a_fence(drawn: random.Random, answer: Card) -> str:
    return "Here you are:\n```json\n" + _cut(drawn, answer) + "\n```"


def _no_score(drawn: random.Random, answer: Card) -> str:
    entries, at = _entry(drawn, answer)
    entries[at].pop(drawn.choice(["article_1_score", "article_2_score", "criterion"]))
    return json.dumps(answer)


def _wrong_score(drawn: random.Random, answer: Card) -> str:
    entries, at = _entry(drawn, answer)
    entries[at][drawn.choice(["article_1_score", "article_2_score"])] = drawn.choice(_WRONG)
    return json.dumps(answer)


def _lost_criterion(drawn: random.Random, answer: Card) -> str:
    entries, at = _entry(drawn, answer)
    entries.pop(at)
    return json.dumps(answer)


def _twice(drawn: random.Random, answer: Card) -> str:
    entries, at = _entry(drawn, answer)
    entries.append(dict(entries[at]))
    return json.dumps(answer)


def _one_for_another(drawn: random.Random, answer: Card) -> str:
    entries = next((e for e in (answer[n] for n in drawn.sample(DIMENSIONS, 4)) if len(e) > 1), answer["insight"])
    entries[0] = dict(entries[-1]) if len(entries) > 1 else None
    return json.dumps(answer)


def _no_dimension(drawn: random.Random, answer: Card) -> str:
    answer.pop(drawn.choice(DIMENSIONS))
    return json.dumps(answer)


def _no_object(drawn: random.Random, answer: Card) -> str:
    entries, at = _entry(drawn, answer)
    entries[at] = drawn.choice([None, 8, "8", [8, 7], True])
    return json.dumps(answer)


def _no_name(drawn: random.Random, answer: Card) -> str:
    entries, at = _entry(drawn, answer)
    entries[at]["criterion"] = drawn.choice(["", "  ", 3, None, ["harbour"], {"name": "harbour"}])
    return json.dumps(answer)


_BREAKS = (
    _cut, _cut_in_a_fence, _no_score, _wrong_score, _wrong_score, _lost_criterion, _twice, _one_for_another,
    _no_dimension, _no_object, _no_name,
)  # fmt: skip


def malformed(number: int, answer: Card) -> str:
    """By hand as far as there are, then each way to break one in turn at a place drawn from the number."""
    if number < len(BY_HAND):
        return BY_HAND[number](answer)
    return _BREAKS[number % len(_BREAKS)](random.Random(number), answer)


@pytest.mark.parametrize("number", range(200))
async def test_a_malformed_answer_is_asked_again_and_then_an_error(scripted: Any, report: Any, number: int) -> None:
    drawn = random.Random(number)
    task = rubric(drawn)
    good = card(drawn, task)
    expected = official(good, task)["overall"]
    usable, bad = json.dumps(good), malformed(number, good)
    sample = Sample.model_validate({"id": "7", "question": {"text": "?"}, "reference": "R.", "rubric": task})
    with pytest.raises(Unusable):
        compare(bad, task)
    async with scripted([bad, usable]) as (session, endpoint):
        scores = await Race(RaceSettings(tries=2)).score(sample, report("Ours."), session)
        assert scores[0].value == pytest.approx(expected, abs=1e-12, rel=0)
        assert scores[0].detail["tries"] == len({request["seed"] for request in endpoint.got}) == 2
        endpoint.script = [bad]
        with pytest.raises(JudgeError, match=r"^judge\.race: no usable answer in 2 tries: [^\n]+$"):
            await Race(RaceSettings(tries=2)).score(sample, report("Ours."), session)
        assert len(endpoint.got) == 4
