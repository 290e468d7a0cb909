"""Turns facts into sentences and questions: fills the templates of all tables.

Wordings are drawn from separate streams, so that the facts do not depend on them.
"""

import re
from collections.abc import Sequence
from datetime import date

from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import Dated, Entity, Fact, Value
from benchmarks.closed_world.names import MONTHS
from benchmarks.closed_world.tables import PROSE, RELATIONS, Language


def fill(template: str, **words: object) -> str:
    """The template with its words filled in, correct `a(n)` and possessives after `s`, and a capital at the start."""
    text = template.format(**words)
    text = re.sub(r"\b([Aa])\(n\)(?= ([aeiouAEIOU])?)", lambda match: match[1] + ("n" if match[2] else ""), text)
    text = re.sub(r"s's\b", "s'", text)
    return text[:1].upper() + text[1:]


def spelled_day(day: date, language: Language, form: str = "day") -> str:
    """`3 March 2026`, `2026年3月3日`; the form `month` leaves out the day's number."""
    return str(PROSE[language].dates[form].format(day=day, month=MONTHS[day.month - 1].text(language)))


def spelled(fact: Fact, value: Value) -> str:
    """A value in the subject's language: names, plain years, counts with that language's separators."""
    language = fact.subject.language
    if not isinstance(value, int):
        return value.text(language)
    return f"{value:,}".replace(",", PROSE[language].thousands) if fact.relation.value == "number" else str(value)


def enumerated(entities: Sequence[Entity]) -> str:
    """`A, B and C`, for two or more."""
    prose, texts = PROSE[entities[0].language], list(map(str, entities))
    return f"{prose.comma.join(texts[:-1])}{prose.last_comma}{texts[-1]}"


def tell(template: str, fact: Fact, held: Dated, day: date) -> str:
    """A template of the fact's relation filled with the given value, as a page of that day would state it."""
    language, previous = fact.subject.language, fact.history[max(fact.history.index(held) - 1, 0)]
    return fill(
        template,
        s=fact.subject,
        v=spelled(fact, held.value),
        before=spelled(fact, previous.value),
        date=spelled_day(day, language, "month"),
        since=spelled_day(held.since, language, "month"),
        edition=held.since.year,
        day=spelled_day(held.since, language),
    )


def state(fact: Fact, day: date, draw: Draw) -> str:
    """A sentence that states the fact as of that day."""
    return tell(draw.pick(fact.words.state), fact, fact.at(day), day)


def about(template: str, subject: Entity, **more: object) -> str:
    """Fill a template that needs no fact."""
    brief = PROSE[subject.language].short.get(subject.kind) or subject.short(subject.language)
    return fill(template, s=subject, t=brief, en=subject.name.en, **more)


def ask(facts: Sequence[Fact], draw: Draw) -> str:
    """The question for the last fact via the others, nested from the inside out."""
    phrase = str(facts[0].subject)
    for fact in facts[:-1]:
        phrase = _nested(fact.relation.path, phrase, fact is not facts[0], draw)
    return fill(_nested(facts[-1].words.ask, phrase, len(facts) > 1, draw))


def _nested(wordings: Sequence[str], phrase: str, is_clause: bool, draw: Draw) -> str:
    """A wording around a name, or around a phrase so that it stays readable.

    No `'s` follows a phrase, and a phrase with a clause comes last if possible.
    """
    if is_clause:
        wordings = [text for text in wordings if "{s}'s" not in text]
        if re.search(r" (where|which|who|that) ", phrase):
            wordings = [text for text in wordings if text.rstrip("?").endswith("{s}")] or wordings
    return draw.pick(wordings).format(s=phrase)


def follow(fact: Fact, draw: Draw, *, beside: Sequence[Value]) -> str:
    """A follow-up question for a fact whose subject was just mentioned.

    `beside`: what else was mentioned; if that could have such a relation too, the question names the subject's kind.
    """
    ambiguous = any(isinstance(value, Entity) and (value.kind, fact.name) in RELATIONS for value in beside)
    wordings = [text for text in fact.words.follow if "{t}" in text or not ambiguous]
    return fill(draw.pick(wordings), t=draw.pick(PROSE[fact.subject.language].referred[fact.subject.kind]))
