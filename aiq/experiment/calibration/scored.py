"""Reads run folders: the scores of each report by judge and metric, and how each report was damaged."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from aiq.core.damage import UNDAMAGED, Damaged
from aiq.core.errors import UserError
from aiq.core.samples import SampleKey
from aiq.experiment.calibration.records import FEWER_IS_BETTER, asked_once_a_run
from aiq.experiment.folder import RunFolder
from aiq.experiment.journal import RowT, read_rows
from aiq.experiment.records import SampleRow, ScoreRow
from aiq.stats.estimates import mean_of
from aiq.stats.noise import NOISE


@dataclass(slots=True)
class Rated:
    """All that one metric of one judge says: its scores by sample, one a repetition, a greater one the better.

    `gaps`: by sample, how much higher the report scored as the first article than as the second one.
    """

    metric: str
    judge: str
    judge_hash: str
    judge_model: str | None
    scores: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    gaps: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def name(self) -> str:
        """As tables show it."""
        return f"{self.metric} ({self.judge_model or 'no model'}, {self.judge_hash[:6]})"

    def mean(self, sample: str) -> float | None:
        values = self.scores.get(sample)
        return sum(values) / len(values) if values else None


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports of some runs. `damaged`: how, by sample id, in the order of the runs; `lengths` in characters."""

    damaged: Mapping[str, Damaged]
    lengths: Mapping[str, int]
    groups: Mapping[str, str]
    rated: tuple[Rated, ...]

    def of(self, damage: str) -> dict[str, list[str]]:
        """Samples of a damage by task, by degree upwards."""
        found: dict[str, list[str]] = {}
        for sample, how in sorted(self.damaged.items(), key=lambda item: item[1].degree):
            if how.damage == damage:
                found.setdefault(how.base, []).append(sample)
        return found

    @property
    def damages(self) -> tuple[str, ...]:
        """Every damage there is, in the order of the runs."""
        return tuple(dict.fromkeys(how.damage for how in self.damaged.values() if how.damage != UNDAMAGED))

    def twin(self, sample: str) -> str:
        """The undamaged report of the same task."""
        return Damaged(self.damaged[sample].base, UNDAMAGED, 0).id


def read_reports(folders: Sequence[RunFolder]) -> Reports:
    """The scored reports of runs over the same dataset; repetitions of a judge are taken together.

    Raises UserError for a folder that is no run, or runs with nothing scored.
    """
    damaged: dict[str, Damaged] = {}
    lengths: dict[str, int] = {}
    groups: dict[str, str] = {}
    rated: dict[tuple[str, str], Rated] = {}
    for folder in folders:
        folder.read_manifest()
        attempts: dict[SampleKey, int] = {}
        for row in _rows(folder, "samples", SampleRow):
            attempts[row.key] = row.attempt
            if row.report is not None:
                lengths[row.sample_id] = len(row.report)
            groups[row.sample_id] = row.tags.get("base", row.sample_id)
            if (how := _damage(row)) is not None:
                damaged[row.sample_id] = how
        judged = [score for score in _last_scores(folder) if attempts.get(score.key) == score.attempt]
        for score, values in _judgements(judged):
            key = (score.metric, score.judge_hash)
            one = rated.setdefault(key, Rated(score.metric, score.judge, score.judge_hash, score.judge_model))
            one.scores[score.sample_id] += values
        for score in judged:
            if score.value is not None:
                rated[score.metric, score.judge_hash].gaps[score.sample_id] += _gap(score)
    if not rated:
        raise UserError(f"{', '.join(str(folder.path) for folder in folders)}: nothing was scored there")
    return Reports(damaged, lengths, groups, tuple(rated.values()))


def _last_scores(folder: RunFolder) -> list[ScoreRow]:
    """The last score of each key, metric and judge, by sample and epoch; ratios as values, details left out."""
    last = {(s.key, s.judge, s.judge_hash, s.metric): _plain(s) for s in _rows(folder, "scores", ScoreRow)}
    return sorted(last.values(), key=lambda score: (score.sample_id, score.epoch))


def _judgements(scores: Sequence[ScoreRow]) -> Iterator[tuple[ScoreRow, list[float]]]:
    """A run's scores of each report and metric; one alone, their mean, where the judge was asked once."""
    found: dict[tuple[str, str, str], tuple[ScoreRow, list[float]]] = {}
    for score in scores:
        if score.value is not None:
            key = (score.sample_id, score.metric, score.judge_hash)
            found.setdefault(key, (score, []))[1].append(score.value)
    for score, values in found.values():
        yield score, [mean_of(values)] if asked_once_a_run(score.metric) else values


def _rows(folder: RunFolder, kind: str, row: type[RowT]) -> Iterator[RowT]:
    for path in sorted(folder.path.glob(f"{kind}*.jsonl")):
        yield from read_rows(path, row)


def _damage(row: SampleRow) -> Damaged | None:
    how = Damaged.of(row.sample_id)
    return how if how is not None and how.tags.items() <= dict(row.tags).items() else None


def _plain(score: ScoreRow) -> ScoreRow:
    value = score.value if score.status == "scored" else None
    if score.status == "scored" and score.numerator is not None and score.denominator:
        value = score.numerator / score.denominator
    if value is not None and score.metric in FEWER_IS_BETTER:
        value = -value
    noise = {key: item for key, item in score.detail.items() if key == NOISE}
    return score.model_copy(update={"value": value, "detail": noise})


def _gap(score: ScoreRow) -> list[float]:
    """The judge's gap between the two orders, where it judged in both."""
    noise = score.detail.get(NOISE)
    gap = noise.get("order_gap") if isinstance(noise, Mapping) else None
    return [float(gap)] if isinstance(gap, int | float) else []
