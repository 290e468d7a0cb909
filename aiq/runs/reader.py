"""Reads the rows of a run folder: of attempts and scores the last line of a key wins, whatever files they are in.

The key of an attempt is (sample, epoch); that of a score is (sample, epoch, judge, metric), so that the scores of
a judge that has changed since take the place of its earlier ones.
"""

from collections.abc import Callable, Iterator, Mapping

from aiq.core.samples import SampleKey
from aiq.runs.folder import RunFolder
from aiq.runs.journal import read_journal
from aiq.runs.rows import SampleRow, ScoreRow, StoredPage


def every_sample(folder: RunFolder) -> Iterator[SampleRow]:
    """The rows of all attempts, superseded ones too. Raises UserError for a line that is no such row."""
    for path in sorted(folder.path.glob("samples*.jsonl")):
        yield from read_journal(path, SampleRow)


def every_score(folder: RunFolder) -> Iterator[ScoreRow]:
    """The rows of all scores, superseded ones too. Raises UserError for a line that is no such row."""
    for path in sorted(folder.path.glob("scores*.jsonl")):
        yield from read_journal(path, ScoreRow)


def read_samples(
    folder: RunFolder, light: Callable[[SampleRow], SampleRow] | None = None
) -> dict[SampleKey, SampleRow]:
    """The last attempt of each key. `light` lightens each row as it is read, where not all texts are needed at once."""
    return {row.key: light(row) if light else row for row in every_sample(folder)}


def read_scores(folder: RunFolder, samples: Mapping[SampleKey, SampleRow]) -> dict[SampleKey, list[ScoreRow]]:
    """The last scores of these attempts, in the order of the files; a key without any has an empty list."""
    found: dict[SampleKey, dict[tuple[str, str], ScoreRow]] = {key: {} for key in samples}
    for row in every_score(folder):
        if row.key in samples and samples[row.key].attempt == row.attempt:
            found[row.key][row.judge, row.metric] = row
    return {key: list(scores.values()) for key, scores in found.items()}


def read_pages(folder: RunFolder) -> dict[str, StoredPage]:
    """The pages that judges of the run have read, by the URL they are cited by; empty where none was fetched."""
    return {page.url: page for page in read_journal(folder.pages_path, StoredPage)}
