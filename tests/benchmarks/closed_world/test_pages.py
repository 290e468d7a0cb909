"""The pages state every fact, contradict each other if they are old, and need a search for each hop."""

import re
from datetime import date

from aiq.tools.corpus import Corpus, CorpusPage
from benchmarks.closed_world.entities import CLOCK, Fact, World
from benchmarks.closed_world.pages import Page
from benchmarks.closed_world.wording import spelled
from tests.benchmarks.closed_world.conftest import Made

Pages = dict[str, Page]
FLAW = re.compile(r"\{|\ba [aeiou]\w+ and\b|\b[Aa]\(n\)|s's\b| {2}|\bNone\b(?! of)")
"""Remains of a template that was filled in badly."""


def about(pages: Pages, fact: Fact) -> list[Page]:
    return [page for url, page in pages.items() if fact.subject.id in url]


def test_every_page_has_its_address_and_date_and_shows_no_template(made: Made, pages: Pages) -> None:
    assert len(made.rows("world/pages.jsonl")) == len(pages) > 1000
    for page in pages.values():
        assert ".offline.example/" in page.url
        assert date.fromisoformat(page.published) <= CLOCK
        assert page.published in page.text
        assert not FLAW.search(f"{page.title} {page.text}"), page.url


def test_current_facts_are_on_their_page_and_answers_of_hops_only_on_pages_about_them(
    world: World, pages: Pages
) -> None:
    sources = [world.source(fact) for fact in world.facts.values()]
    assert 50 < sum("//news." in url for url in sources) < len(sources) / 5  # what only the news tell
    for fact in world.facts.values():
        page = pages[world.source(fact)]
        assert spelled(fact, fact.value) in page.text, (fact.subject.id, fact.name)
        assert fact.subject.name.text(fact.subject.language) in page.text
        if fact.name in ("founder", "chief_executive", "author", "mayor"):
            name = spelled(fact, fact.value)
            urls = [page.url for page in pages.values() if name in page.text]
            assert all(fact.subject.id in url or fact.target.id in url for url in urls), name


def test_contradicting_pages_are_older(world: World, pages: Pages) -> None:
    stale = estimated = 0
    for fact in world.facts.values():
        if fact.relation.value != "number":
            continue
        source, today = pages[world.source(fact)], spelled(fact, fact.value)
        old = {spelled(fact, held.value) for held in fact.history[:-1]}
        for page in about(pages, fact):
            if today not in page.text and (any(value in page.text for value in old) or "//estimates." in page.url):
                assert page.published < source.published, page.url
                stale += "//estimates." not in page.url
                estimated += "//estimates." in page.url
    assert stale > 100
    assert estimated > 10


def test_old_editions_often_rank_first_and_the_date_finds_the_current_page(world: World, pages: Pages) -> None:
    corpus = Corpus(CorpusPage(url=page.url, title=page.title, text=page.text) for page in pages.values())
    facts = [world.fact(company, "employees") for region in world.regions[:8] for company in region.of("company")]
    first = [corpus.search(f"How many people work at {fact.subject.name.en}?", 1)[0].url for fact in facts]
    assert sum("//yearbook." in url or "//wayfarer." in url for url in first) >= 5
    count = 0
    for fact in facts:
        hits = corpus.search(f"{fact.subject.name.en} employees {fact.changed:%B %Y}", 5)
        count += world.source(fact) in [hit.url for hit in hits]
    assert count > 0.8 * len(facts)


def test_names_share_words_and_chinese_regions_have_chinese_pages(world: World, pages: Pages) -> None:
    stems = [e.name.en.split()[0] for e in world.entities() if e.kind in ("company", "institute", "festival", "club")]
    assert len(set(stems)) < 0.85 * len(stems)
    for entity in world.entities():
        assert bool(re.search(r"[\u4e00-\u9fff]{4}", pages[entity.url].text)) == (entity.language == "zh")
