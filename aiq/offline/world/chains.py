"""Questions of one hop or several: a chain of relations from a named entity to the answer."""

from dataclasses import dataclass

from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import Entity, Fact, World
from aiq.offline.world.relations import RELATIONS, Change, Relation, of_kind

Chain = tuple[Relation, ...]
_PACE: dict[Change, int] = {"never": 0, "slow": 1, "fast": 2}
_LEADS_TO = {"person", "city", "institute"}


@dataclass(frozen=True, slots=True)
class Path:
    """A chain followed through the world: the facts in order, the last one holding the answer."""

    chain: Chain
    facts: tuple[Fact, ...]

    @property
    def change(self) -> Change:
        """The rate of the fastest-changing step."""
        return pace(self.chain)


def pace(chain: Chain) -> Change:
    return max((relation.change for relation in chain), key=_PACE.__getitem__)


def chains(hops: int, change: Change) -> list[Chain]:
    """Every chain of that many hops whose fastest step changes at that rate, in the table's order."""
    found: list[Chain] = [(relation,) for relation in RELATIONS if relation.questions]
    for _ in range(hops - 1):
        found = [(*chain, after) for chain in found if chain[-1].path for after in _after(chain[-1])]
    return [chain for chain in found if pace(chain) == change]


def _after(relation: Relation) -> tuple[Relation, ...]:
    return of_kind(relation.value) if relation.value in _LEADS_TO else ()


def follow(world: World, chain: Chain, start: Entity) -> Path | None:
    """The chain from `start`; None where it leads back to something already met, which would be too easy."""
    facts: list[Fact] = []
    subject, met = start, [start]
    for relation in chain:
        fact = world.fact(subject, relation.name)
        facts.append(fact)
        if isinstance(fact.value, Entity):
            if fact.value in met:
                return None
            subject = fact.value
            met.append(subject)
    return Path(chain, tuple(facts))


def ask(path: Path, draw: Draw) -> str:
    """The question, nested from the inside out."""
    subject = path.facts[0].subject.name.en
    for relation in path.chain[:-1]:
        assert relation.path is not None
        subject = relation.path.format(s=subject)
    return draw.pick(path.chain[-1].questions).format(s=subject)
