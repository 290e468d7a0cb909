"""Votes, orders and panels: every judgement is a separate call, all of them count, and their spread is shown."""

import json
from statistics import stdev
from typing import Any

import pytest
from pydantic import ValidationError

from aiq.core.errors import JudgeError
from aiq.core.llm_settings import LlmSettings
from aiq.core.reports import Score
from aiq.core.samples import Rubric
from aiq.experiment.provenance import models_of_role
from aiq.judges.race import Race, RaceSettings
from tests.judges.parts import RUBRIC, TASK, as_report, card, judged
from tests.settings import configured

OURS = "Our port report says this."


def written(rubric: Rubric, first: float, second: float) -> str:
    return json.dumps(card(rubric, first, second))


def ours_in_front(request: dict[str, Any]) -> bool:
    prompt: str = request["messages"][-1]["content"]
    return f"<article_1>\n{OURS}\n</article_1>" in prompt


async def run(answer: Any, **settings: Any) -> tuple[list[Score], Any]:
    return await judged(Race(configured(RaceSettings, **settings)), answer, OURS)


async def test_marks_of_swapped_articles_are_swapped_back() -> None:
    def answer(request: dict[str, Any]) -> str:
        return written(RUBRIC, 6, 4) if ours_in_front(request) else written(RUBRIC, 5, 5.5)  # ours gets 5.5 if second

    scores, endpoint = await run(answer, order="both")
    assert [ours_in_front(request) for request in endpoint.got].count(True) == 1
    shares = [6 / 10, 5.5 / 10.5]
    assert scores[0].value == pytest.approx(sum(shares) / 2, abs=1e-12)
    assert scores[0].detail["ours"] == pytest.approx(5.75)
    assert scores[0].detail["reference"] == pytest.approx(4.5)
    noise: Any = scores[0].detail["noise"]
    assert noise["order_gap"] == pytest.approx(shares[0] - shares[1])
    assert (noise["votes"], noise["members"], noise["judgements"]) == (None, None, 2)
    marks: Any = scores[1].detail["judgements"]
    assert [(row["order"], row["marks"][0]["ours"]) for row in marks] == [("first", 6.0), ("swapped", 5.5)]
    single, _ = await run(answer, order="swapped")
    assert single[0].value == pytest.approx(shares[1], abs=1e-12)


async def test_votes_have_their_own_seeds_and_are_averaged() -> None:
    seeds: list[int] = []

    def answer(request: dict[str, Any]) -> str:
        if request["seed"] not in seeds:
            seeds.append(request["seed"])
        return written(RUBRIC, 2 + 2 * (request["seed"] % 3), 4)

    single, _ = await run(answer, temperature=0.7)
    assert "noise" not in single[0].detail
    seeds.clear()
    scores, endpoint = await run(answer, votes=5, temperature=0.7)
    assert len(seeds) == len(endpoint.got) == 5
    assert {request["temperature"] for request in endpoint.got} == {0.7}
    shares = [(2 + 2 * (seed % 3)) / (6 + 2 * (seed % 3)) for seed in seeds]
    for score in scores:
        judgements: Any = score.detail["judgements"]
        assert score.value == pytest.approx(sum(shares) / 5, abs=1e-12)
        assert sorted(row["value"] for row in judgements) == pytest.approx(sorted(shares))
        assert [row["vote"] for row in judgements] == [1, 2, 3, 4, 5]
        noise: Any = score.detail["noise"]
        assert noise["sd"] == pytest.approx(stdev(shares))
    first: Any = scores[0].detail["judgements"]
    assert first[0]["value"] == single[0].value  # more votes leave the first unchanged


async def test_each_member_of_a_panel_is_asked_and_named() -> None:
    quality = {"strict-1": 3.0, "kind-1": 9.0}
    scores, endpoint = await run(lambda r: written(RUBRIC, quality[r["model"]], 3), panel=list(quality), votes=2)
    assert sorted(request["model"] for request in endpoint.got) == ["kind-1", "kind-1", "strict-1", "strict-1"]
    assert scores[0].value == pytest.approx((0.5 + 0.75) / 2)
    judgements: Any = scores[0].detail["judgements"]
    assert [row["model"] for row in judgements] == ["strict-1", "strict-1", "kind-1", "kind-1"]
    noise: Any = scores[0].detail["noise"]
    assert noise["members"] == pytest.approx(stdev([0.5, 0.75]))
    assert noise["votes"] == 0


def test_the_rows_name_the_panel_and_the_other_roles_models() -> None:
    llm = configured(LlmSettings, base_url="http://model.example/v1", model="m")
    judge: Any = Race(configured(RaceSettings, panel=("a", "b"), cleaning="model"))
    single: Any = Race(configured(RaceSettings))
    assert {role: models_of_role(judge, llm, role) for role in judge.roles} == {
        "judge.race": ("a", "b"),
        "judge.race_clean": ("m",),
    }
    assert models_of_role(single, llm, "judge.race") == ("m",)


async def test_one_unusable_judgement_fails_the_judge_as_a_whole() -> None:
    def answer(request: dict[str, Any]) -> str:
        refused = request["model"] == "b" and not ours_in_front(request)
        return "I would rather not." if refused else written(RUBRIC, 6, 4)

    with pytest.raises(JudgeError, match=r"no usable answer in 2 tries.*\(b, order swapped, vote 1: one of 4 judg"):
        await run(answer, panel=["a", "b"], order="both", tries=2)


@pytest.mark.parametrize(
    "settings",
    [{"votes": 0}, {"panel": ["a", "a"]}, {"panel": [" "]}],
)
def test_invalid_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        configured(RaceSettings, **settings)
    assert configured(RaceSettings, panel="a").panel == ("a",)  # a panel of one needs no brackets


async def test_the_offline_stack_answers_votes_orders_and_panels(offline: Any) -> None:
    async def judged() -> Score:
        async with offline() as session:
            settings = configured(RaceSettings, votes=2, order="both", panel=("offline-1", "offline-2"))
            return (await Race(settings).score(TASK, as_report(OURS), session))[0]

    first, second = await judged(), await judged()
    assert first == second
    judgements: Any = first.detail["judgements"]
    assert len({row["value"] for row in judgements}) > 4  # seeds, orders and models really differ
