"""Reads the rows of runs: the last line of a key wins, whichever file it is in.

The key of an attempt is (sample, epoch), that of a score (sample, epoch, judge, metric), whatever the judge's hash.
`aiq.runs.frames` gives the same rows as pandas frames.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from aiq import datasets
from aiq.core.errors import AiqError, UserError, say
from aiq.core.run_settings import DatasetSettings
from aiq.core.samples import Ids, SampleKey
from aiq.core.usage import Usage, UsageLedger
from aiq.runs.folder import RunFolder, Writer, natural
from aiq.runs.journal import RowT, read_journal, read_lines, scratch_database, torn_bytes, whole_lines
from aiq.runs.manifest import Manifest, RunSpec
from aiq.runs.rows import SampleRow, ScoreRow, StoredPage
from aiq.runs.state import RunState
from aiq.runs.summary import Summary, summarise

WriterFilter = Callable[[Writer], bool]
"""Selects among the writers of a run."""


def everyone(writer: Writer) -> bool:
    """Selects all writers."""
    return True


def located(
    folder: RunFolder, name: str, row: type[RowT], keep: WriterFilter = everyone
) -> Iterator[tuple[RowT, Path, int]]:
    """The rows of a run's journals of this name, each with its place, for `row_at`. Raises as `read_journal` does."""
    for path in folder.journals(name, keep):
        for record, start in read_lines(path, row.model_validate_json):
            yield record, path, start


def row_at(row: type[RowT], path: Path, start: int) -> RowT:
    """The row of a journal that begins at this byte."""
    return row.model_validate_json(next(whole_lines(path, start)))


def every_sample(folder: RunFolder, keep: WriterFilter = everyone) -> Iterator[SampleRow]:
    """The rows of all attempts, superseded ones too. Raises as `read_journal` does."""
    return (row for row, *_ in located(folder, "samples", SampleRow, keep))


def every_score(folder: RunFolder, keep: WriterFilter = everyone) -> Iterator[ScoreRow]:
    """The rows of all scores, superseded ones too. Raises as `read_journal` does."""
    return (row for row, *_ in located(folder, "scores", ScoreRow, keep))


def read_usage(folder: RunFolder, keep: WriterFilter) -> UsageLedger:
    """What these writers' attempts and judges have spent, including superseded rows."""
    ledger = UsageLedger()
    for row in every_sample(folder, keep):
        ledger.tool_calls += row.tool_calls
        ledger.record("agent", row.spent)
    for score in every_score(folder, keep):
        ledger.record("judge", sum((score.usage or {}).values(), Usage()))
    return ledger


def read_samples(
    folder: RunFolder, light: Callable[[SampleRow], SampleRow] | None = None
) -> dict[SampleKey, SampleRow]:
    """The last attempt of each key. `light` strips each row as it is read, if not all its texts are needed at once."""
    return {row.key: light(row) if light else row for row in _attempts(folder)}


def _attempts(folder: RunFolder) -> Iterator[SampleRow]:
    """As `every_sample`; reports torn lines and missing files on stderr."""
    _say_torn(folder, "samples")
    if not folder.journals("samples") and folder.read_manifest().status == "finished":
        remedy = f"restore it from a copy, or rerun its attempts: aiq run resume={folder.path}"
        say(f"aiq: {folder.path} no longer has a samples.jsonl; {remedy}")
    yield from every_sample(folder)


def read_scores(folder: RunFolder, samples: Mapping[SampleKey, SampleRow]) -> dict[SampleKey, list[ScoreRow]]:
    """The last scores of these attempts, in file order; a key without scores has an empty list.

    Scores of a judge that has changed since are left out, as in the run's summary.
    """
    _say_torn(folder, "scores")
    hashes = folder.read_manifest().hashes.judges
    by_key: dict[SampleKey, dict[tuple[str, str], ScoreRow]] = {key: {} for key in samples}
    for row in every_score(folder):
        is_current = row.judge_hash == hashes.get(row.judge)
        if is_current and row.key in samples and samples[row.key].attempt == row.attempt:
            by_key[row.key][row.judge, row.metric] = row
    return {key: list(scores.values()) for key, scores in by_key.items()}


def attempts_in_order(folder: RunFolder, manifest: Manifest, ids: Ids) -> Iterator[tuple[SampleRow, list[ScoreRow]]]:
    """The last attempt of each key with its scores by the run's judges, one in memory at a time.

    Samples are in the order of `ids`, those of the dataset, followed by any that it lacks.
    """
    hashes = {metric.name: judge.hash for judge in manifest.judges for metric in judge.metrics}
    with closing(
        scratch_database(
            "CREATE TABLE attempts (sample, epoch, place, file, start, PRIMARY KEY (sample, epoch))",
            "CREATE TABLE scores (sample, epoch, file, start)",
            "CREATE INDEX of_attempt ON scores (sample, epoch)",
        )
    ) as db:
        db.create_collation("by_number", lambda a, b: (natural(a) > natural(b)) - (natural(a) < natural(b)))
        for row, path, start in located(folder, "samples", SampleRow):
            place = ids.place(row.sample_id)
            values = (*row.key, len(ids) if place is None else place, str(path), start)
            db.execute("REPLACE INTO attempts VALUES (?, ?, ?, ?, ?)", values)
        for score, path, start in located(folder, "scores", ScoreRow):
            if not hashes or hashes.get(score.metric) == score.judge_hash:
                db.execute("INSERT INTO scores VALUES (?, ?, ?, ?)", (*score.key, str(path), start))
        for *key, file, start in db.execute(
            "SELECT sample, epoch, file, start FROM attempts ORDER BY place, sample COLLATE by_number, epoch"
        ):
            row = row_at(SampleRow, Path(file), start)
            places = db.execute("SELECT file, start FROM scores WHERE sample = ? AND epoch = ? ORDER BY rowid", key)
            scores = (row_at(ScoreRow, Path(file), start) for file, start in places)
            yield row, [*{(s.judge, s.metric): s for s in scores if s.attempt == row.attempt}.values()]


def read_state(folder: RunFolder) -> RunState:
    """The state of a run from its rows alone, so that it has only the samples that were attempted.

    Raises UserError for a run of an older version, whose manifest lacks what its judges declare.
    """
    manifest = folder.read_manifest()
    if manifest.hashes.judges and not manifest.judges:
        raise UserError(
            f"{folder.path}: an older version made this run without recording what its judges declare; "
            f"aiq run resume={folder.path} adds it"
        )
    rows = [row.compact() for row in _attempts(folder)]  # superseded ones too, since their spend counts
    keys = tuple(sorted({row.key for row in rows}, key=lambda key: (natural(key.sample_id), key.epoch)))
    state = RunState(RunSpec(keys, manifest.judges, manifest.failures, manifest.intervals))
    for row in rows:
        state.add_attempt(row)
    state.add_scores(every_score(folder))
    return state


def summary_of(folder: RunFolder, manifest: Manifest) -> Summary:
    """The summary of a run: as written when it ended, or computed from its rows.

    That of a `running` run is not used, since it may be older than the rows.
    """
    if manifest.status != "running" and folder.summary_path.is_file():
        return folder.read_summary()
    return summarise(manifest, read_state(folder), run_seconds=0.0)


def read_dataset(manifest: Manifest) -> tuple[datasets.Samples, str | None]:
    """The samples, with their references, read again from the dataset; or the reason why they cannot be.

    A dataset that has changed since is refused: the run was not judged against it.
    """
    try:
        settings = manifest.section("dataset", DatasetSettings)
        dataset = datasets.load(settings.model_copy(update={"sample": None}), seed=0, limit=None)
    except AiqError as error:
        return datasets.Samples(), str(error)
    if dataset.fingerprint != manifest.dataset.fingerprint:
        return datasets.Samples(), f"the dataset {manifest.dataset.name} has changed since the run"
    return dataset.samples, None


def _say_torn(folder: RunFolder, name: str) -> None:
    """Report on stderr which files end in an incomplete line, which is skipped."""
    for path in folder.journals(name):
        if torn := torn_bytes(path):
            remedy = f"aiq run resume={folder.path} does its work again"
            say(f"aiq: {path}: a torn last line ({torn} bytes) is skipped; {remedy}")


def read_pages(folder: RunFolder) -> dict[str, StoredPage]:
    """The pages that the run's judges have read, by cited URL; empty if none was fetched."""
    return {page.url: page for path in folder.journals("pages") for page in read_journal(path, StoredPage)}
