"""What an earlier start of a run left: its config, its rows, and which of them still stand."""

from collections.abc import Sequence
from pathlib import Path

from aiq.core.errors import DatasetError, UserError
from aiq.core.samples import SampleKey
from aiq.experiment.compose import parse
from aiq.experiment.plan import Plan, agent_digest
from aiq.experiment.provenance import utc_now
from aiq.runs.folder import RunFolder
from aiq.runs.journal import read_rows
from aiq.runs.rows import Manifest, Resumption, SampleRow, ScoreRow
from aiq.runs.state import Tally

ALLOWED = ("runner.", "limits.", "llm.base_url")
"""Settings that may change between starts of one run: none of them can change a finished attempt or score.

`runner.agent_failures` says how failures are counted, in the summary alone.
"""


def reopened(manifest: Manifest, overrides: Sequence[str]) -> Manifest:
    """The manifest with the overrides of this start. Raises UserError for a setting that must not change."""
    from omegaconf import OmegaConf

    config = OmegaConf.create(dict(manifest.config))
    for override in parse(overrides):
        name = override.get_key_element().lstrip("+~")
        if override.is_delete() or not _may_change(name):
            raise UserError(
                f"resume takes its config from the run folder, so {name} cannot change "
                "(only runner.*, limits.* and llm.base_url can); start a new run for other settings"
            )
        if name == "llm.base_url" and OmegaConf.select(config, "llm.known_as") is None:
            OmegaConf.update(config, "llm.known_as", config.llm.base_url.rstrip("/"))  # it has moved; its answers stand
        OmegaConf.update(config, name, override.value())
    restart = Resumption(time=utc_now(), overrides=tuple(overrides))
    changed = {"config": OmegaConf.to_container(config), "resumed": (*manifest.resumed, restart)}
    return manifest.model_copy(update=changed)


def _may_change(name: str) -> bool:
    return any(name == allowed or (allowed.endswith(".") and name.startswith(allowed)) for allowed in ALLOWED)


def check_same(plan: Plan, manifest: Manifest, folder: RunFolder) -> list[str]:
    """Notes on what else has changed since the run was started. Raises DatasetError as `check_dataset` does."""
    check_dataset(plan, manifest, folder)
    notes = []
    if agent_digest(plan) != manifest.hashes.agent:
        notes.append("the agent or its prompts have changed since the run was started; finished attempts are kept")
    for planned in plan.judges:
        if manifest.hashes.judges.get(planned.name) != planned.hash:
            notes.append(f"judge {planned.name} has changed since the run was started; it scores every report anew")
    return notes


def check_dataset(plan: Plan, manifest: Manifest, folder: RunFolder) -> None:
    """Raises DatasetError when the dataset has changed: then old and new rows do not belong together."""
    dataset, then = plan.dataset, manifest.dataset
    if dataset.fingerprint != then.fingerprint or len(dataset.samples) != then.samples:
        raise DatasetError(
            f"dataset {dataset.name} has changed since {folder.path} was started (fingerprint {then.fingerprint}, "
            f"now {dataset.fingerprint}); bring the old files back, or start a new run"
        )


def check_finished(plan: Plan, tally: Tally, run: str) -> None:
    """Raises UserError where an agent would have to be asked for reports that are only to be scored again."""
    retry_failed = plan.settings.runner.retry_failed
    left = [key for key in plan.keys if not tally.finished(key, retry_failed=retry_failed)]
    if left:
        what = "are not done or are to be made again" if retry_failed else "are not done"
        raise UserError(
            f"rescoring asks no agent, and {len(left)} of {len(plan.keys)} attempts of {run} {what} "
            f"(the first: {left[0].sample_id}, epoch {left[0].epoch}); go on with that run: aiq run resume={run}"
        )


def load_tally(folder: RunFolder, plan: Plan) -> tuple[Tally, dict[SampleKey, SampleRow]]:
    """The tally of a run folder, and the whole rows of those attempts that a judge has yet to score.

    Raises DatasetError when a row belongs to a sample that the dataset no longer has, or to another
    question.
    """
    tally = Tally()
    for path in _shards(folder, "scores"):
        tally.add_scores(read_rows(path, ScoreRow))
    hashes = {sample.id: sample.hash for sample in plan.dataset.samples}
    unscored: dict[SampleKey, SampleRow] = {}
    for path in _shards(folder, "samples"):
        for row in read_rows(path, SampleRow):
            if hashes.get(row.sample_id) != row.sample_hash:
                raise DatasetError(
                    f"{path}: sample {row.sample_id} is {'another question' if row.sample_id in hashes else 'missing'} "
                    f"in dataset {plan.dataset.name} now; bring the old dataset back, or start a new run"
                )
            tally.add_attempt(row)
            if all(tally.judged(row.key, planned) for planned in plan.judges):
                unscored.pop(row.key, None)
            else:
                unscored[row.key] = row
    return tally, unscored


def _shards(folder: RunFolder, name: str) -> list[Path]:
    return sorted(folder.path.glob(f"{name}*.jsonl"))
