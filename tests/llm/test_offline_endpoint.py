"""Our transport against the offline stack: planted endpoint faults cost sends, never an answer."""

from pathlib import Path
from typing import Any

import pytest

from aiq.core.run_settings import OfflineSettings
from aiq.offline.launch import OfflineStack
from tests.llm.endpoint import OK
from tests.settings import configured

QUESTIONS = [f"What is {i} and why?" for i in range(12)]


@pytest.mark.slow
async def test_endpoint_faults_change_no_answer(bench: Any, tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text('{"url": "https://a.offline.example/", "title": "A", "text": "B."}\n')

    async def replies(**faults: float) -> tuple[list[str], int, int]:
        stack = OfflineStack(configured(OfflineSettings, world=str(tmp_path), faults=faults), seed=1)
        try:
            port = await stack.start()
            llm = {"base_url": f"http://127.0.0.1:{port}/v1", "retry": {"attempts": 12, "first_seconds": 0.001}}
            async with bench([OK], **llm) as b:
                texts = [(await b.ask("test.plain", question)).text for question in QUESTIONS]
                counts = (await b.models._client.get(f"http://127.0.0.1:{port}/stats")).json()
                usage = b.session.usage.total()
                assert faults.get("cut_connection") or (counts["chat"], counts["repeated"]) == (usage.calls, 0)
                return texts, usage.calls, usage.unreported_calls
        finally:
            await stack.stop()

    calm, sends, _ = await replies()
    assert sends == len(QUESTIONS)
    rough, more, _ = await replies(http_500=0.3)
    assert (rough, more > sends) == (calm, True)
    torn, _, unreported = await replies(cut_connection=0.4)
    assert (torn, unreported > 0) == (calm, True)
