"""A proxy that forwards none of our headers changes nothing: neither reports nor scores."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from aiq.__main__ import main
from tests.cases import rows


@pytest.fixture(scope="module")
def proxy(world_port: int) -> Iterator[str]:
    """The address of a proxy before the offline model that drops every header that begins with `x-aiq`."""

    class Dropping(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            kept = {"content-type": "application/json"}
            with urlopen(Request(f"http://127.0.0.1:{world_port}{self.path}", body, kept)) as answer:
                said = answer.read()
                self.send_response(answer.status)
                self.send_header("content-type", answer.headers["content-type"])
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Dropping) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


@pytest.mark.parametrize(
    "experiment",
    [
        "shallow_freshqa",
        *(pytest.param(name, marks=pytest.mark.whole) for name in ("escalation_freshqa", "deep_drb", "documents_qa")),
    ],
)
def test_a_run_without_our_headers(experiment: str, proxy: str, tmp_path: Path) -> None:
    limit = 1 if experiment == "deep_drb" else 3
    direct, proxied = (
        _results(tmp_path / name, f"experiment={experiment}", f"limit={limit}", *more)
        for name, more in (("direct", []), ("proxied", [f"llm.base_url={proxy}"]))
    )
    assert direct == proxied
    assert len(direct) > limit


def _results(folder: Path, *overrides: str) -> dict[tuple[str, str], object]:
    """The reports and the scores of a run."""
    assert main(["run", *overrides, f"output_dir={folder}", "runner.progress=false"]) == 0
    samples, scores = (rows(next(folder.glob(f"*/*/{name}.jsonl"))) for name in ("samples", "scores"))
    figures = {
        (row["sample_id"], row["metric"]): (row.get("value"), row.get("numerator"), row.get("denominator"))
        for row in scores
    }
    return {**{(row["sample_id"], "report"): row["report"] for row in samples}, **figures}
