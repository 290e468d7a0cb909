"""Errors in a request are reported as the public API reports them: status, parameter, code and words."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiq.llm.http import Client
from aiq.offline.faults import Faults
from aiq.offline.protocol.work import Work

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = json.loads((HERE / "malformed.json").read_text(encoding="utf-8"))
REQUESTS: dict[str, Any] = json.loads((HERE / "requests.json").read_text(encoding="utf-8"))
WELL_FORMED, COMPLETE = REQUESTS["well formed"], REQUESTS["complete"]
"""Requests by path: the shortest ones, and ones with every part that is read."""
CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def client(offline_port: int) -> Iterator[Client]:
    with Client(base_url=f"http://127.0.0.1:{offline_port}", timeout=60, verify=False) as http_client:
        yield http_client


def content(case: dict[str, Any], path: str) -> bytes:
    """The request's body: as given in the case, or a well-formed one with the case's changes."""
    if "raw" in case:
        return str(case["raw"]).encode()
    if "raw_hex" in case:
        return bytes.fromhex(case["raw_hex"])
    if "raw_nested" in case:
        return b"[" * int(case["raw_nested"])
    if "repeat" in case:
        messages = [{"role": "user", "content": "x" * case["repeat"]}]
        return json.dumps({"model": "offline-1", "messages": messages}).encode()
    return json.dumps({**WELL_FORMED.get(path, {}), **case["body"]}).encode()


@pytest.mark.parametrize("case", CASES, ids=[case["is"] for case in CASES])
def test_malformed_requests_are_refused_in_the_public_api_s_words(client: Client, case: dict[str, Any]) -> None:
    path = case.get("path", CHAT)
    answer = client.request(
        case.get("method", "POST"), path, content=content(case, path), headers=case.get("headers", {})
    )
    error = answer.json()["error"]
    assert answer.status_code == case.get("status", 400)
    assert case["says"] in error["message"]
    assert (error["type"], error["param"], error["code"]) == (
        "invalid_request_error",
        case.get("param"),
        case.get("code"),
    )


@pytest.mark.parametrize("path", WELL_FORMED)
def test_the_requests_they_are_derived_from_are_well_formed(client: Client, path: str) -> None:
    body = WELL_FORMED[path] | ({"input": "a"} if path == "/v1/embeddings" else {})
    assert client.post(path, json=body, headers={"content-type": "text/plain"}).status_code == 200


def test_documented_fields_without_effect_here_are_accepted(client: Client) -> None:
    answer = client.post(CHAT, json=WELL_FORMED[CHAT] | REQUESTS["without effect"])
    assert answer.status_code == 200, answer.text


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all values in a JSON value."""
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(part, (*path, key))


@pytest.mark.parametrize("path", COMPLETE)
def test_any_value_in_any_place_is_answered_or_refused(path: str) -> None:
    work = Work(Faults({}, 0))
    assert work.answer(path, "", "", json.dumps(COMPLETE[path]).encode()).status == 200
    for place in places(COMPLETE[path]):
        for value in REQUESTS["values"]:
            body = copy.deepcopy(COMPLETE[path])
            node: Any = body
            for key in place[:-1]:
                node = node[key]
            node[place[-1]] = value
            answer = work.answer(path, "", "", json.dumps(body).encode())
            assert answer.status in (200, 400), (place, value, answer.body)
            if answer.status == 400:
                assert "Input should" not in json.loads(answer.body)["error"]["message"]  # not in a library's words


def test_endlessly_nested_tags_are_answered() -> None:
    names = [f"a{n}" for n in range(3000)]
    nested = "".join(f"<{name}>" for name in names) + "".join(f"</{name}>" for name in reversed(names))
    body = {"model": "m", "messages": [{"role": "user", "content": f"{nested}\nWho built the mill?"}]}
    assert Work(Faults({}, 0)).answer(CHAT, "", "", json.dumps(body).encode()).status == 200


def test_a_body_that_is_too_long_is_read_and_refused(client: Client) -> None:
    answer = client.post(CHAT, content=b" " * (64 * 2**20 + 1))
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "request_too_large")
    answer = client.post("/search", content=b" " * (2**20 + 1))
    assert answer.status_code == 413
