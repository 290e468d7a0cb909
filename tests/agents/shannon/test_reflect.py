"""The quality of a report, and when it is rewritten."""

from typing import Any

import pytest

from tests.agents.shannon.runs import AREAS, QUICK, Ran, Said, in_order, report, research

WHOLE, HALF = report(*AREAS), report(AREAS[0])


async def reflect(said: Said, **reflection: Any) -> Ran:
    return await research({"synthesizer": said}, {**QUICK, "reflection": reflection})


def scores(ran: Ran) -> list[Any]:
    return [decision.value for decision in ran.decided("quality")]


@pytest.mark.parametrize(
    ("evaluator", "said", "reflection", "found"),
    [
        ("constant", [HALF], {}, [0.85]),
        ("constant", ["So.", WHOLE], {}, [0.3, 0.85]),
        ("constant", [HALF], {"threshold": 0.9}, [0.85, 0.85]),
        ("coverage", [HALF, WHOLE], {}, [0.5, 1.0]),
        ("coverage", [HALF], {}, [0.5, 0.5]),  # two retries are one new report
        ("coverage", [HALF], {"max_retries": 0}, [0.5]),
        ("coverage", [HALF], {"max_retries": 4}, [0.5] * 4),
    ],
)
async def test_a_report_below_the_threshold_is_rewritten(
    evaluator: str, said: list[str], reflection: dict[str, Any], found: list[float]
) -> None:
    ran = await reflect(in_order(*said), evaluator=evaluator, **reflection)
    assert scores(ran) == found
    assert len(ran.asked("synthesizer")) == len(found)
    assert ran.extras["quality"] == found[-1]
    assert ran.report.raw_text.startswith(said[min(len(found), len(said)) - 1])


async def test_the_writer_is_told_what_the_report_lacks_and_shown_it() -> None:
    ran = await reflect(in_order(HALF, WHOLE))
    prompt = ran.prompt("synthesizer")
    assert "the section Trade has 0 of 600 characters, 0 of 2 citations" in prompt
    assert f"<draft>\n{HALF}\n</draft>" in prompt
    assert "An earlier version" not in ran.prompt("synthesizer", 0)


@pytest.mark.parametrize(
    ("said", "quality", "reports"),
    [
        ([{"score": 0.9, "feedback": ""}], 0.9, 1),
        ([{"score": 0.2, "feedback": "Name the mayor."}, {"score": 0.7}], 0.7, 2),
        ([500], 0.5, 1),  # nobody evaluates: the report stays
        ([{"score": 3}], 0.5, 1),
        ([{"score": 0.2}, 500], 0.2, 2),  # the last score counts
    ],
)
async def test_a_model_may_evaluate(said: list[Any], quality: float, reports: int) -> None:
    parts: dict[str, Said] = {"synthesizer": in_order(HALF, WHOLE), "evaluator": in_order(*said)}
    ran = await research(parts, {**QUICK, "reflection": {"evaluator": "model"}})
    assert ran.extras["quality"] == quality
    assert len(ran.asked("synthesizer")) == reports
    assert ("Name the mayor." in ran.prompt("synthesizer")) is ("feedback" in str(said[0]) and quality == 0.7)
    assert {request.role for request in ran.asked("evaluator")} == {"shannon.small.evaluator"}


async def test_a_report_that_cannot_be_rewritten_stays() -> None:
    ran = await reflect(in_order(HALF, 500))
    assert ran.recovered == ["no_synthesis"]
    assert ran.report.raw_text.startswith(HALF)
    assert ran.extras["quality"] == 0.5
