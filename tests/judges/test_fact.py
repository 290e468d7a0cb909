"""The FACT judge: from a report through extraction, fetching and validation to its four metrics."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from aiq.core.errors import ConfigError, JudgeError
from aiq.core.reports import Report, Score
from aiq.core.samples import Question, Sample
from aiq.core.sources import Page
from aiq.judges.fact import Fact, FactSettings

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
    """Answers by role, and for validation by what stands on the page."""

    def answer(request: dict[str, Any]) -> str:
        if request["role"] == "judge.fact_extract":
            return extract
        prompt = request["messages"][-1]["content"]
        return next(reply for part, reply in pages.items() if part in prompt)

    return answer


GOOD = {"12 ships.\n</page>": verdicts("supported", "unsupported"), "Nothing": verdicts("unknown")}


async def run(scripted: Any, answer: Any, text: str = TEXT, **settings: Any) -> tuple[dict[str, Score], Any]:
    async with scripted(answer, pages=PAGES) as (session, endpoint):
        report = Report(text=text, raw_text=text, route="deep")
        scores = await Fact(FactSettings(**settings)).score(SAMPLE, report, session)
    return {score.metric: score for score in scores}, endpoint


async def test_verdicts_become_the_four_metrics(scripted: Any) -> None:
    scores, endpoint = await run(scripted, answering(EXTRACTED, GOOD))
    ratio = scores["fact.citation_accuracy"]
    assert (ratio.numerator, ratio.denominator) == (1, 2)
    assert scores["fact.citation_accuracy_per_task"].value == 0.5
    assert scores["fact.citations"].value == 2.0
    assert scores["fact.effective_citations"].value == 1.0
    detail: Any = ratio.detail
    assert [page["url"] for page in detail["pages"]] == [
        "https://a.example/x",
        "https://b.example/y",
        "https://gone.example/",
    ]
    assert detail["pages"][0]["judged"][1] == {"statement": "Tessmark is a port.", "verdict": "unsupported"}
    assert detail["pages"][2]["error"].startswith("not_available: ")
    assert (detail["invented_by_extraction"], detail["unknown"], detail["failed_pages"]) == (1, 1, 1)
    assert [row["url"] for row in detail["extracted"]] == ["https://a.example/x"] * 3 + [
        "https://b.example/y",
        "https://gone.example/",
    ]
    assert detail["extracted"][0] == {
        "statement": "Tessmark has 12 ships.",
        "reference": 1,
        "url": "https://a.example/x",
    }
    read = Page(url="", final_url="", title="A page", text=PAGES["https://a.example/x"])
    assert detail["pages"][0]["digest"] == read.digest
    assert "digest" not in detail["pages"][2]
    assert scores["fact.total_citations"].value == 2.0
    assert scores["fact.total_valid_citations"].value == 1.0
    assert "fact.extraction_agreement" not in scores
    assert [request["role"] for request in endpoint.got] == ["judge.fact_extract", *["judge.fact_validate"] * 2]


async def test_model_and_rules_compared_are_a_metric_of_their_own(scripted: Any) -> None:
    scores, _ = await run(scripted, answering(EXTRACTED, GOOD), extraction="both")
    found = scores["fact.extraction_agreement"]
    assert (found.numerator, found.denominator) == (5 + 4, 5 + 4)
    detail: Any = scores["fact.citation_accuracy"].detail
    assert detail["extraction"] == {"model": 5, "rules": 4, "model_in_rules": 5, "rules_in_model": 4}
    assert scores["fact.citations"].value == 2.0
    scores, _ = await run(scripted, ["never asked"], "Just words.", extraction="both")
    assert scores["fact.extraction_agreement"].not_applicable == "the report has no citations"


def test_roles_and_prompts_are_those_that_are_asked() -> None:
    assert Fact(FactSettings()).roles == ("judge.fact_extract", "judge.fact_validate")
    everything = Fact(FactSettings(extraction="both", deduplication="model"))
    assert everything.roles == ("judge.fact_extract", "judge.fact_dedup", "judge.fact_validate")
    assert everything.prompt_hash != Fact(FactSettings()).prompt_hash
    assert [metric.name for metric in everything.metrics][-1] == "fact.extraction_agreement"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"reader": "r.example/{url}"}, "write an address with {url} in it"),
        ({"reader": "https://r.example/"}, "write an address with {url} in it"),
        ({"reader_key_env": "KEY"}, "set reader as well"),
        ({"page_chunks": 0}, "greater than or equal to 1"),
        ({"extraction": "all"}, "'model', 'rules' or 'both'"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        FactSettings(**settings)


def test_a_readers_key_is_looked_for_before_anything_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Fact(FactSettings(reader="https://r.example/{url}", reader_key_env="READER_KEY"))
    monkeypatch.setenv("READER_KEY", "k")
    judge.check([SAMPLE])
    monkeypatch.delenv("READER_KEY")
    with pytest.raises(ConfigError, match=r"judge\.fact\.reader_key_env=READER_KEY"):
        judge.check([SAMPLE])


async def test_the_judge_reads_the_page_up_to_its_limit(scripted: Any) -> None:
    PAGES["https://long.example/"] = "x" * 500 + "END"
    text = "It is so [1].\n\n## References\n[1] L - https://long.example/"
    answer = answering(extracted(("It is so.", 1, "https://long.example/")), {"xxx": verdicts("supported")})
    _, endpoint = await run(scripted, answer, text, max_page_chars=200)
    assert "x" * 150 in endpoint.prompt()
    assert "END" not in endpoint.prompt()
    assert "1. It is so." in endpoint.prompt()


async def test_rules_extract_without_a_model(scripted: Any) -> None:
    pages = {"12 ships.\n</page>": verdicts("supported", "supported"), "Nothing": verdicts("unsupported")}
    scores, endpoint = await run(scripted, answering("unused", pages), extraction="rules")
    assert {request["role"] for request in endpoint.got} == {"judge.fact_validate"}
    ratio = scores["fact.citation_accuracy"]
    assert (ratio.numerator, ratio.denominator) == (2, 3)
    assert Fact(FactSettings(extraction="rules")).roles == ("judge.fact_validate",)
    assert Fact(FactSettings(extraction="rules")).prompt_hash != Fact(FactSettings()).prompt_hash


async def test_a_report_without_citations_has_no_accuracy_but_a_count(scripted: Any) -> None:
    scores, endpoint = await run(scripted, ["never asked"], "Just words.")
    assert scores["fact.citation_accuracy"].not_applicable == "the report has no citations"
    assert scores["fact.citation_accuracy_per_task"].not_applicable == "the report has no citations"
    assert scores["fact.citations"].value == scores["fact.effective_citations"].value == 0.0
    assert scores["fact.total_citations"].not_applicable == "the report has no citations"  # as officially
    assert scores["fact.total_valid_citations"].not_applicable == "the report has no citations"
    assert endpoint.got == []


async def test_citations_that_cannot_be_read_are_no_accuracy_either(scripted: Any) -> None:
    text = "Gone [3].\n\n## References\n[3] C - https://gone.example/"
    scores, _ = await run(scripted, answering(extracted(("Gone.", 3, "https://gone.example/")), {}), text)
    assert scores["fact.citation_accuracy"].not_applicable == "no citation of the report could be judged"
    detail: Any = scores["fact.citation_accuracy"].detail
    assert detail["pages"][0]["error"] == "not_available: https://gone.example/ is not here"


async def test_a_page_whose_verdicts_stay_unreadable_is_skipped(scripted: Any) -> None:
    pages = {"12 ships.\n</page>": "no json", "Nothing": verdicts("supported")}
    scores, endpoint = await run(scripted, answering(EXTRACTED, pages), tries=2)
    ratio = scores["fact.citation_accuracy"]
    assert (ratio.numerator, ratio.denominator) == (1, 1)
    detail: Any = ratio.detail
    assert "no usable answer in 2 tries" in detail["pages"][0]["error"]
    assert len(endpoint.got) == 4


async def test_a_judge_that_never_makes_sense_is_an_error(scripted: Any) -> None:
    pages = {"<page>": "no json"}
    text = TEXT.replace(" Gone [3].", "").replace("\n[3] C - https://gone.example/", "")
    cited = extracted(("Tessmark has 12 ships.", 1, "https://a.example/x"))
    with pytest.raises(JudgeError, match="none of 1 cited pages could be judged"):
        await run(scripted, answering(cited, pages), text, tries=2)


async def test_a_page_that_is_gone_does_not_hide_that_the_judge_failed(scripted: Any) -> None:
    with pytest.raises(JudgeError, match="none of 3 cited pages could be judged: judge"):
        await run(scripted, answering(EXTRACTED, {"<page>": "no json"}), tries=1)


async def test_long_reports_are_read_in_pieces(scripted: Any) -> None:
    body = "\n\n".join(f"Paragraph {n} says something of some length here [1]." for n in range(40))
    answer = answering('{"citations": []}', {})
    _, endpoint = await run(
        scripted, answer, f"{body}\n\n## References\n[1] A - https://a.example/x", max_chunk_chars=500
    )
    parts = [request["messages"][-1]["content"].split("<report_part>")[1] for request in endpoint.got]
    assert len(parts) > 3
    assert all(sum(f"Paragraph {n} says" in part for part in parts) == 1 for n in range(40))
    assert all("[1] A - https://a.example/x" in request["messages"][-1]["content"] for request in endpoint.got)


MALFORMED_EXTRACTS = [
    "", "no", "[]", "{}", '{"citations": null}', '{"citations": {}}', '{"citations": ["x"]}', '{"citations": [1]}',
    '{"citations": [{}]}', '{"citations": [{"statement": "s"}]}', '{"citations": [{"url": "https://a.example/x"}]}',
    '{"citations": [{"statement": "", "url": "https://a.example/x"}]}',
    '{"citations": [{"statement": "s", "url": ""}]}',
    '{"citations": [{"statement": "s", "url": 3}]}',
    '{"citations": [{"statement": "s", "url": "u", "reference": "1"}]}',
    '{"citations": [{"statement": "s", "url": "u", "reference": 1.5}]}',
    '{"citations": [{"statement": "s", "url": "u", "reference": true}]}',
    '{"citations": [{"statement": "s", "url": "u", "reference": NaN}]}',
    EXTRACTED[:-1], EXTRACTED[:40], EXTRACTED + EXTRACTED, "无法提取。", "I will not do that.",
]  # fmt: skip

MALFORMED_VERDICTS = [
    "", "ok", "{}", '{"verdicts": []}', '{"verdicts": null}', '{"verdicts": "supported"}',
    verdicts("supported"), verdicts("supported", "supported", "supported"), verdicts("supported", "maybe"),
    verdicts("Supported", "supported"), verdicts("supported", ""), verdicts("支持", "支持"),
    '{"verdicts": [{"statement": 1, "verdict": "supported"}, {"statement": 1, "verdict": "supported"}]}',
    '{"verdicts": [{"statement": 0, "verdict": "supported"}, {"statement": 1, "verdict": "supported"}]}',
    '{"verdicts": [{"statement": "1", "verdict": "supported"}, {"statement": "2", "verdict": "supported"}]}',
    '{"verdicts": [{"statement": 1.0, "verdict": "supported"}, {"statement": 2, "verdict": "supported"}]}',
    '{"verdicts": [{"statement": true, "verdict": "supported"}, {"statement": 2, "verdict": "supported"}]}',
    '{"verdicts": [{"verdict": "supported"}, {"verdict": "supported"}]}',
    '{"verdicts": [{"statement": 1}, {"statement": 2}]}', '{"verdicts": ["supported", "supported"]}',
    verdicts("supported", "supported")[:-2], verdicts("supported", "supported") * 2,
]  # fmt: skip


@pytest.mark.parametrize("bad", MALFORMED_EXTRACTS)
async def test_a_malformed_extraction_is_an_error_after_its_tries(scripted: Any, bad: str) -> None:
    with pytest.raises(JudgeError, match=r"^judge\.fact_extract: no usable answer in 2 tries: [^\n]+$"):
        await run(scripted, answering(bad, GOOD), tries=2)


@pytest.mark.parametrize("bad", MALFORMED_VERDICTS)
async def test_malformed_verdicts_never_count(scripted: Any, bad: str) -> None:
    pages = {"12 ships.\n</page>": bad, "Nothing": verdicts("supported")}
    scores, _ = await run(scripted, answering(EXTRACTED, pages), tries=2)
    assert scores["fact.citations"].value == 1.0


async def test_the_offline_judge_tells_a_planted_falsehood(offline: Any) -> None:
    """Over HTTP: a page's own sentence is supported, the same with another number is not, a dead link is an error."""
    url = "https://atlas.offline.example/ormark-kilns"
    async with offline() as session:
        page = await session.web.fetch(url)
        told = page.text.replace("\n", " ").split(". ")
        true = next(sentence for sentence in told if any(c.isdigit() for c in sentence))
        false = "".join(str((int(c) + 3) % 10) if c.isdigit() else c for c in true)
        text = (
            f"{true} [1]. {false} [1]. Gone for good [2].\n\n## References\n\n"
            f"[1] P - {url}\n[2] N - https://atlas.offline.example/no-such-page"
        )
        report = Report(text=text, raw_text=text, route="deep")
        scores = {s.metric: s for s in await Fact(FactSettings()).score(SAMPLE, report, session)}
    detail: Any = scores["fact.citation_accuracy"].detail
    assert [judged["verdict"] for judged in detail["pages"][0]["judged"]] == ["supported", "unsupported"]
    assert detail["pages"][1]["error"]
    assert scores["fact.citation_accuracy_per_task"].value == 0.5
