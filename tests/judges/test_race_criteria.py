"""Generated criteria and weights for tasks that have none: averaged, adding up to 1, shared by all, never partial."""

import json
from typing import Any

import pytest

from aiq.core.samples import Question, Sample
from aiq.judges.race import Race, RaceSettings
from aiq.judges.race_criteria import Rubrics, TaskSettings
from aiq.judges.race_scores import DIMENSIONS
from tests.judges import parts
from tests.judges.parts import as_report, scripted
from tests.settings import configured

TASK = Sample(
    id="9", question=Question(text="Why did the port of Tessmark grow?"), reference="It grew because of rail."
)
CRITERIA = [{"criterion": "Causes", "explanation": "Names them.", "weight": 0.6}]
CRITERIA += [{"criterion": "Figures", "explanation": "Has some.", "weight": 0.41}]


def weights(*values: float) -> str:
    return json.dumps(dict(zip(DIMENSIONS, values, strict=True)))


def rubrics(**settings: Any) -> Rubrics:
    return Rubrics("race", configured(TaskSettings, criteria="generate", **settings))


def author(*answers: str) -> Any:
    """Answers questions for weights in turn by seed, and those for criteria with CRITERIA, named by dimension."""
    seeds: list[int] = []

    def answer(request: dict[str, Any]) -> str:
        prompt: str = request["messages"][-1]["content"]
        if "<dimension>" in prompt:
            name = prompt.split("<dimension>\n")[1].split("\n")[0]
            return "I thought of [1] and then:\n" + json.dumps(
                [{**entry, "criterion": f"{entry['criterion']} ({name})"} for entry in CRITERIA]
            )
        if request["seed"] not in seeds:
            seeds.append(request["seed"])
        return answers[seeds.index(request["seed"]) % len(answers)]

    return answer


async def test_weights_are_averaged_and_everything_adds_up() -> None:
    answer = author(weights(0.4, 0.3, 0.2, 0.1), weights(0.2, 0.5, 0.2, 0.1))
    async with scripted(answer) as (session, endpoint):
        rubric, generated = await rubrics(generation_samples=2).rubric(TASK, session)
    async with scripted(answer, sample_id="other") as (session, other_endpoint):
        assert await rubrics(generation_samples=2).rubric(TASK, session) == (rubric, generated) == (rubric, True)
    seeds = [[request["seed"] for request in model.got] for model in (endpoint, other_endpoint)]
    assert seeds[0] == seeds[1]  # whichever sample asks
    assert len(set(seeds[0])) == 6
    assert list(rubric.dimension_weight.values()) == pytest.approx([0.3, 0.4, 0.2, 0.1])
    assert [c.criterion for c in rubric.criteria["insight"]] == ["Causes (insight)", "Figures (insight)"]
    for items in rubric.criteria.values():
        assert sum(c.weight for c in items) == pytest.approx(1, abs=1e-12)
        assert items[0].weight == pytest.approx(0.6 / 1.01)
    assert len(endpoint.got) == 2 + 4
    assert {request["role"] for request in endpoint.got} == {"judge.race_criteria"}


async def test_race_judges_by_generated_criteria_and_shows_them() -> None:
    write = author(weights(0.25, 0.25, 0.25, 0.25))

    def answer(request: dict[str, Any]) -> str:
        prompt: str = request["messages"][-1]["content"]
        if request["role"] != "judge.race":
            return str(write(request))
        criteria = json.loads(prompt.split("<criteria>")[1].split("</criteria>")[0])
        return json.dumps(
            {
                name: [{"criterion": c["criterion"], "article_1_score": 8, "article_2_score": 8} for c in items]
                for name, items in criteria.items()
            }
        )

    async with scripted(answer) as (session, _):
        scores = await Race(configured(RaceSettings, criteria="generate")).score(TASK, as_report("Rail."), session)
    assert [score.value for score in scores] == [0.5] * 5
    rubric: Any = scores[0].detail["rubric"]
    assert rubric["criteria"]["insight"][0]["criterion"] == "Causes (insight)"


async def test_a_datasets_own_criteria_come_first() -> None:
    async with scripted(["never asked"]) as (session, endpoint):
        assert await rubrics().rubric(parts.TASK, session) == (parts.RUBRIC, False)
    assert endpoint.got == []


@pytest.mark.parametrize(
    "text", ["Why did the port of Tessmark grow? Compare it with Orlune.", "泰斯港为什么增长？请比较奥伦港。"]
)
async def test_the_offline_model_writes_criteria_about_the_task(offline: Any, text: str) -> None:
    language = "en" if text.isascii() else "zh"
    sample = Sample(id="9", question=Question(text=text, language=language))
    async with offline() as session:
        rubric, _ = await rubrics().rubric(sample, session)
        other, _ = await rubrics(generation_samples=1).rubric(sample, session)
    assert rubric.dimension_weight["insight"] == max(rubric.dimension_weight.values())
    assert sum(rubric.dimension_weight.values()) == pytest.approx(1)
    assert rubric.dimension_weight != other.dimension_weight
    assert rubric.criteria == other.criteria
    assert all(len(items) >= 2 for items in rubric.criteria.values())
    assert ("Tessmark" if language == "en" else "港") in rubric.criteria["insight"][0].criterion
