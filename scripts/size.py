"""The size of the project: files, physical lines and tokens of each package, checked against [tool.aiq.size].

`.venv/bin/python scripts/size.py` prints the table and exits with 1 if a budget in pyproject.toml is exceeded: a change
that needs more must raise it there. Tokens are Python tokens, without comments, line ends and indentation.
"""

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    | [bfru]{0,2}(?P<quote>\"{3}|'{3}|\"|')(?:\\.|(?!(?P=quote)).)*(?P=quote)
    | \.?\d(?:[\w.]|(?<=e)[+-])* | \w+
    | \.\.\. | -> | [:!]= | (?:\*\*|//|<<|>>|[-+*/%@&|^=<>])=? | [^\s\w\\]""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
"""Python's tokens, the same in every version of Python: from 3.12 on, `tokenize` splits f-strings."""


@dataclass(frozen=True)
class Size:
    """The total size of some files; `longest`: number of lines of the longest one."""

    files: int = 0
    lines: int = 0
    tokens: int = 0
    longest: int = 0

    @classmethod
    def of(cls, file: Path) -> "Size":
        text = file.read_text(encoding="utf-8")
        lines, tokens = text.count("\n"), sum(match["comment"] is None for match in _TOKEN.finditer(text))
        return cls(1, lines, tokens, lines)

    def __add__(self, other: "Size") -> "Size":
        files, lines, tokens = self.files + other.files, self.lines + other.lines, self.tokens + other.tokens
        return Size(files, lines, tokens, max(self.longest, other.longest))

    def row(self, name: str) -> str:
        """A line of the table."""
        figures = f"{self.files:>6} {self.lines:>7,} {self.tokens:>8,} {self.tokens / max(1, self.lines):>7.2f}"
        return f"{name:<22}{figures} {self.longest:>8}"


def measured(root: Path = ROOT) -> dict[str, Size]:
    """Sizes of aiq's packages, and of what has a budget: `aiq` (without the offline stack), `offline`, tests, tools."""
    sizes = {folder.name: _of_folders(folder) for folder in sorted((root / "aiq").iterdir()) if folder.is_dir()}
    packages = {f"aiq/{name}": size for name, size in sizes.items() if size.files and name != "offline"}
    top = sum((Size.of(file) for file in (root / "aiq").glob("*.py")), Size())
    return packages | {
        "aiq": sum(packages.values(), top),
        "offline": sizes["offline"],
        "tests": _of_folders(root / "tests"),
        "tools": _of_folders(root / "benchmarks", root / "scripts"),
    }


def _of_folders(*folders: Path) -> Size:
    return sum((Size.of(file) for folder in folders for file in sorted(folder.rglob("*.py"))), Size())


def excesses(sizes: Mapping[str, Size], budgets: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """A line for each exceeded budget."""
    for name, budget in budgets.items():
        for figure, allowed in budget.items():
            if (value := getattr(sizes[name], figure)) > allowed:
                yield f"{name}: {value:,} {figure} where {allowed:,} are allowed ([tool.aiq.size] of pyproject.toml)"


def budgets(root: Path = ROOT) -> Mapping[str, Mapping[str, int]]:
    """By name of what is measured, the maximum of each field of `Size`."""
    config = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    sizes: Mapping[str, Mapping[str, int]] = config["tool"]["aiq"]["size"]
    return sizes


def table(sizes: Mapping[str, Size]) -> Iterator[str]:
    """The lines to print."""
    yield f"{'':<22}{'files':>6} {'lines':>7} {'tokens':>8} {'a line':>7} {'longest':>8}"
    yield from (size.row(name) for name, size in sizes.items())


def main() -> int:
    """Print and check the sizes; returns the exit code."""
    sizes = measured()
    print("\n".join(table(sizes)))
    messages = list(excesses(sizes, budgets()))
    print("\n".join(messages), end="\n" if messages else "", file=sys.stderr)
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
