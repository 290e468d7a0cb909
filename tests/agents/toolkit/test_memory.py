"""What an agent remembers of a conversation in the run's store, in memory and in a file."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from aiq.agents.toolkit.memory import EMBEDDED_CHARS, Memory
from aiq.core.errors import ModelError
from aiq.core.llm_settings import LlmSettings, RetrySettings
from aiq.core.run_settings import CheckpointerSettings
from aiq.core.text import utf8_safe
from aiq.experiment.memory_store import lazy_store
from aiq.llm.http import AsyncBaseTransport, Request, Response
from aiq.llm.models import RunModels
from aiq.llm.transport import open_client
from aiq.offline.protocol.validation import read_json
from tests.sessions import NOW, make_session
from tests.settings import configured

Store = Callable[[], Any]


@pytest.fixture(params=["memory", "sqlite"])
def checkpointer(request: pytest.FixtureRequest, tmp_path: Path) -> CheckpointerSettings:
    return configured(CheckpointerSettings, kind=request.param, path=str(tmp_path / "checkpoints.db"))


@pytest.fixture
async def store(checkpointer: CheckpointerSettings) -> AsyncIterator[Store]:
    async with lazy_store(checkpointer) as store:
        yield store


def memory(store: Store, attempt: str = "") -> Memory:
    return Memory(make_session(store=store, memory=attempt), "a.memory")


async def test_recent_turns_are_in_order_although_a_runs_clock_stands_still(store: Store) -> None:
    mem = memory(store)
    assert await mem.recent("rivers", 5) == []
    for number in range(12):
        await mem.remember("rivers", f"question {number}", f"answer {number}", NOW)
    turns = await memory(store).recent("rivers", 3)  # read by another session
    assert [(turn.query, turn.answer, turn.at) for turn in turns] == [
        (f"question {number}", f"answer {number}", NOW) for number in (9, 10, 11)
    ]
    assert len(await mem.recent("rivers", 50)) == 12
    assert await mem.recent("rivers", 0) == []


async def test_similar_turns_are_found_by_their_question_best_first(store: Store) -> None:
    mem = memory(store)
    answers = {
        "What are the side effects of ibuprofen?": "Nausea.",
        "How deep is Lake Baikal?": "1,642 m.",
        "布洛芬有哪些副作用？": "恶心。",
        "The side effects of ibuprofen, please": "Heartburn.",
    }
    for query, answer in answers.items():
        await mem.remember("t", query, answer, NOW)
    turns = await mem.similar("t", "Which side effects does ibuprofen have?", 5, 0.5)
    assert [turn.answer for turn in turns] == ["Nausea.", "Heartburn."]
    assert 1 > (turns[0].similarity or 0) > (turns[1].similarity or 0) >= 0.5
    assert await mem.similar("t", "Which side effects does ibuprofen have?", 1, 0.5) == turns[:1]
    assert [turn.answer for turn in await mem.similar("t", "布洛芬有哪些副作用", 5, 0.75)] == ["恶心。"]
    assert await mem.similar("t", "Who won the marathon?", 5, 0.75) == []
    assert await mem.similar("t", "How deep is Lake Baikal?", 0, 0.75) == []


async def test_of_equally_similar_turns_the_latest_comes_first(store: Store) -> None:
    mem = memory(store)
    for number in range(6):
        await mem.remember("t", "How deep is Lake Baikal?", f"answer {number}", NOW + timedelta(days=number % 2))
    turns = await mem.similar("t", "how deep is lake baikal", 4, 1.0)
    assert [turn.answer for turn in turns] == [f"answer {number}" for number in (5, 4, 3, 2)]
    assert {turn.similarity for turn in turns} == {1.0}


async def test_conversations_and_attempts_do_not_share_memories(store: Store) -> None:
    names = ["a", "a.b", "a*", "A", "谈话", "a%2Eb", "half \ud800 pair"]
    for name in names:
        await memory(store, "run.1.1").remember(name, "the same question", name, NOW)
    for name in names:
        first, second = memory(store, "run.1.1"), memory(store, "run.2.1")
        for turns in (await first.recent(name, 9), await first.similar(name, "the same question", 9, 0)):
            assert [turn.answer for turn in turns] == [utf8_safe(name)]
        assert await second.recent(name, 9) == await memory(store).recent(name, 9) == []


async def test_only_a_conversation_in_a_file_outlives_its_process(
    checkpointer: CheckpointerSettings,
) -> None:
    async with lazy_store(checkpointer) as store:
        await memory(store).remember("rivers", "How long is the Danube?", "2,850 km\ud800", NOW)
    async with lazy_store(checkpointer) as store:
        answers = [turn.answer for turn in await memory(store).similar("rivers", "How long is the Danube?", 5, 0.75)]
        assert answers == ([] if checkpointer.kind == "memory" else ["2,850 km\ufffd"])


async def test_many_sessions_can_remember_at_once(store: Store) -> None:
    async def talk(name: str) -> list[str]:
        mem = memory(store)
        for number in range(5):
            await mem.remember(name, f"question {number} of {name}", f"{name} {number}", NOW)
        await mem.similar(name, "question", 5, 0)
        return [turn.answer for turn in await mem.recent(name, 5)]

    answers = await asyncio.gather(*(talk(f"thread {n}") for n in range(20)))
    assert answers == [[f"thread {n} {number}" for number in range(5)] for n in range(20)]
    await asyncio.gather(*(memory(store).remember("one", str(n), "answer", NOW) for n in range(20)))
    assert len(await memory(store).recent("one", 99)) == 20


class Embedder(AsyncBaseTransport):
    """An embedding endpoint that knows three words; the model `long` has longer vectors. Refuses `forbidden`."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    async def handle_async_request(self, request: Request) -> Response:
        body = read_json(await request.aread())
        self.asked.append(body["input"])
        if "forbidden" in body["input"]:
            return Response(400, json={"error": {"message": "flagged"}}, request=request)
        words = ["river", "stream", "lake", *(["pond"] if body["model"] == "long" else [])]
        data = [{"embedding": [0.1 + text.count(word) for word in words]} for text in body["input"]]
        return Response(200, json={"data": data}, request=request)


@asynccontextmanager
async def embedded(store: Store) -> AsyncIterator[tuple[Embedder, Callable[[str], Memory]]]:
    endpoint = Embedder()
    retry = configured(RetrySettings, attempts=1)
    settings = configured(LlmSettings, base_url="http://model.test/v1", model="chat", retry=retry)
    async with open_client(settings, offline_port=None, inner=endpoint) as client:
        session = make_session(models=RunModels(settings, client), store=store)
        with session.bind():
            yield endpoint, lambda model: Memory(session, "a.memory", model)
        assert set(session.usage.by_role()) == {"a.memory"}


async def test_each_query_is_embedded_once_through_the_session(store: Store) -> None:
    async with embedded(store) as (endpoint, of):
        mem = of("short")
        await mem.similar("t", "a river", 5, 0.75)
        await mem.remember("t", "a river", "the Danube", NOW)
        await mem.remember("t", "a lake" + "." * 2 * EMBEDDED_CHARS, "Baikal", NOW)
        assert [turn.answer for turn in await mem.similar("t", "a river", 5, 0.75)] == ["the Danube"]
        assert [len(text) for (text,) in endpoint.asked] == [len("a river"), EMBEDDED_CHARS]


async def test_turns_embedded_by_another_model_are_found_only_by_recency(store: Store) -> None:
    async with embedded(store) as (_, of):
        for model in ("short", "long"):
            await of(model).remember("t", "a river", model, NOW)
        await memory(store).remember("t", "a river", "lexical", NOW)
        for mem, answer in ((of("short"), "short"), (of("long"), "long"), (memory(store), "lexical")):
            assert [turn.answer for turn in await mem.similar("t", "a river", 5, 0.75)] == [answer]
            assert [turn.answer for turn in await mem.recent("t", 5)] == ["short", "long", "lexical"]


async def test_a_turn_whose_query_cannot_be_embedded_is_an_error_and_not_kept(store: Store) -> None:
    async with embedded(store) as (_, of):
        for work in (of("short").similar("t", "forbidden", 5, 0.75), of("short").remember("t", "forbidden", "x", NOW)):
            with pytest.raises(ModelError, match=r"a\.memory: .*flagged"):
                await work
        assert await of("short").recent("t", 5) == []


async def test_a_session_without_a_store_says_so() -> None:
    with pytest.raises(RuntimeError, match="no store to remember in"):
        await Memory(make_session(), "a.memory").recent("t", 1)
