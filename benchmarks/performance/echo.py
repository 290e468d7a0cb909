"""Runs that cost next to nothing: an agent that repeats the question, a judge that counts letters, and their endpoint.

Agent and judge ask the model only if their setting `ask` is true.
"""

import json
import threading
from collections import Counter
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from aiq.core.models import Message
from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Question, Sample
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.judges.base import Judge

_EXPERIMENT: Final = """\
# @package _global_
# Repeats the question
defaults:
  - override /agent: echo
  - override /dataset: questions
  - override /search: corpus
  - override /web: corpus
  - override /judge: []

name: echo
clock: "2026-11-01T09:00:00+00:00"
judge: {{letters: {{target: "{module}:Letters", ask: false}}}}
dataset: {{path: questions.jsonl}}
search: {{corpus: pages.jsonl}}
llm: {{base_url: "{base_url}", model: echo}}
runner: {{progress: false}}
"""


class EchoSettings(Settings):
    """`ask`: whether the model is asked."""

    ask: bool


class EchoAgent:
    """Its report is the question, or the model's reply to it."""

    Settings = EchoSettings

    def __init__(self, settings: EchoSettings) -> None:
        self._settings = settings

    async def research(self, question: Question, session: Session) -> Report:
        text = question.text
        if self._settings.ask:
            text = (await session.models.complete("echo", [Message(role="user", content=text)])).text
        return Report(text=text, raw_text=text, route="echo")


class Letters(Judge):
    """The number of letters in a report, and how many of them are vowels."""

    Settings = EchoSettings
    metrics = (Metric(name="letters.count"), Metric(name="letters.vowels", estimator="ratio", worst=None))
    roles = ("judge.letters",)

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        if self.settings.ask:
            await session.models.complete("judge.letters", [Message(role="user", content=f"judge: {report.text}")])
        vowels = sum(letter in "aeiou" for letter in report.text)
        return [
            Score(metric="letters.count", value=len(report.text)),
            Score(metric="letters.vowels", numerator=vowels, denominator=len(report.text)),
        ]


class Endpoint:
    """A model endpoint on loopback that repeats the last message, and counts in `asked` how often it was sent each."""

    def __init__(self) -> None:
        self.asked, asks = Counter[str](), self.asks

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer({"data": []})

            def do_POST(self) -> None:
                text = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"][-1]["content"]
                asks(text)
                choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
                usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
                head = {"id": "c", "object": "chat.completion", "created": 1, "model": "echo"}
                self._answer({**head, "choices": [choice], "usage": usage})

            def _answer(self, body: object) -> None:
                raw = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """Ignore clients that are gone."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def asks(self, text: str) -> None:
        """Called when a client asks; it is answered when this returns."""
        self.asked[text] += 1

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def make_place(folder: Path, samples: int, base_url: str) -> None:
    """Make a folder in which `aiq run experiment=echo` works; the outcome depends only on the number of samples."""
    files = {
        "conf/experiment/echo.yaml": _EXPERIMENT.format(module=__name__, base_url=base_url),
        "conf/agent/echo.yaml": f"# Repeats the question\ntarget: {__name__}:EchoAgent\nask: false\n",
        "questions.jsonl": lines([{"id": f"s{i}", "question": f"question number {i}"} for i in range(samples)]),
        "pages.jsonl": lines([{"url": "https://example.org/a", "title": "A", "text": "A page"}]),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def lines(rows: Sequence[object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)
