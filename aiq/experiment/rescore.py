"""Scoring the reports of a run again, with other judges: a new run folder that holds the old run's reports.

The old run stays as it is, so that the two can be compared. Taken over are its attempts, the scores of
those judges that have not changed, and the pages and answers that its judges got. No agent is asked.
"""

import shutil
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aiq.core.errors import UserError
from aiq.experiment.compose import compose, parse, settings_from
from aiq.experiment.plan import Plan, make_plan, web_of
from aiq.experiment.provenance import new_manifest
from aiq.experiment.resources import is_offline_model
from aiq.experiment.resume import check_dataset, check_finished, load_tally
from aiq.experiment.stores import ANSWERS_FILE as ANSWERS
from aiq.experiment.stores import PAGES_FILE as PAGES
from aiq.runs.folder import RunFolder, new_run_id
from aiq.runs.journal import json_line, read_rows, whole_lines
from aiq.runs.rows import Manifest, Rescored, ScoreRow

GROUPS: Final = ("judge", "llm", "web", "search", "runner")
"""Groups whose option, and whose settings, may be others than the old run's: none of them changes a report."""

_SETTINGS: Final = (*(f"{group}." for group in GROUPS), "limits.run_usd")


def plan_rescore(old: RunFolder, overrides: Sequence[str]) -> tuple[Plan, Manifest]:
    """The old run's plan with other judges, and the manifest of its new folder. Touches no folder.

    Raises UserError where an override would change more than judging, where attempts of the run are not
    finished, and where every judge has scored everything already.
    """
    earlier = old.read_manifest()
    plan = make_plan(settings_from(_config(earlier.config, overrides)), tuple(overrides))
    if not plan.judges:
        raise UserError("judge=[] names no judge, so there is nothing to score; name some, e.g. judge=[race]")
    check_dataset(plan, earlier, old)
    tally, _ = load_tally(old, plan)
    check_finished(plan, tally, str(old.path))
    if all(tally.through(key, plan) for key in plan.keys):
        raise UserError(f"every judge has scored all reports of {old.path}; change one, e.g. judge.race.votes=3")
    fresh = new_manifest(plan, new_run_id(), offline=earlier.offline or is_offline_model(plan.settings))
    origin = Rescored(
        run=str(old.path),
        models={role: model for role, model in earlier.models.items() if not role.startswith("judge.")},
    )
    hashes = fresh.hashes.model_copy(update={"agent": earlier.hashes.agent})
    return plan, fresh.model_copy(update={"hashes": hashes, "rescored": origin})


def take_over(old: RunFolder, new: RunFolder, plan: Plan) -> None:
    """Fill the new folder with what stands of the old one. Raises UserError while the old run is alive."""
    with old.lock():
        new.create()
        for path in sorted(old.path.glob("samples*.jsonl")):
            _copy_whole_lines(RunFolder(path.parent), path.name, new)
        _copy_whole_lines(old, ANSWERS, new)
        if web_of(settings_from(old.read_manifest().config)) == web_of(plan.settings):
            _copy_whole_lines(old, PAGES, new)
        for path in sorted(old.events.glob("*.jsonl")):
            if not path.name.endswith(".judge.jsonl"):
                shutil.copyfile(path, new.events / path.name)
        unchanged = {planned.hash for planned in plan.judges}
        with new.scores_path.open("w", encoding="utf-8") as file:
            for path in sorted(old.path.glob("scores*.jsonl")):
                file.writelines(json_line(row) for row in read_rows(path, ScoreRow) if row.judge_hash in unchanged)


def _copy_whole_lines(old: RunFolder, name: str, new: RunFolder) -> None:
    if (old.path / name).exists():
        with (new.path / name).open("wb") as file:
            file.writelines(whole_lines(old.path / name))


def _config(config: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """The old run's config with the overrides; a group whose option is chosen anew is composed from `conf/`."""
    from omegaconf import OmegaConf

    parsed = parse(overrides)
    names = [override.get_key_element().lstrip("+~") for override in parsed]
    for override, name in zip(parsed, names, strict=True):
        if override.is_delete() or not (name in GROUPS or name.startswith(_SETTINGS)):
            raise UserError(
                f"rescore keeps the reports of the run, so {name} cannot change "
                f"(only {', '.join(GROUPS)}, their settings and limits.run_usd can); start a new run for anything else"
            )
    changed: dict[str, Any] = dict(config)
    for group in [name for name in names if name in GROUPS]:
        own = [text for text, name in zip(overrides, names, strict=True) if name.split(".")[0] == group]
        changed[group] = compose(["name=rescore", *own]).get(group, {})
    merged = OmegaConf.create(changed)
    if "llm.base_url" in names and "://" in (OmegaConf.select(merged, "llm.known_as") or ""):
        OmegaConf.update(merged, "llm.known_as", None)  # a resume noted where it was; this is another endpoint
    for override, name in zip(parsed, names, strict=True):
        if name not in GROUPS and name.split(".")[0] not in names:
            OmegaConf.update(merged, name, override.value(), force_add=True)
    found: Any = OmegaConf.to_container(merged)
    return dict(found)
