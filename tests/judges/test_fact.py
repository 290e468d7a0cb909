"""The FACT judge: from a report through extraction, fetching and validation to its metrics."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from aiq.core.errors import ConfigError, JudgeError
from aiq.core.reports import CAVEAT, Caveat, Score
from aiq.core.samples import Question, Sample
from aiq.core.sources import Page
from aiq.judges.fact import Fact, FactSettings
from aiq.llm.http import Response
from tests.judges.parts import as_report
from tests.judges.parts import judged as scored_by
from tests.settings import configured

SAMPLE = Sample(id="1", question=Question(text="Describe Tessmark."))
PAGES = {"https://a.example/x": "Tessmark has 12 ships.", "https://b.example/y": "Nothing to see."}
TEXT = (
    "Tessmark has 12 ships [1]. It is a port [1]. It is large [2]. Gone [3].\n\n## References\n\n"
    "[1] A - https://a.example/x\n[2] B - https://b.example/y\n[3] C - https://gone.example/"
)


def extracted(*triples: tuple[str, int | None, str]) -> str:
    return json.dumps({"citations": [{"statement": s, "reference": n, "url": u} for s, n, u in triples]})


EXTRACTED = extracted(
    ("Tessmark has 12 ships.", 1, "https://a.example/x"),
    ("Tessmark is a port.", 1, "https://a.example/x"),
    ("tessmark is a port", 1, "https://a.example/x"),
    ("Tessmark is large.", 2, "https://b.example/y/"),
    ("Gone.", 3, "https://gone.example/"),
    ("Made up.", 4, "https://invented.example/"),
)


def verdicts(*words: str) -> str:
    return json.dumps({"verdicts": [{"statement": n, "verdict": word} for n, word in enumerate(words, 1)]})


def answering(extract: str, pages: dict[str, str]) -> Callable[[dict[str, Any]], str]:
    """Answers by role, and in validation by the page's text."""

    def answer(request: dict[str, Any]) -> str:
        if request["role"] == "judge.fact_extract":
            return extract
        prompt = request["messages"][-1]["content"]
        return next(reply for part, reply in pages.items() if part in prompt)

    return answer


UNREAD = {"This page could not be fetched: not_available: https://gone.example/ is not here": verdicts("unknown")}
GOOD = {"12 ships.\n</page>": verdicts("supported", "unsupported"), "Nothing": verdicts("unknown"), **UNREAD}


async def run(answer: Any, text: str = TEXT, **settings: Any) -> tuple[dict[str, Score], Any]:
    judge = Fact(configured(FactSettings, **settings))
    scores, endpoint = await scored_by(judge, answer, text, SAMPLE, pages=PAGES)
    return {score.metric: score for score in scores}, endpoint


async def test_verdicts_become_the_metrics_and_the_detail_shows_every_step() -> None:
    scores, endpoint = await run(answering(EXTRACTED, GOOD))
    ratio, share = (scores.pop(f"fact.{name}") for name in ("citation_accuracy", "judged_share"))
    assert (ratio.numerator, ratio.denominator) == (1, 2)
    assert (share.numerator, share.denominator) == (2, 4)
    assert {name: score.value for name, score in scores.items()} == {
        "fact.citation_accuracy_per_task": 0.5,
        "fact.citations": 2.0,
        "fact.effective_citations": 1.0,
        "fact.total_citations": 2.0,
        "fact.total_valid_citations": 1.0,
    }
    detail: Any = ratio.detail
    urls = ["https://a.example/x", "https://b.example/y", "https://gone.example/"]
    fetched, _, missing = detail["pages"]
    assert [page["url"] for page in detail["pages"]] == urls
    assert fetched["judged"][1] == {"statement": "Tessmark is a port.", "verdict": "unsupported"}
    assert fetched["digest"] == Page(url="", final_url="", title="A page", text=PAGES[urls[0]]).digest
    unread = "not_available: https://gone.example/ is not here"
    assert missing == {"url": urls[2], "judged": [{"statement": "Gone.", "verdict": "unknown"}], "unread": unread}
    assert (detail["invented_by_extraction"], detail["unknown"], detail["failed_pages"]) == (1, 2, 1)
    assert [row["url"] for row in detail["extracted"]] == [urls[0]] * 3 + urls[1:]
    assert detail["extracted"][0] == {"statement": "Tessmark has 12 ships.", "reference": 1, "url": urls[0]}
    assert [request["role"] for request in endpoint.got] == ["judge.fact_extract", *["judge.fact_validate"] * 3]


async def test_an_unread_page_is_judged_by_its_error_or_skipped_and_counts_as_missing_either_way() -> None:
    judging, _ = await run(answering(EXTRACTED, {"could not be fetched": verdicts("unsupported"), **GOOD}))
    skipping, endpoint = await run(answering(EXTRACTED, GOOD), unread_pages="skip")
    ratios = [scores["fact.citation_accuracy"] for scores in (judging, skipping)]
    assert [score.denominator for score in ratios] == [3, 2]
    details: list[Any] = [score.detail for score in ratios]
    assert [detail["pages"][2].get("error") for detail in details] == [None, details[0]["pages"][2]["unread"]]
    share = skipping["fact.judged_share"]
    assert (share.numerator, share.denominator) == (2, 4)
    assert len(endpoint.got) == 3
    for detail in details:
        caveat = Caveat.model_validate(detail[CAVEAT])
        assert (caveat.of, caveat.reasons, caveat.retry) == (3, {"not_available": 1}, True)
        assert str(caveat).startswith("1 of 3 cited pages not read and judged: 1 not_available; the first: not")


async def test_a_page_that_the_model_refuses_fails_alone() -> None:
    """For example because it exceeds the model's context: HTTP 400."""
    pages = {**PAGES, "https://b.example/y": "long " * 100_000}

    def answer(request: dict[str, Any]) -> str | Response:
        if len(json.dumps(request)) > 400_000:
            return Response(400, json={"error": {"message": "maximum context length exceeded"}})
        return answering(EXTRACTED, GOOD)(request)

    judge = Fact(configured(FactSettings))
    scores, _ = await scored_by(judge, answer, TEXT, SAMPLE, pages=pages)
    assert (scores[0].numerator, scores[0].denominator) == (1, 2)
    detail: Any = scores[0].detail
    assert "maximum context length exceeded" in detail["pages"][1]["error"]
    assert detail[CAVEAT]["reasons"] == {"without a usable answer": 1, "not_available": 1}


async def test_model_and_rules_compared_are_a_metric_of_their_own() -> None:
    scores, _ = await run(answering(EXTRACTED, GOOD), extraction="both")
    agreement = scores["fact.extraction_agreement"]
    assert (agreement.numerator, agreement.denominator) == (5 + 4, 5 + 4)
    detail: Any = scores["fact.citation_accuracy"].detail
    assert detail["extraction"] == {"model": 5, "rules": 4, "model_in_rules": 5, "rules_in_model": 4}
    assert scores["fact.citations"].value == 2.0
    by_rules, endpoint = await run(answering("unused", GOOD), extraction="rules")
    assert {request["role"] for request in endpoint.got} == {"judge.fact_validate"}
    assert by_rules["fact.citations"].value == 2.0
    scores, _ = await run(["never asked"], "Just words.", extraction="both")
    assert scores["fact.extraction_agreement"].not_applicable == "the report has no citations"


def test_a_judge_declares_the_roles_and_prompts_that_it_uses() -> None:
    judges = [
        Fact(configured(FactSettings, **settings))
        for settings in ({}, {"extraction": "both", "deduplication": "model"}, {"extraction": "rules"})
    ]
    assert [judge.roles for judge in judges] == [
        ("judge.fact_extract", "judge.fact_validate"),
        ("judge.fact_extract", "judge.fact_dedup", "judge.fact_validate"),
        ("judge.fact_validate",),
    ]
    assert len({judge.prompt_hash for judge in judges}) == 3
    assert [judge.metrics[-1].name == "fact.extraction_agreement" for judge in judges] == [False, True, False]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"reader": "r.example/{url}"}, "write an address with {url} in it"),
        ({"reader": "https://r.example/"}, "write an address with {url} in it"),
        ({"reader_key_env": "KEY"}, "set reader as well"),
    ],
)
def test_invalid_settings_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        configured(FactSettings, **settings)


def test_a_missing_reader_key_is_found_before_anything_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Fact(configured(FactSettings, reader="https://r.example/{url}", reader_key_env="READER_KEY"))
    monkeypatch.setenv("READER_KEY", "k")
    judge.check([SAMPLE])
    monkeypatch.delenv("READER_KEY")
    with pytest.raises(ConfigError, match=r"judge\.fact\.reader_key_env=READER_KEY"):
        judge.check([SAMPLE])


EMPTY = "It is [2].\n\n## References\n[2] B - https://b.example/y"


async def test_without_citations_shares_have_a_reason_and_counts_are_0() -> None:
    uncited, endpoint = await run(["never asked"], "Just words.")
    assert endpoint.got == []
    empty = {"Nothing": verdicts("unknown")}
    unread, _ = await run(answering(extracted(("It is.", 2, "https://b.example/y")), empty), EMPTY)
    for scores, reason in (
        (uncited, "the report has no citations"),
        (unread, "no citation of the report could be judged"),
    ):
        assert scores["fact.citation_accuracy"].not_applicable == reason
        assert scores["fact.citation_accuracy_per_task"].not_applicable == reason
        assert scores["fact.citations"].value == scores["fact.effective_citations"].value == 0.0
    for name in ("fact.total_citations", "fact.total_valid_citations"):  # as officially
        assert (uncited[name].not_applicable, unread[name].value) == ("the report has no citations", 0.0)


@pytest.mark.parametrize("bad", ["no json", verdicts("supported")], ids=("unreadable", "incomplete"))
async def test_a_page_whose_verdicts_stay_unusable_is_skipped(bad: str) -> None:
    pages = {"12 ships.\n</page>": bad, "Nothing": verdicts("supported")}
    scores, endpoint = await run(answering(EXTRACTED, pages), tries=2, unread_pages="skip")
    ratio = scores["fact.citation_accuracy"]
    assert (ratio.numerator, ratio.denominator) == (1, 1)
    detail: Any = ratio.detail
    assert "no usable answer in 2 tries" in detail["pages"][0]["error"]
    assert len(endpoint.got) == 4


@pytest.mark.parametrize(
    ("extract", "said"),
    [
        (extracted(("Tessmark has 12 ships.", 1, "https://a.example/x")), "none of 1 cited page could be judged"),
        (EXTRACTED, "none of 3 cited pages could be judged: judge"),
        (extracted(("Gone.", 3, "https://gone.example/")), "none of 1 cited page could be judged: not_available: h"),
    ],
)
async def test_the_judge_fails_if_no_page_could_be_judged(extract: str, said: str) -> None:
    scores, _ = await run(answering(extract, {**UNREAD, "<page>": "no json"}), tries=2)
    share = scores.pop("fact.judged_share")
    assert (share.numerator, share.denominator) == (0, 4 if extract == EXTRACTED else 1)
    assert all((score.error or "").startswith(said) for score in scores.values())
    assert scores["fact.citation_accuracy"].detail["pages"], "which pages failed, and why"


async def test_an_extraction_that_stays_unusable_is_an_error() -> None:
    with pytest.raises(JudgeError, match=r"^judge\.fact_extract: no usable answer in 2 tries: [^\n]+$"):
        await run(answering('{"citations": [{"statement": "s"}]}', {}), tries=2)


async def test_long_reports_are_read_in_pieces() -> None:
    body = "\n\n".join(f"Paragraph {n} says something of some length here [1]." for n in range(40))
    answer = answering('{"citations": []}', {})
    _, endpoint = await run(answer, f"{body}\n\n## References\n[1] A - https://a.example/x", max_chunk_chars=500)
    parts = [request["messages"][-1]["content"].split("<report_part>")[1] for request in endpoint.got]
    assert len(parts) > 3
    assert all(sum(f"Paragraph {n} says" in part for part in parts) == 1 for n in range(40))
    assert all("[1] A - https://a.example/x" in request["messages"][-1]["content"] for request in endpoint.got)


async def test_the_offline_judge_notices_a_planted_falsehood(offline: Any) -> None:
    """Over HTTP: a page's own sentence is supported, with another number it is not, and for a dead link it is unknown.

    A statement in another word order is the same; with `support=part`, one agreeing number is enough.
    """
    url, results = "https://atlas.offline.example/ormark-kilns", {}
    async with offline() as session:
        page = await session.web.fetch(url)
        sentences = page.text.replace("\n", " ").split(". ")
        fact = next(sentence for sentence in sentences if any(c.isdigit() for c in sentence))
        falsehood = "".join(str((int(c) + 3) % 10) if c.isdigit() else c for c in fact)
        text = (
            f"{fact} [1]. {fact} indeed [1]. {falsehood} [1]. Gone for good [2].\n\n## References\n\n"
            f"[1] P - {url}\n[2] N - https://atlas.offline.example/no-such-page"
        )
        for support in ("whole", "part"):
            judge = Fact(configured(FactSettings, deduplication="model", support=support))
            scores = {s.metric: s for s in await judge.score(SAMPLE, as_report(text), session)}
            detail: Any = scores["fact.citation_accuracy"].detail
            results[support] = verdicts_on(detail["pages"][0]), scores["fact.citation_accuracy_per_task"].value
            assert verdicts_on(detail["pages"][1]) == ["unknown"]
            assert "HTTP 404" in detail["pages"][1]["unread"]
            assert not detail[CAVEAT]["reasons"], "what is not there is missing nowhere"
    assert results == {"whole": (["supported", "unsupported"], 0.5), "part": (["supported"] * 2, 1.0)}


URL = "https://one.example/x"
SAID = ["Tessmark has 12 ships.", "There are twelve ships in Tessmark.", "Tessmark is old."]


async def judged(
    answers: Any, text: str = "Tessmark.", said: Sequence[str] = SAID, **settings: Any
) -> tuple[dict[str, Any], Any]:
    """The result for the one page that a report cites for these statements."""
    report = "\n\n".join(f"{statement[:-1]} [1]." for statement in said) + f"\n\n## References\n\n[1] A - {URL}"
    judge = Fact(configured(FactSettings, **{"extraction": "rules", "tries": 2, "max_page_chars": 1000, **settings}))
    scores, endpoint = await scored_by(judge, answers, report, SAMPLE, pages={URL: text})
    detail: Any = scores[0].detail
    return detail["pages"][0], endpoint


def verdicts_on(page: dict[str, Any]) -> list[str]:
    return [row["verdict"] for row in page["judged"]]


async def test_a_model_groups_statements_and_the_first_of_each_group_is_judged() -> None:
    answers = ['{"groups": [[3], [2, 1]]}', verdicts("supported", "unsupported")]
    page, endpoint = await judged(answers, deduplication="model")
    assert [row["statement"] for row in page["judged"]] == [SAID[0], SAID[2]]
    assert verdicts_on(page) == ["supported", "unsupported"]
    assert [request["role"] for request in endpoint.got] == ["judge.fact_dedup", "judge.fact_validate"]
    assert "1. Tessmark has 12 ships.\n2. There are twelve" in endpoint.prompt(0)
    _, endpoint = await judged([verdicts("supported")], said=SAID[:1], deduplication="model")
    assert len(endpoint.got) == 1  # a single statement needs no grouping


async def test_groups_that_do_not_add_up_are_an_error_of_that_page() -> None:
    page, _ = await judged(['{"groups": [[1, 2]]}'], deduplication="model")
    assert page["error"].startswith("judge.fact_dedup: no usable answer in 2 tries")
    assert page["cited"] == 3


async def test_a_page_is_read_to_its_end() -> None:
    _, endpoint = await judged(
        [verdicts("supported")], "word " * 20_000 + "the end", said=SAID[:1], max_page_chars=None
    )
    assert "the end\n</page>" in endpoint.prompt()


async def test_a_long_page_is_read_in_parts_and_any_of_them_can_support_a_statement() -> None:
    parts = {
        "aaa": verdicts("unsupported", "unknown", "unsupported"),
        "bbb": verdicts("supported", "unknown", "unknown"),
        "ccc": verdicts("supported", "supported", "supported"),
    }

    def answer(request: dict[str, Any]) -> str:
        page_text = request["messages"][-1]["content"].split("<page>")[1].split("</page>")[0]
        return next(verdict for part, verdict in parts.items() if part in page_text)

    text = "a" * 91 + "b" * 100 + "c" * 100  # with the title and a blank line before it, parts of 100 characters
    page, endpoint = await judged(answer, text, max_page_chars=100, page_chunks=2)
    assert verdicts_on(page) == ["supported", "unknown", "unsupported"]
    assert len(endpoint.got) == 2
    assert not any("ccc" in endpoint.prompt(number) for number in range(2))  # the page is read up to its limit
    page, _ = await judged(answer, text, max_page_chars=100, page_chunks=9)
    assert set(verdicts_on(page)) == {"supported"}
    _, endpoint = await judged([verdicts("unknown", "unknown", "unknown")], "", page_chunks=3)
    assert len(endpoint.got) == 1


async def test_statements_split_over_several_questions_are_numbered_anew_in_each() -> None:
    answers = [verdicts("supported", "unsupported"), verdicts("unknown")]
    page, endpoint = await judged(answers, statements_per_call=2)
    assert verdicts_on(page) == ["supported", "unsupported", "unknown"]
    assert f"1. {SAID[2]}" in endpoint.prompt(1)
    assert SAID[0] not in endpoint.prompt(1)


async def test_the_prompt_says_what_a_supported_statement_needs() -> None:
    _, whole = await judged([verdicts("supported")], said=SAID[:1])
    _, part = await judged([verdicts("supported")], said=SAID[:1], support="part")
    assert "Every number, date and name of the statement agrees" in whole.prompt()
    assert "some or all of the facts" in part.prompt()
    assert "Every number" not in part.prompt()
