"""Writes the results site: pages that open from disk, with their data in scripts beside them that are loaded as needed.

`results/index.html` and `results/compare.html` show runs, `results/<experiment>/<run_id>/index.html` shows one. What
all of them share is in `results/site/`, the data of a run in `site/` in its folder. A data script has a line
`aiq(RECORD);` for each record; a page from disk may run scripts beside it, and may not read files.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final

from filelock import FileLock

from aiq import __version__
from aiq.analysis.reliability import reliabilities
from aiq.core.samples import SampleKey
from aiq.core.seeds import derive
from aiq.datasets import Samples
from aiq.runs.events import EventReader
from aiq.runs.folder import MANIFEST, SWEEP_FILE, RunFolder, natural
from aiq.runs.journal import read_lines, unwritable, whole_lines, writable
from aiq.runs.manifest import Manifest
from aiq.runs.reader import read_dataset, summary_of
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.runs.sweeps import Sweep, SweepFolder
from aiq.site import records
from aiq.site.markdown import environment
from aiq.site.run_plots import run_plots
from aiq.site.timeline import timeline, writer_of

STATIC: Final = Path(__file__).parent / "static"
SITE: Final = "site"
FORMAT: Final = 1
"""Counts what older data cannot be shown for; `aiq site` writes runs of another one again."""
CHUNK: Final = 300_000
"""Characters after which a data script ends: it is read in some ms, and holds dozens of short samples or one long."""
LONGER_AFTER: Final = 20
"""Scripts after which they are longer by as much again, so that a run of 100,000 samples has few files."""
_SCRIPTS: Final = {
    "index": ("site.js", "index.js"),
    "compare": ("site.js", "compare.js"),
    "run": ("site.js", "plots.js", "sample.js", "run.js"),
}
Json = dict[str, Any]
_Place = tuple[Path, int]


class Chunks:
    """Data scripts `NAME-0.js`, `NAME-1.js`, ... of a folder, each written when it is full."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._number, self._lines, self._size = 0, list[str](), 0

    def add(self, record: Any) -> int:
        """The number of the script that has the record."""
        line = data_line(record)
        if self._lines and self._size + len(line) > CHUNK * (1 + self._number // LONGER_AFTER):
            self._write()
            self._number += 1
        self._lines.append(line)
        self._size += len(line)
        return self._number

    def close(self) -> None:
        """Write what is left, and remove scripts of an earlier time beyond it."""
        self._write()
        for path in self._folder.glob(f"{self._name}-*.js"):
            if int(path.stem.rpartition("-")[2]) > self._number:
                path.unlink()

    def _write(self) -> None:
        replace(self._folder / f"{self._name}-{self._number}.js", "".join(self._lines))
        self._lines, self._size = [], 0


def data_line(record: Any) -> str:
    """A line of a data script. Nothing in it can end a script or a line."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f"aiq({text});\n"


def data_records(path: Path) -> Iterator[Any]:
    """The records of a data script; none where there is no such file."""
    for line in whole_lines(path):
        yield json.loads(line[4:-3])


def replace(path: Path, text: str) -> None:
    """Readers see the old file or the new one; what a page shows can be made again, so no disk is waited for.

    Raises RunAborted where it cannot be written.
    """
    new = path.with_name(f".{path.name}.tmp")
    try:
        new.write_text(writable(text), encoding="utf-8")
        new.replace(path)
    except OSError as error:
        raise unwritable(path, error) from None


def write_run(folder: RunFolder, samples: Samples | None = None) -> Path:
    """Write the page of a run and its line in the index. Returns the page's path.

    `samples`: of its dataset, in order; by default they are read from where the manifest says, if they are still there.
    """
    state = stamp(folder.path)
    manifest = folder.read_manifest()
    summary = summary_of(folder, manifest)
    site = folder.path / SITE
    site.mkdir(exist_ok=True)
    known, gold = read_dataset(manifest) if samples is None else (samples, None)
    columns = _write_samples(folder, manifest, known)
    reliability, _ = reliabilities(folder, summary.metrics)
    plots = run_plots(summary, columns, records.headline(manifest, summary))
    replace(site / "plots.js", "".join(data_line({"name": name, **plot.record}) for name, plot in plots.items()))
    shown = records.of_summary(manifest, summary, reliability, gold)
    replace(site / "summary.js", data_line({"format": FORMAT, **shown, "plots": [*plots], "columns": columns}))
    path = place(folder.path)
    write_page(folder.page_path, "run", f"{manifest.experiment} {folder.run_id}", path)
    update_index(folder.results, {path: {"stamp": state, **records.of_run(manifest, summary)}})
    return folder.page_path


def write_page(page: Path, kind: str, title: str, path: str = "") -> None:
    """Write the frame of a page, which holds no data, and the files that all pages share. `path`: of the run."""
    root = "../" * (path.count("/") + 1) if path else ""
    write_shared(page.parent / root)
    _keep(
        page, _frame().render(kind=kind, title=title, path=path, root=root, scripts=_SCRIPTS[kind], version=__version__)
    )


def write_shared(results: Path) -> None:
    """Write what all pages share, where it is not there or of another version."""
    (results / SITE).mkdir(exist_ok=True)
    for file in sorted(STATIC.iterdir()):
        _keep(results / SITE / file.name, file.read_text(encoding="utf-8"))


def _keep(path: Path, text: str) -> None:
    """Write a file unless it is there with this text."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        replace(path, text)


def update_index(results: Path, lines: Mapping[str, Json]) -> None:
    """Put these runs and sweeps, by their paths below `results`, into the index; runs that are gone leave it."""
    for name in ("index", "compare"):
        write_page(results / f"{name}.html", name, {"index": "Results", "compare": "Compare runs"}[name])
    with FileLock(results / SITE / "runs.lock"):
        found = {one["path"]: one for one in data_records(results / SITE / "runs.js")}
        found |= {path: {"path": path, **line} for path, line in lines.items()}
        kept = (one for path, one in found.items() if (results / path).is_dir())
        replace(results / SITE / "runs.js", "".join(map(data_line, kept)))


def sweep_written(folder: SweepFolder, sweep: Sweep) -> None:
    """Put a sweep into the index, and what its page shares with others where that can find it."""
    results = folder.path.absolute().parent.parent
    write_shared(results)
    update_index(results, {place(folder.path): {"stamp": stamp(folder.path), **records.of_sweep(sweep)}})


def place(folder: Path) -> str:
    """The path of a run or sweep below the folder of all results."""
    path = folder.absolute()
    depth = 3 if (path.parent / SWEEP_FILE).is_file() else 2
    return "/".join(path.parts[-depth:])


def stamp(folder: Path) -> str:
    """Changes with the files that the pages are made from, and with the format that they are made in."""
    names = (MANIFEST, "summary.json", SWEEP_FILE, "samples*.jsonl", "scores*.jsonl", "event_index*.jsonl")
    files = sorted(chain.from_iterable(map(folder.glob, names)))
    states = [(file.name, stat.st_size, stat.st_mtime_ns) for file in files if (stat := file.stat())]
    return f"{derive(FORMAT, __version__, str(states)):016x}"


def _write_samples(folder: RunFolder, manifest: Manifest, known: Samples) -> Json:
    """Write the scripts of samples and their timelines, one row in memory at a time. Returns the table's columns."""
    rows = {row.key: at for row, at in _placed(folder, "samples", SampleRow)}
    scores: dict[SampleKey, list[_Place]] = {key: [] for key in rows}
    hashes = {metric.name: judge.hash for judge in manifest.judges for metric in judge.metrics}
    for score, at in _placed(folder, "scores", ScoreRow):
        if score.key in rows and (not hashes or hashes.get(score.metric) == score.judge_hash):
            scores[score.key].append(at)
    order = known.places
    events = EventReader(folder)
    texts, lines = Chunks(folder.path / SITE, "samples"), Chunks(folder.path / SITE, "events")
    table = _Table()

    def rank(key: SampleKey) -> tuple[Any, ...]:
        at = order.get(key.sample_id, len(order))
        return at, () if at < len(order) else natural(key.sample_id), key.epoch

    for key in sorted(rows, key=rank):
        row = _read(rows[key], SampleRow)
        scored = (_read(at, ScoreRow) for at in scores[key])
        found = [*{(score.judge, score.metric): score for score in scored if score.attempt == row.attempt}.values()]
        shown = records.of_sample(row, found, known.get(key.sample_id), manifest)
        agent, judges = (timeline(events.read(key, row.attempt, account)) for account in ("agent", "judge"))
        shown["writer"] = writer_of(row.raw_report or row.report or "", agent)
        calls = agent.pop("calls")
        del judges["calls"]
        for source in shown["sources"]:
            source["event"] = calls.get(source.pop("call"))
        texts_at = texts.add(shown)
        events_at = lines.add({"id": row.sample_id, "epoch": row.epoch, "agent": agent, "judge": judges})
        table.add(records.of_attempt(row, found), {"texts": texts_at, "events": events_at})
    texts.close()
    lines.close()
    return table.columns


class _Table:
    """Attempts column by column; those by tag and by metric are below `tags` and `scores`."""

    def __init__(self) -> None:
        self.columns: Json = {"tags": {}, "scores": {}}
        self._length = 0

    def add(self, record: Json, chunks: Json) -> None:
        for name, value in {**record, **chunks}.items():
            if name in ("tags", "scores"):
                columns = self.columns[name]
                for key in {**columns, **value}:
                    columns.setdefault(key, [None] * self._length).append(value.get(key))
            else:
                self.columns.setdefault(name, []).append(value)
        self._length += 1


def _placed(folder: RunFolder, name: str, row: Any) -> Iterator[tuple[Any, _Place]]:
    """The rows of a run's files, and where each is."""
    for path in folder.journals(name):
        for found, start in read_lines(path, row.model_validate_json):
            yield found, (path, start)


def _read(at: _Place, row: Any) -> Any:
    return row.model_validate_json(next(whole_lines(*at)))


@cache
def _frame() -> Any:
    return environment().get_template("page.html.j2")
