"""Turns facts into sentences and questions: one way to fill templates, for every table.

Wordings are drawn from streams of their own, so that the facts do not depend on them.
"""

import re
from collections.abc import Sequence
from datetime import date

from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import Dated, Entity, Fact, Value, short
from benchmarks.closed_world.names import Name, names
from benchmarks.closed_world.tables import PROSE, RELATIONS, Language, table

_MONTHS = names(table("names")["months"])


def fill(template: str, **words: object) -> str:
    """The template with its words, `a(n)` and a possessive after `s` as English has them, a capital at the start."""
    text = template.format(**words)
    text = re.sub(r"\b([Aa])\(n\)(?= ([aeiouAEIOU])?)", lambda found: found[1] + ("n" if found[2] else ""), text)
    text = re.sub(r"s's\b", "s'", text)
    return text[:1].upper() + text[1:]


def month(day: date, language: Language) -> str:
    """`March 2026`, `2026年3月`."""
    return PROSE[language].month.format(year=day.year, month=_MONTHS[day.month - 1].text(language))


def full_date(day: date, language: Language) -> str:
    """`3 March 2026`, `2026年3月3日`."""
    return PROSE[language].day.format(year=day.year, month=_MONTHS[day.month - 1].text(language), number=day.day)


def spelled(fact: Fact, value: Value) -> str:
    """A value as the subject's language has it: names, plain years, counts with that language's separators."""
    language = fact.subject.language
    if isinstance(value, Entity):
        return value.name.text(language)
    if isinstance(value, Name):
        return value.text(language)
    separator = PROSE[language].thousands
    return f"{value:,}".replace(",", separator) if fact.relation.value == "number" else str(value)


def enumerated(entities: Sequence[Entity], language: Language) -> str:
    """`A, B and C`."""
    prose, texts = PROSE[language], [entity.name.text(language) for entity in entities]
    return f"{prose.comma.join(texts[:-1])}{prose.and_}{texts[-1]}" if len(texts) > 1 else texts[0]


def tell(template: str, fact: Fact, held: Dated, day: date) -> str:
    """One template of the fact's relation, for the value that is held, as a page of that day tells it."""
    language, before = fact.subject.language, fact.history[max(fact.history.index(held) - 1, 0)]
    return fill(
        template,
        s=fact.subject.called,
        v=spelled(fact, held.value),
        before=spelled(fact, before.value),
        date=month(day, language),
        since=month(held.since, language),
        edition=held.since.year,
        day=full_date(held.since, language),
    )


def state(fact: Fact, day: date, draw: Draw) -> str:
    """The fact as it stood on that day."""
    return tell(draw.pick(fact.relation.words(fact.subject.language).state), fact, fact.at(day), day)


def about(template: str, subject: Entity, **more: str) -> str:
    """A template that needs no fact."""
    language = subject.language
    brief = PROSE[language].short.get(subject.kind) or short(subject, language)
    return fill(template, s=subject.called, t=brief, en=subject.name.en, **more)


def ask(facts: Sequence[Fact], draw: Draw) -> str:
    """The question for the last fact by way of the others, nested from the inside out."""
    phrase, language = facts[0].subject.called, facts[0].subject.language
    for depth, fact in enumerate(facts):
        last = depth == len(facts) - 1
        wordings = fact.relation.words(language).ask if last else fact.relation.path
        phrase = draw.pick(_fitting(wordings, phrase, nested=depth > 0)).format(s=phrase)
    return fill(phrase)


def _fitting(wordings: Sequence[str], phrase: str, *, nested: bool) -> Sequence[str]:
    """The wordings that stay readable: no `'s` after a phrase, and one with a clause in it at the end if possible."""
    if not nested:
        return wordings
    plain = [text for text in wordings if "{s}'s" not in text]
    clause = re.search(r" (where|which|who|that) ", phrase)
    return [text for text in plain if clause and text.rstrip("?").endswith("{s}")] or plain


def follow(fact: Fact, draw: Draw, *, rivals: Sequence[str]) -> str:
    """The question for a fact whose subject was just spoken of.

    `rivals`: the kinds of whatever else was spoken of; where one of them has such a relation too, the question names
    the subject's kind.
    """
    language, kind = fact.subject.language, fact.subject.kind
    plain = any((rival, fact.name) in RELATIONS for rival in rivals)
    wordings = [text for text in fact.relation.words(language).follow if "{t}" in text or not plain]
    return fill(draw.pick(wordings), t=draw.pick(PROSE[language].referred[kind]))
