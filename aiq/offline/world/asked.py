"""A question of the mini FreshQA before it becomes a row."""

from dataclasses import dataclass

from aiq.offline.world.entities import Fact
from aiq.offline.world.relations import Change


@dataclass(frozen=True, slots=True)
class Asked:
    """`facts`: what one has to know, in the order of finding it; `answers`: accepted, the fullest first."""

    text: str
    answers: tuple[str, ...]
    change: Change
    hops: int
    facts: tuple[Fact, ...]
    false_premise: bool = False
    needs_depth: bool = False

    @property
    def key(self) -> object:
        """Equal for two questions that ask the same, however they are worded."""
        if self.false_premise or self.needs_depth:
            return self.text
        return tuple((fact.subject.id, fact.relation) for fact in self.facts)
