"""From `conf/` and the command line to settings, by Hydra's compose API: nothing is logged, no folder is made.

What there is to choose from is read from the config files without Hydra, so that `aiq run --help` is quick.
"""

import difflib
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from aiq.core.errors import ConfigError
from aiq.core.files import shipped
from aiq.core.plugins import validate
from aiq.core.settings import Price, RoleSettings, RunSettings

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

_OPEN = ("llm.roles.", "llm.prices.", "llm.extra_body.", "offline.faults.")  # new keys below them need no `+`
_UNREADABLE = (
    "this is no SETTING=VALUE; write each setting as an argument of its own, close what you open, "
    "end with no comma, and put a text with such characters in quotes of its own: SETTING='\"a, b\"'"
)

LISTS = ("judge", "tool")
"""Groups of which a run may have several options."""
_EXIT_CODES = "exit codes: 0 done, 2 command or config wrong, 3 too many samples failed, 130 interrupted"


def config_folders() -> list[Path]:
    """Where config is looked for: what came with aiq, then `conf/` where the command was typed."""
    own, here = shipped("conf"), Path("conf").absolute()
    return [own, here] if here.is_dir() and here.resolve() != own.resolve() else [own]


def parse(overrides: Sequence[str]) -> "list[Override]":
    """Overrides by Hydra's grammar. Raises ConfigError for one that is none."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    parsed = []
    for text in overrides:
        if "=" not in text and not text.startswith("~"):
            raise ConfigError(f"{text}: expected SETTING=VALUE (or an option such as --help)")
        try:
            override = OverridesParser.create().parse_override(text)
        except HydraException as error:
            reason = str(error).partition("\n")[0]
            raise ConfigError(f"{text}: {reason if 'while evaluating' in reason else _UNREADABLE}") from None
        if not override.key_or_group:
            raise ConfigError(f"{text}: expected SETTING=VALUE; the setting has no name")
        if override.is_hydra_override():
            raise ConfigError(f"{text}: Hydra's own settings have no effect here; see `aiq run --help`")
        parsed.append(override)
    return parsed


def allowed_overrides(overrides: Sequence[str], allowed: Sequence[str], why: str) -> "list[tuple[str, Override]]":
    """Parsed overrides, each with the name of its setting or group.

    Raises ConfigError for one that is none, and for one that fits none of the names or patterns in `allowed`.
    """
    named = [(override.get_key_element().lstrip("+~"), override) for override in parse(overrides)]
    for name, override in named:
        if override.is_delete() or not any(fnmatchcase(name, pattern) for pattern in allowed):
            only = ", ".join(allowed)
            raise ConfigError(f"{why}, so {name} cannot change (only {only} can); start a new run for other settings")
    return named


def settings(*overrides: str) -> RunSettings:
    """The settings of `aiq run` with these overrides, for Python; they need no experiment.

    `settings("agent=ai_q_deep").agent.settings.deep.max_loops`: a plugin's own settings, validated by its class, are
    its `settings`, those of a judge `judge["race"].settings`. Raises ConfigError, one line, for what is wrong.
    """
    named = any(text.startswith(("name=", "experiment=")) for text in overrides)
    found = settings_from(compose(overrides if named else ["name=settings", *overrides]))
    judges = {f"judge.{name}": plugin for name, plugin in found.judge.items()}
    for setting, plugin in {"agent": found.agent, "dataset": found.dataset, **judges}.items():
        plugin.validated(setting)
    return found


def compose(overrides: Sequence[str]) -> dict[str, Any]:
    """The composed config. Raises ConfigError, one line, for what Hydra refuses."""
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    _check_options(parse(overrides))
    try:
        composed = _composed([f"++{text}" if text.startswith(_OPEN) else text for text in overrides])
        missing = sorted(OmegaConf.missing_keys(composed))
        if "name" in missing:
            raise ConfigError(f"choose an experiment: experiment=NAME, one of {', '.join(options('experiment'))}")
        if missing:
            raise ConfigError(f"{missing[0]}: must be set ({missing[0]}=...)")
        config: Any = OmegaConf.to_container(composed, resolve=True)
        return dict(config)
    except (HydraException, OmegaConfBaseException, YAMLError) as error:
        raise ConfigError(_explain(error, overrides)) from None


def _check_options(overrides: "Sequence[Override]") -> None:
    """Raises ConfigError for a group that is given something else than one option (of `LISTS`: several)."""
    known = groups()
    for override in overrides:
        group = override.get_key_element()
        if override.is_delete() or group not in known:
            continue
        value = override.value()
        chosen = value if group in LISTS and isinstance(value, list) else [value]
        have = options(group)
        there_are = f"there are: {', '.join(have)}"
        for name in chosen:
            if not isinstance(name, str):
                how = f"in brackets, as {group}=[A,B] ({group}=[]: none)" if group in LISTS else "one option"
                raise ConfigError(f"{override.input_line}: name {how}; {there_are}")
            if name not in have:
                remedy = there_are if have else f"write conf/{group}/{name}.yaml"
                raise ConfigError(f"{group}={name}: there is no such {group}{near(name, have)} ({remedy})")


def _composed(overrides: Sequence[str]) -> Any:
    """What Hydra makes of our folders and these overrides; raises its errors."""
    from hydra import compose as hydra_compose

    with _hydra() as search_path:
        return hydra_compose("config", [*search_path, *overrides])


@contextmanager
def _hydra() -> Iterator[list[str]]:
    """Hydra set up on our folder; the overrides that let it look into the user's own."""
    from hydra import initialize_config_dir

    shipped_folder, *others = config_folders()
    folders = [f"file://{folder}".replace("\\", "\\\\").replace("'", "\\'") for folder in others]
    with initialize_config_dir(str(shipped_folder), version_base=None):
        yield ["hydra.searchpath=[{}]".format(",".join(f"'{folder}'" for folder in folders))] if folders else []


def chosen_options(overrides: Sequence[str]) -> dict[str, str]:
    """The option of each group by its place in the config, e.g. `judge.race`, for overrides that compose."""
    from hydra.core.global_hydra import GlobalHydra
    from hydra.types import RunMode

    known, found = groups(), {}
    selections = [text for text in overrides if text.partition("=")[0].lstrip("+~") in known]
    with _hydra() as search_path:
        loader = GlobalHydra.instance().config_loader()
        defaults = loader.compute_defaults_list("config", [*search_path, *selections], RunMode.RUN).defaults
    for item in defaults:
        group, _, option = (item.config_path or "").partition("/")
        if group in known and not str(item.parent).startswith(f"{group}/"):  # not one that is only inherited
            found[item.package or group] = option
    return found


def config_of_options(selection: Sequence[str]) -> dict[str, Any]:
    """The config as these overrides compose it; what must be set is left out. Raises Hydra's errors."""
    from omegaconf import OmegaConf

    def known(value: Any) -> Any:
        return {k: known(v) for k, v in value.items() if v != "???"} if isinstance(value, dict) else value

    return dict(known(OmegaConf.to_container(_composed(selection))))


def options(group: str) -> list[str]:
    """The options of a config group, in alphabetical order; `_NAME.yaml` is only there to be inherited."""
    return sorted({file.stem for folder in config_folders() for file in (folder / group).glob("[!_]*.yaml")})


def groups() -> list[str]:
    return sorted({path.name for folder in config_folders() for path in folder.iterdir() if path.is_dir()})


def _explain(error: Exception, overrides: Sequence[str]) -> str:
    """What a user can do about an error of Hydra or OmegaConf, in one line."""
    text = str(error) or str(error.__cause__ or error)
    unknown = re.search(r"Could not override '([^']+)'|Key '([^']+)' is not in struct", text)
    if unknown:
        name = next(part for part in unknown.groups() if part)
        return f"{name}: there is no such setting{near(name, _settings(overrides))}"
    return " ".join(text.split())


def _settings(overrides: Sequence[str]) -> list[str]:
    """Names of all settings, under those group choices of `overrides` that exist."""
    from omegaconf import OmegaConf

    choices = [text.partition("=") for text in overrides]
    chosen = [f"{group}={option}" for group, _, option in choices if group in groups() and option in options(group)]
    return [*groups(), "resume", *dotted(OmegaConf.to_container(_composed(chosen)))]


def near(name: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` where something known is close, by the whole name or by its last part."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if not close:
        last = {text.rpartition(".")[2]: text for text in reversed(known)}
        close = [last[found] for found in difflib.get_close_matches(name.rpartition(".")[2], last, n=1, cutoff=0.7)]
    return f"; did you mean {close[0]}?" if close else ""


def settings_from(config: Mapping[str, Any]) -> RunSettings:
    """Composed config as settings. Raises ConfigError, one line."""
    from aiq.experiment.resources import check_models

    llm = config.get("llm")
    if isinstance(llm, Mapping):
        kinds: dict[str, type[BaseModel]] = {"roles": RoleSettings, "prices": Price}
        llm = {**llm, **{name: dotted(llm.get(name) or {}, kind.model_fields) for name, kind in kinds.items()}}
        config = {**config, "llm": llm}
    settings = validate(RunSettings, config, "")
    check_models(settings.llm, "llm.model", [settings.llm.model])
    check_models(settings.llm, "llm.roles", [own.model for own in settings.llm.roles.values() if own.model])
    return settings


def dotted(nested: Any, fields: Container[str] = ()) -> Any:
    """A map whose keys have dots in them, as it was before the dots of `llm.roles.aiq.planner.model=m` split it.

    `fields` are those of the map's values: where a mapping has one of them, it is a value.
    """
    if not isinstance(nested, Mapping):
        return nested
    flat: dict[str, Any] = {}
    for key, value in nested.items():
        below = value if isinstance(value, Mapping) else {}
        own = {name: item for name, item in below.items() if name in fields}
        below = {name: item for name, item in below.items() if name not in fields}
        if own or not below:
            flat[str(key)] = own if isinstance(value, Mapping) else value
        flat |= {f"{key}.{name}": item for name, item in dotted(below, fields).items()}
    return flat


def overview() -> str:
    """Experiments with a line each, then every other group with its options."""
    lines = []
    for group in sorted(filter(options, groups()), key=lambda name: (name != "experiment", name)):
        choices = {name: description(group, name) for name in options(group)}
        width = max(map(len, choices), default=0)
        heading = "experiments (experiment=NAME):" if group == "experiment" else f"{group}="
        lines += [heading, *(f"  {name:<{width}}  {text}" for name, text in choices.items()), ""]
    lines += [f"config is read from: {', '.join(map(str, config_folders()))}", _EXIT_CODES]
    return "\n".join(lines).replace("%", "%%")


def description(group: str, name: str) -> str:
    """The first comment line of a config file."""
    files = (folder / group / f"{name}.yaml" for folder in config_folders())
    text = next((file.read_text(encoding="utf-8") for file in files if file.is_file()), "")
    return next((line.lstrip("#").strip() for line in text.splitlines() if re.match("#(?! @)", line)), "")
