"""A mistake in the command is one line, before anything runs."""

from pathlib import Path

from tests.cases import table
from tests.forked import Forked

each = table(__file__)


@each("option")
def test_a_wrong_option_is_named(option: str, value: str, message: str, tmp_path: Path) -> None:
    with Forked("benchmarks.strangers", "react", "--out", str(tmp_path), option, value) as process:
        assert process.wait(60)
        assert message in process.err.splitlines()[-1]
        assert "Traceback" not in process.err
