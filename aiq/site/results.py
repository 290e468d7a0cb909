"""Writes the pages of all runs and sweeps of a results folder that have changed since they were written."""

from itertools import chain
from pathlib import Path
from typing import Final

from tqdm import tqdm

from aiq.core.errors import AiqError
from aiq.runs.folder import MANIFEST, SWEEP_FILE, RunFolder
from aiq.runs.sweeps import SweepFolder
from aiq.site.pages import SITE, data_records, place, stamp, update_index, write_run
from aiq.site.sweep_page import write_sweep_page

_FILES: Final = ((2, MANIFEST), (3, MANIFEST), (2, SWEEP_FILE))


def write_site(results: Path, *, shown: bool = False) -> tuple[int, list[str]]:
    """Write the pages of all runs and sweeps that have changed; returns how many, and why others could not be written.

    `shown`: whether to show a progress bar.
    """
    lines = {line["path"]: line for line in data_records(results / SITE / "runs.js")}
    written, problems = 0, list[str]()
    files = chain.from_iterable(results.glob(f"{'*/' * depth}{name}") for depth, name in _FILES)
    for path in tqdm(sorted(file.parent for file in files), "pages", disable=not shown, unit="run", leave=False):
        line = lines.get(place(path), {})
        try:
            if line.get("stamp") == stamp(path) and (path / "index.html").is_file():
                continue
            if (path / SWEEP_FILE).is_file():
                write_sweep_page(SweepFolder(path), SweepFolder(path).read())
            else:
                write_run(RunFolder(path))
            written += 1
        except (AiqError, OSError) as error:  # a run that cannot be read, or is being deleted, stops no other
            problems.append(str(error) if str(path) in str(error) else f"{path}: {error}")
    update_index(results, {})
    return written, problems
