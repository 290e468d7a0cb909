"""FreshEval: what the judge model is shown, how its verdicts are scored, and samples that it cannot judge."""

import re
from typing import Any

import pytest
from pydantic import ValidationError

from aiq.core.errors import DatasetError
from aiq.core.samples import Question, Sample
from aiq.judges.fresheval import FreshEval, FreshEvalSettings
from tests.judges.parts import as_report, scripted
from tests.settings import configured

SAMPLE = Sample(id="3", question=Question(text="Who is the mayor of Tessmark?"), answers=("Ilan Corvey", "Corvey"))
ANSWER = "It is Ilan Corvey [1].\n\n## References\n\n[1] Tessmark - https://atlas.example/tessmark"


def judge(**settings: Any) -> FreshEval:
    return FreshEval(configured(FreshEvalSettings, **settings))


async def test_verdicts_become_values() -> None:
    async with scripted(["comment: yes\nevaluation: correct", "comment: no\nevaluation: incorrect"]) as (session, _):
        (right,) = await judge().score(SAMPLE, as_report(ANSWER), session)
        (wrong,) = await judge().score(SAMPLE, as_report(ANSWER), session)
    assert (right.metric, right.value, wrong.value) == ("fresheval.relaxed", 1.0, 0.0)
    judgement = {"model": "m", "order": "first", "vote": 1, "tries": 1, "value": 1.0}
    assert right.detail == {
        "tries": 1,
        "judgements": [{**judgement, "answer": "comment: yes\nevaluation: correct"}],
    }


async def test_the_model_sees_the_case_without_the_reference_list() -> None:
    async with scripted(["evaluation: correct"]) as (session, endpoint):
        await judge().score(SAMPLE, as_report(ANSWER), session)
    prompt = endpoint.prompt()
    assert endpoint.got[0]["role"] == "judge.fresheval"
    assert "Current date: 2026-11-01" in prompt
    assert "<accepted_answers>\nIlan Corvey | Corvey\n</accepted_answers>" in prompt
    assert "<response>\nIt is Ilan Corvey [1].\n</response>" in prompt
    assert "atlas.example" not in prompt
    static = prompt[: prompt.index("Current date")]
    assert "Corvey" not in static
    assert len(re.findall(r"^evaluation: (?:in)?correct$", static, re.MULTILINE)) >= 10


@pytest.mark.parametrize(("credited", "value"), [((), 0.0), (("b",), 0.0), (("a", "c"), 1.0), (("a", "b", "c"), 1.0)])
async def test_the_majority_of_a_panel_decides(credited: tuple[str, ...], value: float) -> None:
    def answer(request: dict[str, Any]) -> str:
        return f"evaluation: {'correct' if request['model'] in credited else 'incorrect'}"

    async with scripted(answer) as (session, endpoint):
        (score,) = await judge(panel=["a", "b", "c"]).score(SAMPLE, as_report(ANSWER), session)
    assert score.value == value
    assert sorted(request["model"] for request in endpoint.got) == ["a", "b", "c"]
    noise: Any = score.detail["noise"]
    assert (noise["sd"] > 0) == (len(credited) in (1, 2))


@pytest.mark.parametrize("settings", [{"votes": 2}, {"panel": ["a", "b"]}, {"panel": ["a", "b"], "votes": 3}])
def test_a_majority_needs_an_odd_number(settings: dict[str, Any]) -> None:
    judge(panel=["a", "b", "c"], votes=3)
    with pytest.raises(ValidationError, match="votes times models must be an odd number"):
        judge(**settings)


async def test_both_modes_ask_twice_with_different_rules() -> None:
    def answer(request: dict[str, Any]) -> str:
        strict = "Every further statement" in request["messages"][-1]["content"]
        return "evaluation: incorrect" if strict else "evaluation: correct"

    both = judge(mode="both")
    async with scripted(answer) as (session, _):
        scores = await both.score(SAMPLE, as_report(ANSWER), session)
    assert {score.metric: score.value for score in scores} == {"fresheval.relaxed": 1.0, "fresheval.strict": 0.0}
    assert [metric.name for metric in both.metrics] == ["fresheval.relaxed", "fresheval.strict"]


@pytest.mark.parametrize(
    ("response", "relaxed", "strict"),
    [
        ("As of my last update there were 21 provinces.", "correct", "incorrect"),
        ("1. Ambel 2. Lower Tiss 3. Sorn", "correct", "incorrect"),
        ("Most sources say that it was Henrike.", "incorrect", "incorrect"),
        ("As of my last update, it was Maren Ilvik, in 1928.", "correct", "correct"),
    ],
)
async def test_the_modes_differ_in_stale_and_unstated_answers_as_officially(
    response: str, relaxed: str, strict: str
) -> None:
    async with scripted(["evaluation: correct"]) as (session, endpoint):
        await judge(mode="both").score(SAMPLE, as_report(ANSWER), session)
    for number, verdict in enumerate((relaxed, strict)):
        example = endpoint.prompt(number).split(f"response: {response}")[1]
        assert re.search(r"^evaluation: (\w+)$", example, re.MULTILINE)[1] == verdict  # type: ignore[index]
    assert endpoint.got[0]["temperature"] == 0


def test_a_sample_without_answers_is_found_before_the_run() -> None:
    judge().check([SAMPLE])
    with pytest.raises(DatasetError, match=r"sample 9 has no accepted answers.*dataset\.ids"):
        judge().check([SAMPLE, Sample(id="9", question=Question(text="?"))])


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("Ilan Corvey is the mayor of Tessmark [1].", 1.0),
        ("The mayor is Corvey.", 1.0),
        ("Oda Prill is the mayor of Tessmark.", 0.0),
        ("I don't have enough information to say who it is.", 0.0),
    ],
)
async def test_the_offline_judge_over_the_real_stack(offline: Any, answer: str, value: float) -> None:
    async with offline() as session:
        (score,) = await judge().score(SAMPLE, as_report(answer), session)
    assert score.value == value
    assert session.usage.by_role()["judge.fresheval"].calls == 1
