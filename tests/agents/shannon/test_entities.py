from typing import Any

from aiq.agents.shannon.records import AgentResult, Citation
from aiq.agents.shannon.rules import entity_matches, filter_by_entity, filter_results
from tests.cases import table

each = table(__file__)


@each("named")
def test_a_text_names_an_entity(text: str, aliases: list[str], domains: list[str], matches: bool) -> None:
    assert entity_matches(text, aliases, domains) is matches


def test_short_names_may_have_to_be_whole_words() -> None:
    page = cited("https://a.example/x", title="It did")
    assert filter_by_entity([page], "ID", [], [], min_keep=0) == [page]
    assert filter_by_entity([page], "ID", [], [], min_keep=0, short_alias=5) == []
    assert filter_by_entity([page], "ID", [], [], min_keep=0, short_alias=5, least_left=1) == [page]


def result(response: str, *tools: str) -> AgentResult:
    return AgentResult(agent_id=response, response=response, tools_used=tools)


def test_results_that_used_tools_have_to_name_the_entity() -> None:
    about, other, thought = result("Acme", "web_search"), result("Apex", "web_search"), result("So")
    results = [about, other, thought]
    assert filter_results(results, "Acme", [], []) == [about, thought]
    assert filter_results(results, "Acme Corp", ['"Apex"'], []) == [other, thought]
    assert filter_results(results, " ", ['"Apex"'], ["acme.com"]) == results
    assert filter_results([other], "Acme", [], []) == [other]
    assert filter_results([], "Acme", [], []) == []


def cited(url: str, **fields: Any) -> Citation:
    return Citation(url=url, **{"source": url.split("/")[2], "quality": 0.5, "credibility": 0.6, **fields})


def kept(citations: list[Citation], *domains: str, queries: tuple[str, ...] = (), **numbers: Any) -> list[str]:
    filtered = filter_by_entity(citations, "Acme", queries, domains, **{"min_keep": 0, **numbers})
    return [citation.url for citation in filtered]


@each("url")
def test_any_single_match_is_enough(
    url: str, fields: dict[str, Any], queries: list[str], domains: list[str], stays: bool
) -> None:
    assert kept([cited(url, **fields)], *domains, queries=tuple(queries)) == ([url] if stays else [])


def test_official_pages_come_first_and_ignore_the_threshold() -> None:
    listed = [
        cited("https://b.example/acme", title="Acme"),
        cited("https://owner.com/x"),
        cited("https://c.example/acme"),
    ]
    assert kept(listed, "owner.com") == ["https://owner.com/x", "https://b.example/acme", "https://c.example/acme"]
    assert kept(listed, "owner.com", threshold=0.7) == ["https://owner.com/x", "https://b.example/acme"]
    assert kept(listed, "owner.com", threshold=1.1) == ["https://owner.com/x"]


def test_too_few_are_filled_up_by_score() -> None:
    others = [cited(f"https://s{n}.example/", quality=n / 10) for n in range(1, 9)]
    names_it = cited("https://b.example/", title="Acme")
    best_first = [f"https://s{n}.example/" for n in range(8, 1, -1)]
    assert kept([*others, names_it], min_keep=8) == ["https://b.example/", *best_first]
    assert kept([*others, names_it], min_keep=9, threshold=0.5)[0] == "https://b.example/"  # 0.3 + 0.4
    assert kept([names_it, names_it], min_keep=8) == ["https://b.example/"] * 2


def test_without_an_entity_nothing_changes() -> None:
    listed = [cited("https://b.example/")]
    assert filter_by_entity(listed, " ", ["b"], ["b.example"]) == listed
    assert filter_by_entity([], "Acme", [], []) == []
