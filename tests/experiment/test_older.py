"""Runs of older versions: settings that their manifests lack, and classes that have moved since."""

import json
from pathlib import Path
from typing import Any

import aiq
from aiq.experiment.compose import compose_with_options, settings_from
from aiq.experiment.resume import migrate
from aiq.runs.manifest import Manifest

OVERRIDES = ("experiment=deep_drb", "judge=[race,fact]", "clock=2026-11-01")


def manifest(*, without: str = "", options: bool = True, **changes: Any) -> Manifest:
    """A manifest of OVERRIDES without one setting of its config, and with targets changed."""
    data = json.loads((Path(__file__).parent / "version_1" / "manifest.json").read_text())
    config: Any = aiq.settings(*OVERRIDES).model_dump(mode="json")
    *path, name = without.split(".")
    section = config
    for part in path:
        section = section[part]
    section.pop(name, None)
    for judge, target in changes.items():
        config["judge"][judge]["target"] = target
    return Manifest.model_validate(
        {**data, "config": config, "options": compose_with_options(OVERRIDES)[1] if options else {}}
    )


def test_a_current_config_stays_as_it_is() -> None:
    current = manifest()
    assert migrate(current) == (current, [])


def test_a_missing_setting_is_taken_from_the_option_with_a_note() -> None:
    config = manifest().config
    names = ("agent.deep.max_loops", "llm.retry.first_seconds", "papers", "telemetry", "dataset.hub")
    for name, options in [*((name, True) for name in names), ("judge.race.tries", False), ("epochs", False)]:
        migrated, notes = migrate(manifest(without=name, options=options))
        assert len(notes) == 1
        assert notes[0].startswith(f"{name} is not in the manifest")
        assert settings_from(migrated.config) == settings_from(config)


def test_a_class_that_moved_is_replaced_by_the_options_class() -> None:
    migrated, notes = migrate(manifest(race="aiq.judges.gone:Race"))
    assert migrated.config == manifest().config
    assert notes == ["judge.race.target: aiq.judges.gone:Race is now aiq.judges.race:Race, as in judge=race"]
    unknown = manifest(race="aiq.judges.gone:Race", options=False)
    assert migrate(unknown) == (unknown, [])  # the plan says what is wrong
