"""What an agent is asked and what a dataset row holds. Data only; loaders are in `aiq.datasets`."""

import hashlib
import json
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from io import StringIO
from typing import Annotated, Any, Literal, NamedTuple, overload

from pydantic import BeforeValidator, Field, JsonValue

from aiq.core.base import Record


def source_ids(value: object) -> object:
    """Ids of data sources: None for all, an empty list for none, or a list of ids.

    Raises ValueError for anything else: a string or a set taken for a list would let through what nobody allowed.
    """
    if value is None:
        return None
    if isinstance(value, list | tuple) and all(isinstance(item, str) and item.strip() for item in value):
        return [item.strip() for item in value]
    raise ValueError("write null for all data sources, [] for none, or a list of ids such as [web]")


DataSources = Annotated[tuple[str, ...] | None, BeforeValidator(source_ids)]
"""None allows every tool, an empty tuple only those that belong to no data source."""


class Turn(Record):
    """One earlier message of the conversation."""

    speaker: Literal["user", "assistant"]
    text: str


class Document(Record):
    """A document the user uploaded, as the agents' prompts list it."""

    file_name: str
    summary: str = ""


class Question(Record):
    """All that an agent is told about a sample; `language` is an ISO 639-1 code where the dataset states one."""

    text: str
    history: tuple[Turn, ...] = ()
    language: str | None = None
    data_sources: DataSources = None
    documents: tuple[Document, ...] = ()
    collection_name: str | None = None
    user_info: Mapping[str, JsonValue] | None = None
    thread_id: str | None = None


Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Criterion(Record):
    """One weighted criterion of a dimension (Deep Research Bench's `criterions`)."""

    criterion: str
    explanation: str
    weight: Weight


class Rubric(Record):
    """How a research task is to be judged: dimension weights, and criteria per dimension."""

    dimension_weight: Mapping[str, Weight]
    criteria: Mapping[str, tuple[Criterion, ...]]


class NeededFact(Record):
    """A fact of the closed world that a question needs: stated if a report contains any of its `forms`."""

    id: str
    forms: tuple[str, ...]


class NeededNumber(Record):
    """A number that a report must state, beside one of its `labels` if it has any; `percent`: as a percentage."""

    labels: tuple[str, ...]
    value: float
    percent: bool = False


class Expected(Record):
    """What an aggregate or exhaustive question expects: numbers, and the ids of all items asked for."""

    numbers: tuple[NeededNumber, ...] = ()
    items: tuple[str, ...] = ()


class Truth(Record):
    """What is known of a sample. Only the judges `world`, `events` and `escalation` may read it."""

    hops: int
    needs_depth: bool
    facts: tuple[NeededFact, ...] = ()
    expected: Expected | None = None


class TruthRow(Truth):
    """One line of `truth.jsonl`."""

    sample_id: str


class Sample(Record):
    """One row of a dataset: a question and what judges compare the report with.

    `turns`: what the person asks before the question, in order; an agent answers each of them first, in the same
    attempt, and only the question is judged. `answers`: accepted short answers. `reference`: the reference report.
    `tags`: the properties by which summaries are sliced, values as the dataset spells them. `preferences`: what the
    person who asks would want; a simulated user knows them and the agent does not.
    """

    id: str
    question: Question
    turns: tuple[str, ...] = ()
    preferences: str | None = None
    answers: tuple[str, ...] = ()
    reference: str | None = None
    rubric: Rubric | None = None
    tags: Mapping[str, str] = {}
    truth: Truth | None = None

    @property
    def hash(self) -> str:
        """First 16 hex digits of the SHA-256 of id, question, turns and preferences: the same hash, the same attempt.

        What only judges read (answers, rubric, reference, truth) is not part of it.
        """
        turns = f"\nturns {json.dumps(self.turns)}" if self.turns else ""
        preferences = f"\n{self.preferences}" if self.preferences else ""
        canonical = f"{self.id}\n{self.question.model_dump_json()}{turns}{preferences}"
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]


class SampleKey(NamedTuple):
    """Which repetition of which sample; `epoch` counts from 1."""

    sample_id: str
    epoch: int


class Ids(Collection[str]):
    """Ids in order, in one string searched by bisection: a list and a dict would take 150 bytes per id."""

    def __init__(self, ids: Iterable[str]) -> None:
        text, self._ends = StringIO(), array("Q", [0])
        for key in ids:
            self._ends.append(self._ends[-1] + text.write(key))
        self._text, self._last = text.getvalue(), 0

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, place: int) -> str:
        """`place` counts from 0."""
        return self._text[self._ends[place] : self._ends[place + 1]]

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    def __contains__(self, key: object) -> bool:
        return self.place(key) is not None

    def place(self, key: Any) -> int | None:
        """The position of an id; None if it is not here. Asking for all of them in order needs no search."""
        for place in range(self._last, min(self._last + 2, len(self))):
            if self[place] == key:
                self._last = place
                return place
        index = bisect_left(self._sorted, key, key=self.__getitem__)
        if index == len(self) or self[self._sorted[index]] != key:
            return None
        self._last = self._sorted[index]
        return self._last

    @cached_property
    def _sorted(self) -> "array[int]":
        return array("I", sorted(range(len(self)), key=self.__getitem__))


class Keys(Sequence[SampleKey]):
    """Every epoch of every sample, sample by sample, or some of them; a key is made when it is asked for."""

    def __init__(self, ids: Ids, epochs: int, numbers: Sequence[int] | None = None) -> None:
        self._ids, self._epochs = ids, epochs
        self._numbers = range(len(ids) * epochs) if numbers is None else numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> SampleKey: ...
    @overload
    def __getitem__(self, place: slice) -> "Keys": ...
    def __getitem__(self, place: int | slice) -> "SampleKey | Keys":
        if isinstance(place, slice):
            return Keys(self._ids, self._epochs, self._numbers[place])
        return self._key(self._numbers[place])

    def __iter__(self) -> Iterator[SampleKey]:
        return map(self._key, self._numbers)

    def _key(self, number: int) -> SampleKey:
        sample, epoch = divmod(number, self._epochs)
        return SampleKey(self._ids[sample], epoch + 1)

    def place(self, key: SampleKey) -> int | None:
        """The position of a key; None if it is not here."""
        sample = self._ids.place(key.sample_id)
        if sample is None or not 1 <= key.epoch <= self._epochs:
            return None
        number = sample * self._epochs + key.epoch - 1
        return self._numbers.index(number) if number in self._numbers else None

    def where(self, keeps: Callable[[SampleKey], bool]) -> "Keys":
        """The keys that `keeps` accepts, to iterate over: `place` would search them one by one."""
        numbers = (number for number in self._numbers if keeps(self._key(number)))
        return Keys(self._ids, self._epochs, array("Q", numbers))


class Shard(NamedTuple):
    """Part `number`, counted from 1, of a run that is split into `of` parts."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Raises ValueError for anything but K/N with K from 1 to N."""
        match = re.fullmatch(r"(\d+)/(\d+)", text)
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            raise ValueError("write K/N with K from 1 to N, such as 3/16")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, keys: Sequence[SampleKey]) -> Sequence[SampleKey]:
        """The shard's keys: each key is in one shard, and the sizes of shards differ by at most one."""
        return keys[self.number - 1 :: self.of]
