"""Renders the world's pages: one per entity, old editions, news of changes, and pages that do not help.

A fact's value stands only on pages about its subject, so that a question of several hops needs a search
for each. Old editions are worded like questions and so often rank before the current page.
"""

from collections.abc import Iterator
from datetime import date, timedelta

from aiq.offline.world.addresses import ESTIMATES, YEARBOOK, entry_url, missed, news_day, news_url
from aiq.offline.world.distractors import distractors
from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import Entity, Fact, Region, World
from aiq.offline.world.page import WorldPage
from aiq.offline.world.prose import LANGUAGES
from aiq.offline.world.prose.base import Prose
from aiq.offline.world.relations import of_kind
from aiq.offline.world.say import about, fill, say
from aiq.offline.world.scenes import scene_of, scene_page


def render_pages(world: World) -> list[WorldPage]:
    """All pages, by address, so that the order tells nothing of what belongs together."""
    pages = [page for region in world.regions for page in _region_pages(world, region)]
    pages += distractors(world)
    assert len({page.url for page in pages}) == len(pages)
    return sorted(pages, key=lambda page: page.url)


def _region_pages(world: World, region: Region) -> Iterator[WorldPage]:
    prose = LANGUAGES[region.language]
    for members in region.members.values():
        for entity in members:
            draw = Draw(world.seed, "page", entity.id)
            yield scene_page(world, region, entity, prose) if entity.kind == "scene" else _entry(world, entity, draw)
            yield from _old_editions(world, entity, prose, draw)
            for relation in of_kind(entity.kind):
                if relation.change != "never":
                    yield from _news(world, world.fact(entity, relation.name), prose, draw)
                if relation.value == "number":
                    yield from _estimate(world, world.fact(entity, relation.name), prose, draw)


def _entry(world: World, entity: Entity, draw: Draw) -> WorldPage:
    """The entity's own page, as of its date."""
    region, prose = world.regions[entity.region], LANGUAGES[entity.language]
    day = world.page_dates[entity.id]
    facts = [world.fact(entity, relation.name) for relation in of_kind(entity.kind)]
    sentences = [say(prose, prose.stated, fact, day, draw) for fact in facts]
    sentences += [about(prose, filler, entity) for filler in draw.some(prose.fillers[entity.kind], draw.between(2, 4))]
    body = [*_opening(prose, region, entity, draw), *draw.shuffled([*sentences, *_unchanged(prose, facts, draw)])]
    links = [fact.at(day).value for fact in facts]
    return WorldPage(
        url=entry_url(entity),
        title=entity.name.text(prose.language),
        text=_text(prose, body, prose.footer, day),
        published=day.isoformat(),
        html_extra=_links(prose, [value for value in links if isinstance(value, Entity) and value.kind != "country"]),
    )


def _opening(prose: Prose, region: Region, entity: Entity, draw: Draw) -> list[str]:
    """What the subject is, and of a visible one to which scene it belongs."""
    landscape = region.name.text(prose.language)
    place = landscape if prose.language == "zh" else f" {region.preposition} the {landscape}"
    role = entity.role.text(prose.language) if entity.role else ""
    opening = about(
        prose,
        draw.pick(prose.openings[entity.kind]),
        entity,
        place=place if entity.visible else "",
        region=landscape,
        preposition=region.preposition,
        industry=region.industry.text(prose.language),
        role=role,
        prize=role,
    )
    scene = scene_of(region, entity)
    if scene is None or not entity.visible:
        return [opening]
    return [opening, about(prose, prose.belongs, entity, scene=scene.name.text(prose.language))]


def _unchanged(prose: Prose, facts: list[Fact], draw: Draw) -> list[str]:
    """For every other fact that might have changed and never did, a sentence that says so."""
    return [
        about(prose, template, fact.subject)
        for fact in facts
        if (template := prose.unchanged.get((fact.subject.kind, fact.relation)))
        and len(fact.history) == 1
        and draw.chance(50)
    ]


def _old_editions(world: World, entity: Entity, prose: Prose, draw: Draw) -> Iterator[WorldPage]:
    """Up to three yearbook entries of 2021 to 2025 for an entity with changing facts."""
    changing = [world.fact(entity, r.name) for r in of_kind(entity.kind) if r.change != "never" and r.value != "place"]
    for year in draw.some(range(2021, 2026), draw.below(4)):
        day = draw.day(date(year, 2, 1), date(year, 5, 31))
        facts = [fact for fact in changing if fact.history[0].since < day]
        if not facts:
            continue
        sentences = [say(prose, prose.yearbook, fact, day, draw) for fact in facts]
        sentences += [about(prose, filler, entity) for filler in draw.some(prose.fillers[entity.kind], 2)]
        name = entity.name.text(prose.language)
        yield WorldPage(
            url=f"{YEARBOOK}/{year}/{entity.id}",
            title=f"{name}（{year}年年鉴）" if prose.language == "zh" else f"{name} ({year} yearbook)",
            text=_text(prose, sentences, prose.footer, day),
            published=day.isoformat(),
        )


def _news(world: World, fact: Fact, prose: Prose, draw: Draw) -> Iterator[WorldPage]:
    """Reports of changes: always of one that the subject's own page misses, sometimes of others."""
    for index, held in enumerate(fact.history):
        if index == 0 or held.since < date(2021, 1, 1):
            continue
        if not missed(world, held, fact.subject) and (fact.subject.kind == "scene" or not draw.chance(22)):
            continue
        headline, lead = draw.pick(prose.news[fact.subject.kind, fact.relation])
        day = news_day(world, fact, held)
        fillers = draw.some(prose.fillers[fact.subject.kind], draw.between(2, 3))
        body = [
            fill(prose, lead, fact, held, day),
            *(about(prose, filler, fact.subject) for filler in fillers),
            draw.pick(prose.asides),
        ]
        yield WorldPage(
            url=news_url(world, fact, held),
            title=fill(prose, headline, fact, held, day),
            text=_text(prose, body, prose.dateline, day),
            published=day.isoformat(),
        )


def _estimate(world: World, fact: Fact, prose: Prose, draw: Draw) -> Iterator[WorldPage]:
    """For one count in seven, a rough figure that contradicts the others; dated before the newest count."""
    held = fact.history[-1]
    if not draw.chance(14) or not isinstance(held.value, int):
        return
    day = held.since - timedelta(days=draw.between(30, 200))
    rough = held.value * draw.pick((72, 81, 124, 137)) // 100
    guess = Fact(fact.subject, fact.relation, (type(held)(day, rough),))
    lead = draw.pick(prose.stated[fact.subject.kind, fact.relation])
    name = fact.subject.name.text(prose.language)
    chinese = prose.language == "zh"
    body = [
        fill(prose, lead, guess, guess.history[0], day),
        "该数字为估算值，并非正式统计。" if chinese else "The figure is an estimate and not an official count.",
        *(about(prose, filler, fact.subject) for filler in draw.some(prose.fillers[fact.subject.kind], 2)),
    ]
    yield WorldPage(
        url=f"{ESTIMATES}/{fact.subject.id}",
        title=f"{name}：估算" if chinese else f"{name}: an estimate",
        text=_text(prose, body, prose.footer, day),
        published=day.isoformat(),
    )


def _text(prose: Prose, sentences: list[str], footer: str, day: date) -> str:
    """Two paragraphs and the line with the date."""
    half = (len(sentences) + 1) // 2
    paragraphs = [prose.space.join(sentences[:half]), prose.space.join(sentences[half:])]
    return "\n\n".join([*(text for text in paragraphs if text), footer.format(iso=day.isoformat())])


def _links(prose: Prose, targets: list[Entity]) -> str | None:
    if not targets:
        return None
    items = "".join(
        f'<li><a href="{entry_url(target)}">{target.name.text(prose.language)}</a></li>' for target in targets
    )
    return f"<nav><ul>{items}</ul></nav>"
