"""The planted claims: (statement, page, verdict) with the kind of each, drawn from a world by a seed."""

import re
from collections.abc import Iterator
from dataclasses import replace

from aiq.core.seeds import derive
from aiq.offline.world.addresses import entry_url
from aiq.offline.world.claims.claim import Claim, Part, Verdict
from aiq.offline.world.claims.summaries import summary_claims
from aiq.offline.world.claims.walls import wall
from aiq.offline.world.claims.wear import worn
from aiq.offline.world.claims.wording import ADDITIONS, DENIALS, JOINTS, LEAD_INS, REWORDED
from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import Dated, Entity, Fact, World
from aiq.offline.world.page import WorldPage
from aiq.offline.world.pages import render_pages
from aiq.offline.world.prose import LANGUAGES
from aiq.offline.world.regions import build_world
from aiq.offline.world.relations import BY_KEY, of_kind
from aiq.offline.world.say import about, fill


def planted_claims(seed: int = 1, *, english: int = 10, chinese: int = 6) -> list[Claim]:
    """All claims of a world of so many regions, and the summaries; the same arguments give the same claims."""
    world = build_world(seed, english=english, chinese=chinese)
    pages = {page.url: page for page in render_pages(world)}
    texts = {language: _texts(world, pages, language) for language in ("en", "zh")}
    facts = [claim for entity in world.entities() for claim in _Planter(world, pages, texts, entity).claims()]
    return [*facts, *summary_claims(seed)]


def _texts(world: World, pages: dict[str, WorldPage], language: str) -> list[str]:
    return [pages[entry_url(e)].text for e in world.entities() if e.language == language and e.kind != "scene"]


class _Planter:
    """Makes the claims about one entity."""

    def __init__(self, world: World, pages: dict[str, WorldPage], texts: dict[str, list[str]], entity: Entity) -> None:
        self._world, self._pages, self._texts = world, pages, texts
        self._entity = entity
        self._prose = LANGUAGES[entity.language]
        self._draw = Draw(world.seed, "claims", entity.id)
        self._day = world.page_dates[entity.id]
        self._page = pages[entry_url(entity)]
        self._facts = [world.fact(entity, relation.name) for relation in of_kind(entity.kind)]

    def claims(self) -> Iterator[Claim]:
        for fact in self._facts:
            yield from self._of(fact)
        yield from self._joined()
        yield from self._fillers()
        yield self._claim("wall", self._reworded(self._draw.pick(self._facts)), wall(self._draw), "unknown", bare=True)

    def _of(self, fact: Fact) -> Iterator[Claim]:
        """Of each fact some of the kinds, so that none outweighs the rest."""
        draw, page = self._draw, self._page.text
        yield (
            self._claim("verbatim", self._on_page(fact), page, "supported")
            if draw.chance(25)
            else self._claim("reworded", self._reworded(fact), page, "supported")
        )
        yield self._claim("embroidered", self._embroidered(self._reworded(fact)), page, "supported")
        if (shaped := self._reshaped(fact)) is not None:
            yield self._claim("reshaped figures", shaped, page, "supported")
        if (across := self._across(fact)) is not None:
            yield self._claim("translated", across, page, "supported")
            yield self._claim("translated, other page", across, self._other_page(), "unsupported")
        spoiled = self._spoiled(fact)
        if spoiled is not None:
            yield self._claim(f"other {BY_KEY[fact.subject.kind, fact.relation].value}", spoiled, page, "unsupported")
        if draw.chance(40) and (denied := self._denied(self._on_page(fact))) is not None:
            yield self._claim("denied", denied, page, "unsupported")
        if draw.chance(50):
            yield self._claim("other page", self._embroidered(self._reworded(fact)), self._other_page(), "unsupported")
        if draw.chance(40):
            yield self._claim("sibling's page", self._reworded(fact), self._sibling_page(), "unsupported")
        if (without := self._page_without(fact)) is not None:
            yield self._claim("not on the page", self._embroidered(self._reworded(fact)), without, "unsupported")

    def _joined(self) -> Iterator[Claim]:
        """Two facts in a sentence: both there, or one of them changed."""
        draw = self._draw
        joint = draw.pick(JOINTS[self._prose.language])
        if len(self._facts) > 1:
            one, other = draw.shuffled(self._facts)[:2]
            both = self._join(joint, self._reworded(one), self._reworded(other))
            yield self._claim("joined", both, self._page.text, "supported")
            if (spoiled := self._spoiled(other)) is not None:
                half = self._join(joint, self._reworded(one), spoiled)
                yield self._claim("half", half, self._page.text, "half")
            wrong = [found for fact in (one, other) if (found := self._spoiled(fact)) is not None]
            if len(wrong) == 2:
                yield self._claim("joined, both wrong", self._join(joint, *wrong), self._page.text, "unsupported")

    def _fillers(self) -> Iterator[Claim]:
        """Statements without figures: one that the page has, one that it does not have."""
        templates = self._prose.fillers.get(self._entity.kind, ())
        said = {template: about(self._prose, template, self._entity) for template in templates}
        name = self._entity.name.text(self._prose.language)
        for template, sentence in said.items():
            there = sentence in self._page.text
            if self._draw.chance(60 if there else 35):
                text = about(self._prose, template.replace("{t}", name), self._entity)
                kind = "soft" if there else "soft, not on the page"
                verdict: Verdict = "supported" if there else "unsupported"
                core = max(template.split("{t}"), key=len)
                yield self._claim(kind, text, self._page.text, verdict, avoid=core)

    def _claim(
        self, kind: str, statement: str, page: str, verdict: Verdict, *, bare: bool = False, avoid: str = ""
    ) -> Claim:
        text = page if bare else worn(f"{self._title(page)}{page}", self._draw, self._unrelated(page, avoid))
        part: Part = "choose" if derive("claims", self._entity.id) % 2 else "check"
        return Claim(kind, statement, text, verdict, self._prose.language, self._entity.id, part)

    def _title(self, page: str) -> str:
        return f"{self._page.title}\n\n" if page == self._page.text else ""

    def _unrelated(self, page: str, avoid: str) -> list[str]:
        """Texts of the same language that do not speak of the entity, its kind among them, nor say `avoid`."""
        name = self._entity.name.text(self._prose.language)
        found = [
            text
            for text in self._draw.some(self._texts[self._prose.language], 24)
            if name not in text and not (avoid and avoid in text)
        ]
        return found or [page]

    def _held(self, fact: Fact) -> Dated:
        return fact.at(self._day)

    def _fill(self, template: str, fact: Fact, held: Dated) -> str:
        if held not in fact.history:
            fact = replace(fact, history=(held,))
        return fill(self._prose, template, fact, held, self._day)

    def _on_page(self, fact: Fact) -> str:
        """The sentence of the page that states the fact."""
        key = fact.subject.kind, fact.relation
        said = [self._fill(template, fact, self._held(fact)) for template in self._prose.stated[key]]
        return next((sentence for sentence in said if sentence in self._page.text), said[0])

    def _reworded(self, fact: Fact, held: Dated | None = None) -> str:
        """The fact in words that the page may not have."""
        key = fact.subject.kind, fact.relation
        templates = (*REWORDED[self._prose.language].get(key, ()), *self._prose.stated[key])
        return self._fill(self._draw.pick(templates), fact, held or self._held(fact))

    def _embroidered(self, sentence: str) -> str:
        draw, language = self._draw, self._prose.language
        stop = "。" if language == "zh" else "."
        if draw.chance(70):
            sentence = sentence.rstrip(stop) + draw.pick(ADDITIONS[language]) + stop
        return draw.pick(LEAD_INS[language]).format(x=sentence) if draw.chance(50) else sentence

    def _reshaped(self, fact: Fact) -> str | None:
        """A count rounded or written otherwise."""
        held = self._held(fact)
        if BY_KEY[fact.subject.kind, fact.relation].value != "number" or not isinstance(held.value, int):
            return None
        sentence, value = self._reworded(fact), held.value
        written = self._prose.value(value, number=True)
        size = len(str(value))
        rounded = round(value, 2 - size)
        english = (
            f"about {rounded:,}",
            f"{value}",
            f"roughly {rounded / 1000:g} thousand",
            f"more than {value - value % 100:,}",
        )
        chinese = (f"约{rounded / 10000:g}万", f"{value:,}", f"{value / 10000:.2f}万")
        return sentence.replace(written, self._draw.pick(chinese if self._prose.language == "zh" else english))

    def _across(self, fact: Fact) -> str | None:
        """The fact in the other language, where figures compare, a few words, and at best the name."""
        held = self._held(fact)
        if not isinstance(held.value, int) or self._entity.kind == "scene":
            return None
        other = "zh" if self._prose.language == "en" else "en"
        key = fact.subject.kind, fact.relation
        templates = (*REWORDED[other][key], *LANGUAGES[other].stated[key])
        return fill(LANGUAGES[other], self._draw.pick(templates), fact, held, self._day)

    def _spoiled(self, fact: Fact) -> str | None:
        """The fact with its value changed: another count, a neighbouring year, a sibling in its place."""
        held, relation = self._held(fact), BY_KEY[fact.subject.kind, fact.relation]
        if isinstance(held.value, int):
            if relation.value == "year":
                value: object = held.value + self._draw.pick((-9, -4, -2, -1, 1, 2, 3, 7))
            else:
                value = held.value * self._draw.pick((58, 71, 88, 113, 127, 160)) // 100 + 7
        else:
            values = [
                other.at(self._day).value
                for entity in self._world.entities()
                if entity.kind == fact.subject.kind and entity.region == self._entity.region
                for other in [self._world.fact(entity, fact.relation)]
            ]
            others = [
                value for value in values if value != held.value and self._prose.value(value) not in self._page.text
            ]
            if not others:
                return None
            value = self._draw.pick(others)
        changed = Dated(held.since, value)  # type: ignore[arg-type]
        if self._draw.chance(50):
            return self._fill(self._draw.pick(self._prose.stated[fact.subject.kind, fact.relation]), fact, changed)
        return self._reworded(fact, changed)

    def _denied(self, sentence: str) -> str | None:
        for plain, denied in DENIALS[self._prose.language]:
            if plain in sentence:
                return sentence.replace(plain, denied, 1)
        return None

    @staticmethod
    def _join(joint: str, one: str, other: str) -> str:
        stop = "。" if one.endswith("。") else "."
        return joint.format(a=one.rstrip("。."), b=other.rstrip("。.")) + stop

    def _other_page(self) -> str:
        """A page about something of another kind or region."""
        others = [
            entity
            for entity in self._world.entities()
            if entity.language == self._entity.language
            and entity.region != self._entity.region
            and entity.kind != "scene"
        ]
        return self._pages[entry_url(self._draw.pick(others))].text

    def _sibling_page(self) -> str:
        """A page about another entity of the same kind and region."""
        others = [e for e in self._world.regions[self._entity.region].of(self._entity.kind) if e is not self._entity]
        return self._pages[entry_url(self._draw.pick(others))].text if others else self._other_page()

    def _page_without(self, fact: Fact) -> str | None:
        """The entity's page with the sentences that state the fact cut out."""
        held = self._held(fact)
        written = self._prose.value(held.value, number=BY_KEY[fact.subject.kind, fact.relation].value == "number")
        stop = r"(?<=。)" if self._prose.language == "zh" else r"(?<=[.!?]) "
        kept = [
            "".join(
                part if self._prose.language == "zh" else f"{part} "
                for part in re.split(stop, paragraph)
                if written not in part
            )
            for paragraph in self._page.text.split("\n\n")
        ]
        text = "\n\n".join(paragraph.strip() for paragraph in kept if paragraph.strip())
        name = self._entity.name.text(self._prose.language)
        return text if name in text and written not in text and self._draw.chance(60) else None
