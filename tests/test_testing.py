"""The cassette of a test, used directly; test_pytest_plugin.py uses it in a user's project."""

import asyncio
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from aiq.cassettes.recorder import CassetteMiss
from aiq.cassettes.store import Store
from aiq.core.errors import UserError
from aiq.core.run_settings import CassetteSettings
from aiq.pytest_plugin import _MODES
from aiq.testing import AiqCassette, Mode, safe_name
from tests.echo import Endpoint, running

KEY = "sk-proj-THE1own2KEY3of4the5user6"
_RECORD_THEN_REPLAY: tuple[Mode, Mode] = ("record", "replay")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with running() as endpoint:
        yield endpoint


def test_the_modes_are_the_same_as_for_runs() -> None:
    assert get_args(CassetteSettings.model_fields["mode"].annotation) == get_args(Mode)
    assert set(_MODES) == set(get_args(Mode))


@pytest.mark.parametrize(
    ("test", "name"),
    [
        ("test_one", "test_one"),
        ("test_a.b-c", "test_a.b-c"),
        ("test_One", "test_One-"),
        ("test_x[../../etc]", "test_x-..-..-etc-"),
        ("TestX::test_y[a b]", "TestX-test_y-a-b-"),
        ("test_" + "long" * 50, "test_longlong"),
        ("test_öl", "test_-l-"),
    ],
)
def test_folder_names_are_safe_and_distinct(test: str, name: str) -> None:
    safe = safe_name(test)
    assert safe.startswith(name)
    assert re.fullmatch(r"[\w-][\w.-]{0,70}", safe, re.ASCII)
    assert (safe == test) == (not name.endswith("-") and len(test) < 60)
    assert safe_name(test + "]") != safe


async def ask(cassette: AiqCassette, endpoint: Endpoint, *questions: str, **options: Any) -> list[str]:
    client = cassette.openai(base_url=endpoint.base_url, api_key=KEY)
    answers = []
    for question in questions:
        messages: Any = [{"role": "user", "content": question}]
        completion = await client.chat.completions.create(model="m", messages=messages, **options)
        answers.append(completion.choices[0].message.content or "")
    return answers


def notes_at_close(cassette: AiqCassette) -> str:
    return "".join(cassette.close(passed=True))


async def test_modes(tmp_path: Path, endpoint: Endpoint) -> None:
    unused = "1 recorded exchanges were not requested; pytest --aiq-cassette=refresh deletes them"
    steps: list[tuple[Mode, str, str, str]] = [
        ("record", "abc", "abc", ""),
        ("replay", "ac", "", unused),
        ("auto", "acd", "d", unused),
        ("refresh", "cde", "e", ""),
        ("replay", "dec", "", ""),
        ("off", "f", "f", ""),
        ("record", "ag", "ag", ""),
        ("replay", "ag", "", ""),
    ]
    for number, (mode, questions, new, note) in enumerate(steps):
        cassette = AiqCassette(tmp_path, "t", mode, ["temperature"])
        answers = await ask(cassette, endpoint, *questions, temperature=number)
        assert [f"You asked: {question}," in text for question, text in zip(questions, answers, strict=True)]
        assert endpoint.new() == [*new]
        assert notes_at_close(cassette).endswith(note)
    with pytest.raises(UserError, match=r"was recorded with ignored=\['temperature'\]; drop your own"):
        AiqCassette(tmp_path, "t", "auto", ["seed"])


async def test_a_failed_test_deletes_no_exchanges(tmp_path: Path, endpoint: Endpoint) -> None:
    steps: list[tuple[Mode, str, bool]] = [("record", "abc", True), ("refresh", "bd", False)]
    for mode, questions, passed in steps:
        cassette = AiqCassette(tmp_path, "t", mode)
        await ask(cassette, endpoint, *questions)
        assert cassette.close(passed=passed) == []
    cassette = AiqCassette(tmp_path, "t", "replay")
    await ask(cassette, endpoint, *"abcd")
    assert notes_at_close(cassette) == ""


async def test_an_abandoned_request_is_not_waited_for(tmp_path: Path) -> None:
    async with await asyncio.start_server(lambda *_: asyncio.sleep(10), "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        for mode in _RECORD_THEN_REPLAY:
            cassette = AiqCassette(tmp_path, "t", mode)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await cassette.client.get(f"http://127.0.0.1:{port}")
            assert notes_at_close(cassette) == ""


ASKS = """

async def answer(question, session):
    reply = await session.openai("mine.agent").chat.completions.create(
        model=session.models.name("mine.agent"),
        messages=[dict(role="user", content=f"{question} It is {session.now:%Y-%m-%d %H:%M:%S}.")],
    )
    return reply.choices[0].message.content
"""


async def test_research_runs_in_a_session_with_the_recorded_clock(
    tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent_of_a_test.py").write_text(ASKS, encoding="utf-8")
    config = ["agent=python", "agent.function=agent_of_a_test:answer", "llm=openai", "llm.model=m"]
    config += [f"llm.base_url={endpoint.base_url}", "llm.api_key_env=WHAT_OPENS"]
    monkeypatch.setenv("WHAT_OPENS", "like-no-key-at-all")
    texts = []
    for mode in _RECORD_THEN_REPLAY:
        cassette = AiqCassette(tmp_path / "kept", "t", mode)
        reports = await asyncio.gather(*(cassette.research(question, config) for question in ("Why?", "Why?", "When?")))
        assert notes_at_close(cassette) == ""
        texts.append([report.text for report in reports])
        monkeypatch.delenv("WHAT_OPENS", raising=False)
        await asyncio.sleep(1.1)
    assert texts[0] == texts[1]
    assert [text[: text.index("?")] for text in texts[0]] == ["You asked: Why", "You asked: Why", "You asked: When"]
    assert len(endpoint.new()) == 3
    with Store(tmp_path / "kept" / "agent.sqlite", writes=False) as store:
        assert not [exchange for exchange in store.exchanges("test/1") if "like-no-key" in repr(exchange)]


def test_an_unreadable_recording_does_not_block_the_network(tmp_path: Path) -> None:
    (tmp_path / "agent.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(UserError, match=r"agent\.sqlite: not a readable recording"):
        AiqCassette(tmp_path, "t", "replay")
    socket.socket().close()


async def test_research_reports_bad_settings_and_missing_exchanges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recording = AiqCassette(tmp_path, "t", "record")
    await recording.research("Which river is the longest?", ["experiment=shallow_freshqa"])
    notes_at_close(recording)
    cassette = AiqCassette(tmp_path, "t", "replay")
    assert (await cassette.research("Which river is the longest?", ["experiment=shallow_freshqa"])).text
    with pytest.raises(
        CassetteMiss, match=r"cassette of t: not recorded: aiq\.\w+, POST (.|\n)*differs in\n  messages"
    ):
        await cassette.research("Which river is the shortest?", ["experiment=shallow_freshqa"])
    with pytest.raises(UserError, match=r"^cassette: set by pytest --aiq-cassette=MODE and @pytest"):
        await cassette.research("Why?", ["cassette=auto"])
    with pytest.raises(UserError, match=r"^agents: there is no such setting"):
        await cassette.research("Why?", ["agents=ai_q"])
    notes_at_close(cassette)
