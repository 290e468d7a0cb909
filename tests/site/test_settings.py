"""The resolved config, explained."""

import pytest
import yaml

import aiq
from aiq.core.run_settings import DatasetSettings
from aiq.site.settings import annotated_yaml
from tests.settings import places

MAPS = ("roles", "fallbacks", "prices", "perturbations", "faults")
"""Settings whose keys are names: what is below them has no description of its own."""


@pytest.mark.parametrize("experiment", ["judge_calibration", "planner_events"])
def test_every_line_is_explained_and_the_config_is_unchanged(experiment: str) -> None:
    remarks = 'user.feedback=["a # b: c","it is \\"so\\"","年"]'
    settings = aiq.settings(f"experiment={experiment}", "user.kind=feedback", remarks, "offline.faults.http_500=0.1")
    text = annotated_yaml(settings)
    assert yaml.safe_load(text) == settings.model_dump(mode="json")
    depth = None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if depth is not None and indent > depth:
            continue
        name = line.strip().partition(":")[0]
        depth = indent if name in MAPS else None
        assert "  # " in line or name in settings.judge, line


def test_every_setting_has_a_description() -> None:
    """Settings of runs, and of all agents, judges and datasets that config files name."""
    fields = [(kind.__name__, name, field) for kind in places() for name, field in kind.model_fields.items()]
    without = [(kind, name) for kind, name, field in fields if not field.description]
    assert [s for s in without if s[1] not in DatasetSettings.model_fields] == []  # which tells what these mean


def test_a_missing_class_leaves_its_settings_without_descriptions() -> None:
    settings = aiq.settings("experiment=deep_drb")
    gone = settings.agent.model_copy(update={"target": "nowhere:Nobody"})
    text = annotated_yaml(settings.model_copy(update={"agent": gone}))
    assert "  entry: deep\n" in text
