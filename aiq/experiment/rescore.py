"""Scores the reports of a run again, with other judges and no agent: a new run folder takes over what is still valid.

The old run is not changed, so the two can be compared.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from aiq.core.errors import UserError
from aiq.experiment.choices import groups
from aiq.experiment.compose import allowed_overrides, compose_with_options, setting_of, settings_from
from aiq.experiment.plan import RunPlan, make_plan, web_of
from aiq.experiment.provenance import new_manifest
from aiq.experiment.resume import check_dataset, check_finished, load_state, migrate
from aiq.runs.events import copy_agent_events
from aiq.runs.folder import RunFolder, new_run_id
from aiq.runs.journal import json_line, whole_lines
from aiq.runs.manifest import Manifest, Rescored
from aiq.runs.reader import every_score
from aiq.runs.state import RunState

GROUPS: Final = ("judge", "llm", "web", "search", "runner", "cassette")  # none of them changes a report
JUDGES: Final = "judge."  # how their roles begin
_ALLOWED: Final = (*GROUPS, *(f"{group}.*" for group in GROUPS), "limits.run_*", "telemetry.*")


def plan_rescore(old: RunFolder, overrides: Sequence[str]) -> tuple[RunPlan, Manifest, list[str]]:
    """The old run's plan with other judges, the manifest of the new folder, and notes. Writes nothing.

    Raises UserError for an override that affects more than judging, an unfinished run, and if nothing is left to score.
    """
    earlier, notes = migrate(old.read_manifest())
    config, options = _change_config(earlier, overrides)
    plan = make_plan(settings_from(config), overrides, options=options)
    if not plan.judges:
        raise UserError("judge=[] names no judge, so there is nothing to score; name some, e.g. judge=[race]")
    check_dataset(plan.dataset, earlier, old)
    state, *_ = load_state(old, plan)
    if earlier.status == "finished":
        plan, n = _without_cancelled(plan, state)
        notes += [f"{n} of {len(state.spec.keys)} attempts were cancelled and are left out"] if n else []
        state.spec = plan.spec
    with old.lock():  # a run that is still running cannot be resumed, as the error would advise
        check_finished(state, str(old.path))
    if not state.remaining():
        raise UserError(f"every judge has scored all reports of {old.path}; change one, e.g. judge.race.votes=3")
    fresh = new_manifest(plan, new_run_id())
    update = {
        "hashes": fresh.hashes.model_copy(update={"agent": earlier.hashes.agent}),
        "offline": fresh.offline or earlier.offline,
        "elsewhere": (
            *(earlier.elsewhere if earlier.offline else earlier.agent_models),
            *(() if fresh.offline else (role for role in fresh.models if role.startswith(JUDGES))),
        ),
        "rescored": Rescored(
            run=str(old.path),
            models=earlier.agent_models,
            overrides=_join_overrides(earlier.rescored.overrides if earlier.rescored else earlier.overrides, overrides),
        ),
    }
    return plan, fresh.model_copy(update=update), notes


def _without_cancelled(plan: RunPlan, state: RunState) -> tuple[RunPlan, int]:
    """The plan without a server's tasks that their clients cancelled, and the number of those."""
    cancelled = {key.sample_id for key, row in state.attempts.items() if row.status == "cancelled"}
    samples = plan.dataset.samples.where(lambda key: key not in cancelled)
    if not (cancelled and samples):
        return plan, 0
    settings = plan.settings.changed("dataset", ids=tuple(samples.ids))
    return replace(plan, settings=settings, dataset=replace(plan.dataset, samples=samples)), len(cancelled)


def _join_overrides(earlier: Sequence[str], later: Sequence[str]) -> tuple[str, ...]:
    """Earlier overrides with later ones: a group whose option is chosen again loses its earlier settings."""
    names = list(map(setting_of, later))
    reset = {name for name in names if name in groups()}
    kept = [text for text in earlier if (name := setting_of(text)) not in names and name.partition(".")[0] not in reset]
    return (*kept, *later)


def copy_valid(old: RunFolder, new: RunFolder, plan: RunPlan) -> None:
    """Copy what is still valid from the old folder to the new one. Raises UserError while the old run is running."""
    samples = plan.dataset.samples.ids
    with old.lock():
        new.create()
        with new.samples_path.open("wb") as file:
            lines = chain.from_iterable(map(whole_lines, old.journals("samples")))
            file.writelines(line for line in lines if json.loads(line)["sample_id"] in samples)
        names = ["answers"]
        if web_of(settings_from(migrate(old.read_manifest())[0].config)) == web_of(plan.settings):
            names.append("pages")
        for name in names:
            if files := old.journals(name):
                with new.journal(name).open("wb") as file:
                    file.writelines(chain.from_iterable(map(whole_lines, files)))
        copy_agent_events(old, new)
        unchanged = {judge.hash for judge in plan.spec.judges}
        with new.scores_path.open("w", encoding="utf-8") as scores:
            scores.writelines(json_line(row) for row in every_score(old) if row.judge_hash in unchanged)


def _change_config(old: Manifest, overrides: Sequence[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The old run's config and options with the overrides; a group whose option is chosen is composed from `conf/`."""
    from omegaconf import OmegaConf

    pairs = allowed_overrides(overrides, _ALLOWED, "rescore keeps the reports of the run")
    chosen = [name for name, _ in pairs if name in GROUPS]
    group_overrides = [text for text, (name, _) in zip(overrides, pairs, strict=True) if name.split(".")[0] in chosen]
    new_config, new_options = compose_with_options(["name=rescore", *group_overrides]) if chosen else ({}, {})
    merged = OmegaConf.create({**old.config, **{group: new_config.get(group, {}) for group in chosen}})
    if any(name == "llm.base_url" for name, _ in pairs) and "://" in (OmegaConf.select(merged, "llm.known_as") or ""):
        OmegaConf.update(merged, "llm.known_as", None)  # noted by a resume for a moved endpoint; this is another one
    for name, override in pairs:
        if name.split(".")[0] not in chosen:
            OmegaConf.update(merged, name, override.value(), force_add=True)
    config: Any = OmegaConf.to_container(merged)
    if config["cassette"]["mode"] in ("record", "refresh") and not any(
        name.split(".")[0] == "cassette" for name, _ in pairs
    ):  # neither asks unchanged judges again, nor forgets what others asked
        config["cassette"]["mode"] = "auto"
    options = {place: option for place, option in old.options.items() if place.split(".")[0] not in chosen}
    return config, options | {place: option for place, option in new_options.items() if place.split(".")[0] in chosen}
