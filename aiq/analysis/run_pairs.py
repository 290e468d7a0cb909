"""Two runs side by side: obstacles to comparing them, and the scores of the samples and metrics that they share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from aiq.analysis.baselines import BaselineFile, RunOrBaseline, differences, report_digests
from aiq.core.errors import UserError
from aiq.core.reports import Metric
from aiq.core.samples import SampleKey
from aiq.core.text import join_first, plural
from aiq.runs.folder import not_finished
from aiq.runs.manifest import FailureRule, JudgeSpec, Manifest
from aiq.runs.reader import read_state
from aiq.runs.state import AttemptState, RunState
from aiq.runs.summary import MOST_SLICES, Summary, estimate
from aiq.stats.estimates import Pairs, pass_at_k
from aiq.stats.intervals import Method

_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
OTHER_JUDGE: Final = "its judges differ"
Slice = tuple[str, str] | None
"""A tag and its value; None for all samples."""


class Scored(NamedTuple):
    """A metric's scores by sample in both runs."""

    metric: Metric
    first: Mapping[str, Pairs]
    second: Mapping[str, Pairs]

    @property
    def means(self) -> list[float]:
        """The metric in each run, over the samples that both have scored; empty if it has no number there."""
        runs = ({key: run[key] for key in sorted(self.first.keys() & self.second.keys())} for run in self[1:])
        estimates = [estimate(self.metric, run.values()) for run in runs]
        return [e.mean for e in estimates if e is not None]


@dataclass(frozen=True)
class Side:
    """A finished run or a baseline, and its letter in tables. Raises UserError if it is neither."""

    label: str
    folder: RunOrBaseline

    @cached_property
    def manifest(self) -> Manifest:
        return self.folder.read_manifest()

    @cached_property
    def summary(self) -> Summary:
        return self.folder.read_summary()

    @cached_property
    def state(self) -> RunState:
        return self.folder.state if isinstance(self.folder, BaselineFile) else read_state(self.folder)

    @cached_property
    def samples(self) -> dict[str, AttemptState]:
        """One row of each sample."""
        return {key.sample_id: self.state.attempts[key] for key in self.state.spec.keys}

    @cached_property
    def judges(self) -> dict[str, JudgeSpec]:
        """The judge of each metric."""
        return {metric.name: judge for judge in self.state.spec.judges for metric in judge.metrics}

    @cached_property
    def reports(self) -> dict[SampleKey, str | None]:
        """The digest of each report."""
        return report_digests(self.folder)


def absolute_effect(metric: Metric, effect: float, mean: float) -> float:
    """A difference worth finding: this share of the metric's range, or of its mean if it has no range."""
    return effect * (abs(mean) if metric.span is None else metric.span)


@dataclass(frozen=True, eq=False)
class RunPair:
    """The second run against the first. `requested`: metrics, all if empty. `judging`: their judges are compared."""

    first: Side
    second: Side
    requested: tuple[str, ...]
    judging: bool

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.first, self.second

    @property
    def states(self) -> tuple[RunState, RunState]:
        return self.first.state, self.second.state

    @property
    def intervals(self) -> Method:
        """`exact` if either run asks for it."""
        return "exact" if "exact" in [run.manifest.intervals for run in self.sides] else "score"

    def check(self) -> None:
        """Raises UserError for a metric that neither run has, and if there is nothing to compare."""
        names = " and ".join(dict.fromkeys((self.first.label, self.second.label)))
        known = {**self.first.judges, **self.second.judges}
        if unknown := [name for name in self.requested if name not in known]:
            raise UserError(f"there is no metric {unknown[0]} in {names}; there are {', '.join(known)}")
        if not self.keys:
            raise UserError(f"{names} share no {'report' if self.judging else 'sample'}: there is nothing to compare")
        if self.judging and not self.metrics:
            causes = "; ".join(f"{name}: {why}" for name, why in self.left_out.items())
            paths = f"{self.first.folder.path} and {self.second.folder.path}"
            raise UserError(f"{paths} have no judges to compare ({causes}); aiq rescore RUN judge.NAME... makes others")

    def obstacles(self) -> Iterator[str]:
        """What differs between the runs but should not, in words."""
        a, b = self.first, self.second
        for run in (a, b):
            if run.manifest.status != "finished":
                yield f"{run.label} {not_finished(run.folder.path, run.manifest.status)}"
        yield from self._dataset_obstacles()
        epochs = [max((key.epoch for key in state.spec.keys), default=0) for state in self.states]
        if epochs[0] != epochs[1]:
            yield f"{b.label} has epochs={epochs[1]}, {a.label} {epochs[0]}"
        rules = [run.state.spec.failures.agent_failures for run in (a, b)]
        if rules[0] != rules[1]:
            yield f"runner.agent_failures is {rules[0]} in {a.label} and {rules[1]} in {b.label}"
        if self.judging:
            if changed := sum(a.reports[key] != b.reports[key] for key in a.reports.keys() & b.reports.keys()):
                yield f"{a.label} and {b.label} judge different reports ({changed} differ)"
            return
        judges = {judge.name: judge for judge in b.state.spec.judges}
        for judge in a.state.spec.judges:
            if (other := judges.get(judge.name)) is not None and other.hash != judge.hash:
                yield f"judge {judge.name} differs between {a.label} and {b.label} ({self._judge_change(judge, other)})"

    def _dataset_obstacles(self) -> Iterator[str]:
        a, b = self.first, self.second
        datasets = [f"{run.manifest.dataset.name} {run.manifest.dataset.fingerprint[:8]}" for run in (a, b)]
        if a.manifest.dataset.fingerprint != b.manifest.dataset.fingerprint:
            yield f"the dataset of {a.label} is {datasets[0]}, that of {b.label} {datasets[1]}"
            return
        for run, other in ((a, b), (b, a)):
            if missing := [sample for sample in run.samples if sample not in other.samples]:
                yield f"{other.label} lacks {plural(len(missing), 'sample')} of {run.label} ({join_first(missing, 3)})"

    def _judge_change(self, judge: JudgeSpec, other: JudgeSpec) -> str:
        """What differs among the things that a judge's hash covers."""
        parts: list[dict[str, object]] = [
            {
                f"prompt {judge.name}": run.manifest.hashes.prompts.get(judge.name),
                "version": spec.version,
                "judge": {judge.name: run.manifest.raw_section("judge").get(judge.name)},
                **{role: model for role, model in run.manifest.models.items() if role.startswith("judge.")},
            }
            for run, spec in ((self.first, judge), (self.second, other))
        ]
        return ", ".join(differences(parts[0], parts[1])) or "its endpoint or where its pages come from"

    @cached_property
    def keys(self) -> list[SampleKey]:
        """The samples and epochs that both runs have; for judges, those with the same report."""
        a, b = self.first, self.second
        if self.judging:
            reported = [key for key in a.state.spec.keys if a.reports[key] is not None]
            return [key for key in reported if a.reports[key] == b.reports.get(key)]
        first, second = ({key: state.attempts[key].sample_hash for key in state.spec.keys} for state in self.states)
        return [key for key, digest in first.items() if second.get(key) == digest]

    @cached_property
    def left_out(self) -> dict[str, str]:
        """Why metrics are not compared, by metric."""
        names = dict.fromkeys([*self.first.judges, *self.second.judges])
        reasons = {name: self._reason(name) for name in names if not self.requested or name in self.requested}
        return {name: why for name, why in reasons.items() if why is not None}

    def _reason(self, name: str) -> str | None:
        for run, other in ((self.first, self.second), (self.second, self.first)):
            if name not in run.judges:
                return f"only {other.label} has it"
            if name not in run.summary.metrics:
                return f"{run.label} has no number: {run.summary.unavailable.get(name, 'it was not scored')}"
        if (self.first.judges[name].hash == self.second.judges[name].hash) is self.judging:
            return "its judge is the same" if self.judging else OTHER_JUDGE
        estimators = {run.state.spec.metrics[name].estimator for run in self.sides}
        return "its estimators differ" if len(estimators) > 1 else None

    @cached_property
    def metrics(self) -> list[str]:
        names = [name for name in self.first.judges if not self.requested or name in self.requested]
        return [name for name in names if name not in self.left_out]

    @cached_property
    def excluded(self) -> dict[str, str]:
        """`left_out`, and the metrics without a number over the samples of both runs."""
        unscored = [name for name in self.metrics if not self.scores[name, None].means]
        return self.left_out | dict.fromkeys(unscored, "no sample has a score in both runs")

    def unjudged(self, name: str) -> tuple[list[SampleKey], list[SampleKey]]:
        """Each run's attempts on which the metric's judge failed, or was not asked."""
        first, second = (
            [key for key in self.keys if (score := state.score(key, name)) is None or score.status == "error"]
            for state in self.states
        )
        return first, second

    def imputed(self, name: str, values: tuple[float, float]) -> Scored:
        """The metric's scores as they would be if all unjudged attempts of each run had its value in `values`."""
        metric, *originals = self.scores[name, None]
        runs = [dict(scores) for scores in originals]
        for scores, keys, value in zip(runs, self.unjudged(name), values, strict=True):
            for key in keys:
                scores[key.sample_id] = [*scores.get(key.sample_id, ()), (value, 1.0)]
        return Scored(metric, runs[0], runs[1])

    @cached_property
    def leading(self) -> list[str]:
        """The metrics compared by slice: the wanted ones, or the first of each judge."""
        firsts = {judge.metrics[0].name for judge in self.first.state.spec.judges}
        return [name for name in self.metrics if self.requested or name in firsts]

    @cached_property
    def scores(self) -> dict[tuple[str, Slice], Scored]:
        """What is compared, by metric and slice."""
        scores: dict[tuple[str, Slice], Scored] = {}
        rule: FailureRule = "exclude" if self.judging else self.first.state.spec.failures.agent_failures
        for name in self.metrics:
            before, after = [state.by_sample(name, self.keys, rule) for state in self.states]
            scores[name, None] = overall = Scored(self.first.state.spec.metrics[name], before, after)
            for tag, samples in self.slices.items() if name in self.leading else ():
                parts = [{key: run[key] for key in run if key in samples} for run in (before, after)]
                scores[name, tag] = Scored(overall.metric, parts[0], parts[1])
            epochs = max(key.epoch for key in self.keys)
            scores |= {(scored.metric.name, None): scored for scored in _passes(overall, epochs)}
        return scores

    @cached_property
    def slices(self) -> dict[tuple[str, str], set[str]]:
        """Samples by tag and value, as in summaries; of slices with the same samples only the first."""
        groups: dict[str, dict[str, set[str]]] = {}
        for sample in dict.fromkeys(key.sample_id for key in self.keys):
            for tag, value in self.first.samples[sample].tags.items():
                groups.setdefault(tag, {}).setdefault(value, set()).add(sample)
        slices: dict[tuple[str, str], set[str]] = {}
        for tag, values in sorted(groups.items()):
            for value, samples in sorted(values.items()) if 1 < len(values) <= MOST_SLICES else ():
                slices |= {(tag, value): samples} if samples not in slices.values() else {}
        return slices


def pair_runs(
    folders: Sequence[RunOrBaseline], metrics: Sequence[str] = (), *, judges: bool = False, force: bool = False
) -> tuple[list[RunPair], tuple[str, ...]]:
    """Each further run paired with the first one, and what they differ in but should not.

    Arguments and errors are those of `aiq.analysis.compare.compare`.
    """
    if not 2 <= len(folders) <= len(_LETTERS):
        raise UserError(f"compare takes 2 to {len(_LETTERS)} runs, but got {len(folders)}")
    runs = [Side(label, folder) for label, folder in zip(_LETTERS, folders, strict=False)]
    pairs = [RunPair(runs[0], run, tuple(metrics), judges) for run in runs[1:]]
    obstacles = tuple(dict.fromkeys(why for pair in pairs for why in pair.obstacles()))
    if obstacles and not force:
        raise UserError(
            f"the runs cannot be compared: {'; '.join(obstacles)}; aiq compare --force compares what they share"
        )
    for pair in pairs:
        pair.check()
    return pairs, obstacles


def _passes(scored: Scored, k: int) -> Iterator[Scored]:
    """pass@k and pass^k of a right-or-wrong metric, over the samples with k epochs; nothing for one epoch."""
    metric, *runs = scored
    values = [{key: [x for x, _ in epochs] for key, epochs in run.items() if len(epochs) >= k} for run in runs]
    binary = all(value in (0, 1) for run in values for epochs in run.values() for value in epochs)
    right_or_wrong = metric.estimator == "mean" and (metric.low, metric.high) == (0, 1) and metric.higher_is_better
    if k < 2 or not binary or not right_or_wrong:
        return
    for index, name in enumerate((f"{metric.name} pass@{k}", f"{metric.name} pass^{k}")):
        first, second = ({key: [(pass_at_k(epochs, k)[index], 1.0)] for key, epochs in run.items()} for run in values)
        yield Scored(metric.model_copy(update={"name": name}), first, second)
