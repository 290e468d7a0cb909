"""What an earlier start of a run left: its config, brought up to date, and its rows, as far as they are still valid.

In manifests of older versions, missing settings come from the shipped option, and classes may have moved.
"""

import copy
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cache, partial, reduce
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from hydra.errors import HydraException
from pydantic import BaseModel, ValidationError

from aiq.core.errors import ConfigError, DatasetError, UserError
from aiq.core.plugins import load
from aiq.core.run_settings import RunSettings
from aiq.core.samples import SampleKey, Shard
from aiq.experiment.choices import groups, options
from aiq.experiment.compose import LISTS, allowed_overrides, config_of_options
from aiq.experiment.plan import RunPlan
from aiq.experiment.provenance import agent_digest, utc_now
from aiq.runs.folder import RunFolder
from aiq.runs.manifest import Manifest, Resumption
from aiq.runs.reader import every_sample, every_score, everyone, located
from aiq.runs.rows import SampleRow
from aiq.runs.state import RunState

if TYPE_CHECKING:
    from aiq.datasets import Dataset

_ABSENT: Final = object()
Composed = Callable[[str], dict[str, Any]]
"""The config composed from a root, cached: many settings may be missing."""
ALLOWED: Final = (
    "runner.*",
    "limits.*",
    "cassette.*",
    "llm.base_url",
    "llm.*_per_minute",
    "intervals",
    "shard",
    "telemetry.*",
)
"""The settings that resuming may change: none of them affects a finished attempt or score."""


def reopened(manifest: Manifest, overrides: Sequence[str]) -> Manifest:
    """The manifest with the overrides of this start. Raises UserError for a setting that may not change."""
    from omegaconf import OmegaConf

    config = OmegaConf.create(dict(manifest.config))
    for name, override in allowed_overrides(overrides, ALLOWED, "resume takes the config from the run folder"):
        if name == "llm.base_url" and OmegaConf.select(config, "llm.known_as") is None:
            OmegaConf.update(config, "llm.known_as", config.llm.base_url.rstrip("/"))  # moved; answers are still valid
        OmegaConf.update(config, name, override.value())
    resumptions = (*manifest.resumed, Resumption(time=utc_now(), overrides=tuple(overrides)))
    return manifest.model_copy(update={"config": OmegaConf.to_container(config), "resumed": resumptions})


def check_same(plan: RunPlan, manifest: Manifest, folder: RunFolder) -> list[str]:
    """Notes on what else has changed since the run was started. Raises as `check_dataset` does."""
    check_dataset(plan.dataset, manifest, folder)
    judges = [judge.name for judge in plan.spec.judges if manifest.hashes.judges.get(judge.name) != judge.hash]
    notes = [f"judge {name} has changed since the run was started; it scores every report again" for name in judges]
    if agent_digest(plan) != manifest.hashes.agent:
        notes.insert(0, "the agent or its prompts have changed since the run was started; finished attempts are kept")
    return notes


def check_dataset(dataset: "Dataset", manifest: Manifest, folder: RunFolder) -> None:
    """Raises DatasetError if the dataset has changed, since old and new rows would not belong together."""
    recorded = manifest.dataset
    if dataset.fingerprint != recorded.fingerprint or len(dataset.samples) != recorded.samples:
        raise DatasetError(
            f"dataset {dataset.name} has changed since {folder.path} was started (fingerprint {recorded.fingerprint}, "
            f"now {dataset.fingerprint}); restore the old files, or start a new run"
        )


def check_finished(state: RunState, run: str) -> None:
    """Raises UserError if reports that are only to be scored again are missing and would need the agent."""
    keys = state.spec.keys
    missing = [key for key in keys if not state.attempted(key)]
    if missing:
        problem = "are not done or are to be retried" if state.spec.failures.retry_failed else "are not done"
        raise UserError(
            f"rescoring does not run the agent, but {len(missing)} of {len(keys)} attempts of {run} {problem} "
            f"(the first: {missing[0].sample_id}, epoch {missing[0].epoch}); resume that run: aiq run resume={run}"
        )


def load_state(
    folder: RunFolder, plan: RunPlan, shard: Shard | None = None
) -> tuple[RunState, Sequence[SampleKey], Mapping[SampleKey, tuple[Path, int]]]:
    """The state of a run folder, the keys that are left, and where the rows of attempts still to be scored are.

    For a shard: of its own keys, from what it and earlier divisions of the run have written. Raises DatasetError for
    a row whose sample or question the dataset no longer has.
    """
    keys = shard.part(plan.spec.keys) if shard else plan.spec.keys
    writer = folder.writer
    is_included = (lambda other: other == writer or other.turn < writer.turn) if shard else everyone
    state = RunState(replace(plan.spec, keys=keys))
    state.add_scores(every_score(folder, is_included))
    samples = plan.dataset.samples
    for row in every_sample(folder, is_included):
        sample = samples.get(row.sample_id)
        if sample is None or sample.hash != row.sample_hash:
            raise DatasetError(
                f"{folder.path}: sample {row.sample_id} is "
                f"{'another question' if sample else 'missing'} in dataset {plan.dataset.name} now; "
                "restore the old dataset, or start a new run"
            )
        state.add_attempt(row)
    remaining = state.remaining()
    unscored = {*filter(state.attempted, remaining)}
    rows = located(folder, "samples", SampleRow, is_included) if unscored else ()
    return state, remaining, {row.key: (path, start) for row, path, start in rows if row.key in unscored}


def seconds_worked(manifest: Manifest, state: RunState) -> float:
    """The wall time of a run's earlier starts, each up to the end of its last attempt: all that is known if killed."""
    times = (manifest.started, *(start.time for start in manifest.resumed))
    starts = [datetime.fromisoformat(time).timestamp() for time in times]
    durations = [0.0] * len(starts)
    for attempt in filter(None, map(state.attempts.at, range(len(state.spec.keys)))):
        start = max(bisect_right(starts, attempt.started) - 1, 0)
        durations[start] = max(durations[start], attempt.started - starts[start] + attempt.seconds)
    return sum(durations)


def migrate(manifest: Manifest) -> tuple[Manifest, list[str]]:
    """The manifest, with outdated settings repaired from config options where possible, and a note on each change."""
    config: dict[str, Any] = copy.deepcopy(dict(manifest.config))
    plugins = {place: config.get(place) for place in ("agent", "dataset")}
    plugins |= {f"judge.{name}": plugin for name, plugin in (config.get("judge") or {}).items()}
    notes, compose_root = [], cache(partial(config_of_options, ()))
    for place, plugin in plugins.items():
        if isinstance(plugin, dict):
            notes += _mend_plugin(plugin, place, manifest.options.get(place), compose_root)
    for path in _missing_settings(RunSettings, config):
        group = str(path[0])
        notes += _fill(config, path, _configs(group, manifest.options.get(group), compose_root), "")
    return (manifest.model_copy(update={"config": config}) if notes else manifest), notes


def _mend_plugin(plugin: dict[str, Any], place: str, option: str | None, compose_root: Composed) -> list[str]:
    """Give a plugin the class that its option names now, and the settings that its class did not have then."""
    group, notes, old_target = place.partition(".")[0], [], plugin["target"]
    try:
        plugin_class = load(old_target, place)
    except ConfigError:
        if option not in options(group):
            return []  # make_plan reports the error
        new_target = _value_at(next(_configs(group, option, compose_root)), (*place.split("."), "target"))
        if not isinstance(new_target, str):
            return []
        plugin["target"], plugin_class = new_target, load(new_target, place)
        notes.append(f"{place}.target: {old_target} is now {new_target}, as in {group}={option}")
    known = {name: value for name, value in plugin.items() if name in plugin_class.Settings.model_fields}
    for path in _missing_settings(plugin_class.Settings, known):
        notes += _fill(plugin, path, _sections(place, plugin["target"], option, path[0], compose_root), f"{place}.")
    return notes


def _missing_settings(model: type[BaseModel], values: Mapping[str, Any]) -> list[tuple[int | str, ...]]:
    """The places of required settings that are missing."""
    try:
        model.model_validate(values)
    except ValidationError as error:
        return [item["loc"] for item in error.errors(include_url=False) if item["type"] == "missing"]
    return []


def _configs(group: str, option: str | None, compose_root: Composed) -> Iterator[dict[str, Any]]:
    """Configs to take a setting from: those of the recorded option, the group's base and each option; the default."""
    names = filter(None, dict.fromkeys([option, "_base", *options(group)])) if group in groups() else ()
    roots = [*(f"{group}/{name}" for name in names), "config"]
    if group in LISTS and option is None:  # an option that nobody chose must not be added now
        roots.insert(0, "config")
    for root in roots:
        with suppress(HydraException):  # no such option
            yield compose_root(root)


def _sections(place: str, target: str, option: str | None, name: int | str, compose_root: Composed) -> Iterator[Any]:
    """Sections to take a setting from: options of the class, then of classes that inherit the setting as it does."""
    group = place.partition(".")[0]
    owners = {base for base in load(target, place).Settings.__mro__ if name in vars(base).get("__annotations__", {})}
    for same in (True, False):
        for config in _configs(group, option, compose_root):
            group_config = config.get(group, {})
            for section in group_config.values() if group in LISTS else [group_config]:
                other = section.get("target")
                if other and (other == target) is same and owners.intersection(load(other, place).Settings.__mro__):
                    yield section


def _fill(
    values: dict[str, Any], path: tuple[int | str, ...], sections: Iterable[Mapping[str, Any]], prefix: str
) -> list[str]:
    """Fill in a missing setting from the first section that has it, and return a note on it."""
    value = next((candidate for section in sections if (candidate := _value_at(section, path)) is not _ABSENT), _ABSENT)
    if value is _ABSENT:
        return []
    reduce(getitem, path[:-1], cast("Any", values))[path[-1]] = value
    name = prefix + ".".join(map(str, path))
    return [f"{name} is not in the manifest, which an older version wrote; it is {value!r} now, as shipped"]


def _value_at(values: Any, path: Iterable[int | str]) -> Any:
    """The value at a path in nested mappings, or _ABSENT."""
    try:
        return reduce(getitem, path, values)
    except (LookupError, TypeError):
        return _ABSENT
