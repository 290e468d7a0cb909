"""`runner=ray` in a network that counts every outgoing packet, and without its package."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aiq.__main__ import main
from tests.experiment.conftest import Captured, Workplace

_ALONE = ("unshare", "--map-root-user", "--net")
_COUNTED = """
import json, os, socket, subprocess, sys, time
from pathlib import Path
from benchmarks.performance.echo import Endpoint, make_place

Path("/proc/sys/net/ipv6/conf/all/disable_ipv6").write_text("1")
for command in ("link set lo up", "link add out type veth peer name far", "link set far up", "link set out up",
                "addr add 192.0.2.1/24 dev out", "route add default dev out"):
    subprocess.run(["ip", *command.split()], check=True)
endpoint = Endpoint()
make_place(Path.cwd(), 6, endpoint.base_url)
command = [sys.executable, "-m", "aiq", "run", "experiment=echo", "run_id=run", "runner=ray"]
run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
heard, quiet = set(), {}
while run.poll() is None:
    for line in [line for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]:
        if line.split()[3] == "0A":  # it listens
            heard.add(line.split()[1].partition(":")[0])
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "ns/net") == os.readlink("/proc/self/ns/net"):
                name = Path((process / "cmdline").read_bytes().split(b"\\0")[0].decode()).name
                if name in ("gcs_server", "raylet"):
                    quiet[name] = b"RAY_USAGE_STATS_ENABLED=0" in (process / "environ").read_bytes().split(b"\\0")
        except OSError:
            pass
    time.sleep(0.2)
def packets():
    return int(next(line for line in Path("/proc/net/dev").read_text().splitlines() if "out:" in line).split()[10])
found = {"code": run.returncode, "said": run.stdout.read(), "heard": sorted(heard), "quiet": quiet, "sent": packets()}
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("198.51.100.1", 53))
time.sleep(0.2)
print(json.dumps({**found, "counts": packets() > found["sent"]}))
"""


def test_nothing_leaves_the_machine_and_rays_usage_statistics_are_off(tmp_path: Path) -> None:
    """In a separate network whose default route counts packets and leads nowhere."""
    pytest.importorskip("ray", reason="the extra ray is not installed")
    if not shutil.which("ip") or subprocess.run([*_ALONE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine allows no network namespace")
    result = subprocess.run(
        [*_ALONE, sys.executable, "-c", _COUNTED], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
    )
    report = json.loads(result.stdout.splitlines()[-1])
    assert report["code"] == 0, report["said"]
    assert report["quiet"] == {"gcs_server": True, "raylet": True}
    assert (report["sent"], report["counts"]) == (0, True)
    assert report["heard"] == ["0100007F"]


def test_without_its_package_no_run_starts(here: Workplace, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["run", "experiment=tiny", "runner=ray"]) == 2
    assert "runner=ray needs more packages: pip install 'aiq-bench[ray]'" in capsys.readouterr().err
    assert here.runs() == []


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:100000"])
def test_a_cluster_that_does_not_answer_is_one_line(here: Workplace, capsys: Captured, address: str) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    assert main(["run", "experiment=tiny", "runner=ray", f"runner.launcher.address={address}"]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"aiq: runner.launcher.address={address}: no Ray cluster: ")
    assert message.count("\n") == 1
    assert here.runs() == []
