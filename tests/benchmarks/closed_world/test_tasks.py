"""The mini Deep Research Bench: official files, facts at several depths, good but imperfect references."""

import json
import re
from pathlib import Path

import pytest

from aiq.judges.world import stated_forms
from benchmarks.closed_world.pages import Page
from tests.benchmarks.closed_world.conftest import Made


@pytest.mark.shared_data
def test_official_keys(made: Made, shared_data: Path) -> None:
    for name in ("query", "criteria"):
        with (shared_data / "deep_research_bench" / f"{name}.jsonl").open(encoding="utf-8") as file:
            real = json.loads(file.readline())
        ours = made.rows(f"drb_mini/{name}.jsonl")[0]
        assert list(ours) == list(real)
        assert type(ours["id"]) is type(real["id"])
    assert list(made.rows("drb_mini/reference.jsonl")[0]) == ["id", "prompt", "article"]


def test_the_mixture_the_weights_and_the_depths_of_facts(made: Made) -> None:
    queries = made.rows("drb_mini/query.jsonl")
    assert [query["language"] for query in queries] == ["en"] * 8 + ["zh"] * 4
    assert len({query["prompt"] for query in queries}) == 12
    for query in queries:
        assert bool(re.search(r"[\u4e00-\u9fff]", query["prompt"])) == (query["language"] == "zh")
    for row in made.rows("drb_mini/criteria.jsonl"):
        assert list(row["criterions"]) == list(row["dimension_weight"])
        assert all(len(criteria) >= 3 for criteria in row["criterions"].values())
        weight_sets = [[item["weight"] for item in criteria] for criteria in row["criterions"].values()]
        for weights in (row["dimension_weight"].values(), *weight_sets):
            assert sum(weights) == pytest.approx(1)
    for truth in made.truth("drb_mini").values():
        depths = [fact.id.split("/")[0] for fact in truth.facts]
        assert 12 <= len(depths) <= 30
        assert 0.35 <= depths.count("d1") / len(depths) <= 0.6
        assert min(depths.count("d2"), depths.count("d3")) >= 4


REPORTS = ("reference", "independent_1", "independent_2")


@pytest.fixture(scope="module")
def told(made: Made) -> dict[str, list[set[str]]]:
    """By report, the ids of the facts that it states for each task, in order."""
    truths = made.truth("drb_mini")
    return {
        name: [
            {fact.id for fact in truths[str(row["id"])].facts if stated_forms(row["article"], fact.forms)}
            for row in made.rows(f"drb_mini/{name}.jsonl")
        ]
        for name in REPORTS
    }


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_states_four_facts_in_five_and_cites_pages_in_order(
    name: str, made: Made, pages: dict[str, Page], told: dict[str, list[set[str]]]
) -> None:
    truths = made.truth("drb_mini")
    for row, stated in zip(made.rows(f"drb_mini/{name}.jsonl"), told[name], strict=True):
        assert 0.75 <= len(stated) / len(truths[str(row["id"])].facts) <= 0.9
        body, references = re.split(r"## (?:References|参考来源)\n", row["article"])
        entries = re.findall(r"^\[(\d+)\] .+ - (\S+)$", references, re.MULTILINE)
        cited = list(dict.fromkeys(re.findall(r"\[(\d+)\]", body)))
        assert [number for number, _ in entries] == cited == [str(n) for n in range(1, len(cited) + 1)]
        assert all(url in pages for _, url in entries)


def test_an_independent_report_is_as_good_and_another_text(made: Made, told: dict[str, list[set[str]]]) -> None:
    reports = zip(*(made.rows(f"drb_mini/{name}.jsonl") for name in REPORTS), strict=True)
    for rows, stated in zip(reports, zip(*told.values(), strict=True), strict=True):
        assert max(map(len, stated)) - min(map(len, stated)) <= 1  # a sentence of one fact may tell another
        sentences = [set(re.split(r" ?\[\d+\]", row["article"])) for row in rows]
        for i, j in ((0, 1), (0, 2), (1, 2)):
            assert stated[i] != stated[j]
            assert len(sentences[i] & sentences[j]) < 0.6 * len(sentences[i])
