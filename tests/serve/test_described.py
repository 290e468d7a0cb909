"""Schemathesis asks the server whatever its description allows, and what it does not."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.serve.conftest import served

pytest.importorskip("schemathesis")


@pytest.mark.parametrize(
    "examples", [pytest.param(1, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.whole)]
)
def test_the_api_is_as_it_is_described(examples: int, tmp_path: Path) -> None:
    """But for `use_after_free`: a task that was cancelled by DELETE can still be read, as it is meant to be."""
    free = [f"serve.key.{name}=1000000" for name in ("tasks", "streams")]
    with served(tmp_path, *free, "serve.queue=1000000", "runner.concurrency=4", keys={"one": None}) as api:
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{api.address}/openapi.json"]
        options = ["--header", f"X-API-Key: {api.key}", "--exclude-checks", "use_after_free", "--seed", "1"]
        sizes = ["--max-examples", str(examples), "--request-timeout", "30", "--no-color"]
        done = subprocess.run([*command, *options, *sizes], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-1000:]
