"""Renders the world's pages: one per entity, old editions, news of changes, estimates, overviews of scenes.

A fact's value stands only on pages about its subject, so that a question of several hops needs a search for each. Old
editions begin with questions and so often rank before the current page.
"""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from aiq.core.base import Record
from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import SITES, Dated, Entity, Fact, Region, World
from benchmarks.closed_world.tables import PROSE, of_kind, table
from benchmarks.closed_world.wording import about, ask, enumerated, fill, month, spelled, state, tell


class Page(Record):
    """A row of `pages.jsonl`. `html_extra`: navigation around the text of the served HTML; no fact is only there."""

    url: str
    title: str
    text: str
    published: str
    html_extra: str | None = None


def render_pages(world: World) -> list[Page]:
    """All pages, by address, so that the order tells nothing of what belongs together."""
    pages = [page for entity in world.entities() for page in _about(world, entity)]
    pages += [*_blogs(world), *_namesakes(world), *_household(world)]
    assert len({page.url for page in pages}) == len(pages)
    return sorted(pages, key=lambda page: page.url)


def members(region: Region, scene: Entity) -> list[Entity]:
    """The entities that belong to a scene."""
    assert scene.role is not None
    return [entity for kind in table("tasks")["topics"][scene.role.en]["asked"] for entity in region.of(kind)]


def _about(world: World, entity: Entity) -> Iterator[Page]:
    """The pages about one entity. What there is and how it is said are drawn from two streams."""
    draw, words = Draw(world.seed, "page", entity.id), Draw(world.seed, "page words", entity.id)
    yield (_overview if entity.kind == "scene" else _entry)(world, entity, words)
    yield from _old_editions(world, entity, draw, words)
    for relation in of_kind(entity.kind):
        fact = world.fact(entity, relation.name)
        if relation.change != "never":
            yield from _news(world, fact, draw, words)
        if relation.value == "number":
            yield from _estimate(fact, draw, words)


def _entry(world: World, entity: Entity, words: Draw) -> Page:
    """The entity's own page, as of its date."""
    prose, day = PROSE[entity.language], world.page_dates[entity.id]
    facts = [world.fact(entity, relation.name) for relation in of_kind(entity.kind)]
    body = [state(fact, day, words) for fact in facts]
    body += _idle(entity, words, words.between(2, 4))
    body += [
        about(words.pick(unchanged), entity)
        for fact in facts
        if len(fact.history) == 1 and (unchanged := fact.relation.words(entity.language).unchanged) and words.chance(50)
    ]
    linked = [value for fact in facts if isinstance(value := fact.at(day).value, Entity) and value.kind != "country"]
    items = [f'<li><a href="{target.url}">{target.name.text(entity.language)}</a></li>' for target in linked]
    return Page(
        url=entity.url,
        title=entity.name.text(entity.language),
        text=_text(
            [*_opening(world, entity, words), *words.shuffled(body)], words.pick(prose.updated), day, prose.space
        ),
        published=day.isoformat(),
        html_extra=f"<nav><ul>{''.join(items)}</ul></nav>" if items else None,
    )


def _opening(world: World, entity: Entity, words: Draw) -> list[str]:
    """What the subject is, and of a visible one to which scene it belongs; nothing else gives a hidden one away."""
    region, prose, language = world.regions[entity.region], PROSE[entity.language], entity.language
    landscape = region.name.text(language)
    role = entity.role.text(language) if entity.role else ""
    opening = about(
        words.pick(prose.opening[entity.kind]),
        entity,
        place=prose.place.format(preposition=region.preposition, region=landscape) if entity.visible else "",
        region=landscape,
        preposition=region.preposition,
        industry=region.industry.text(language),
        role=role,
        prize=role,
    )
    scene = next((scene for scene in region.of("scene") if entity in members(region, scene)), None)
    if scene is None or not entity.visible:
        return [opening]
    return [opening, about(words.pick(prose.belongs), entity, scene=scene.name.text(language))]


def _overview(world: World, scene: Entity, words: Draw) -> Page:
    """Names the members of a scene and leaves what is worth knowing of them to their pages."""
    language, day, region = scene.language, world.page_dates[scene.id], world.regions[scene.region]
    prose = PROSE[language]
    begun, turned, volume = (world.fact(scene, name) for name in ("begun", "turned", "volume"))
    kinds = dict.fromkeys(entity.kind for entity in members(region, scene))
    lists = [
        fill(words.pick(prose.list_[kind]), list=enumerated(words.shuffled(region.of(kind)), language))
        for kind in kinds
    ]
    first = volume.history[0]
    jobs = [
        about(words.pick(prose.first_count), scene, v=spelled(volume, first.value), since=month(first.since, language)),
        state(volume, day, words),
        *_idle(scene, words, 2),
    ]
    paragraphs = [[state(begun, day, words), state(turned, day, words)], lists, jobs]
    footer = words.pick(prose.updated).format(iso=day.isoformat())
    return Page(
        url=scene.url,
        title=fill("{s}", s=scene.name.text(language)),
        text="\n\n".join([*(prose.space.join(sentences) for sentences in paragraphs), footer]),
        published=day.isoformat(),
    )


def _old_editions(world: World, entity: Entity, draw: Draw, words: Draw) -> Iterator[Page]:
    """Up to three yearbook entries of 2021 to 2025 for an entity with changing facts: questions with their answers."""
    language, prose = entity.language, PROSE[entity.language]
    changing = [
        world.fact(entity, relation.name)
        for relation in of_kind(entity.kind)
        if relation.change != "never" and relation.value != "place"
    ]
    for year in draw.some(range(2021, 2026), draw.below(4)):
        day = draw.day(date(year, 2, 1), date(year, 5, 31))
        facts = [fact for fact in changing if fact.history[0].since < day]
        if facts:
            body = [prose.space.join((ask([fact], words, language), state(fact, day, words))) for fact in facts]
            yield Page(
                url=f"{SITES['yearbook']}/{year}/{entity.id}",
                title=prose.yearbook.format(s=entity.name.text(language), year=year),
                text=_text([*body, *_idle(entity, words, 2)], words.pick(prose.updated), day, prose.space),
                published=day.isoformat(),
            )


def _news(world: World, fact: Fact, draw: Draw, words: Draw) -> Iterator[Page]:
    """Reports of changes: always of one that the subject's own page misses, sometimes of others."""
    subject, prose = fact.subject, PROSE[fact.subject.language]
    for held in fact.history[1:]:
        if held.since < date(2021, 1, 1):
            continue
        if not world.missed(held, subject) and (subject.kind == "scene" or not draw.chance(22)):
            continue
        headline, lead = words.pick(fact.relation.words(subject.language).news)
        day = world.news_day(fact, held)
        body = [tell(lead, fact, held, day), *_idle(subject, words, words.between(2, 3)), words.pick(prose.asides)]
        yield Page(
            url=world.news_url(fact, held),
            title=tell(headline, fact, held, day),
            text=_text(body, words.pick(prose.dateline), day, prose.space),
            published=day.isoformat(),
        )


def _estimate(fact: Fact, draw: Draw, words: Draw) -> Iterator[Page]:
    """For one count in seven, a rough figure that contradicts the others; dated before the newest count."""
    if not draw.chance(14):
        return
    subject, prose = fact.subject, PROSE[fact.subject.language]
    day = fact.changed - timedelta(days=draw.between(30, 200))
    guess = Fact(subject, fact.name, (Dated(day, fact.number * draw.pick((72, 81, 124, 137)) // 100),))
    body = [state(guess, day, words), words.pick(prose.estimated), *_idle(subject, words, 2)]
    yield Page(
        url=f"{SITES['estimates']}/{subject.id}",
        title=prose.estimate.format(s=subject.name.text(subject.language)),
        text=_text(body, words.pick(prose.updated), day, prose.space),
        published=day.isoformat(),
    )


def _idle(entity: Entity, words: Draw, count: int) -> list[str]:
    """Sentences that tell nothing that is asked for."""
    return [about(template, entity) for template in words.some(PROSE[entity.language].filler[entity.kind], count)]


def _text(sentences: Sequence[str], footer: str, day: date, space: str) -> str:
    """Two paragraphs and the line with the date."""
    half = (len(sentences) + 1) // 2
    paragraphs = [space.join(sentences[:half]), space.join(sentences[half:])]
    return "\n\n".join([*filter(None, paragraphs), footer.format(iso=day.isoformat())])


def _blogs(world: World) -> Iterator[Page]:
    """Pages that share a question's words and at best repeat what a visitor was told, which may have changed."""
    for region in world.regions:
        prose = PROSE[region.language]
        for kind, blog in prose.blog.items():
            for entity in region.of(kind):
                draw = Draw(world.seed, "blog", entity.id)
                if draw.chance(40):
                    day = draw.day(date(2023, 1, 1), date(2026, 9, 30))
                    fact = world.fact(entity, blog["heard"]) if "heard" in blog else None
                    text = about(blog["text"], entity, v=spelled(fact, fact.at(day).value) if fact else "")
                    yield Page(
                        url=f"{SITES['wayfarer']}/{entity.id}",
                        title=about(blog["title"], entity),
                        text=f"{text}\n\n{prose.dateline[0].format(iso=day.isoformat())}",
                        published=day.isoformat(),
                    )


def _namesakes(world: World) -> Iterator[Page]:
    """A page for each first word that several names share."""
    shared: dict[str, list[str]] = {}
    for entity in world.entities():
        if entity.kind in ("company", "institute", "festival", "club"):
            shared.setdefault(entity.name.en.split()[0], []).append(entity.name.en)
    day, words = date(2024, 1, 15), table("prose")["namesakes"]
    for stem, names in shared.items():
        if len(names) > 1:
            yield Page(
                url=f"{SITES['namesakes']}/{stem.lower()}",
                title=fill(words["title"], stem=stem),
                text=_text([fill(words["text"], stem=stem, names=", ".join(names))], PROSE["en"].updated[0], day, " "),
                published=day.isoformat(),
            )


def _household(world: World) -> Iterator[Page]:
    """Quite other subjects."""
    words = table("prose")["household"]
    for index, thing in enumerate(words["things"]):
        title, text = words["pages"][index % len(words["pages"])]
        day = Draw(world.seed, "household", thing).day(date(2020, 1, 1), date(2026, 11, 1))
        yield Page(
            url=f"{SITES['household']}/{thing.replace(' ', '-')}",
            title=fill(title, thing=thing),
            text=_text([fill(text, thing=thing)], PROSE["en"].dateline[0], day, " "),
            published=day.isoformat(),
        )
