"""The `aiq` command itself: fast, helpful, one line for a mistake."""

import subprocess
import sys
from pathlib import Path

import pytest

import aiq
from aiq.__main__ import check_package, main
from aiq.core.errors import UserError

Captured = pytest.CaptureFixture[str]


def test_help_lists_every_command_with_a_line(capsys: Captured) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for file in (Path(aiq.__file__).parent / "commands").glob("[a-z]*.py"):
        line = next(line for line in out.splitlines() if line.split()[:1] == [file.stem])
        assert len(line.split()) > 3


def test_a_wrong_command_gets_the_nearest_name_and_the_version_is_printed(capsys: Captured) -> None:
    assert main(["shwo"]) == 2
    assert capsys.readouterr().err == "aiq: shwo: there is no such command; did you mean show?\n"
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"aiq-bench {aiq.__version__}\n"


def test_help_works_in_a_fresh_interpreter(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "aiq.run", "--help"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
    expected = ("shallow_freshqa", "Short answers", "judge=", "fresheval", "exit codes")
    assert [line for line in expected if line not in result.stdout] == []
    assert list(tmp_path.iterdir()) == []


def test_help_of_chat(capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["chat", "--help"])
    expected = ("usage: aiq chat [--thread NAME | --list] SETTING=VALUE ...", "checkpointer=sqlite --thread rivers")
    out = capsys.readouterr().out
    assert [line for line in expected if line not in out] == []


def test_another_distribution_over_ours_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "aiq"
    package.mkdir()
    info = tmp_path / "other_aiq-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-aiq\nVersion: 1.0\n")
    (info / "top_level.txt").write_text("aiq\n")
    monkeypatch.setattr("aiq.__main__.__file__", str(package / "__main__.py"))
    with pytest.raises(UserError, match="other-aiq also installs a package named aiq"):
        check_package()


@pytest.mark.parametrize(("redirected", "code"), [(">/dev/full", 2), (">&-", 0), (">/dev/full 2>&1", 2)])
def test_output_that_cannot_be_written_is_one_line(redirected: str, code: int, tmp_path: Path) -> None:
    command = f"{sys.executable} -m aiq --version {redirected}"
    result = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert (result.returncode, result.stderr.count("\n")) == (code, "2>" not in redirected and code // 2)
    assert result.stderr in ("", "aiq: the output: No space left on device\n")


@pytest.mark.parametrize("port", ["99999", "-1", "eighty"])
def test_an_invalid_port_is_one_line(port: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["offline", f"--port={port}"])
    assert caught.value.code == 2
    assert f"{port} is not a port" in capsys.readouterr().err
