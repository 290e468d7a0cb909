"""A forked process is independent of its parent."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.forked import Forked

SHOWS = """
import os, sys, time
print(os.getpid(), os.getcwd(), os.environ.get("OURS"), sys.argv[1:], sys.stdin.read(), __name__)
print("to stderr", file=sys.stderr, flush=True)
while "wait" in sys.argv:
    time.sleep(0.01)
sys.exit(7)
"""


def test_a_fork_has_its_own_folder_arguments_environment_streams_and_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shows.py").write_text(SHOWS)
    monkeypatch.setenv("OURS", "set")
    with Forked("shows", "a", "b", stdin="typed", cwd=tmp_path) as child:
        assert child.wait(60) == 7
        assert child.out == f"{child.pid} {tmp_path} set ['a', 'b'] typed __main__\n"
        assert child.err == "to stderr\n"
    assert child.pid != os.getpid()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_signals_kill_a_fork(number: int, tmp_path: Path) -> None:
    (tmp_path / "shows.py").write_text(SHOWS)
    with Forked("shows", "wait", cwd=tmp_path) as child:
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.01)
        end = time.monotonic() + 60
        while not child.err:
            assert time.monotonic() < end
        child.send_signal(number)
        assert child.wait(60) == -number
