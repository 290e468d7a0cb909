"""The settings of agents that people use outside of runs: in a conversation or through a server."""

from collections.abc import Mapping, Sequence
from typing import Any

from aiq.core.errors import ConfigError
from aiq.experiment.compose import compose, setting_of, settings_from
from aiq.experiment.resources import needs_offline_stack


def live_config(
    overrides: Sequence[str], defaults: Sequence[str], idle: Mapping[str, str], fixed: Sequence[str] = ()
) -> tuple[list[str], dict[str, Any]]:
    """All overrides, including the `fixed` ones, and the config that they compose.

    `defaults` apply if no experiment is given, each unless its setting is given; agents without the offline stack then
    get the current time. `idle`: by setting or section of a run, why it has no effect here. Raises ConfigError, in one
    line.
    """
    names = {setting_of(text) for text in overrides}
    for name in sorted(names):
        if reason := idle.get(name) or idle.get(name.partition(".")[0]):
            raise ConfigError(f"{name}: {reason}; leave it out")
    applied_defaults = [text for text in defaults if not {"experiment", setting_of(text)} & names]
    all_overrides = [*applied_defaults, *overrides, *fixed]
    config = compose(all_overrides)
    if applied_defaults and "clock" not in names and not needs_offline_stack(settings_from(config)):
        all_overrides.append("clock=now")
        config = compose(all_overrides)
    return all_overrides, config
