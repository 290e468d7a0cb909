"""The samples of a dataset in a temporary file: however many there are, only their ids are held in memory."""

import os
import pickle
import tempfile
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import overload
from weakref import finalize

from aiq.core.samples import Ids, Sample


class _File:
    """Samples by number, in the order in which they were added."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        ids, self._ends = list[str](), array("Q", [0])
        file = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as this object
        finalize(self, file.close)
        for sample in samples:
            ids.append(sample.id)
            self._ends.append(self._ends[-1] + file.write(pickle.dumps(sample, pickle.HIGHEST_PROTOCOL)))
        file.flush()
        self._number, self.ids = file.fileno(), Ids(ids)

    def __getitem__(self, number: int) -> Sample:
        start, end = self._ends[number], self._ends[number + 1]
        sample: Sample = pickle.loads(os.pread(self._number, end - start, start))  # noqa: S301  its own
        return sample


class Samples(Sequence[Sample]):
    """Samples in order, each read when it is requested. Raises what the iterable they come from raises."""

    def __init__(self, samples: Iterable[Sample] = ()) -> None:
        self._file = _File(samples)
        self._numbers: Sequence[int] = range(len(self._file.ids))

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> Sample: ...
    @overload
    def __getitem__(self, place: slice) -> "Samples": ...
    def __getitem__(self, place: int | slice) -> "Sample | Samples":
        if isinstance(place, slice):
            return self._subset(self._numbers[place])
        return self._file[self._numbers[place]]

    @cached_property
    def ids(self) -> Ids:
        ids = self._file.ids
        return ids if self._numbers == range(len(ids)) else Ids(ids[number] for number in self._numbers)

    def named(self, key: str) -> Sample:
        """The sample with this id. Raises KeyError."""
        if (sample := self.get(key)) is None:
            raise KeyError(key)
        return sample

    def get(self, key: str) -> Sample | None:
        """The sample with this id, if there is one."""
        place = self.ids.place(key)
        return None if place is None else self[place]

    def at(self, places: Iterable[int]) -> "Samples":
        """The samples at these places."""
        return self._subset(array("Q", (self._numbers[place] for place in places)))

    def _subset(self, numbers: Sequence[int]) -> "Samples":
        samples = object.__new__(Samples)
        samples._file, samples._numbers = self._file, numbers
        return samples

    def where(self, keeps: Callable[[str], bool]) -> "Samples":
        """The samples whose ids `keeps` accepts."""
        return self.at(place for place, key in enumerate(self.ids) if keeps(key))
