"""The relations of the closed world, as a table: kinds, answer types, change rates, question and path phrases.

`{s}` is the subject: a name, or again a path phrase, which makes the nested questions
("Who is the mayor of the city where Halden Works is headquartered?").
"""

from dataclasses import dataclass
from typing import Literal

Change = Literal["never", "slow", "fast"]
ValueType = Literal["person", "city", "institute", "country", "river", "year", "number", "month", "place"]


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation of one kind of subject.

    `questions`: ways to ask for it, the first being the plainest. `path`: names its value by way of
    the subject; None where the value leads no further.
    """

    kind: str
    name: str
    value: ValueType
    change: Change
    questions: tuple[str, ...]
    path: str | None = None


RELATIONS: tuple[Relation, ...] = (
    Relation(
        "company",
        "headquarters",
        "city",
        "slow",
        ("In which city is {s} headquartered?", "Where is {s} headquartered?"),
        "the city where {s} is headquartered",
    ),
    Relation(
        "company",
        "founder",
        "person",
        "never",
        ("Who founded {s}?", "Who is the founder of {s}?"),
        "the founder of {s}",
    ),
    Relation("company", "founded", "year", "never", ("In what year was {s} founded?", "When was {s} founded?")),
    Relation(
        "company",
        "chief_executive",
        "person",
        "slow",
        ("Who is the chief executive of {s}?", "Who is the current chief executive of {s}?"),
        "the chief executive of {s}",
    ),
    Relation(
        "company", "employees", "number", "fast", ("How many people work at {s}?", "How many employees does {s} have?")
    ),
    Relation(
        "person",
        "born_in",
        "city",
        "never",
        ("In which city was {s} born?", "Where was {s} born?"),
        "the city where {s} was born",
    ),
    Relation("person", "birth_year", "year", "never", ("In what year was {s} born?",)),
    Relation(
        "person",
        "studied_at",
        "institute",
        "never",
        ("At which institute did {s} study?", "Where did {s} study?"),
        "the institute where {s} studied",
    ),
    Relation("city", "country", "country", "never", ("In which country is {s}?",)),
    Relation(
        "city",
        "mayor",
        "person",
        "slow",
        ("Who is the mayor of {s}?", "Who is the current mayor of {s}?"),
        "the mayor of {s}",
    ),
    Relation(
        "city", "population", "number", "fast", ("What is the population of {s}?", "How many people live in {s}?")
    ),
    Relation("city", "founded", "year", "never", ("In what year was {s} founded?",)),
    Relation("city", "river", "river", "never", ("Which river flows through {s}?",)),
    Relation(
        "institute",
        "city",
        "city",
        "never",
        ("In which city is {s} located?", "Where is {s} located?"),
        "the city where {s} is located",
    ),
    Relation(
        "institute",
        "director",
        "person",
        "slow",
        ("Who is the director of {s}?", "Who is the current director of {s}?"),
        "the director of {s}",
    ),
    Relation("institute", "founded", "year", "never", ("In what year was {s} founded?", "When was {s} founded?")),
    Relation(
        "festival",
        "city",
        "city",
        "never",
        ("In which city is {s} held?", "Where is {s} held?"),
        "the city where {s} is held",
    ),
    Relation(
        "festival",
        "winner",
        "person",
        "fast",
        ("Who is the latest winner of {s}?", "Who won the most recent {s}?"),
        "the latest winner of {s}",
    ),
    Relation("festival", "month", "month", "never", ("In which month is {s} held?",)),
    Relation(
        "club",
        "city",
        "city",
        "never",
        ("In which city does {s} play?",),
        "the city where {s} plays",
    ),
    Relation(
        "club",
        "coach",
        "person",
        "fast",
        ("Who is the head coach of {s}?", "Who is the current head coach of {s}?"),
        "the head coach of {s}",
    ),
    Relation("club", "stadium", "place", "slow", ("In which stadium does {s} play?",)),
    Relation(
        "book",
        "author",
        "person",
        "never",
        ("Who is the author of {s}?", "Who wrote {s}?"),
        "the author of {s}",
    ),
    Relation("book", "published", "year", "never", ("In what year was {s} published?", "When was {s} published?")),
    # A scene is what a research task is about: an industry, or the letters, learning or culture of a region.
    Relation("scene", "begun", "year", "never", ()),
    Relation("scene", "turned", "year", "never", ()),
    Relation("scene", "volume", "number", "fast", ()),
)

BY_KEY: dict[tuple[str, str], Relation] = {(relation.kind, relation.name): relation for relation in RELATIONS}


def of_kind(kind: str) -> tuple[Relation, ...]:
    """The relations of one kind of subject, in the table's order."""
    return tuple(relation for relation in RELATIONS if relation.kind == kind)
