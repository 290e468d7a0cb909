"""Our transport against the offline stack: planted endpoint faults cost sends, never an answer."""

from contextlib import contextmanager
from typing import Any

import pytest

from aiq.offline.launch import page_files
from tests.conftest import port_of_stack
from tests.llm.endpoint import OK

QUESTIONS = [f"What is {i} and why?" for i in range(12)]
FAULTS = '{"http_500": 0.3, "cut_connection": 0.3}'


@pytest.mark.slow
async def test_endpoint_faults_change_no_answer(bench: Any, world_port: int) -> None:
    async def replies(port: int) -> tuple[list[str], Any]:
        llm = {"base_url": f"http://127.0.0.1:{port}/v1", "retry": {"attempts": 12, "first_seconds": 0.001}}
        async with bench([OK], **llm) as b:
            texts = [(await b.ask("test.plain", question)).text for question in QUESTIONS]
            counts = (await b.models._client.get(f"http://127.0.0.1:{port}/stats")).json()
            return texts, (b.session.usage.total(), counts)

    calm, (usage, _) = await replies(world_port)
    assert (usage.calls, usage.unreported_calls) == (len(QUESTIONS), 0)
    with contextmanager(port_of_stack)(page_files(None, [])[0], "--seed", "1", "--faults", FAULTS) as port:
        rough, (usage, counts) = await replies(port)
    assert rough == calm
    assert usage.calls > len(QUESTIONS)
    assert usage.unreported_calls > 0
    assert counts["faults"].keys() == {"http_500", "cut_connection"}
    assert (counts["chat"], counts["repeated"]) == (usage.calls, 0)
