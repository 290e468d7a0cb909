"""Writes the results site: pages that open from disk, with their data in scripts beside them, loaded as needed.

`results/index.html` and `results/compare.html` show runs, `results/<experiment>/<run_id>/index.html` shows one. What
all of them share is in `results/site/`, a run's data in `site/` in its folder. A data script has one line
`aiq(RECORD);` per record, because a page opened from disk may run scripts beside it but may not read files.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from functools import cache
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final
from weakref import finalize

from filelock import FileLock

from aiq import __version__
from aiq.analysis.reliability import reliabilities
from aiq.core.garbage import RUN_THRESHOLD, collected_after
from aiq.core.seeds import derive
from aiq.datasets import Samples
from aiq.runs.events import EventReader
from aiq.runs.folder import MANIFEST, SWEEP_FILE, RunFolder
from aiq.runs.journal import unwritable, whole_lines, writable
from aiq.runs.manifest import Manifest
from aiq.runs.reader import attempts_in_order, read_dataset, summary_of
from aiq.site import records
from aiq.site.markdown import Json, environment
from aiq.site.run_plots import run_plots
from aiq.site.timeline import timeline, writer_of

STATIC: Final = Path(__file__).parent / "static"
SITE: Final = "site"
FORMAT: Final = 1
"""Raised when older data can no longer be shown; `aiq site` rewrites runs of any other format."""
CHUNK: Final = 300_000
"""Characters after which a data script ends: it loads in a few ms and holds dozens of short samples or a long one."""
LONGER_AFTER: Final = 20
"""After every so many scripts they grow by the same size again, so that a run of 100,000 samples has few files."""
_SCRIPTS: Final = {
    "index": ("site.js", "index.js"),
    "compare": ("site.js", "compare.js"),
    "run": ("site.js", "plots.js", "sample.js", "run.js"),
}
_END: Final = ");\n"


class Chunks:
    """Data scripts `NAME-0.js`, `NAME-1.js`, ... in a folder, each written when it is full."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._number, self._size = 0, 0
        self._lines = TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  until `close`

    def add(self, record: Any) -> int:
        """Add a record; returns the number of the script that contains it."""
        line = data_line(record)
        if self._size and self._size + len(line) > CHUNK * (1 + self._number // LONGER_AFTER):
            self._write()
            self._number += 1
        self._lines.write(line)
        self._size += len(line)
        return self._number

    def close(self) -> None:
        """Write what is left, and remove later scripts that an earlier write left behind."""
        self._write()
        self._lines.close()
        for path in self._folder.glob(f"{self._name}-*.js"):
            if int(path.stem.rpartition("-")[2]) > self._number:
                path.unlink()

    def _write(self) -> None:
        self._lines.seek(0)
        replace(self._folder / f"{self._name}-{self._number}.js", self._lines)
        self._lines.seek(0)
        self._lines.truncate()
        self._size = 0


def data_line(record: Any) -> str:
    """A line of a data script."""
    return f"aiq({_json(record)}{_END}"


def _json(value: Any) -> str:
    """JSON in which nothing can end a script or a line."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for char in "<\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def data_records(path: Path) -> Iterator[Any]:
    """The records of a data script; none if there is no such file."""
    for line in whole_lines(path):
        yield json.loads(line[4 : -len(_END)])


def replace(path: Path, text: Iterable[str]) -> None:
    """Write a file from these parts, and create its folder; readers see the old file or the new one.

    No fsync, because a page can be made again. Raises RunAborted if the file cannot be written.
    """
    new = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(exist_ok=True)
        with new.open("w", encoding="utf-8") as file:
            file.writelines(map(writable, text))
        new.replace(path)
    except OSError as error:
        raise unwritable(path, error) from None


@collected_after(RUN_THRESHOLD)
def write_run(folder: RunFolder, samples: Samples | None = None) -> Path:
    """Write the page of a run and its line in the index. Returns the page's path.

    `samples`: those of its dataset, in order; by default they are read from where the manifest says, if still there.
    """
    version = stamp(folder.path)
    manifest = folder.read_manifest()
    summary = summary_of(folder, manifest)
    site = folder.path / SITE
    dataset, problem = read_dataset(manifest) if samples is None else (samples, None)
    table = Table()
    _write_samples(folder, manifest, dataset, table)
    reliability, _ = reliabilities(folder, summary.metrics)
    plots = dict(run_plots(summary, table, records.headline(manifest, summary)))
    replace(site / "plots.js", (data_line({"name": name, **plot.record}) for name, plot in plots.items()))
    record = records.summary_record(manifest, summary, reliability, problem)
    replace(site / "summary.js", table.with_columns({"format": FORMAT, **record, "plots": [*plots]}))
    path = place(folder.path)
    write_page(folder.page_path, "run", f"{manifest.experiment} {folder.run_id}", path)
    update_index(folder.results, {path: {"stamp": version, **records.run_record(manifest, summary)}})
    return folder.page_path


def write_page(page: Path, kind: str, title: str, path: str = "") -> None:
    """Write the frame of a page, which holds no data, and the files that all pages share. `path`: that of the run."""
    root = "../" * (path.count("/") + 1) if path else ""
    write_shared(page.parent / root)
    _update(
        page, _frame().render(kind=kind, title=title, path=path, root=root, scripts=_SCRIPTS[kind], version=__version__)
    )


def write_shared(results: Path) -> None:
    """Write what all pages share, if it is missing or from another version."""
    for file in sorted(STATIC.iterdir()):
        _update(results / SITE / file.name, file.read_text(encoding="utf-8"))


def _update(path: Path, text: str) -> None:
    """Write a file unless it already has this text."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        replace(path, [text])


def update_index(results: Path, lines: Mapping[str, Json]) -> None:
    """Add these runs and sweeps, by their paths below `results`, to the index; remove runs that no longer exist."""
    for name, title in (("index", "Results"), ("compare", "Compare runs")):
        write_page(results / f"{name}.html", name, title)
    with FileLock(results / SITE / "runs.lock"):
        runs = {run["path"]: run for run in data_records(results / SITE / "runs.js")}
        runs |= {path: {"path": path, **line} for path, line in lines.items()}
        kept = (run for path, run in runs.items() if (results / path).is_dir())
        replace(results / SITE / "runs.js", map(data_line, kept))


def place(folder: Path) -> str:
    """The path of a run or sweep below the folder of all results."""
    path = folder.absolute()
    depth = 3 if (path.parent / SWEEP_FILE).is_file() else 2
    return "/".join(path.parts[-depth:])


def stamp(folder: Path) -> str:
    """A stamp that changes with the files that the pages are made from, and with their format."""
    names = (MANIFEST, "summary.json", SWEEP_FILE, "samples*.jsonl", "scores*.jsonl", "event_index*.jsonl")
    files = sorted(chain.from_iterable(map(folder.glob, names)))
    states = [(file.name, stat.st_size, stat.st_mtime_ns) for file in files if (stat := file.stat())]
    return f"{derive(FORMAT, __version__, str(states)):016x}"


def _write_samples(folder: RunFolder, manifest: Manifest, samples: Samples, table: "Table") -> None:
    """Write the scripts of samples and their timelines, and fill the table, one row in memory at a time."""
    texts, timelines = Chunks(folder.path / SITE, "samples"), Chunks(folder.path / SITE, "events")
    with closing(EventReader(folder)) as events:
        for row, scores in attempts_in_order(folder, manifest, samples.ids):
            record = records.sample_record(row, scores, samples.get(row.sample_id), manifest)
            agent, judges = (timeline(events.read(row.key, row.attempt, account)) for account in ("agent", "judge"))
            record["writer"] = writer_of(row.raw_report or row.report or "", agent)
            calls = agent.pop("calls")
            del judges["calls"]
            for source in record["sources"]:
                source["event"] = calls.get(source.pop("call"))
            texts_at = texts.add(record)
            events_at = timelines.add({"id": row.sample_id, "epoch": row.epoch, "agent": agent, "judge": judges})
            table.add({**records.attempt_record(row, scores), "texts": texts_at, "events": events_at})
    texts.close()
    timelines.close()


class Table:
    """The rows of the page's table, one per attempt, in a temporary file; each iteration reads it from the start."""

    def __init__(self) -> None:
        self._file = TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  as long as this object lives
        finalize(self, self._file.close)
        self._columns: dict[str, Json | None] = {"tags": {}, "scores": {}}  # the names below each, if any

    def add(self, row: Json) -> None:
        self._file.write(_json(row) + "\n")
        for name, value in row.items():
            names = self._columns.setdefault(name, None)
            if names is not None:
                names.update(value)

    def __iter__(self) -> Iterator[Json]:
        self._file.seek(0)
        return map(json.loads, self._file)

    def with_columns(self, record: Json) -> Iterator[str]:
        """The data line, in parts, of a record with the table added column by column, as `columns`."""
        yield data_line(record).removesuffix("}" + _END) + ',"columns":'
        yield from self._object(self._columns)
        yield "}" + _END

    def _object(self, names: Json, group: str = "") -> Iterator[str]:
        yield "{"
        for index, (name, children) in enumerate(names.items()):
            yield f"{',' if index else ''}{_json(name)}:"
            yield from self._array(name, group) if group or children is None else self._object(children, name)
        yield "}"

    def _array(self, name: str, group: str) -> Iterator[str]:
        values = ((row[group] if group else row).get(name) for row in self)
        separator = "["
        while batch := [*islice(values, 1000)]:
            yield separator + _json(batch)[1:-1]
            separator = ","
        yield "]"


@cache
def _frame() -> Any:
    return environment().get_template("page.html.j2")
