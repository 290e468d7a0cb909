"""Renders the world's pages: one per entity, old editions, news of changes, estimates, overviews of scenes.

A fact's value is only on pages about its subject, so that a multi-hop question needs a search for each hop. Old
editions begin with questions, and so often rank above the current page.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta

from aiq.core.base import Record
from benchmarks.closed_world.entities import Dated, Entity, Fact, World, address
from benchmarks.closed_world.tables import PROSE, Texts, table
from benchmarks.closed_world.wording import about, ask, enumerated, fill, state, tell

_NAMESAKES, _TOPICS = table("prose")["namesakes"], table("tasks")["topics"]


class Page(Record):
    """A row of `pages.jsonl`. `html_extra`: navigation around the text in the served HTML; it adds no facts."""

    url: str
    title: str
    text: str
    published: str
    html_extra: str | None = None


def render_pages(world: World) -> list[Page]:
    """All pages, sorted by URL, so that the order does not reveal which belong together."""
    pages = [page for entity in world.entities() for page in _About(world, entity).pages()]
    return sorted([*pages, *_namesakes(world)], key=lambda page: page.url)


class _About:
    """Writes the pages about one entity. Content and wording are drawn from separate streams."""

    def __init__(self, world: World, entity: Entity) -> None:
        self._world, self._entity, self._prose = world, entity, PROSE[entity.language]
        self._draw, self._words = world.draw("page", entity.id), world.draw("page words", entity.id)
        self._facts, self._day = world.about(entity), world.page_date(entity)

    def pages(self) -> Iterator[Page]:
        yield self._overview() if self._entity.kind == "scene" else self._entry()
        yield from self._old_editions()
        for fact in self._facts:
            for held in fact.history[1:]:
                if held.since >= date(2021, 1, 1):
                    yield from self._news(fact, held)
            if fact.relation.value == "number":
                yield from self._estimate(fact)
        yield from self._blog()

    def _entry(self) -> Page:
        """The entity's own page, as of its date."""
        entity, words, day = self._entity, self._words, self._day
        body = [state(fact, day, words) for fact in self._facts] + self._idle(words.between(2, 4))
        for fact in self._facts:
            if fact.words.unchanged and len(fact.history) == 1 and words.chance(50):
                body.append(about(words.pick(fact.words.unchanged), entity))
        page = self._page(entity.url, str(entity), [*self._opening(), *words.shuffled(body)], day)
        values = (fact.at(day).value for fact in self._facts)
        links = [target for target in values if isinstance(target, Entity) and target.kind != "country"]
        items = "".join(f'<li><a href="{target.url}">{target}</a></li>' for target in links)
        return page.model_copy(update={"html_extra": f"<nav><ul>{items}</ul></nav>" if items else None})

    def _opening(self) -> Iterator[str]:
        """What the subject is and, if it is visible, its scene; nothing else reveals the scene of a hidden one."""
        entity, region, prose = self._entity, self._entity.region, self._prose
        yield about(
            self._words.pick(prose.opening[entity.kind]),
            entity,
            place=prose.space + region.place.text(region.language) if entity.visible else "",
            industry=region.industry.text(region.language),
            role=table("names")["roles"].get(entity.kind, {}).get(entity.role, {}).get(region.language),
        )
        for scene in region.of("scene"):
            if entity.visible and entity.kind in _TOPICS[scene.role]["asked"]:
                yield about(self._words.pick(prose.belongs), entity, scene=scene)

    def _overview(self) -> Page:
        """Names the members of a scene; the facts about them are on their own pages."""
        scene, words, prose, day = self._entity, self._words, self._prose, self._day
        begun, turned, volume = self._facts
        body = [state(begun, day, words), state(turned, day, words)]
        for kind in _TOPICS[scene.role]["asked"]:
            names = enumerated(words.shuffled(scene.region.of(kind)))
            body.append(fill(words.pick(prose.listing[kind]), list=names))
        body += [tell(words.pick(prose.first_count), volume, volume.history[0], day), state(volume, day, words)]
        return self._page(scene.url, fill(str(scene)), [*body, *self._idle(2)], day)

    def _old_editions(self) -> Iterator[Page]:
        """Up to three yearbook entries of 2021 to 2025, as questions with answers, if the entity's facts change."""
        words, draw, prose = self._words, self._draw, self._prose
        changing = [fact for fact in self._facts if fact.relation.change != "never" and fact.name != "stadium"]
        for year in draw.some(range(2021, 2026), draw.below(4)):
            day = draw.day(date(year, 2, 1), date(year, 5, 31))
            facts = [fact for fact in changing if fact.history[0].since < day]
            if body := [ask([fact], words) + prose.space + state(fact, day, words) for fact in facts]:
                title = prose.yearbook.format(s=self._entity, year=year)
                yield self._page(address("yearbook", f"{year}/{self._entity.id}"), title, body + self._idle(2), day)

    def _news(self, fact: Fact, held: Dated) -> Iterator[Page]:
        """An article about a change: always if the subject's own page is older than the change, sometimes otherwise."""
        words, day = self._words, self._world.news_day(fact, held)
        if held.since > self._day or (self._entity.kind != "scene" and self._draw.chance(22)):
            title, lead = (tell(text, fact, held, day) for text in words.pick(fact.words.news))
            body = [lead, *self._idle(words.between(2, 3)), words.pick(self._prose.asides)]
            yield self._page(self._world.news_url(fact, held), title, body, day, self._prose.dateline)

    def _estimate(self, fact: Fact) -> Iterator[Page]:
        """For one count in seven, a rough figure that contradicts the others, dated before the newest count."""
        draw, words, prose = self._draw, self._words, self._prose
        if draw.chance(14):
            day = fact.changed - timedelta(days=draw.between(30, 200))
            rough = fact.number * draw.pick((72, 81, 124, 137)) // 100
            guess = state(replace(fact, history=(Dated(day, rough),)), day, words)
            body, title = [guess, words.pick(prose.estimated), *self._idle(2)], prose.estimate
            yield self._page(address("estimates", self._entity.id), title.format(s=self._entity), body, day)

    def _blog(self) -> Iterator[Page]:
        """A blog post that shares words with a question; at best it repeats an answer that may be outdated."""
        entity, draw = self._entity, self._world.draw("blog", self._entity.id)
        if (blog := self._prose.blog.get(entity.kind)) and draw.chance(40):
            day = draw.day(date(2023, 1, 1), date(2026, 9, 30))
            fact = self._world.fact(entity, blog["heard"])
            title, text = (tell(blog[part], fact, fact.at(day), day) for part in ("title", "text"))
            yield self._page(address("wayfarer", entity.id), title, [text], day, self._prose.dateline[:1])

    def _idle(self, count: int) -> list[str]:
        """Filler sentences that answer no question."""
        fillers = self._words.some(self._prose.filler[self._entity.kind], count)
        return [about(filler, self._entity) for filler in fillers]

    def _page(self, url: str, title: str, body: Sequence[str], day: date, footers: Texts = ()) -> Page:
        """A page of two paragraphs and a line with the date."""
        half, space = (len(body) + 1) // 2, self._prose.space
        footer = self._words.pick(footers or self._prose.updated).format(iso=day)
        text = "\n\n".join(filter(None, (space.join(body[:half]), space.join(body[half:]), footer)))
        return Page(url=url, title=title, text=text, published=day.isoformat())


def _namesakes(world: World) -> Iterator[Page]:
    """A disambiguation page for each first word that several names share."""
    by_stem: dict[str, list[str]] = {}
    for entity in world.entities():
        if entity.kind in ("company", "institute", "festival", "club"):
            by_stem.setdefault(entity.name.en.split()[0], []).append(entity.name.en)
    for stem, names in by_stem.items():
        if len(names) > 1:
            page = {part: text.format(stem=stem, names=", ".join(names)) for part, text in _NAMESAKES.items()}
            yield Page(url=address("namesakes", stem.lower()), **page)
