"""Caching Hydra in tests: nothing is composed twice from the same files."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hydra._internal import config_loader_impl, defaults_list
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import ConfigRepository
from hydra._internal.defaults_list import DefaultsList
from hydra.core.config_store import ConfigStore
from hydra.core.default_element import ResultDefault
from hydra.core.object_type import ObjectType
from hydra.core.override_parser import overrides_parser
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override

from aiq.experiment.choices import config_folders

_PICKLES: dict[tuple[Any, ...], bytes] = {}


def cached(key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    if key not in _PICKLES:
        _PICKLES[key] = pickle.dumps(make())
    return pickle.loads(_PICKLES[key])


def compose_once(patch: pytest.MonkeyPatch) -> None:
    """Make Hydra compose each config only once from the same files: composing is most of what a small run costs.

    A file once read serves other choices of options, and the chosen options serve other values. Callers change what
    they get, so each gets a copy.
    """

    def files() -> tuple[Any, ...]:
        """Names and contents of the config files outside aiq itself."""
        paths = [(folder, file) for folder in config_folders()[1:] for file in sorted(folder.rglob("*.yaml"))]
        return tuple((str(file.relative_to(folder)), file.read_bytes()) for folder, file in paths)

    def load(self: ConfigLoaderImpl, config_name: str, overrides: list[str], **flags: Any) -> Any:
        choices = [text for text in overrides if not text.startswith("hydra.searchpath=")]
        return cached((config_name, *choices, files()), lambda: real_load(self, config_name, overrides, **flags))

    def load_config(self: ConfigRepository, config_path: str) -> Any:
        source = self._find_object_source(config_path, ObjectType.CONFIG)
        if source is None:
            return None
        file = Path(source.path, f"{config_path}.yaml")
        content = file.read_bytes() if file.is_file() else source.path
        return cached((config_path, content), lambda: real_load_config(self, config_path))

    def create_defaults_list(repo: Any, config_name: str, overrides_list: list[Override], **flags: Any) -> DefaultsList:
        chosen: list[Override] = []
        values: list[Override] = []
        for override in overrides_list:
            is_choice = repo.group_exists(override.key_or_group) and not isinstance(override.value(), dict)
            (chosen if is_choice else values).append(override)
        key = config_name, *(override.input_line for override in chosen), str(flags), files()
        result: DefaultsList = cached(key, lambda: real_defaults_list(repo, config_name, chosen, **flags))
        result.config_overrides = values
        return result

    def compose(self: ConfigLoaderImpl, defaults: list[ResultDefault], repo: Any) -> Any:
        return cached((str(defaults), files()), lambda: real_compose(self, defaults, repo))

    def parse_rule(self: OverridesParser, text: str, rule: str) -> Any:
        return cached((rule, text), lambda: real_parse(self, text, rule))

    real_parse, functions = OverridesParser.parse_rule, overrides_parser.create_functions()
    real_load_config, real_defaults_list = ConfigRepository.load_config, defaults_list.create_defaults_list
    real_compose, real_load = ConfigLoaderImpl._compose_config_from_defaults_list, ConfigLoaderImpl.load_configuration
    patch.setattr(ConfigStore, "__deepcopy__", lambda self, _: self, raising=False)  # shared, since nobody changes it
    patch.setattr(overrides_parser, "create_functions", lambda: functions)
    patch.setattr(OverridesParser, "parse_rule", parse_rule)
    patch.setattr(ConfigLoaderImpl, "load_configuration", load)
    patch.setattr(ConfigRepository, "load_config", load_config)
    patch.setattr(config_loader_impl, "create_defaults_list", create_defaults_list)
    patch.setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", compose)
