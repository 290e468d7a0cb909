"""Schemathesis sends the server requests that its API description allows, and others."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.serve.conftest import Api, served

pytest.importorskip("schemathesis")


def check(api: Api, folder: Path, *options: str) -> None:
    """Except `use_after_free`: a task cancelled by DELETE can still be read, by design."""
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{api.address}/openapi.json", "--no-color"]
    common = ["--header", f"X-API-Key: {api.key}", "--exclude-checks", "use_after_free", "--request-timeout", "30"]
    common += ["--suppress-health-check", "too_slow"]  # a busy machine is
    result = subprocess.run([*command, *common, *options], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-1000:]


MANY = (
    *("serve.key.tasks=1000000", "serve.key.streams=1000000", "serve.queue=1000000"),
    "serve.query_chars=100",  # long texts would take schemathesis a long time
)
"""Limits that refuse no request that the description allows."""


def test_valid_requests_are_answered_as_described(tmp_path: Path, one_stack: Any) -> None:
    """The only worker sleeps, so that tasks cost nothing."""
    agents = "serve.agents=[ai_q_chat]"  # without settings to choose, which are what most requests would be about
    with served(tmp_path, *MANY, agents, "runner.concurrency=1", keys={"one": None}) as api:
        api.ask("sleep 3600")
        check(api, tmp_path, "--phases", "coverage", "--mode", "positive")


@pytest.mark.whole
@pytest.mark.timeout(1800)
def test_any_request_is_answered_as_described(tmp_path: Path, one_stack: Any) -> None:
    """In one run, whose last phase builds on the answers to the others."""
    overrides = (*MANY, "serve.agents=[shannon]", "runner.concurrency=4", "limits.sample_model_calls=1")
    with served(tmp_path, *overrides, keys={"one": None}) as api:
        check(api, tmp_path, "--phases", "examples,coverage,fuzzing,stateful", "--max-examples", "50", "--seed", "1")
