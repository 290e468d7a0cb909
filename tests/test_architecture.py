"""Imports run downwards only, and light commands stay light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "aiq"

# What each part may import besides itself; `core` is below everything.
BELOW: dict[str, set[str]] = {
    "core": set(),
    "cassettes": set(),
    "llm": {"cassettes"},
    "citations": set(),
    "tools": {"llm", "citations"},
    "stats": set(),
    "datasets": set(),
    "runs": {"stats"},
    "agents": {"tools", "citations", "llm", "datasets"},
    "judges": {"tools", "citations", "llm", "stats"},
    "experiment": {
        "runs",
        "analysis",
        "agents",
        "judges",
        "datasets",
        "stats",
        "tools",
        "citations",
        "llm",
        "cassettes",
    },
    "analysis": {"runs", "agents", "judges", "datasets", "stats", "tools", "citations", "llm"},
    "site": {"experiment", "analysis", "runs", "judges", "stats", "citations", "llm"},
    "offline": {"tools", "citations", "llm"},  # the BM25 index, marks; nothing imports `offline` but its command
}


def imports(file: Path) -> set[str]:
    """The aiq parts that a file imports, wherever in the file the import stands."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("aiq.")}
    return found


@pytest.mark.parametrize("part", sorted(BELOW))
def test_imports_run_downwards(part: str) -> None:
    allowed = BELOW[part] | {part, "core"}
    wrong = {
        str(file.relative_to(PACKAGE)): sorted(above)
        for file in (PACKAGE / part).rglob("*.py")
        if (above := imports(file) - allowed)
    }
    assert wrong == {}


def test_every_part_has_a_rule() -> None:
    parts = {file.parent.name for file in PACKAGE.glob("*/__init__.py")} - {"commands"}
    assert parts <= set(BELOW)


@pytest.mark.parametrize(
    "command",
    [["-c", "import aiq.core.session, aiq.core.settings"], ["-m", "aiq", "--help"], ["-m", "aiq.run", "--help"]],
)
def test_light_commands_import_nothing_heavy(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-X", "importtime", *command], capture_output=True, text=True, check=True)
    loaded = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    heavy = {"langchain_core", "langgraph", "openai", "pandas", "datasets", "numpy", "hydra", "trafilatura"}
    assert loaded & heavy == set()
