"""RACE without a reference: marks from 0 to 10 for each criterion, and no score unless all of them are there."""

import json
from typing import Any

import pytest

from aiq.core.errors import DatasetError, JudgeError
from aiq.core.reports import Score
from aiq.core.samples import Sample
from aiq.judges.race_absolute import RaceAbsolute, RaceAbsoluteSettings
from aiq.judges.race_scores import DIMENSIONS
from tests.judges.parts import CHINESE_TASK, RUBRIC, TASK, as_report, judged, points
from tests.settings import configured

OURS = "# Port\n\nThe port grew fast [1].\n\n## References\n\n[1] A - https://a.example"
ALONE = TASK.model_copy(update={"reference": None})


def judge(**settings: Any) -> RaceAbsolute:
    return RaceAbsolute(configured(RaceAbsoluteSettings, **settings))


async def run(answers: Any, task: Sample = ALONE, **settings: Any) -> tuple[list[Score], Any]:
    return await judged(judge(**settings), answers, OURS, task)


async def test_marks_become_weighted_means() -> None:
    answer = points(RUBRIC)
    answer["insight"][0]["score"] = 2
    scores, endpoint = await run([json.dumps(answer)])
    insight = 0.7 * 2 + 0.3 * 7
    values = [0.65 * 7 + 0.35 * insight, 7, insight, 7, 7]
    assert [score.value for score in scores] == pytest.approx(values)
    assert [score.metric for score in scores] == [metric.name for metric in RaceAbsolute.metrics]
    prompt = endpoint.prompt()
    assert "<article>\n# Port\n\nThe port grew fast.\n</article>" in prompt
    assert "weight" not in prompt
    _, endpoint = await run([json.dumps(answer)], CHINESE_TASK)
    assert endpoint.prompt().startswith("请评价一篇研究报告")


async def test_dimension_weights_need_not_add_up_to_1() -> None:
    heavy = RUBRIC.model_copy(update={"dimension_weight": dict.fromkeys(DIMENSIONS, 3.0)})
    scores, _ = await run([json.dumps(points(heavy, 10))], ALONE.model_copy(update={"rubric": heavy}))
    assert scores[0].value == 10


async def test_tasks_with_a_reference_can_be_left_to_race() -> None:
    scores, endpoint = await run(["never"], TASK, tasks="without_reference")
    assert all("has a reference report" in (score.not_applicable or "") for score in scores)
    assert endpoint.got == []
    task, restricted = TASK.model_copy(update={"rubric": None}), judge(tasks="without_reference")
    restricted.check([task])
    assert (restricted.metrics_for(task), restricted.metrics_for(ALONE)) == ((), RaceAbsolute.metrics)
    with pytest.raises(DatasetError, match=r"judge\.race_absolute\.criteria=generate"):
        judge().check([task])


@pytest.mark.parametrize("bad", [{"score": "7"}, {"score": 10.5}, {"score": True}, {"score": None}, {"criterion": ""}])
async def test_a_malformed_answer_is_asked_again_and_then_an_error(bad: dict[str, Any]) -> None:
    answer = points(RUBRIC)
    answer["insight"][0] |= bad
    scores, _ = await run([json.dumps(answer), json.dumps(points(RUBRIC))], tries=2)
    assert scores[0].value == pytest.approx(7)
    assert scores[0].detail["tries"] == 2
    with pytest.raises(JudgeError, match=r"judge\.race_absolute: no usable answer in 2 tries"):
        await run([json.dumps(answer)], tries=2)


async def test_the_offline_judge_rewards_content(offline: Any) -> None:
    rich = (
        "# Tessmark\n\n## Depth\n\nThe port of Tessmark moved 12 ships in 2025, because rail came in 2019. "
        "However, figures differ: 14 by the harbour, compared with 12.\n\n## Figures\n\n- 2019: 8 ships\n- 2025: 12"
    )
    async with offline() as session:
        scores = [await judge().score(ALONE, as_report(text), session) for text in ("", "I do not know.", rich)]
    none, little, much = (rows[0].value or 0.0 for rows in scores)
    assert 0 == none <= little < much - 1 <= 9
