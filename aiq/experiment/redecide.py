"""Tries other settings on recorded runs, without model calls: how an agent's decisions would have changed its attempts.

For agents that declare settings that only decide (`agents.base.Redecides`). A point becomes an ordinary run folder,
with the rows of the attempts that took the chosen branch, and their scores. A branch that no run took has no report:
only judges that go by the route alone score it, and its spend is the average of attempts with its route.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import cached_property, partial
from statistics import fmean
from typing import Any

from aiq.agents.base import Recorded, Redecides
from aiq.core.errors import UserError
from aiq.core.plugins import load
from aiq.core.run_settings import RunSettings
from aiq.core.samples import SampleKey
from aiq.core.settings import dotted
from aiq.core.text import plural
from aiq.core.usage import USAGE, Usage
from aiq.experiment.compose import allowed_overrides, parse, settings_from
from aiq.experiment.plan import JudgePlan, RunPlan, make_plan
from aiq.experiment.provenance import new_manifest, utc_now
from aiq.experiment.resume import check_dataset, migrate
from aiq.experiment.scoring import score_failure, score_nothing, score_route
from aiq.judges.base import RouteJudge
from aiq.runs.events import EventReader
from aiq.runs.folder import RunFolder
from aiq.runs.journal import Journal
from aiq.runs.manifest import Manifest, Rescored, SweepPlace
from aiq.runs.reader import read_samples, read_scores
from aiq.runs.rows import SampleRow, ScoreRow, Timing
from aiq.runs.state import RunState
from aiq.runs.summary import summarise
from aiq.runs.sweeps import Point


class RecordedRun:
    """A run whose decisions are made again, or that recorded branches which another run did not take."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.manifest, self.notes = migrate(folder.read_manifest())
        self.rows = read_samples(folder)
        self._events = EventReader(folder)

    @cached_property
    def scores(self) -> dict[SampleKey, list[ScoreRow]]:
        return read_scores(self.folder, self.rows)

    def close(self) -> None:
        self._events.close()

    def attempt(self, row: SampleRow) -> Recorded:
        """The recorded attempt of an answered row."""
        return Recorded(row.as_report(), row.usage, partial(self._events.read, row.key, row.attempt))


@dataclass(frozen=True)
class RedecidedPoint:
    """A point that was written. `left_out`: attempts that could not be decided, by reason. `unrecorded`: how many took
    a branch that no run has. `decisions`: the route and tokens of each attempt, which tell points apart.
    """

    left_out: Mapping[str, int]
    unrecorded: int
    decisions: tuple[tuple[str | None, int], ...]

    def __str__(self) -> str:
        """What its numbers lack; empty if nothing."""
        notes = [f"{n} attempts are left out: {reason}" for reason, n in self.left_out.items()]
        if self.unrecorded:
            notes.append(
                f"{self.unrecorded} attempts took a branch that no run has recorded: their reports are not known, and "
                "they count as spending what others of their route do"
            )
        return "; ".join(notes)


class Redecision:
    """Makes points from the first run; the other runs, with other such settings, provide the branches it did not take.

    `sweep`: gives the points their name, and those of its judges that go by the route alone.
    Raises UserError for runs that cannot be combined, and for an agent that declares no such settings.
    """

    def __init__(self, folders: Sequence[RunFolder], sweep: RunSettings) -> None:
        self._runs = [RecordedRun(folder) for folder in folders]
        self._first = first = self._runs[0]
        settings = settings_from(first.manifest.config)
        route_judges = {
            name: judge
            for name, judge in sweep.judge.items()
            if name not in settings.judge and issubclass(load(judge.target, f"judge.{name}"), RouteJudge)
        }
        self._settings = settings.model_copy(update={"name": sweep.name, "judge": {**settings.judge, **route_judges}})
        plan = make_plan(self._settings)
        check_dataset(plan.dataset, first.manifest, first.folder)
        if not isinstance(plan.agent, Redecides):
            raise UserError(
                f"{settings.agent.target} declares no settings that could be decided again on recorded runs; use "
                "another sweep.strategy, which makes runs of its own"
            )
        self._means: dict[str, tuple[dict[str, Usage], float]] = {}
        self._deciding = [f"agent.{name}" for name in plan.agent.deciding]
        for other in self._runs[1:]:
            self._check_same(other.manifest, str(other.folder.path))

    def close(self) -> None:
        for run in self._runs:
            run.close()

    def plan(self, overrides: Sequence[str], place: SweepPlace) -> RunPlan:
        """The plan of the first run with these settings, as far as they only decide."""
        from omegaconf import OmegaConf

        config = OmegaConf.create(self._settings.model_dump(mode="json"))
        for override in parse(overrides):
            if self._decides(name := override.get_key_element().lstrip("+")):
                OmegaConf.update(config, name, override.value(), force_add=True)
        raw_config: Any = OmegaConf.to_container(config)
        return make_plan(settings_from(raw_config), overrides, place, self._first.manifest.options)

    def check(self, overrides: Sequence[str]) -> None:
        """Raises UserError for settings that cannot be changed for recorded runs."""
        allowed = ("experiment", "name", "output_dir", "judge", "sweep.*", *self._deciding)
        allowed_overrides(overrides, allowed, "sweep.runs are recorded")

    def check_points(self, points: Sequence[Point], place: Callable[[Point], SweepPlace]) -> None:
        """Raises UserError, for all points at once, if the runs lack what a point decides on or its branches."""
        reasons = {point.number: self._missing_reason(self.plan(point.overrides, place(point))) for point in points}
        if numbers := [number for number, reason in reasons.items() if reason is not None]:
            raise UserError(
                f"{len(numbers)} of {plural(len(points), 'point')} cannot be decided on these runs: "
                f"{'; '.join(dict.fromkeys(reason for reason in reasons.values() if reason is not None))}; "
                f"or give an axis fewer values (the first of these is point {numbers[0]})"
            )

    def _missing_reason(self, plan: RunPlan) -> str | None:
        """Why no attempt at all can be decided; None if one can."""
        reason = "the runs have no attempt"
        try:
            for result in self._rows(plan):
                if not isinstance(result, str):
                    return None
                reason = result
        except UserError as error:
            return str(error)
        return reason

    def _decides(self, setting: str) -> bool:
        return any(fnmatchcase(setting, pattern) for pattern in self._deciding)

    def write(self, plan: RunPlan, folder: RunFolder) -> RedecidedPoint:
        """Decide, and write the run folder of the point. Raises UserError if nothing can be decided."""
        state, left_out, unrecorded = RunState(plan.spec), Counter[str](), 0
        folder.create()
        for path in (folder.samples_path, folder.scores_path):
            path.unlink(missing_ok=True)  # from an earlier start
        samples: Journal[SampleRow] = Journal(folder.samples_path)
        scores: Journal[ScoreRow] = Journal(folder.scores_path)
        with closing(samples), closing(scores):
            for result in self._rows(plan):
                if isinstance(result, str):
                    left_out[result] += 1
                    continue
                row, score_rows, is_recorded = result
                unrecorded += not is_recorded
                samples.append(row)
                scores.append(*score_rows)
                state.add_attempt(row)
                state.add_scores(score_rows)
        if not state.attempts:
            raise UserError(f"nothing can be decided again: {next(iter(left_out), 'the run has no attempt')}")
        manifest = self._manifest(plan, folder.path.name)
        folder.write_manifest(manifest)
        folder.write_summary(summarise(manifest, state, 0.0))
        rows = state.attempts.values()
        decisions = tuple((row.route, row.usage.total_tokens) for row in rows)
        return RedecidedPoint(left_out, unrecorded, decisions)

    def _manifest(self, plan: RunPlan, name: str) -> Manifest:
        """The manifest of a finished point; its models are those of the first run."""
        first = self._first.manifest
        rescored = Rescored(run=str(self._first.folder.path), models=first.agent_models, overrides=plan.overrides)
        origin = {"offline": first.offline, "elsewhere": first.elsewhere, "rescored": rescored, "models": first.models}
        update = {**origin, "status": "finished", "finished": utc_now()}
        return new_manifest(plan, name).model_copy(update=update)

    def _rows(self, plan: RunPlan) -> Iterator[tuple[SampleRow, list[ScoreRow], bool] | str]:
        """For each attempt of the first run: its row, its scores and whether its branch is recorded; or a reason."""
        agent: Any = plan.agent
        for key, row in ((key, self._first.rows[key]) for key in plan.spec.keys if key in self._first.rows):
            sample = plan.dataset.samples.named(key.sample_id)
            if not row.answered:
                yield row, [score for judge in plan.judges for score in score_failure(judge, sample, row)], True
                continue
            if row.turns:
                yield "an attempt with several turns has decided more than once"
                continue
            candidates = [(run, run.rows.get(key)) for run in self._runs]
            runs = [run for run, r in candidates if r and r.answered and r.sample_hash == row.sample_hash]
            decision = agent.redecide([run.attempt(run.rows[key]) for run in runs])
            if isinstance(decision, str):
                yield decision
                continue
            update: dict[str, Any] = {"route": decision.report.route, "extras": decision.report.extras}
            if decision.branch is None:
                new_row = self._unrecorded_row(row, decision.report.route).model_copy(update=update)
            else:
                update |= {"attempt": row.attempt, "usage": decision.usage, "tags": row.tags}
                new_row = runs[decision.branch].rows[key].model_copy(update=update)
            scores: list[ScoreRow] = []
            for judge in plan.judges:
                if isinstance(judge.judge, RouteJudge):
                    scores += score_route(judge, judge.judge, sample, new_row)
                elif decision.branch is None:
                    scores += score_nothing(judge, new_row, f"no run has recorded its branch: {new_row.route}")
                else:
                    scores += _copy_scores(judge, new_row, runs[decision.branch])
            yield new_row, scores, decision.branch is not None

    def _unrecorded_row(self, row: SampleRow, route: str) -> SampleRow:
        """An attempt without a report, whose spend is the average of recorded attempts with its route."""
        usage, seconds = self._mean_spend(route)
        return SampleRow(
            **row.model_dump(include={"sample_id", "epoch", "attempt", "sample_hash", "question", "tags"}),
            status="completed",
            outcome="ok",
            report="",
            usage=usage,
            timing=Timing(started=row.timing.started, seconds=seconds),
        )

    def _mean_spend(self, route: str) -> tuple[dict[str, Usage], float]:
        """Mean usage by role and seconds of the recorded attempts with a route. Raises UserError if there are none."""
        if route not in self._means:
            rows = [row for run in self._runs for row in run.rows.values() if row.answered and row.route == route]
            if not rows:
                raise UserError(
                    f"no attempt of these runs took the route {route}, so its cost is unknown; add a run in which "
                    "some did"
                )
            roles = sorted({role for row in rows for role in row.usage})
            total = {role: sum((row.usage.get(role, Usage()) for row in rows), Usage()) for role in roles}
            usage = {role: _divide(role_usage, len(rows)) for role, role_usage in total.items()}
            self._means[route] = usage, fmean(row.timing.seconds for row in rows)
        return self._means[route]

    def _check_same(self, other: Manifest, name: str) -> None:
        """Raises UserError if a run differs from the first in more than its decisions, so its branches do not fit."""
        first, second = (
            {
                "dataset": run.dataset.fingerprint,
                "llm.model": run.models.get("default"),
                **dotted({"agent": run.config["agent"]}),
            }
            for run in (self._first.manifest, other)
        )
        for setting in sorted(first.keys() | second.keys()):
            if first.get(setting) != second.get(setting) and not self._decides(setting):
                raise UserError(
                    f"{name} has {setting}={second.get(setting)}, but {self._first.folder.path} has "
                    f"{first.get(setting)}: its attempts cannot stand in for the other's; leave it out"
                )


def _divide(usage: Usage, n: int) -> Usage:
    """The usage divided by n; integers are rounded."""
    means = {
        name: value if value is None else type(value)(value / n + (isinstance(value, int) and 0.5))
        for name, value in asdict(usage).items()
    }
    return USAGE.validate_python(means)


def _copy_scores(plan: JudgePlan, row: SampleRow, run: RecordedRun) -> list[ScoreRow]:
    """The judge's scores in the run that the row is from, which cost nothing again."""
    scores = [score for score in run.scores[row.key] if score.judge_hash == plan.spec.hash]
    copies = [score.model_copy(update={"attempt": row.attempt, "usage": None}) for score in scores]
    return copies or score_nothing(plan, row, f"{run.folder.path} has no score of it by this judge")
