"""From `conf/` and the command line to settings, by Hydra's compose API: it logs nothing and makes no folder."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from aiq.cassettes.redact import Redactor
from aiq.core.errors import ConfigError
from aiq.core.llm_settings import Price, RoleSettings
from aiq.core.plugins import did_you_mean, validate
from aiq.core.run_settings import RunSettings, SweepSettings
from aiq.core.settings import dotted, section_of
from aiq.experiment.choices import config_folders, file_of, groups, not_utf8, options

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

_MAPS = (
    *("llm.roles", "llm.fallbacks", "llm.prices", "llm.extra_body", "search.options", "offline.faults", "sweep.axes"),
    *("telemetry.headers_env", "tools.mcp", "runner.launcher.parameters"),
)
"""Settings whose keys users choose, and which need no `+`."""
_SYNTAX_HINT = (
    "not of the form SETTING=VALUE; write each setting as a separate argument, close every bracket and quote, "
    "do not end with a comma, and put a text with such characters in its own quotes: SETTING='\"a, b\"'"
)

LISTS = ("judge", "tool")
"""Groups from which a run may have several options."""
_READ_ONLY = "this command reads a finished run"


def parse(overrides: Sequence[str]) -> "list[Override]":
    """Parse overrides by Hydra's grammar. Raises ConfigError for an invalid one, or a setting given twice."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    parser, parsed = OverridesParser.create(), []
    for text in overrides:
        if "=" not in text and not text.startswith("~"):
            candidates = [f"{group}={text}" for group in groups() if text in options(group)]
            hint = f"; did you mean {' or '.join(candidates)}?" if candidates else " (or an option such as --help)"
            hint = f"; write {text}=VALUE, without spaces" if is_setting(text) else hint
            raise ConfigError(f"{text}: expected SETTING=VALUE{hint}")
        try:
            override = parser.parse_override(text)
        except HydraException as error:
            reason = str(error).partition("\n")[0]
            raise ConfigError(f"{text}: {reason if 'while evaluating' in reason else _syntax_hint(text)}") from None
        if not override.key_or_group:
            raise ConfigError(f"{text}: expected SETTING=VALUE; the setting has no name")
        if override.is_hydra_override():
            raise ConfigError(f"{text}: Hydra's own settings have no effect here; see `aiq run --help`")
        parsed.append(override)
    names = [override.get_key_element().lstrip("+~") for override in parsed]
    if duplicate := next((name for name in names if names.count(name) > 1), None):
        duplicates = ", ".join(text for text, name in zip(overrides, names, strict=True) if name == duplicate)
        raise ConfigError(f"{duplicate} is given more than once ({duplicates}); keep one")
    return parsed


def is_setting(name: str) -> bool:
    """Whether the first part of this name is that of a setting of `aiq run`."""
    return name.partition(".")[0] in {*RunSettings.model_fields, *groups(), "resume", "sweep"}


def _syntax_hint(text: str) -> str:
    """What to write instead of an override that Hydra's grammar rejects."""
    unquoted = re.sub(r"""(["'])([\w.-]+)\1\s*:""", r"\2:", text)
    return _SYNTAX_HINT if unquoted == text else f"keys of a map take no quotes here; write {unquoted}"


def allowed_overrides(overrides: Sequence[str], allowed: Sequence[str], reason: str) -> "list[tuple[str, Override]]":
    """Parsed overrides, each with the name of its setting or group.

    Raises ConfigError for an invalid one, and for one that matches no name or pattern in `allowed`.
    """
    pairs = [(override.get_key_element().lstrip("+~"), override) for override in parse(overrides)]
    for name, override in pairs:
        if override.is_delete() or not any(fnmatchcase(name, pattern) for pattern in allowed):
            names = ", ".join(allowed)
            raise ConfigError(f"{reason}, so {name} cannot change (only {names} can); start a new run to change it")
    return pairs


def settings(*overrides: str) -> RunSettings:
    """The settings of `aiq run` with these overrides, for Python; no experiment is needed.

    A plugin's own settings, validated by its class, are its `settings`: `agent.settings.deep.max_loops` of the result
    of `settings("agent=ai_q_deep")`, or `judge["race"].settings`. Raises ConfigError, in one line.
    """
    has_name = any(text.startswith(("name=", "experiment=")) for text in overrides)
    return check_settings(settings_from(compose(overrides if has_name else ["name=settings", *overrides])))


def check_settings(run: RunSettings) -> RunSettings:
    """The settings, once agent, dataset and judges have accepted theirs. Raises ConfigError, in one line."""
    judges = {f"judge.{name}": plugin for name, plugin in run.judge.items()}
    plugins = {"agent": run.agent, "dataset": run.dataset, "runner.launcher": run.runner.launcher, **judges}
    for setting, plugin in plugins.items():
        plugin.validated(setting)
    return run


def compose(overrides: Sequence[str]) -> dict[str, Any]:
    """The composed config. Raises ConfigError for what Hydra refuses, and for a secret, which manifests would show."""
    return compose_with_options(overrides)[0]


def compose_with_options(overrides: Sequence[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The composed config, and the chosen options by their place in it, e.g. `judge.race`. Raises as `compose`."""
    from omegaconf import OmegaConf

    _check_options(parse(overrides))
    with _explained(overrides):
        (hydra_config, choices), plugins = _compose_with_plugins(overrides)
        unresolved: Any = OmegaConf.to_container(hydra_config)
        missing = sorted(name for name, value in dotted(unresolved).items() if value == "???")
        _check_packages(unresolved, choices)
        if "name" in missing:
            raise ConfigError(_name_error(overrides))
        if missing:
            raise ConfigError(f"{missing[0]}: must be set ({missing[0]}=...)")
        config: Any = OmegaConf.to_container(hydra_config, resolve=True)
    if plugins:
        _check_plugins(config, overrides)
    redactor = Redactor(())
    for setting, value in dotted(config).items():
        if kinds := redactor.secret_kinds(str(value)):
            remedy = "settings must not hold secrets; put it in an environment variable and name that instead"
            raise ConfigError(f"{setting}: this looks like a {kinds[0]}; {remedy}")
    list_options = {
        f"{group}.{name}": name for group in LISTS for name in section_of(config, group) if name in options(group)
    }
    return dict(config), {**{group: choices[group] for group in groups() if choices.get(group)}, **list_options}


def _check_plugins(config: Mapping[str, Any], overrides: Sequence[str]) -> None:
    """Raises ConfigError if a plugin rejects its settings; if a setting is another option's, it names that option."""
    try:
        check_settings(settings_from(config))
    except ConfigError:
        names = [override.get_key_element().lstrip("+~") for override in parse(overrides)]
        known = _setting_names(overrides)
        for name in names:
            if name not in known and _options_with(name):
                raise ConfigError(_unknown_error(name, known)) from None
        raise


def _compose_with_plugins(overrides: Sequence[str]) -> tuple[tuple[Any, Mapping[str, Any]], Sequence[str]]:
    """What Hydra composes, and the plugins that overrides give settings which are in no config file.

    Such a setting may have its default in the class, which is loaded only once all else is composed. Raises Hydra's
    errors.
    """
    from hydra.errors import HydraException

    try:
        return _compose_with_choices(_allow_new_keys(overrides, _MAPS)), ()
    except HydraException:
        config = config_of_options(_selections(overrides))
        list_sections = [f"{group}.{name}" for group in LISTS for name in config.get(group) or {}]
        plugins = ["agent", "dataset", *list_sections]
        return _compose_with_choices(_allow_new_keys(overrides, (*_MAPS, *plugins))), plugins


def _allow_new_keys(overrides: Sequence[str], places: Sequence[str]) -> list[str]:
    """The overrides; those at or below one of the places are changed so that they may add keys."""
    pattern = re.compile(f"(?:{'|'.join(map(re.escape, places))})[.=]")
    return [f"++{text}" if pattern.match(text) and setting_of(text) not in groups() else text for text in overrides]


def setting_of(text: str) -> str:
    """The name of the setting or group that an override sets."""
    return text.lstrip("+~").partition("=")[0]


def _selections(overrides: Sequence[str]) -> list[str]:
    """The overrides that choose an option of a group."""
    return [text for text in overrides if setting_of(text) in groups()]


def _check_packages(config: Any, choices: Mapping[str, Any]) -> None:
    """Raises ConfigError if the settings of an option are misplaced because its file does not state their place."""
    for group in ("experiment", *LISTS):
        section = section_of(config, group)
        misplaced = group == "experiment" or any(not isinstance(value, Mapping) for value in section.values())
        if not section or not misplaced:
            continue
        for option in [choices[group]] if group in choices else options(group):
            if _header(group, option) not in file_of(group, option).read_text(encoding="utf-8"):
                raise ConfigError(_header_error(group, option))


def _header(group: str, option: str) -> str:
    return "# @package " + ("_global_" if group == "experiment" else f"{group}.{option}")


def _header_error(group: str, option: str) -> str:
    return f"{file_of(group, option)}: its first line must be `{_header(group, option)}`, which places its settings"


def _name_error(overrides: Sequence[str]) -> str:
    experiment = next((text.partition("=")[2] for text in overrides if setting_of(text) == "experiment"), None)
    if experiment is None:
        return f"choose an experiment: experiment=NAME, one of {', '.join(options('experiment'))}"
    return f"{file_of('experiment', experiment)} sets no name; add the line name: {experiment}"


def _check_options(overrides: "Sequence[Override]") -> None:
    """Raises ConfigError if a group is given anything but one option (those of `LISTS`: one or several)."""
    known_groups = groups()
    for override in overrides:
        group = override.get_key_element()
        if override.is_delete() or group not in known_groups:
            continue
        value = override.value()
        names = value if group in LISTS and isinstance(value, list) else [value]
        available = options(group)
        listing = f"there are: {', '.join(available)}"
        for name in names:
            if not isinstance(name, str):
                form = f"options in brackets, as {group}=[A,B] ({group}=[]: none)" if group in LISTS else "one option"
                raise ConfigError(f"{override.input_line}: name {form}; {listing}")
            if name not in available:
                remedy = listing if available else f"write conf/{group}/{name}.yaml"
                raise ConfigError(f"{group}={name}: there is no such {group}{did_you_mean(name, available)} ({remedy})")


def compose_group(group: str, option: str, overrides: Sequence[str]) -> dict[str, Any]:
    """The settings of an option of a group that is not part of runs. Raises ConfigError, in one line.

    Unless the overrides choose an option it is `option`, if that has a file, else `default`.
    """
    from omegaconf import OmegaConf

    pick = option if option in options(group) else "default"
    additions = []
    for text, (name, override) in zip(
        overrides, allowed_overrides(overrides, (group, f"{group}.*"), _READ_ONLY), strict=True
    ):
        if name != group:
            additions.append(f"++{text.lstrip('+')}")
        elif (pick := str(override.value())) not in options(group):
            raise ConfigError(
                f"{text}: there is no such {group}{did_you_mean(pick, options(group))}; write conf/{group}/{pick}.yaml"
            )
    with _explained(overrides):
        config: Any = OmegaConf.to_container(_compose([f"+{group}={pick}", *additions], "_empty")[group], resolve=True)
    return dict(config)


def _compose(overrides: Sequence[str], root: str = "config") -> Any:
    """What Hydra composes from a file in our folders and these overrides. Raises Hydra's errors."""
    return _compose_with_choices(overrides, root)[0]


def _compose_with_choices(overrides: Sequence[str], root: str = "config") -> tuple[Any, Mapping[str, Any]]:
    """The same, and the chosen option of each group that takes one."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from omegaconf import open_dict

    shipped_folder, *other_folders = config_folders()
    folders = [f"file://{folder}".replace("\\", "\\\\").replace("'", "\\'") for folder in other_folders]
    search_path = ["hydra.searchpath=[{}]".format(",".join(f"'{folder}'" for folder in folders))] if folders else []
    with initialize_config_dir(str(shipped_folder), version_base=None):
        config = hydra_compose(root, [*search_path, *overrides], return_hydra_config=True)
    with open_dict(config):
        return config, config.pop("hydra").runtime.choices


def config_of_options(selection: Sequence[str], root: str = "config") -> dict[str, Any]:
    """The config that these overrides compose, without settings that are still to be set. Raises Hydra's errors.

    With an option as `root` (`agent/ai_q`) it has only that option, and takes a third of the time.
    """
    from omegaconf import OmegaConf

    def without_missing(value: Any) -> Any:
        return {k: without_missing(v) for k, v in value.items() if v != "???"} if isinstance(value, dict) else value

    return dict(without_missing(OmegaConf.to_container(_compose(selection, root))))


def _error_types() -> tuple[type[Exception], ...]:
    """The errors that Hydra, OmegaConf and the file readers raise."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    return HydraException, OmegaConfBaseException, YAMLError, ValueError


@contextmanager
def _explained(overrides: Sequence[str]) -> Iterator[None]:
    """Turns these errors, raised in the block, into a ConfigError of one line."""
    try:
        yield
    except _error_types() as error:
        raise ConfigError(_explain(error, overrides)) from None


def _explain(error: Exception, overrides: Sequence[str]) -> str:
    """What a user can do about an error of Hydra, OmegaConf or a file reader, in one line."""
    text = str(error) or str(error.__cause__ or error)
    unknown = re.match(r"(?:In 'config': )?Could not override '([^']+)'|Key '([^']+)' is not in struct", text)
    if unknown:
        return _unknown_error(next(part for part in unknown.groups() if part), _setting_names(overrides))
    if merge := re.match(r"Error merging override [+]*(([^=]+)=.*)", text):
        return f"{merge[1]}: does not fit the present value; to set one key of a section write {merge[2]}.KEY=VALUE"
    if isinstance(error, UnicodeDecodeError):
        return f"{not_utf8()}: not UTF-8; save the file as UTF-8"
    if experiment := re.match(r"In 'experiment/([^']+)': Could not override '[^']*@experiment\.", text):
        return _header_error("experiment", experiment[1])
    message = re.sub(r"In '(\w+)/([^']+)'", lambda match: str(file_of(match[1], match[2])), text)
    return " ".join(message.partition("Config search path:")[0].split())


def _unknown_error(name: str, known: Sequence[str]) -> str:
    """The message for a setting that the run does not have."""
    group, _, rest = name.partition(".")
    option = rest.partition(".")[0]
    is_chosen = any(text.startswith(f"{group}.{option}.") for text in known)
    if group in LISTS and option in options(group) and not is_chosen:
        return f"{name}: the run has no {group} {option}; add it to the list: {group}=[..., {option}]"
    if owners := _options_with(name):
        choices = " or ".join(f"{group}={owner}" for owner in owners)
        return f"{name}: the chosen {group} has no such setting; {choices} has it"
    return f"{name}: there is no such setting{did_you_mean(name, known)}"


def _options_with(name: str) -> list[str]:
    """The options of the setting's group that have it in their files; files that cannot be read do not count."""
    from omegaconf import OmegaConf

    group, _, rest = name.partition(".")
    if not rest or group in LISTS or group not in groups():
        return []
    files = (file for folder in config_folders() for file in (folder / group).glob("*.yaml"))
    if not any(rest.rpartition(".")[2] in file.read_text(encoding="utf-8", errors="replace") for file in files):
        return []  # since composing them all takes a second
    owners = []
    for option in options(group):
        with suppress(*_error_types()):
            if name in dotted(OmegaConf.to_container(_compose((), f"{group}/{option}"))):
                owners.append(option)
    return owners


def _setting_names(overrides: Sequence[str]) -> list[str]:
    """The names of all settings, also those still to be set, with the options that `overrides` choose."""
    from omegaconf import OmegaConf

    return [*groups(), "resume", *dotted(OmegaConf.to_container(_compose(_selections(overrides))))]


def settings_from(config: Mapping[str, Any]) -> RunSettings:
    """A composed config as settings. Raises ConfigError, in one line."""
    from aiq.experiment.resources import check_models

    llm = config.get("llm")
    if isinstance(llm, Mapping):
        kinds: dict[str, type[BaseModel]] = {"roles": RoleSettings, "prices": Price}
        llm = {**llm, **{name: dotted(llm.get(name) or {}, kind.model_fields) for name, kind in kinds.items()}}
        config = {**config, "llm": llm}
    settings = validate(RunSettings, {name: value for name, value in config.items() if name != "sweep"}, "")
    check_models(settings.llm, "llm.model", [settings.llm.model])
    check_models(settings.llm, "llm.roles", [role.model for role in settings.llm.roles.values() if role.model])
    return settings


def sweep_of(config: Mapping[str, Any]) -> SweepSettings:
    """The section `sweep` of a composed config, which is not part of a run's settings. Raises ConfigError."""
    section = config.get("sweep")
    if isinstance(section, Mapping):
        section = {**section, "axes": dotted(section.get("axes") or {})}
    return validate(SweepSettings, section, "sweep")
