"""The pages are such that retrieval needs the hops and the dates."""

import json
from datetime import date
from pathlib import Path

import pytest

from aiq.offline.world.addresses import source_url
from aiq.offline.world.entities import CLOCK, Fact, World
from aiq.offline.world.page import WorldPage
from aiq.offline.world.prose import LANGUAGES
from aiq.offline.world.relations import BY_KEY


@pytest.fixture(scope="module")
def pages(generated: Path) -> list[WorldPage]:
    lines = (generated / "world" / "pages.jsonl").read_text(encoding="utf-8").splitlines()
    return [WorldPage.model_validate(json.loads(line)) for line in lines]


@pytest.fixture(scope="module")
def by_url(pages: list[WorldPage]) -> dict[str, WorldPage]:
    return {page.url: page for page in pages}


def spelled(fact: Fact, value: object = None) -> str:
    prose = LANGUAGES[fact.subject.language]
    number = BY_KEY[fact.subject.kind, fact.relation].value == "number"
    return prose.value(fact.value if value is None else value, number=number)  # type: ignore[arg-type]


def test_addresses_and_dates(pages: list[WorldPage], by_url: dict[str, WorldPage]) -> None:
    assert len(by_url) == len(pages) > 1000
    assert all(".offline.example/" in page.url for page in pages)
    assert all(date.fromisoformat(page.published) <= CLOCK for page in pages)
    assert all(page.published in page.text for page in pages)


def test_every_fact_stands_on_the_page_that_says_how_it_is_today(world: World, by_url: dict[str, WorldPage]) -> None:
    for fact in world.facts.values():
        assert spelled(fact) in by_url[source_url(world, fact)].text, (fact.subject.id, fact.relation)


def test_the_answer_to_a_hop_stands_only_on_pages_about_its_subject(world: World, pages: list[WorldPage]) -> None:
    links = [("company", "founder"), ("company", "chief_executive"), ("book", "author"), ("city", "mayor")]
    for (_, relation), fact in world.facts.items():
        if (fact.subject.kind, relation) in links:
            name = fact.target.name.text(fact.subject.language)
            elsewhere = [
                page.url
                for page in pages
                if name in page.text and not any(key in page.url for key in (fact.subject.id, fact.target.id))
            ]
            assert elsewhere == []


def test_pages_that_say_otherwise_are_older(world: World, pages: list[WorldPage], by_url: dict[str, WorldPage]) -> None:
    contradicted = 0
    for fact in world.facts.values():
        if BY_KEY[fact.subject.kind, fact.relation].value != "number":
            continue
        source = by_url[source_url(world, fact)]
        old = [spelled(fact, held.value) for held in fact.history[:-1]]
        others = [
            page
            for page in pages
            if fact.subject.id in page.url
            and spelled(fact) not in page.text
            and ("//estimates." in page.url or any(value in page.text for value in old))
        ]
        assert all(page.published < source.published for page in others), fact.subject.id
        contradicted += bool(others)
    assert contradicted > 50


def test_some_changes_are_told_by_the_news_only(world: World) -> None:
    sources = [source_url(world, fact) for fact in world.facts.values()]
    assert 50 < sum("//news." in url for url in sources) < len(sources) / 5


def test_names_share_words(world: World) -> None:
    first = [e.name.en.split()[0] for e in world.entities() if e.kind in ("company", "institute", "festival", "club")]
    assert len(set(first)) < 0.85 * len(first)


def test_chinese_regions_have_chinese_pages(world: World, by_url: dict[str, WorldPage]) -> None:
    for region in world.regions:
        page = by_url[source_url(world, world.fact(region.of("city")[0], "country"))]
        assert ("的" in page.text or "位于" in page.text or "是" in page.text) == (region.language == "zh")


def test_old_editions_are_worded_like_questions_and_often_rank_first(world: World, pages: list[WorldPage]) -> None:
    from aiq.tools.corpus import Corpus, CorpusPage

    corpus = Corpus(CorpusPage(url=page.url, title=page.title, text=page.text) for page in pages)
    companies = [company for region in world.regions[:4] for company in region.of("company")]
    first = [corpus.search(f"How many people work at {company.name.en}?", 1)[0].url for company in companies]
    assert sum("yearbook" in url for url in first) >= 5
    dated = [
        corpus.search(f"{company.name.en} employees {spelled_month(world, company.id)}", 3) for company in companies
    ]
    found = [
        source_url(world, world.fact(company, "employees")) in [hit.url for hit in hits]
        for company, hits in zip(companies, dated, strict=True)
    ]
    assert sum(found) > 0.8 * len(found)


def spelled_month(world: World, company: str) -> str:
    return LANGUAGES["en"].month(world.facts[company, "employees"].changed)
