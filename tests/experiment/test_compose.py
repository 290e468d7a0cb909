import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

import aiq
from aiq.__main__ import main
from aiq.core.errors import ConfigError
from aiq.core.settings import dotted
from aiq.experiment.choices import description, options
from aiq.experiment.compose import compose, compose_with_options, parse, settings_from
from aiq.experiment.grid import as_override, refuse_axes, refuse_sweep, split
from tests.cases import table

each = table(__file__)


@pytest.mark.parametrize("experiment", options("experiment"))
def test_every_experiment_composes_offline_and_its_plugins_accept_their_settings(experiment: str) -> None:
    settings = aiq.settings(f"experiment={experiment}")
    assert settings.name == experiment
    assert settings.llm.base_url.endswith(".offline.example/v1")
    assert settings.clock.year == 2026


@pytest.mark.parametrize("group", ["agent", "judge", "llm", "search", "web", "dataset"])
def test_every_option_has_a_description_and_bases_are_not_options(group: str) -> None:
    assert all(len(description(group, name)) > 10 and not name.startswith("_") for name in options(group))


def test_settings_need_no_experiment_and_include_those_of_plugins() -> None:
    settings = aiq.settings("agent=ai_q_deep", "agent.deep.max_loops=3", "judge=[race]", "judge.race.votes=5")
    assert settings.agent.settings.deep.max_loops == 3
    assert settings.judge["race"].settings.votes == 5
    with pytest.raises(ConfigError, match=r"^judge\.race\.votes=0: "):
        aiq.settings("judge=[race]", "judge.race.votes=0")
    with pytest.raises(ConfigError, match=r"^llm\.model: must be set"):
        aiq.settings("llm=openai")


@each("override")
def test_a_secret_in_a_setting_is_refused_and_not_repeated(override: str, kind: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{override.partition('=')[0]}.*: this looks like a {kind}; ") as caught:
        compose(["experiment=shallow_freshqa", override])
    assert not any(char in str(caught.value) for char in "0123456789")


def test_chosen_options_are_recorded_by_section() -> None:
    _, chosen_options = compose_with_options(["experiment=deep_drb", "judge=[race]", "search=tavily", "seed=1"])
    assert chosen_options.items() >= {"agent": "ai_q_deep", "judge.race": "race", "search": "tavily"}.items()
    assert "judge.fact" not in chosen_options


def test_the_real_endpoints_compose() -> None:
    texts = ["experiment=deep_drb", "llm=openai", "llm.model=m", "search=tavily", "web=live"]
    settings = settings_from(compose(texts))
    assert (settings.llm.api_key_env, settings.search.api_key_env) == ("OPENAI_API_KEY", "TAVILY_API_KEY")
    texts = ["experiment=deep_drb", "dataset=drb", "dataset.path=x", "search=corpus", "search.corpus=p", "web=corpus"]
    assert settings_from(compose(texts)).web.kind == "corpus"


def test_maps_take_the_users_own_keys_even_with_dots() -> None:
    maps = [
        "llm.roles.judge.model=j",
        "llm.roles.aiq.planner.temperature=0",
        "llm.prices.gpt-4.1={input: 2, output: 8}",
    ]
    overrides = ["experiment=shallow_freshqa", "llm=openai", "llm.model=m"]  # the offline model has no other name
    settings = settings_from(compose([*overrides, *maps, "offline.faults.http_500=0.1"]))
    assert settings.llm.roles["judge"].model == "j"
    assert settings.llm.roles["aiq.planner"].temperature == 0
    assert settings.llm.prices["gpt-4.1"].output == 8
    assert settings.offline.faults == {"http_500": 0.1}
    assert settings_from(settings.model_dump(mode="json")) == settings  # as the manifest has it
    nested = {"a": {"model": "x", "b": {"model": "y"}, "c": {"d": {"model": "z"}}}, "e": {}}
    flat = dotted(nested, {"model"})
    assert flat == {"a": {"model": "x"}, "a.b": {"model": "y"}, "a.c.d": {"model": "z"}, "e": {}}


@each("given")
def test_the_extra_body_can_be_any_json(given: list[str], expected: dict[str, Any] | None) -> None:
    llm = settings_from(compose(["experiment=shallow_freshqa", *given])).llm
    nested = {"a": {"b": [1, {"c": None, "d": 1.5}], "e": "x y"}, "f": {"g": True}}
    assert llm.extra_body == (nested if expected is None else expected)
    if expected == {}:
        assert llm.setup("judge.race")["extra_body"] == {"a": {"b": [1]}}


OWN_PARTS = """
import aiq.core.settings
from aiq.agents.base import Agent

class Settings(aiq.core.settings.Settings):
    searches: int = 3
    names: tuple[str, ...] = ("a",)

class Mine:
    Settings = Settings
    def __init__(self, settings): pass
    async def research(self, question, session): ...
"""


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The `conf` folder of a user whose agent has defaults in its class."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_parts", raising=False)
    (tmp_path / "own_parts.py").write_text(OWN_PARTS)
    for group in ("experiment", "agent", "judge"):
        (tmp_path / "conf" / group).mkdir(parents=True)
    (tmp_path / "conf/agent/mine.yaml").write_text("# Mine\ntarget: own_parts:Mine\n")
    return tmp_path / "conf"


def test_a_setting_with_its_default_in_a_class_can_be_set_and_is_shown(
    conf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    overrides = ["experiment=shallow_freshqa", "agent=mine"]
    assert aiq.settings(*overrides, "agent.searches=7").agent.settings.searches == 7
    assert main(["run", "--cfg", *overrides, "agent.searches=7"]) == 0
    agent = capsys.readouterr().out.partition("agent:")[2].partition("dataset:")[0]
    assert "searches: 7" in agent
    assert "names: [a]" in agent
    assert main(["run", "--cfg", *overrides, "agent.serches=7"]) == 2
    message = "aiq: agent.serches: there is no such setting; did you mean agent.searches?"
    assert capsys.readouterr().err.startswith(message)
    (conf / "agent/mine.yaml").write_text("# Mine\ntarget: own_parts:Mine\nserches: 1\n")
    with pytest.raises(ConfigError, match=r"did you mean agent\.searches"):
        aiq.settings(*overrides)


LINE = "its first line must be `# @package"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"name: x\n", f"x.yaml: {LINE} _global_`"),
        (b"defaults:\n  - override /agent: ai_q\nname: x\n", f"x.yaml: {LINE} _global_`"),
        (b"", "x.yaml sets no name; add the line name: x"),
        (b"# @package _global_\n# caf\xe9\nname: x\n", "x.yaml: not UTF-8; save the file as UTF-8"),
        (b"# @package _global_\nname: [1\n\ty: 2\n", 'x.yaml", line 3'),
        (b"# @package _global_\nname: x\nname: y\n", "duplicate key name"),
        (b"# @package _global_\ndefaults: ai_q\nname: x\n", "defaults must be a list"),
        (b"# @package _global_\ndefaults:\n  - override /agnt: ai_q\nname: x\n", "x.yaml: Could not override 'agnt'"),
        (b"# @package _global_\ndefaults:\n  - override /agent: nobody\nname: x\n", "Could not find 'agent/nobody'"),
    ],
)
def test_an_error_in_the_users_config_file_is_one_line(conf: Path, text: bytes, message: str) -> None:
    (conf / "experiment/x.yaml").write_bytes(text)
    with pytest.raises(ConfigError) as caught:
        compose(["experiment=x"])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert description("experiment", "x") is not None  # `--help` stays


@pytest.mark.parametrize("given", ["null", "5", "race"])
def test_an_unknown_section_is_one_line(conf: Path, given: str) -> None:
    (conf / "experiment/x.yaml").write_text(f"# @package _global_\nname: x\njudge: {given}\n")
    with pytest.raises(ConfigError, match=r"^judge=.*: write judge\.KEY=VALUE"):
        settings_from(compose(["experiment=x"]))


def test_a_judge_without_a_package_line_says_which_line_is_missing(conf: Path) -> None:
    (conf / "judge/mine.yaml").write_text("# Mine\ntarget: own_parts:Judge\nvotes: 3\n")
    with pytest.raises(ConfigError, match=rf"conf/judge/mine\.yaml: {LINE} judge\.mine`"):
        compose(["experiment=shallow_freshqa", "judge=[mine]"])


def test_a_conf_folder_in_the_working_directory_is_searched_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "it's, a place"
    (place / "conf" / "experiment").mkdir(parents=True)
    text = "# @package _global_\n# Mine\ndefaults:\n  - override /agent: ai_q\nname: mine\n"
    (place / "conf" / "experiment" / "mine.yaml").write_text(text)
    monkeypatch.chdir(place)
    assert compose(["experiment=mine"])["name"] == "mine"
    assert description("experiment", "mine") == "Mine"
    assert "shallow_freshqa" in options("experiment")


@each("overrides")
def test_a_wrong_override_is_one_line_with_the_nearest_match(overrides: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        settings_from(compose(overrides))
    assert "\n" not in str(caught.value)


@each("message")
def test_a_single_run_takes_single_values(override: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        refuse_sweep([override])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "agent=[" not in str(caught.value)  # only judges stand in lists


def test_a_sweep_is_every_combination_and_knows_its_axes() -> None:
    grid = split(["experiment=deep_drb", "citations.verify=true,false", "dataset.split=null,'a b'", "seed=2"])
    assert [dict(point.axes) for point in grid.points] == [
        {"citations.verify": verify, "dataset.split": part} for verify in ("true", "false") for part in ("null", "a b")
    ]
    assert all({"seed=2", "experiment=deep_drb"} <= {*point.overrides} for point in grid.points)
    with pytest.raises(ConfigError, match="seed=1 is given more than once"):
        split(["experiment=deep_drb", "seed=1,2,1"])
    with pytest.raises(ConfigError, match="the sweep has 2000 points"):
        split(["experiment=deep_drb", "seed=range(2000)"])


@each("axes")
def test_a_config_can_name_axes_and_the_command_line_wins(typed: list[str], axes: dict[str, list[str]]) -> None:
    grid = split(["experiment=sweep_deep", *typed])
    assert {axis.name: [*axis.values] for axis in grid.axes} == axes
    assert grid.settings.metric == "world.coverage"


def test_values_of_axes_are_written_as_valid_overrides() -> None:
    values: list[JsonValue] = [1, 0.5, True, None, "it's, so", ["a", 2], {"k": [False]}]
    for value in values:
        (override,) = parse([f"name={as_override(value)}"])
        assert override.value() == value


@each("section")
def test_a_wrong_section_is_one_line(section: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        split(["experiment=sweep_deep", section])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_sweep_in_the_config_needs_m() -> None:
    config = compose(["experiment=sweep_deep"])
    with pytest.raises(ConfigError, match=r"sweep over agent.deep.max_loops and agent.deep.max_queries, which"):
        refuse_axes(config, [])
    refuse_axes(config, ["agent.deep.max_loops=2", "agent.deep.max_queries=4"])


def test_an_ablation_changes_one_setting_at_a_time() -> None:
    axes = ["seed=1,2,3", "agent.deep.max_loops=2,1"]
    points = split(["experiment=deep_drb", *axes, "sweep.strategy=ablation"]).points
    assert [tuple(point.axes.values()) for point in points] == [("1", "2"), ("2", "2"), ("3", "2"), ("1", "1")]
