"""One cited page: repeated statements by a model, long pages in parts, statements in several questions."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from aiq.core.errors import ToolError
from aiq.judges.fact_pages import PageJudge
from aiq.judges.fact_questions import questions
from aiq.judges.fact_scores import CitedPage

URL = "https://a.example/x"
SAID = ["Tessmark has 12 ships.", "There are twelve ships in Tessmark.", "Tessmark is old."]


def judge(**settings: Any) -> PageJudge:
    common: dict[str, Any] = {
        "tries": 2,
        "by_model": False,
        "reader": None,
        "max_page_chars": 1000,
        "page_chunks": 1,
        "statements_per_call": None,
        "support": "whole",
    }
    return PageJudge(questions(None), **{**common, **settings})


def verdicts(*words: str) -> str:
    return json.dumps({"verdicts": [{"statement": n, "verdict": word} for n, word in enumerate(words, 1)]})


Answer = Callable[[dict[str, Any]], str]


async def judged(
    scripted: Any, answers: Sequence[str] | Answer, text: str = "Tessmark.", said: Sequence[str] = SAID, **settings: Any
) -> tuple[CitedPage, Any]:
    async with scripted(answers, pages={URL: text}) as (session, endpoint):
        return await judge(**settings).judge(session, "en", (URL, said)), endpoint


async def test_a_model_puts_statements_together_and_the_first_of_each_is_judged(scripted: Any) -> None:
    answers = ['{"groups": [[3], [2, 1]]}', verdicts("supported", "unsupported")]
    page, endpoint = await judged(scripted, answers, by_model=True)
    assert [(one.statement, one.verdict) for one in page.judged] == [(SAID[0], "supported"), (SAID[2], "unsupported")]
    assert [request["role"] for request in endpoint.got] == ["judge.fact_dedup", "judge.fact_validate"]
    assert "1. Tessmark has 12 ships.\n2. There are twelve" in endpoint.prompt(0)
    _, endpoint = await judged(scripted, [verdicts("supported")], said=SAID[:1], by_model=True)
    assert len(endpoint.got) == 1  # one statement has no like


@pytest.mark.parametrize(
    "bad",
    ["[[1, 2], [3]]", '{"groups": [[1, 2]]}', '{"groups": [[1, 2], [2, 3]]}', '{"groups": [[1, 2, 3, 4]]}',
     '{"groups": [[0, 1, 2]]}', '{"groups": [[1, 2, 3], []]}', '{"groups": [["1", "2", "3"]]}',
     '{"groups": [[true, 2, 3]]}', '{"groups": [1, 2, 3]}', '{"groups": null}', "all the same", ""],
)  # fmt: skip
async def test_groups_that_do_not_add_up_are_an_error_of_the_page(scripted: Any, bad: str) -> None:
    page, endpoint = await judged(scripted, [bad], by_model=True)
    assert page.error is not None
    assert page.error.startswith("judge.fact_dedup: no usable answer in 2 tries")
    assert page.judged == ()
    assert len(endpoint.got) == 2


async def test_a_long_page_is_read_in_parts_and_said_anywhere_is_said(scripted: Any) -> None:
    parts = {
        "aaa": verdicts("unsupported", "unknown", "unsupported"),
        "bbb": verdicts("supported", "unknown", "unknown"),
        "ccc": verdicts("supported", "supported", "supported"),
    }

    def answer(request: dict[str, Any]) -> str:
        read = request["messages"][-1]["content"].split("<page>")[1].split("</page>")[0]
        return next(told for part, told in parts.items() if part in read)

    text = "a" * 91 + "b" * 100 + "c" * 100  # behind the title and a blank line: 100 characters a part
    page, endpoint = await judged(scripted, answer, text, max_page_chars=100, page_chunks=2)
    assert [one.verdict for one in page.judged] == ["supported", "unknown", "unsupported"]
    assert len(endpoint.got) == 2
    page, _ = await judged(scripted, answer, text, max_page_chars=100, page_chunks=9)
    assert {one.verdict for one in page.judged} == {"supported"}
    _, endpoint = await judged(scripted, [verdicts("unknown", "unknown", "unknown")], "", page_chunks=3)
    assert len(endpoint.got) == 1


async def test_statements_in_several_questions_are_numbered_anew_in_each(scripted: Any) -> None:
    answers = [verdicts("supported", "unsupported"), verdicts("unknown")]
    page, endpoint = await judged(scripted, answers, statements_per_call=2)
    assert [one.verdict for one in page.judged] == ["supported", "unsupported", "unknown"]
    assert f"1. {SAID[2]}" in endpoint.prompt(1)
    assert SAID[0] not in endpoint.prompt(1)


async def test_what_a_supported_statement_needs_stands_in_the_prompt(scripted: Any) -> None:
    _, whole = await judged(scripted, [verdicts("supported")], said=SAID[:1])
    _, part = await judged(scripted, [verdicts("supported")], said=SAID[:1], support="part")
    assert "Every number, date and name of the statement agrees" in whole.prompt()
    assert "some or all of the facts" in part.prompt()
    assert "Every number" not in part.prompt()


async def test_the_seed_is_of_the_question_and_not_of_who_asks(scripted: Any) -> None:
    seeds = []
    for sample in ("1", "2"):
        answers = [verdicts("nonsense"), verdicts("supported")]
        async with scripted(answers, pages={URL: "Tessmark."}, sample_id=sample) as (session, endpoint):
            await judge().judge(session, "en", (URL, SAID[:1]))
            await judge().judge(session, "en", (URL, SAID[1:2]))
        seeds.append([request["seed"] for request in endpoint.got])
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 3  # another try and another question have others


async def test_a_page_that_cannot_be_read_costs_nothing(scripted: Any) -> None:
    async with scripted(["never asked"]) as (session, endpoint):
        page = await judge(by_model=True).judge(session, "en", (URL, SAID))
        with pytest.raises(ToolError):
            await session.web.fetch(URL)
    assert page.error == f"not_available: {URL} is not here"
    assert page.digest is None
    assert endpoint.got == []


async def test_the_offline_models_groups_and_lenient_verdicts(offline: Any) -> None:
    """Over HTTP: an equal statement in another order is one; in part, one agreeing figure is enough."""
    url = "https://atlas.offline.example/ormark-kilns"
    async with offline() as session:
        text = (await session.web.fetch(url)).text.replace("\n", " ")
        true = next(sentence for sentence in text.split(". ") if any(c.isdigit() for c in sentence))
        said = [true, f"{true}!", "".join(str((int(c) + 3) % 10) if c.isdigit() else c for c in true)]
        whole = await judge(by_model=True, max_page_chars=40_000).judge(session, "en", (url, said))
        part = await judge(by_model=True, max_page_chars=40_000, support="part").judge(session, "en", (url, said))
        assert whole.digest == part.digest == (await session.web.fetch(url)).digest
    assert [one.statement for one in whole.judged] == [said[0], said[2]]
    assert [one.verdict for one in whole.judged] == ["supported", "unsupported"]
    assert [one.verdict for one in part.judged] == ["supported", "supported"]
