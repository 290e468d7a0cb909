"""What there is to choose from, for `aiq run --help`: read from the config files, without Hydra."""

from pathlib import Path

from aiq.experiment.compose import config_folders, groups, options

_EXIT_CODES = "exit codes: 0 done, 2 command or config wrong, 3 too many samples failed, 130 interrupted"


def overview() -> str:
    """Experiments with a line each, then every other group with its options."""
    experiments = {name: description("experiment", name) for name in options("experiment")}
    width = max(map(len, experiments), default=0)
    lines = ["experiments (experiment=NAME):", *(f"  {name:<{width}}  {text}" for name, text in experiments.items())]
    for group in groups():
        if group == "experiment":
            continue
        choices = {name: description(group, name) for name in options(group)}
        inner = max(map(len, choices), default=0)
        lines += ["", f"{group}=", *(f"  {name:<{inner}}  {text}" for name, text in choices.items())]
    lines += ["", f"config is read from: {', '.join(str(folder) for folder in config_folders())}", _EXIT_CODES]
    return "\n".join(lines).replace("%", "%%")


def description(group: str, name: str) -> str:
    """The first comment line of a config file."""
    for folder in config_folders():
        file = folder / group / f"{name}.yaml"
        if file.is_file():
            return _first_comment(file)
    return ""


def _first_comment(file: Path) -> str:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#") and not line.startswith("# @"):
                return line.lstrip("#").strip()
    return ""
