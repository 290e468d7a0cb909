"""A place to run in: a folder with a small dataset and its own plugins, and a counting endpoint on loopback."""

import json
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.runs.folder import RunFolder
from tests.experiment.postgres import dsn as dsn
from tests.forked import Forked
from tests.llm.endpoint import Threaded, completed, error, http

HERE = Path(__file__).parent
Captured = pytest.CaptureFixture[str]
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}

EXPERIMENT = """\
# @package _global_
# A tiny experiment of the tests
defaults:
  - override /agent: echo
  - override /dataset: tiny
  - override /llm: offline
  - override /search: corpus
  - override /web: corpus
  - override /judge: [letters]

name: tiny
clock: "2026-11-01"
llm:
  base_url: ${oc.env:TINY_ENDPOINT} # so that the text is the same in every test, and composed once
  model: small-1
  prices:
    small-1: {input: 1000000, output: 0}
search:
  corpus: pages.jsonl
runner:
  max_error_rate: 1.0
"""

GROUPS = {
    "agent/echo": (
        "# Repeats the question\ntarget: tiny_parts:EchoAgent\nseconds: 0\nask: false\nwords: 1\nplain: false\n"
    ),
    "judge/letters": "# @package judge.letters\n# Counts\ntarget: tiny_parts:Letters\nask: false\nminimum: 0\n",
    "dataset/tiny": (
        "# Tiny\ndefaults: [_source, _self_]\ntarget: tiny_parts:TinyDataset\nname: tiny\npath: tiny.jsonl\n"
    ),
}


class Endpoint:
    """A model endpoint that answers the last message with `answer` (by default repeats it), and records all requests.

    An answer is a text or a whole chat completion.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answer: Callable[[str], str | dict[str, Any]] = str
        self.usage: object = USAGE
        self.refuse_from: int | None = None  # chat calls from this one on get `refusal`
        self.refusal = error(401, "wrong key")
        self.unknown: tuple[str, ...] = ()  # models that are not there: 404
        server = Threaded(lambda _: error(401), self._answered)  # a key that may ask models need not list them
        self.base_url, self.close = f"http://127.0.0.1:{server.port}/v1", server.close

    def _answered(self, body: Any) -> bytes:
        text = body["messages"][-1]["content"]
        self.asked.append(text)
        if body["model"] in self.unknown:
            return error(404, "no such model")
        if self.refuse_from is not None and len(self.asked) > self.refuse_from:
            return self.refusal
        answer = self.answer(text)
        return http(200, answer if isinstance(answer, dict) else completed(answer, self.usage))


@dataclass
class Workplace:
    """The folder in which commands are run, and ways to run them."""

    path: Path
    endpoint: Endpoint

    def write_samples(self, questions: dict[str, str], **more: object) -> None:
        """`more`: further fields for the row of every sample."""
        rows = [{"id": key, "question": text, "kind": text.split()[0], **more} for key, text in questions.items()]
        self.path.joinpath("tiny.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def start(self, *arguments: str) -> Forked:
        return Forked("aiq.run", *arguments, cwd=self.path)

    @staticmethod
    def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> None:
        """Wait until a condition on disk is true."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it never happened"
            time.sleep(0.02)

    @staticmethod
    def lines(path: Path) -> list[dict[str, Any]]:
        """The rows of a JSONL file, without a torn last line; none if the file is missing."""
        lines_with_ends = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
        return [json.loads(line) for line in lines_with_ends if line.endswith("\n")]

    @classmethod
    def rows(cls, run: Path, name: str) -> list[dict[str, Any]]:
        """The rows of all shards."""
        return [row for path in RunFolder(run).journals(name) for row in cls.lines(path)]

    @staticmethod
    def summary(run: Path) -> dict[str, Any]:
        """A run's summary.json."""
        data: dict[str, Any] = json.loads((run / "summary.json").read_text(encoding="utf-8"))
        return data

    @staticmethod
    def manifest(run: Path) -> dict[str, Any]:
        data: dict[str, Any] = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
        return data

    @classmethod
    def values(cls, run: Path) -> dict[tuple[str, int, str], Any]:
        """What must be identical between runs: report and values of each key."""
        by_key: dict[tuple[str, int, str], Any] = {}
        for row in cls.rows(run, "samples"):
            by_key[row["sample_id"], row["epoch"], "report"] = row["report"]
        for row in cls.rows(run, "scores"):
            by_key[row["sample_id"], row["epoch"], row["metric"]] = (row["value"], row["numerator"], row["denominator"])
        return by_key

    def runs(self) -> list[Path]:
        """All runs, including points of sweeps."""
        return sorted(path.parent for path in self.path.glob("results/**/manifest.json"))

    def only_run(self) -> Path:
        (run,) = self.runs()
        return run

    def ran(self, *overrides: str) -> Path:
        """Run in this process; the folder of the run, which must be the only one."""
        assert main(["run", "experiment=tiny", *overrides]) == 0
        return self.only_run()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    yield server
    server.close()


@pytest.fixture
def place(tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    monkeypatch.setenv("TINY_ENDPOINT", endpoint.base_url)
    shutil.copy(HERE / "tiny_parts.py", tmp_path)
    for name, text in {**GROUPS, "experiment/tiny": EXPERIMENT}.items():
        file = tmp_path / "conf" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "pages.jsonl").write_text('{"url": "https://example.org/a", "title": "A", "text": "A page"}\n')
    workplace = Workplace(tmp_path, endpoint)
    workplace.write_samples({f"s{number}": f"question number {number}" for number in range(6)})
    return workplace


@pytest.fixture
def here(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workplace]:
    """The same place as the current folder of this process, for commands that run inside it."""
    monkeypatch.chdir(place.path)
    monkeypatch.syspath_prepend(str(place.path))
    monkeypatch.delitem(sys.modules, "tiny_parts", raising=False)
    handler = signal.getsignal(signal.SIGINT)
    yield place
    signal.signal(signal.SIGINT, handler)
    sys.modules.pop("tiny_parts", None)
