"""Follows a run that another process is making, by the rows that are appended to its folder."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from aiq.core.samples import SampleKey
from aiq.runs.folder import RunFolder
from aiq.runs.journal import RowT, read_lines
from aiq.runs.manifest import RunSpec
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.runs.state import RunState


class FollowedRun:
    """A run in progress: each `poll` adds to `state`, which has the attempted samples and `keys`, if they are given.

    `total`: the number of attempts that the run plans.
    """

    def __init__(self, folder: RunFolder, keys: Sequence[SampleKey] = ()) -> None:
        manifest = folder.read_manifest()
        self._folder = folder
        epochs = manifest.config.get("epochs")
        self.total = manifest.dataset.samples * (epochs if isinstance(epochs, int) else 1)
        self.state = RunState(RunSpec(keys, manifest.judges, manifest.failures, manifest.intervals))
        self._offsets: dict[Path, int] = {}
        self._finished: set[SampleKey] = set()

    def poll(self) -> tuple[list[SampleKey], list[SampleKey]]:
        """Since the last look: the keys that are now done, and those that were attempted again."""
        retried: list[SampleKey] = []
        touched: dict[SampleKey, None] = {}
        for row in self._new_rows("samples", SampleRow):
            retried += [row.key] if row.key in self.state.attempts else []
            self.state.add_attempt(row)
            touched[row.key] = None
        for score in self._new_rows("scores", ScoreRow):  # after the attempts, which are written before their scores
            self.state.add_scores([score])
            touched[score.key] = None
        finished = [key for key in touched if key not in self._finished and self._is_done(key)]
        self._finished.update(finished)
        return finished, retried

    def _is_done(self, key: SampleKey) -> bool:
        """Whether each judge has finished with the key, successfully or not."""
        attempt = self.state.attempts.get(key)
        judged = all(self.state.score(key, metric) for metric in self.state.spec.metrics)
        return attempt is not None and attempt.status != "cancelled" and judged

    def _new_rows(self, name: str, row: type[RowT]) -> Iterator[RowT]:
        for path in self._folder.journals(name):
            rows = read_lines(path, lambda line: (row.model_validate_json(line), len(line)), self._offsets.get(path, 0))
            for (parsed, size), start in rows:
                self._offsets[path] = start + size
                yield parsed
