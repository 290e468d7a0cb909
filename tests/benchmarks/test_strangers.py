"""What is wrong with the command is one line, before anything runs."""

from pathlib import Path

import pytest

from tests.forked import Forked


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--base-url", "http://127.0.0.1:9", "--base-url http://127.0.0.1:9: no offline stack answers there"),
        ("--python", "/nowhere/python", "--python /nowhere/python: there is no such interpreter"),
        ("--limit", "0", "0 is no number of questions"),
    ],
)
def test_a_wrong_option_is_named(option: str, value: str, message: str, tmp_path: Path) -> None:
    with Forked("benchmarks.strangers", "react", "--out", str(tmp_path), option, value) as process:
        assert process.wait(60)
        assert message in process.err.splitlines()[-1]
        assert "Traceback" not in process.err
