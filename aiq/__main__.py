"""`aiq NAME ...` and `python -m aiq NAME ...`: finds the command's file and reports errors in one line."""

import difflib
import errno
import importlib
import re
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from aiq import __version__
from aiq.core.errors import UserError, discard_output, message_of, say
from aiq.core.garbage import STARTUP_THRESHOLD, collected_after

_COMMANDS = Path(__file__).parent / "commands"
_DISTRIBUTION = "aiq-bench"


class Parser(ArgumentParser):
    """Reports a mistake in the command line in one line on stderr, with exit code 2.

    `more`: builds the end of the help text when it is slow to build.
    """

    more: Callable[[], str] | None = None

    def format_help(self) -> str:
        self.epilog = self.more() if self.more else None
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        option = re.match(r"unrecognized arguments: --?([\w.]+)", message)
        if option and (suggestions := difflib.get_close_matches(f"--{option[1]}", self._option_string_actions, 1, 0.7)):
            message += f"; did you mean {suggestions[0]}?"
        elif option and "SETTING=VALUE" in self.format_usage():
            message += f"; a setting has no dashes: {option[1]}=VALUE"
        print(f"{self.prog}: {message} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with collected_after(STARTUP_THRESHOLD):
            code = _run(*argv)
            print(end="", flush=True)  # if stdout was closed (`>&-`), there is none to flush
            return code
    except UserError as error:
        say(f"aiq: {error}")
        return 2
    except KeyboardInterrupt as interruption:
        print(f"aiq: {str(interruption) or 'interrupted'}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        discard_output()
        return 0
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO):
            raise
        discard_output()
        say(f"aiq: {error.filename or 'the output'}: {error.strerror}")
        return 2


def _run(name: str = "--help", *arguments: str) -> int:
    if name in ("-h", "--help"):
        print(_help())
        return 0
    if name == "--version":
        print(f"{_DISTRIBUTION} {__version__}")
        return 0
    check_package()
    from aiq.core.plugins import add_cwd_to_path

    add_cwd_to_path()
    module = _load(name)
    parser = Parser(prog=f"aiq {name}", description=module.__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.more = getattr(module, "more", None)
    module.add_arguments(parser)
    try:  # options may stand anywhere among settings, which argparse supports only without subcommands
        args = parser.parse_intermixed_args(arguments)
    except TypeError:
        args = parser.parse_args(arguments)
    try:
        code: int = module.run(args)
    except SystemExit as error:
        raise UserError(
            f"{message_of(error)} by code that aiq {name} loaded; that code must raise an error instead"
        ) from error
    return code


def _load(name: str) -> ModuleType:
    """The module of a command. Raises UserError, with the closest names, for an unknown command."""
    names = _names()
    if name not in names:
        from aiq.experiment.choices import options
        from aiq.experiment.compose import is_setting

        suggestions = difflib.get_close_matches(name, names, n=1)
        if "=" in name:
            suggestions = [f"aiq run {name}"]
        elif name in options("experiment"):
            suggestions = [f"aiq run experiment={name}"]
        elif is_setting(name):
            suggestions = [f"aiq run {name}=VALUE"]
        hint = f"did you mean {suggestions[0]}?" if suggestions else f"there are: {', '.join(names)}"
        raise UserError(f"{name}: there is no such command; {hint}")
    return importlib.import_module(f"aiq.commands.{name}")


def _names() -> list[str]:
    return sorted(file.stem for file in _COMMANDS.glob("*.py") if not file.stem.startswith("_"))


def _help() -> str:
    """All commands, each with the first line of its file; imports none of them."""
    names = _names()
    lines = ["usage: aiq COMMAND [ARGUMENTS]", ""]
    for name in names:
        with (_COMMANDS / f"{name}.py").open(encoding="utf-8") as file:
            summary = file.readline().strip().strip('"').strip()
        lines.append(f"  {name:<{max(map(len, names))}}  {summary}")
    return "\n".join([*lines, "", "aiq COMMAND --help explains a command; aiq --version prints the version."])


def check_package() -> None:
    """Raises UserError if another installed distribution has a package `aiq` too.

    Both install into the same folder, so each could import the other's modules.
    """
    import importlib.metadata

    for distribution in importlib.metadata.distributions(path=[str(Path(__file__).resolve().parent.parent)]):
        name = distribution.metadata["Name"] or ""
        if name.lower() != _DISTRIBUTION and "aiq" in (distribution.read_text("top_level.txt") or "").split():
            raise UserError(
                f"the distribution {name} also installs a package named aiq, in the same folder as {_DISTRIBUTION}'s; "
                f"uninstall it (pip uninstall {name}) and install {_DISTRIBUTION} again"
            )


if __name__ == "__main__":
    sys.exit(main())
