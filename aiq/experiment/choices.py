"""The available config groups and options, read from the files without Hydra, so that `aiq run --help` is fast."""

import re
from pathlib import Path

from aiq.core.files import shipped

_OTHER_GROUPS = ("events", "gate")
"""Groups that belong to other commands, not to runs."""
_EXIT_CODES = "exit codes: 0 done, 2 command or config wrong, 3 too many attempts failed, 130 interrupted"


def config_folders() -> list[Path]:
    """The folders searched for config: the one shipped with aiq, then `conf/` in the working directory."""
    builtin, local = shipped("conf"), Path("conf").absolute()
    return [builtin, local] if local.is_dir() and not local.samefile(builtin) else [builtin]


def options(group: str) -> list[str]:
    """The options of a config group, in alphabetical order, without `_NAME.yaml`, which is only a base to inherit."""
    return sorted({file.stem for folder in config_folders() for file in (folder / group).glob("[!_]*.yaml")})


def groups() -> list[str]:
    """The config groups of a run."""
    names = {path.name for folder in config_folders() for path in folder.iterdir() if path.is_dir()}
    return sorted(names - {*_OTHER_GROUPS})


def file_of(group: str, option: str) -> Path:
    """The config file of an existing option."""
    return next(file for folder in config_folders() if (file := folder / group / f"{option}.yaml").is_file())


def not_utf8() -> Path:
    """The first config file that is not UTF-8; call it only if there is one."""
    for file in (file for folder in config_folders() for file in sorted(folder.rglob("*.yaml"))):
        try:
            file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            break
    return file


def overview() -> str:
    """All experiments, one per line, then every other group with its options."""
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
    text = file_of(group, name).read_text(encoding="utf-8", errors="replace")
    return next((line.lstrip("#").strip() for line in text.splitlines() if re.match("#(?! @)", line)), "")
