"""What a report is made of: the order for it, and its sections while they are being filled."""

from dataclasses import dataclass, field

from aiq.core.base import Record
from aiq.offline.reading.findings import Finding
from aiq.offline.reading.knowledge import Knowledge, Thing
from aiq.offline.reading.tasks import Task


class Order(Record):
    """What the report is to be: its plan, its material, and whether a list of references is asked for."""

    task: Task
    title: str
    titles: tuple[str, ...]
    found: tuple[Finding, ...]
    known: Knowledge
    seed: int | None
    references: bool


@dataclass(slots=True)
class Section:
    """`about`: facts by thing; `other`: what is said in general; `table_of`: things that a table here compares."""

    title: str
    about: dict[str, list[Finding]] = field(default_factory=dict)
    other: list[Finding] = field(default_factory=list)
    table_of: list[Thing] = field(default_factory=list)

    def general(self) -> list[Finding]:
        """What is said in general, a source at a time."""
        by_source: dict[str, list[Finding]] = {}
        for finding in self.other:
            by_source.setdefault(finding.sources[0].key, []).append(finding)
        return [finding for group in by_source.values() for finding in group]

    def statements(self) -> list[Finding]:
        """Everything but the table, in the order of the text."""
        long = [finding for group in self.about.values() if len(group) > 1 for finding in group]
        short = [finding for group in self.about.values() if len(group) == 1 for finding in group]
        return [*self.general(), *long, *short]

    def empty(self) -> bool:
        return not (self.about or self.other or self.table_of)
