"""Finding a run on the disk by what a person types: a folder, or `latest`."""

from pathlib import Path

from aiq.core.errors import UserError
from aiq.experiment.folder import RunFolder

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
