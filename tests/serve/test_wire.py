"""Bodies of new tasks, with the choices that the served agents offer."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from aiq.core.errors import ConfigError
from aiq.core.plugins import validate
from aiq.core.settings import Plugin, Settings
from aiq.experiment.compose import compose_group
from aiq.serve.agents import Agents
from aiq.serve.settings import ServeSettings, setup_of
from aiq.serve.wire import task_request
from tests.cases import table

each = table(__file__)


class Searches(Settings):
    searches: int


class Mistaken:
    Settings: ClassVar = Searches
    adjustable: ClassVar = ("searches", "rounds")

    def __init__(self, settings: Searches) -> None: ...


NUMBER, TEXT = FieldInfo(annotation=int, default=1), FieldInfo(annotation=str, default="")
CHOICES = {"plain": {}, "numbers": {"depth": NUMBER}, "texts": {"depth": TEXT, "turns": NUMBER}}


def adapter(*agents: str) -> TypeAdapter[Any]:
    settings = validate(ServeSettings, compose_group("serve", "default", []), "serve")
    return TypeAdapter(task_request(settings, {agent: CHOICES[agent] for agent in agents}))


@each("body")
def test_each_agent_has_the_choices_of_its_settings(body: Mapping[str, Any], agent: str, chosen: object) -> None:
    task = adapter(*CHOICES).validate_python({"query": "x", **body})
    assert (task.agent, task.chosen()) == (agent, chosen)


@each("place")
def test_settings_of_another_agent_are_refused(body: Mapping[str, Any], place: list[str], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        adapter(*CHOICES).validate_python({"query": "x", **body})
    (error,) = caught.value.errors()
    assert (error["loc"], error["msg"]) == (tuple(place), message)


def test_only_the_first_agent_may_be_left_out() -> None:
    schema = adapter(*CHOICES).json_schema()
    bodies = [schema["$defs"][option["$ref"].removeprefix("#/$defs/")] for option in schema["oneOf"]]
    agents = {body["properties"]["agent"]["const"]: "agent" in body["required"] for body in bodies}
    assert agents == {"plain": False, "numbers": True, "texts": True}
    assert adapter("texts").json_schema()["required"] == ["query"]


@each("given")
def test_an_experiment_replaces_the_defaults(given: list[str], agent: str, live: bool) -> None:
    setup = setup_of(given)
    assert ([*setup.agents], setup.live) == ([agent], live)


def test_an_agent_named_twice_keeps_its_settings() -> None:
    agents = setup_of(["agent=shannon", "agent.force_research=false", "serve.agents=[planner,shannon]"]).agents
    assert list(agents) == ["shannon", "planner"]
    assert agents["shannon"].given["force_research"] is False


def test_an_agent_that_lists_a_setting_it_does_not_have_is_an_error() -> None:
    plugin = Plugin(target=f"{__name__}:Mistaken", searches=3)
    with pytest.raises(ConfigError, match=r"^adjustable: Searches has no setting rounds$"):
        _ = Agents({"mine": plugin}).choices
