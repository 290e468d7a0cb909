"""The import rules in pyproject.toml hold, and light commands stay light."""

import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).resolve().parent.parent


def test_imports_obey_the_contracts() -> None:
    """`make lint` checks the same and shows the import chains."""
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == EXIT_STATUS_SUCCESS


@pytest.mark.parametrize(
    "command",
    [["-c", "import aiq.core.session, aiq.core.settings"], ["-m", "aiq", "--help"], ["-m", "aiq.run", "--help"]],
)
def test_light_commands_import_nothing_heavy(command: list[str]) -> None:
    result = subprocess.run([sys.executable, "-X", "importtime", *command], capture_output=True, text=True, check=True)
    loaded = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in result.stderr.splitlines() if "|" in line}
    heavy = {"langchain_core", "langgraph", "openai", "pandas", "datasets", "numpy", "scipy", "hydra", "trafilatura"}
    assert loaded & heavy == set()
