"""The agents of one server, by name, and those of their settings that a client may choose for a task."""

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from copy import copy

from pydantic import JsonValue
from pydantic.fields import FieldInfo

from aiq.agents.base import Adjustable, Agent, Checked
from aiq.core.errors import ConfigError
from aiq.core.settings import Plugin, Settings
from aiq.core.tools import Toolbox

_MAX_VARIANTS = 32  # agents kept with settings that clients chose; each has compiled its graph


class Agents:
    """Creates each agent once, and once more for each choice of settings. Raises ConfigError if that is impossible."""

    def __init__(self, plugins: Mapping[str, Plugin]) -> None:
        self._plugins = plugins
        self._tools: Toolbox | None = None
        self._variants: OrderedDict[str, Agent] = OrderedDict()
        self._agents = {name: plugin.make("agent") for name, plugin in plugins.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The first one serves tasks that name no agent."""
        return tuple(self._plugins)

    @property
    def choices(self) -> dict[str, dict[str, FieldInfo]]:
        """By agent and name, the settings fields that a task may choose; their defaults are the agent's own values.

        Raises ConfigError if an agent lists a setting that it does not have.
        """
        return {
            name: {setting: _field(settings, setting) for setting in _adjustable(agent)}
            for name, (agent, settings) in self._agents.items()
        }

    def check(self, tools: Toolbox) -> None:
        """Raises ConfigError if an agent does not fit the tools, here and for agents created later."""
        self._tools = tools
        for agent, _ in self._agents.values():
            _check(agent, tools)

    def agent(self, name: str, chosen: Mapping[str, JsonValue]) -> Agent:
        """The agent with these chosen settings. Raises ConfigError for one that it does not have or cannot accept."""
        if name not in self._agents:
            raise ConfigError(f"agent: {name} is not served here (there are: {', '.join(self.names)})")
        agent: Agent = self._agents[name][0]
        if not chosen:
            return agent
        for setting in chosen:  # may come from a task of an earlier start, which nothing else has checked
            if setting not in _adjustable(agent):
                raise ConfigError(f"context.{setting}: {name} has no setting of that name that a task may choose")
        key = json.dumps([name, chosen], sort_keys=True)
        if key not in self._variants:
            plugin = self._plugins[name]
            self._variants[key], _ = Plugin(target=plugin.target, **{**plugin.given, **chosen}).make("context")
            _check(self._variants[key], self._tools)
            if len(self._variants) > _MAX_VARIANTS:
                self._variants.popitem(last=False)
        self._variants.move_to_end(key)
        return self._variants[key]


def _adjustable(agent: Agent) -> Sequence[str]:
    return agent.adjustable if isinstance(agent, Adjustable) else ()


def _field(settings: Settings, name: str) -> FieldInfo:
    if name not in type(settings).model_fields:
        raise ConfigError(f"adjustable: {type(settings).__name__} has no setting {name}")
    field = copy(type(settings).model_fields[name])
    field.default = getattr(settings, name)
    return field


def _check(agent: Agent, tools: Toolbox | None) -> None:
    if tools is not None and isinstance(agent, Checked):
        agent.check(tools)
