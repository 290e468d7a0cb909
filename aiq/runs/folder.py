"""A run's folder: where each file lies, the lock that keeps a second writer out, writing by renaming.

Finding a run on the disk by what a person types: a folder, or `latest`.

The order in which people expect names with numbers in them: s2 before s10.
"""

import os
import re
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from aiq.core.errors import ConfigError, UserError
from aiq.core.plugins import describe
from aiq.core.samples import SampleKey
from aiq.core.seeds import derive
from aiq.runs.rows import Manifest, Summary

_UNSAFE = re.compile(r"[^\w.-]|^\.")
_LONGEST_NAME = 120  # bytes of a sample's part of a file name; file systems allow 255 in all


def new_run_id() -> str:
    """A name that sorts by time, to the millisecond, and is this process's own: `20261101-090000-123a1b`."""
    now = datetime.now(UTC)
    own = derive(now.isoformat(), os.getpid()) & 0xFFF
    return f"{now:%Y%m%d-%H%M%S}-{now.microsecond // 1000:03}{own:03x}"


def check_output(output_dir: str, experiment: str) -> None:
    """Raises ConfigError when the results folder cannot be one: a file stands in its way."""
    path = Path(output_dir) / experiment
    for part in (path, *path.parents):
        if part.exists():
            if not part.is_dir():
                raise ConfigError(f"output_dir={output_dir}: {part} is a file; name a folder, or move the file away")
            if not os.access(part, os.W_OK | os.X_OK):
                raise ConfigError(f"output_dir={output_dir}: {part} cannot be written to")
            return


class RunFolder:
    """The paths of one run. Making the object touches nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest_path = path / "manifest.json"
        self.summary_path = path / "summary.json"
        self.samples_path = path / "samples.jsonl"
        self.scores_path = path / "scores.jsonl"
        self.page_path = path / "index.html"
        self.events = path / "events"

    def create(self) -> None:
        try:
            self.events.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"{self.events}: {error.strerror}; set output_dir to a folder that can be made") from None

    def lock(self) -> "RunLock":
        return RunLock(self.path)

    def events_path(self, key: SampleKey, *, judge: bool = False) -> Path:
        return self.events / f"{file_name(key.sample_id)}.{key.epoch}{'.judge' if judge else ''}.jsonl"

    def read_manifest(self) -> Manifest:
        """Raises UserError when there is none or it is not one of ours."""
        if not self.manifest_path.is_file():
            raise UserError(f"{self.path} is no run folder: it holds no manifest.json")
        try:
            return Manifest.model_validate_json(self.manifest_path.read_bytes())
        except ValidationError as error:
            raise UserError(f"{self.manifest_path}: {describe(error)}") from None

    def write_manifest(self, manifest: Manifest) -> None:
        write_whole(self.manifest_path, manifest.model_dump_json(indent=2) + "\n")

    def read_summary(self) -> Summary:
        """Raises UserError when the run has none yet or it is not one of ours."""
        if not self.summary_path.is_file():
            raise UserError(
                f"{self.path} has no summary.json yet: the run was cut off; resume it with resume={self.path}"
            )
        try:
            return Summary.model_validate_json(self.summary_path.read_bytes())
        except ValidationError as error:
            raise UserError(f"{self.summary_path}: {describe(error)}") from None

    def write_summary(self, summary: Summary) -> None:
        write_whole(self.summary_path, summary.model_dump_json(indent=2) + "\n")


class RunLock:
    """Held while a process writes to a run folder; the system drops it when the process dies, however it dies."""

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock

        self._folder = folder
        self._lock = FileLock(folder / "run.lock")

    def __enter__(self) -> None:
        from filelock import Timeout

        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise UserError(f"{self._folder} is in use: its run is still alive; wait for it or stop it first") from None

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def file_name(sample_id: str) -> str:
    """A sample's id as a file name: itself where that is safe, else readable and made unique by a hash."""
    if sample_id and len(sample_id.encode()) <= _LONGEST_NAME and not _UNSAFE.search(sample_id):
        return sample_id
    return f"{_UNSAFE.sub('_', sample_id)[: _LONGEST_NAME // 4]}-{derive(sample_id):08x}"


def write_whole(path: Path, text: str) -> None:
    """Write beside and rename, so that a reader or a crash never meets half a file."""
    beside = path.with_name(f".{path.name}.tmp")
    with beside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


LATEST = "latest"


def find_run(name: str, results: str = "results") -> RunFolder:
    """The run folder that `name` means: a path, a path below `results`, or `latest` of all runs there.

    Raises UserError when there is none.
    """
    if name == LATEST:
        return _latest(Path(results))
    for path in (Path(name), Path(results) / name):
        if (path / "manifest.json").is_file():
            return RunFolder(path)
    below = sorted(Path(results).glob(f"*/{name}/manifest.json")) if "/" not in name else []
    if below:
        return RunFolder(below[0].parent)
    raise UserError(f"{name} is no run folder (one with a manifest.json), nor is there one of that name in {results}/")


def _latest(results: Path) -> RunFolder:
    """The run whose manifest was written last: it was started, resumed or ended most recently."""
    manifests = sorted(results.glob("*/*/manifest.json"), key=lambda path: (path.stat().st_mtime_ns, str(path)))
    if not manifests:
        raise UserError(f"there are no runs in {results}/; name a run folder, or the results folder with --results")
    return RunFolder(manifests[-1].parent)


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key: runs of digits count as numbers and come before other text."""
    parts = re.findall(r"\d+|\D+", name)
    return tuple((0, int(part), part) if part.isdecimal() else (1, 0, part) for part in parts)
