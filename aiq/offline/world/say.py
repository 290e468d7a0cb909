"""Turns a dated fact into a sentence of a page."""

from datetime import date

from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import Dated, Entity, Fact, short
from aiq.offline.world.prose.base import Prose, Templates
from aiq.offline.world.relations import BY_KEY


def say(prose: Prose, templates: Templates, fact: Fact, day: date, draw: Draw) -> str:
    """The fact as it stood on `day`, in one of the templates of its relation."""
    template = draw.pick(templates[fact.subject.kind, fact.relation])
    return fill(prose, template, fact, fact.at(day), day)


def fill(prose: Prose, template: str, fact: Fact, held: Dated, day: date) -> str:
    """One template with everything it may name."""
    number = BY_KEY[fact.subject.kind, fact.relation].value == "number"
    index = fact.history.index(held)
    return sentence(
        template.format(
            s=fact.subject.name.text(prose.language),
            v=prose.value(held.value, number=number),
            before=prose.value(fact.history[max(index - 1, 0)].value, number=number),
            date=prose.month(day),
            since=prose.month(held.since),
            edition=held.since.year,
            day=prose.day(held.since),
            year=day.year,
        )
    )


def about(prose: Prose, template: str, subject: Entity, **more: str) -> str:
    """A template that needs no fact."""
    name = subject.name.text(prose.language)
    brief = prose.short.get(subject.kind) or short(subject, prose.language)
    return sentence(template.format(s=name, t=brief, en=subject.name.en, **more))


def sentence(text: str) -> str:
    """With a capital at the start; only the first letter changes."""
    return text[:1].upper() + text[1:]
