"""A run's folder: where each file is, the lock that keeps out a second writer, and finding a run by name."""

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from aiq.core.base import Record
from aiq.core.errors import ConfigError, UserError
from aiq.core.plugins import describe
from aiq.core.samples import Shard
from aiq.core.secrets import mask_secrets
from aiq.core.seeds import derive
from aiq.runs.journal import is_other_version, unwritable
from aiq.runs.manifest import Manifest
from aiq.runs.summary import Summary

LATEST = "latest"
MANIFEST = "manifest.json"
SWEEP_FILE = "sweep.json"
_LOCK: Final = "run{}.lock"
_ENDING_SECONDS: Final = 20.0
"""How long to wait for a shard's old process to end before its replacement gives up."""
_UNSHARDED: Final = Shard(1, 1)
_WRITER: Final = re.compile(r"(?:-(\d+))?(?:-(\d+)-of-(\d+))?")

RecordT = TypeVar("RecordT", bound=Record)


def new_run_id() -> str:
    """A name that sorts by time, to the millisecond, and is unique to this process: `20261101-090000-123a1b`."""
    now = datetime.now(UTC)
    suffix = derive(now.isoformat(), os.getpid()) & 0xFFF
    return f"{now:%Y%m%d-%H%M%S}-{now.microsecond // 1000:03}{suffix:03x}"


@dataclass(frozen=True, order=True)
class Writer:
    """Who appends to a run's files: the whole run, or one shard of it. Each has its own files.

    `turn` counts how often the run was re-divided into shards (or into one), so that later rows are in later files.
    """

    turn: int = 0
    shard: Shard = _UNSHARDED

    def __str__(self) -> str:
        """The suffix of its files' names: empty, `-3-of-16`, or with the turn `-1-3-of-16`."""
        turn = f"-{self.turn}" if self.turn else ""
        return turn + (f"-{self.shard.number}-of-{self.shard.of}" if self.shard.of > 1 else "")

    @classmethod
    def read(cls, suffix: str) -> "Writer | None":
        """The writer whose files' names have this suffix; None if it is not a writer's."""
        if (match := _WRITER.fullmatch(suffix)) is None:
            return None
        turn, number, count = (int(part or 0) for part in match.groups())
        return cls(turn, Shard(number, count) if count else _UNSHARDED)


class Folder:
    """A folder that one process works in at a time. Constructing it does not touch the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.page_path = path / "index.html"

    def create(self) -> None:
        """Make the folder. Raises ConfigError if that fails."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"{self.path}: {error.strerror}; name another folder with output_dir") from None

    def lock(self, shard: Shard | None = None) -> AbstractContextManager[Any]:
        """The lock of the whole folder or of one shard: taken now, and released however the process dies.

        Raises UserError if another process holds it, or works on the run divided into other shards.
        """
        writer = Writer(shard=shard or _UNSHARDED)
        if (lock := _try_lock(self.path / _LOCK.format(writer), seconds=_ENDING_SECONDS if shard else 1)) is None:
            name = f"shard {shard} of {self.path}" if shard else str(self.path)
            raise UserError(f"{name} is in use: its run is still running; wait for it or stop it first")
        for holder in _lock_holders(self.path):
            if holder.shard.of != writer.shard.of:
                lock.__exit__(None, None, None)
                holder_name = f"shard {holder.shard} of it" if holder.shard.of > 1 else "its run"
                raise UserError(f"{self.path} is in use: {holder_name} is still running; wait for it or stop it first")
        return lock


class RunFolder(Folder):
    """The paths of one run, as one of its writers uses them."""

    def __init__(self, path: Path, writer: Writer | None = None) -> None:
        super().__init__(path)
        self.writer = writer or Writer()
        self.manifest_path = path / MANIFEST
        self.summary_path = path / "summary.json"
        self.samples_path = self.journal("samples")
        self.scores_path = self.journal("scores")
        self.pages_path = self.journal("pages")
        self.answers_path = self.journal("answers")

    def journal(self, name: str) -> Path:
        """This writer's file of this name."""
        return self.path / f"{name}{self.writer}.jsonl"

    def journals(self, name: str, keep: Callable[[Writer], bool] = lambda _: True) -> list[Path]:
        """The files of this name of all writers, or of some, in an order in which the last row of a key wins."""
        return [path for writer, path in sorted(self._writers(name).items()) if keep(writer)]

    def _writers(self, name: str) -> dict[Writer, Path]:
        pairs = ((Writer.read(path.stem.removeprefix(name)), path) for path in self.path.glob(f"{name}*.jsonl"))
        return {writer: path for writer, path in pairs if writer is not None}

    def for_shard(self, shard: Shard | None) -> "RunFolder":
        """The folder with this shard (or the whole run) as its next writer; call with its lock held."""
        shard, writers = shard or _UNSHARDED, self._writers("samples")
        last = max(writers) if writers else Writer(shard=shard)
        return RunFolder(self.path, Writer(last.turn + (last.shard.of != shard.of), shard))

    @property
    def sweep_path(self) -> Path | None:
        """The folder of the sweep that this run is a point of, if any."""
        return self.path.parent if (self.path.parent / SWEEP_FILE).is_file() else None

    @property
    def run_id(self) -> str:
        """Its name among the experiment's runs; for a point of a sweep, `SWEEP_ID/3`."""
        return f"{self.path.parent.name}/{self.path.name}" if self.sweep_path else self.path.name

    @property
    def results(self) -> Path:
        """The folder of all experiments."""
        parent = self.path.absolute().parent
        return parent.parent.parent if (parent / SWEEP_FILE).is_file() else parent.parent

    def shared_lock(self) -> AbstractContextManager[Any]:
        """A lock that one shard holds at a time, for the files that all shards rewrite; waits for it."""
        from filelock import FileLock

        return nullcontext() if self.writer.shard == _UNSHARDED else FileLock(self.path / "changing.lock")

    def read_manifest(self) -> Manifest:
        """Raises UserError if there is none or it cannot be read."""
        return read_record(self.manifest_path, Manifest, f"{self.path} is not a run folder: it has no manifest.json")

    def write_manifest(self, manifest: Manifest) -> None:
        write_atomic(self.manifest_path, manifest.model_dump_json(indent=2) + "\n")

    def read_summary(self) -> Summary:
        """Raises UserError if the run has none yet or it cannot be read."""
        absent = f"{self.path} has no summary.json yet: wait for it, or if it was cut off aiq run resume={self.path}"
        return read_record(self.summary_path, Summary, absent)

    def write_summary(self, summary: Summary) -> None:
        write_atomic(self.summary_path, mask_secrets(summary.model_dump_json(indent=2)) + "\n")


def in_use(path: Path, excluded: Shard | None = None) -> bool:
    """Whether a process works on this run or sweep, not counting that of the shard `excluded`."""
    return any(writer.shard != excluded for writer in _lock_holders(path))


def not_finished(path: Path, status: str) -> str:
    """`is not finished (...)`: why a run of this status cannot be used yet, and what to do first."""
    remedy = "still running; wait for it" if in_use(path) else f"{status}; aiq run resume={path}"
    return f"is not finished ({remedy})"


def _lock_holders(path: Path) -> Iterator[Writer]:
    """Who holds a lock on the folder; lock files do not state the turn."""
    for file in path.glob(_LOCK.format("*")):
        if _is_locked(file):
            yield Writer.read(file.stem.removeprefix("run")) or Writer()


def _is_locked(file: Path) -> bool:
    """Whether a process holds the lock. Where the system has shared locks, checking takes no write permission."""
    try:
        import fcntl

        with file.open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        if (lock := _try_lock(file)) is None:
            return True
        lock.__exit__(None, None, None)
    return False


def _try_lock(path: Path, seconds: float = 0.0) -> AbstractContextManager[Any] | None:
    """The lock, or None if another process still holds it after `seconds`; even a check holds it for a moment.

    Raises RunAborted if it cannot be created.
    """
    from filelock import FileLock, Timeout

    try:
        return FileLock(path).acquire(timeout=seconds)
    except Timeout:
        return None
    except OSError as error:
        raise unwritable(path, error) from None


def read_record(path: Path, record: type[RecordT], absent: str) -> RecordT:
    """Read a file of one record. Raises UserError, saying `absent` if there is no file."""
    if not path.is_file():
        raise UserError(absent)
    try:
        return record.model_validate_json(path.read_bytes())
    except ValidationError as error:
        remedy = "another version of aiq wrote it" if is_other_version(error) else "restore it from a copy"
        raise UserError(f"{path}: {describe(error)}; {remedy}") from None


def write_atomic(path: Path, text: str) -> None:
    """Write a temporary file and rename it, so that neither a reader nor a crash ever sees half a file.

    Raises RunAborted if it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise unwritable(path, error) from None


def find_run(name: str, results: str = "results") -> RunFolder:
    """The run at a path, as it is or below `results`; the `latest` there; or an experiment's latest.

    A point of a sweep is a run (`SWEEP_ID/3`), a sweep is not. Raises UserError if there is no such run.
    """
    if name == LATEST:
        if (latest := next(latest_first(results), None)) is None:
            raise UserError(f"there are no runs in {results}/; name a run folder, or the results folder with --results")
        return RunFolder(latest)
    paths = paths_of(name, results)
    if (found := next((path for path in paths if (path / MANIFEST).is_file()), None)) is not None:
        return RunFolder(found)
    if (sweep := next((path for path in paths if (path / SWEEP_FILE).is_file()), None)) is not None:
        raise UserError(f"{sweep} is a sweep of several runs; name one of its points, e.g. {sweep / '0'}")
    if re.fullmatch(r"\w[\w.-]*", name) and (latest := next(latest_first(results, name), None)) is not None:
        return RunFolder(latest)
    detail = f"and there is no run or experiment of that name in {results}/"
    raise UserError(f"{name} is not a run folder (one with a manifest.json), {detail}")


def paths_of(name: str, results: str) -> list[Path]:
    """Where a run or sweep of this name may be."""
    matches = [] if Path(name).is_absolute() or ".." in name else sorted(Path(results).glob(f"*/{name}"))
    return [Path(name), Path(results) / name, *matches]


def find_runs(names: Sequence[str], results: str = "results") -> list[RunFolder]:
    """The runs that the names mean, each once, in the order of the names; without names, all below `results`.

    A name is one that `find_run` takes, a sweep (its points, by number), any folder (all runs below it), or a pattern
    of paths, as they are or below `results`. Raises UserError for a name that matches no run.
    """
    runs: dict[Path, RunFolder] = {}
    for name in names or [results]:
        matches = _matching_folders(name, results)
        folders = [folder for path in matches for folder in _runs_in(path)] if matches else [find_run(name, results)]
        if not folders:
            raise UserError(f"there are no runs in {name}; name a run, a folder of runs or a pattern such as 'NAME/*'")
        runs |= {folder.path.resolve(): folder for folder in folders if folder.path.resolve() not in runs}
    return list(runs.values())


def _matching_folders(name: str, results: str) -> list[Path]:
    """The folders that match a path or pattern (absolute ones too), as it is or else below `results`."""
    pattern = name if glob.has_magic(name) else glob.escape(name)
    for candidate in (pattern, f"{glob.escape(results)}/{pattern if '/' in name else f'*/{pattern}'}"):
        names = glob.glob(candidate)  # noqa: PTH207
        if folders := [Path(path) for path in names if Path(path).is_dir()]:
            return sorted(folders, key=_by_name)
    return []


def _runs_in(folder: Path) -> list[RunFolder]:
    """A run itself, or the runs of a sweep, an experiment or a results folder."""
    if (folder / MANIFEST).is_file():
        return [RunFolder(folder)]
    manifests = chain.from_iterable(folder.glob(f"{'*/' * depth}{MANIFEST}") for depth in (1, 2, 3))
    return [RunFolder(path) for path in sorted((path.parent for path in manifests), key=_by_name)]


def _by_name(path: Path) -> tuple[Any, ...]:
    return tuple(map(natural, path.parts))


def latest_first(results: str, experiment: str = "*") -> Iterator[Path]:
    """Runs (points of sweeps too), newest first, by when their manifest was written: at a start, resume or end."""
    sweeps = [path.parent for path in Path(results).glob(f"{experiment}/*/{SWEEP_FILE}")]
    points = (path for sweep in sweeps for path in sweep.glob(f"*/{MANIFEST}"))
    return newest(chain(Path(results).glob(f"{experiment}/*/{MANIFEST}"), points))


def newest(files: Iterable[Path]) -> Iterator[Path]:
    """The folders of these files, most recently written first."""
    for path in sorted(files, key=lambda path: (path.stat().st_mtime_ns, str(path)), reverse=True):
        yield path.parent


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key for names that contain numbers, s2 before s10: digits sort as numbers, before other text."""
    parts = re.findall(r"\d+|\D+", name)
    return tuple((0, int(part), part) if part.isdecimal() else (1, 0, part) for part in parts)
