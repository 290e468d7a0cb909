"""What an earlier start of a run left: its config, its rows, and which of them still hold."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from aiq.core.errors import DatasetError, UserError
from aiq.core.samples import SampleKey
from aiq.experiment.compose import named_overrides
from aiq.experiment.plan import RunPlan
from aiq.experiment.provenance import agent_digest, utc_now
from aiq.runs.folder import RunFolder
from aiq.runs.manifest import Manifest, Resumption
from aiq.runs.reader import every_sample, every_score
from aiq.runs.rows import SampleRow
from aiq.runs.state import RunState

if TYPE_CHECKING:
    from aiq.datasets import Dataset

_ALLOWED: Final = ("runner.", "limits.", "llm.base_url")
"""What settings that may change between starts begin with: none of them can change a finished attempt or score."""


def reopened(manifest: Manifest, overrides: Sequence[str]) -> Manifest:
    """The manifest with the overrides of this start. Raises UserError for a setting that must not change."""
    from omegaconf import OmegaConf

    config = OmegaConf.create(dict(manifest.config))
    for name, override in named_overrides(overrides):
        if override.is_delete() or not name.startswith(_ALLOWED):
            raise UserError(
                f"resume takes its config from the run folder, so {name} cannot change "
                "(only runner.*, limits.* and llm.base_url can); start a new run for other settings"
            )
        if name == "llm.base_url" and OmegaConf.select(config, "llm.known_as") is None:
            OmegaConf.update(config, "llm.known_as", config.llm.base_url.rstrip("/"))  # moved; its answers still hold
        OmegaConf.update(config, name, override.value())
    resumed = (*manifest.resumed, Resumption(time=utc_now(), overrides=tuple(overrides)))
    return manifest.model_copy(update={"config": OmegaConf.to_container(config), "resumed": resumed})


def check_same(plan: RunPlan, manifest: Manifest, folder: RunFolder) -> list[str]:
    """Notes on what else has changed since the run was started. Raises DatasetError as `check_dataset` does."""
    check_dataset(plan.dataset, manifest, folder)
    notes = []
    if agent_digest(plan) != manifest.hashes.agent:
        notes.append("the agent or its prompts have changed since the run was started; finished attempts are kept")
    for judge in plan.spec.judges:
        if manifest.hashes.judges.get(judge.name) != judge.hash:
            notes.append(f"judge {judge.name} has changed since the run was started; it scores every report anew")
    return notes


def check_dataset(dataset: "Dataset", manifest: Manifest, folder: RunFolder) -> None:
    """Raises DatasetError when the dataset has changed: then old and new rows do not belong together."""
    then = manifest.dataset
    if dataset.fingerprint != then.fingerprint or len(dataset.samples) != then.samples:
        raise DatasetError(
            f"dataset {dataset.name} has changed since {folder.path} was started (fingerprint {then.fingerprint}, "
            f"now {dataset.fingerprint}); bring the old files back, or start a new run"
        )


def check_finished(state: RunState, run: str) -> None:
    """Raises UserError where an agent would have to be asked for reports that are only to be scored again."""
    keys = state.spec.keys
    left = [key for key in keys if not state.attempted(key)]
    if left:
        what = "are not done or are to be made again" if state.spec.runner.retry_failed else "are not done"
        raise UserError(
            f"rescoring asks no agent, and {len(left)} of {len(keys)} attempts of {run} {what} "
            f"(the first: {left[0].sample_id}, epoch {left[0].epoch}); go on with that run: aiq run resume={run}"
        )


def load_state(folder: RunFolder, plan: RunPlan) -> tuple[RunState, Mapping[SampleKey, SampleRow]]:
    """The state of a run folder, and the whole rows of those attempts that a judge has yet to score.

    Raises DatasetError when a row belongs to a sample that the dataset no longer has, or to another question.
    """
    state = RunState(plan.spec)
    state.add_scores(every_score(folder))
    hashes = {sample.id: sample.hash for sample in plan.dataset.samples}
    unscored: dict[SampleKey, SampleRow] = {}
    for row in every_sample(folder):
        if hashes.get(row.sample_id) != row.sample_hash:
            raise DatasetError(
                f"{folder.path}: sample {row.sample_id} is "
                f"{'another question' if row.sample_id in hashes else 'missing'} in dataset {plan.dataset.name} now; "
                "bring the old dataset back, or start a new run"
            )
        state.add_attempt(row)
        if all(state.judged(row.key, judge) for judge in plan.spec.judges):
            unscored.pop(row.key, None)
        else:
            unscored[row.key] = row
    return state, unscored
