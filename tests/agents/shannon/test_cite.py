"""The entity filter and the citations of a research."""

import re
from dataclasses import dataclass
from typing import Any

import pytest

from aiq.core.sources import Source
from aiq.core.tools import Toolbox, ToolResult
from tests.agents.conftest import WebSearch
from tests.agents.replies import results, search
from tests.agents.shannon.runs import AREAS, QUICK, Ran, Said, in_order, plan, report, research, subtask, task_of

ENTITY = {"refined_query": "Q", "research_areas": list(AREAS), "canonical_name": "Orlune Works"}


@dataclass
class Pages(WebSearch):
    """Finds these pages: (address, title, text, relevance)."""

    pages: tuple[tuple[str, str, str, float | None], ...] = ()

    async def run(self, arguments: Any) -> ToolResult:
        self.queries.append(arguments.query)
        sources = [Source(url=url, title=title, text=text, relevance=score) for url, title, text, score in self.pages]
        return ToolResult(content="\n".join(source.text for source in sources), sources=tuple(sources))


def page(host: str, name: str = "x", text: str = "A page.", score: float | None = None) -> Any:
    return (f"https://{host}/{name}", name, text, score)


async def cite(*pages: Any, refiner: Said = {"refined_query": "Q"}, settings: Any = None, **citations: Any) -> Ran:  # noqa: B006
    parts: dict[str, Said] = {"decomposer": plan(subtask("a")), "refiner": refiner}
    options = {**QUICK, "execution": {"pattern": "parallel"}, "citations": citations, **(settings or {})}
    return await research(parts, options, tools=Toolbox([Pages(pages=pages)]))


def cited(ran: Ran, number: int = 0) -> list[str]:
    """The URLs of the citations that the synthesizer is shown, by number."""
    matches = re.findall(r"^\[(\d+)\] .*? \((\S+)\) - ", ran.prompt("synthesizer", number), re.MULTILINE)
    assert [int(n) for n, _ in matches] == list(range(1, len(matches) + 1))
    return [url.removeprefix("https://") for _, url in matches]


async def test_citations_are_ranked_by_relevance_and_credibility() -> None:
    ran = await cite(
        page("a.test", score=0.2), page("nature.com", score=0.5), page("b.test", score=0.9), page("c.test")
    )
    assert cited(ran) == ["b.test/x", "nature.com/x", "c.test/x", "a.test/x"]  # without a score it is 0.5
    assert ran.extras["citations"]["total"] == 4
    assert ran.decided("citations")[0].detail == ran.extras["citations"]


@pytest.mark.parametrize(("most", "per_domain", "numbers"), [(15, 1, [0, 5]), (2, 50, [0, 1])])
async def test_citations_are_limited_in_all_and_per_domain(most: int, per_domain: int, numbers: list[int]) -> None:
    pages = [page("a.test", f"p{n}", score=0.9 - n / 10) for n in range(5)] + [page("b.test", "p5", score=0.1)]
    ran = await cite(*pages, most=most, per_domain=per_domain)
    assert [int(url.rpartition("/p")[2]) for url in cited(ran)] == numbers


NAMED = page("a.test", "named", "Orlune Works makes mills.")
OFFICIAL = page("shop.orlune.com", "shop", "Buy mills.", 0.01)
OTHER = [page(f"h{n}.test", f"other{n}", "Of another town.", 0.5) for n in range(12)]


@pytest.mark.parametrize(
    ("refiner", "citations", "names", "others"),
    [
        ({**ENTITY, "official_domains": ["orlune.com"]}, {"entity_keep": 0}, ["shop", "named"], 0),
        (ENTITY, {}, ["named"], 7),  # at least eight
        (ENTITY, {"entity_keep": 0, "entity_filter": False}, ["named", "shop"], 12),
        ({**ENTITY, "official_domains": ["orlune.com"]}, {"entity_keep": 0, "entity_threshold": 0.5}, ["shop"], 0),
        (ENTITY, {"entity_keep": 0, "least_left": 2}, ["named", "shop"], 12),
    ],
)
async def test_citations_are_about_the_entity(
    refiner: Said, citations: dict[str, Any], names: list[str], others: int
) -> None:
    ran = await cite(NAMED, OFFICIAL, *OTHER, refiner=refiner, **citations)
    cited_names = [url.rpartition("/")[2] for url in cited(ran)]
    assert sorted(name for name in cited_names if not name.startswith("other")) == sorted(names)
    assert sum(name.startswith("other") for name in cited_names) == others
    assert ran.extras["citations"]["total"] == len(cited_names)


async def test_citations_of_gaps_are_filtered_too() -> None:
    parts: dict[str, Said] = {"refiner": ENTITY, "synthesizer": in_order(report(AREAS[0]), report(*AREAS))}
    settings = {"enable_verification": False, "citations": {"entity_keep": 0}}
    ran = await research(parts, settings, tools=Toolbox([Pages(pages=(NAMED, *OTHER))]))
    assert ran.stages.count("fill_gaps") == 1
    assert cited(ran, -1) == ["a.test/named"]


async def test_citations_come_from_all_results_even_those_filtered_out() -> None:
    ran = await filtered({"a": "Orlune Works", "b": "Of Basel"})
    assert [decision.cause for decision in ran.decided("entity_filter")] == ["b do not name Orlune Works"]
    assert "Of Basel" not in ran.prompt("synthesizer")
    assert cited(ran) == ["pages.test/find-out-a", "pages.test/find-out-b"]


async def filtered(said: dict[str, str]) -> Ran:
    """A research whose agents, by name, say this after a search."""

    def says(request: Any) -> Any:
        return said[task_of(request)[-1]] if results(request) else search(task_of(request))

    refiner = {**ENTITY, "official_domains": ["orlune.com"]}
    parts: dict[str, Said] = {"refiner": refiner, "decomposer": plan(*map(subtask, said)), "researcher": says}
    return await research(parts, QUICK)


@pytest.mark.parametrize(
    ("said", "dropped"),
    [
        ({"a": "ORLUNE WORKS", "b": "Basel", "c": "Basel"}, "b, c"),
        ({"a": "Basel", "b": "Bern", "c": "Biel"}, ""),  # nothing would be left
    ],
)
async def test_results_that_do_not_name_the_entity_are_left_out(said: dict[str, str], dropped: str) -> None:
    ran = await filtered(said)
    causes = [decision.cause for decision in ran.decided("entity_filter")]
    assert causes == ([f"{dropped} do not name Orlune Works"] if dropped else [])


async def test_a_result_without_tools_is_kept_and_its_addresses_are_cited_only_without_others() -> None:
    answers = {"a": "From memory: https://told.test/x says so.", "b": ""}
    parts: dict[str, Said] = {
        "refiner": ENTITY,
        "decomposer": plan(subtask("a"), subtask("b", suggested_tools=["web_search_tool"])),
        "researcher": answers["a"],
    }
    ran = await research(parts, QUICK)
    assert "From memory" in ran.prompt("synthesizer")
    assert cited(ran) == ["pages.test/find-out-b", "told.test/x"]
    assert "told.test" not in ran.report.text.partition("## Sources")[2]  # nobody retrieved it


async def test_finding_nothing_is_not_an_error() -> None:
    ran = await cite(settings={"execution": {"pattern": "parallel", "force_search": False}})
    assert ran.extras["citations"] == {
        "total": 0, "unique_domains": 0, "mean_quality": 0, "mean_credibility": 0, "diversity": 0
    }  # fmt: skip
    assert "There are none." in ran.prompt("synthesizer")
