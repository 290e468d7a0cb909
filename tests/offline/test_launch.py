"""Starting and stopping the child process."""

import asyncio
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from aiq.__main__ import main
from aiq.core.errors import ConfigError, RunAborted
from aiq.core.run_settings import OfflineSettings
from aiq.offline import launch
from aiq.offline.launch import OfflineStack
from tests.cases import table
from tests.settings import configured

each = table(__file__)

pytestmark = pytest.mark.slow


def answers(port: int) -> bool:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models") as answer:
        return bool(answer.status == 200)


def test_unknown_fault_is_one_line() -> None:
    with pytest.raises(
        ConfigError, match=r"^offline\.faults\.http_42: there is no such fault; there are http_429, [^\n]*$"
    ):
        OfflineStack(configured(OfflineSettings, faults={"http_42": 0.1}), 0)


async def test_a_missing_world_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"offline\.world=.*nowhere: there is no pages\.jsonl"):
        await OfflineStack(configured(OfflineSettings, world=str(tmp_path / "nowhere")), 0).start()


async def test_malformed_world_names_file_and_row(tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text('{"url": "https://a.offline.example/", "title": "x"}\n')
    with pytest.raises(RunAborted, match=r"the offline stack did not start: [^\n]*pages\.jsonl, line 1: [^\n]*$"):
        await OfflineStack(configured(OfflineSettings, world=str(tmp_path)), 0).start()


@pytest.mark.parametrize("patience", [60, 0])
async def test_stop_ends_the_child_and_its_workers(
    pages_file: Path, patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "STOP_SECONDS", patience)
    child = OfflineStack(configured(OfflineSettings, world=str(pages_file)), 0)
    port = await child.start()
    assert answers(port)
    assert child._child is not None
    output = child._child.stdout
    await child.stop()
    await child.stop()
    assert output is not None
    assert output.at_eof()  # otherwise its pipe closes after the event loop: a traceback at the end of the run
    with pytest.raises(OSError, match=r"refused|Connect"):
        await asyncio.open_connection("127.0.0.1", port)


PARENT = """
import asyncio, sys
from aiq.core.run_settings import OfflineSettings
from aiq.offline.launch import OfflineStack

async def main():
    settings = OfflineSettings.model_validate_json(sys.argv[1])
    print(await OfflineStack(settings, 0).start(), flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_child_does_not_outlive_a_killed_parent(pages_file: Path) -> None:
    settings = configured(OfflineSettings, world=str(pages_file)).model_dump_json()
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, settings, stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    port = int(await parent.stdout.readline())
    assert answers(port)
    parent.send_signal(signal.SIGKILL)
    await parent.wait()
    for _ in range(100):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return
        writer.close()
        await asyncio.sleep(0.05)
    raise AssertionError("the offline stack is still there")


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.whole)])
def test_aiq_offline_serves_until_told_to_stop(pages_file: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "aiq", "offline", "--port", "0", "--world", str(pages_file)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline().startswith("The offline stack answers at http://127.0.0.1:")
        child.send_signal(number)
        printed, errors = child.communicate(timeout=60)
    assert (child.returncode, printed.splitlines()[-1], errors) == (0, "ended", "")


@each("option")
def test_an_invalid_option_is_named(
    option: str, value: str, message: str, pages_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["offline", "--port", "0", "--world", str(pages_file), option, value])
    except SystemExit as ended:
        code = int(str(ended.code))
    error = capsys.readouterr().err
    assert (code, error.count("\n")) == (2, 1)
    assert re.search(message, error)
