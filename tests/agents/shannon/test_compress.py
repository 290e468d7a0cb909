"""When a conversation is compressed, and how its summary is used."""

from datetime import timedelta
from typing import Any

import pytest

from aiq.agents.shannon.agent import ShannonAgent
from aiq.agents.shannon.settings import ShannonSettings
from aiq.core.run_settings import CheckpointerSettings
from aiq.core.samples import Question, Turn
from aiq.experiment.memory_store import lazy_store
from tests.agents.conftest import on_bench
from tests.agents.shannon.runs import QUICK, Ran, Said, Shuffled, research, script
from tests.cases import table
from tests.sessions import NOW, make_session
from tests.settings import configured

each = table(__file__)


def conversation(messages: int, characters: int = 6000) -> list[Turn]:
    """A conversation with messages of this length; 21 of 6,000 characters are 31,500 tokens."""
    speakers: Any = ["user", "assistant"] * messages
    return [Turn(speaker=speakers[n], text=f"{n} ".ljust(characters, "x")) for n in range(messages)]


async def compress(history: list[Turn], said: Said = "They spoke about rivers.", **compression: Any) -> Ran:
    settings = {**QUICK, "compression": compression, "memory": {"enabled": False}}
    return await research({"compressor": said}, settings, {"history": history})


@each("long")
async def test_a_long_conversation_is_compressed(
    messages: int, characters: int, settings: dict[str, Any], why: str
) -> None:
    ran = await compress(conversation(messages, characters), **settings)
    (decision,) = ran.decided("compression")
    assert (decision.value, decision.cause) == (not why, why)
    assert decision.detail["messages"] == messages
    for part in ("refiner", "decomposer", "researcher", "synthesizer"):
        assert ("They spoke about rivers." in ran.prompt(part, 0)) == (not why)


@pytest.mark.parametrize(("settings", "target"), [({"target_share": 0.1}, 3200), ({"tier": "small"}, 3000)])
async def test_the_summary_has_its_share_of_the_window(settings: dict[str, Any], target: int) -> None:
    ran = await compress(conversation(21), **settings)
    (request,) = ran.asked("compressor")
    assert request.role == f"shannon.{settings.get('tier', 'medium')}.compressor"
    assert request.token_limit == target
    assert f"at most {target} tokens" in request.messages[0].text


async def test_it_can_be_turned_off() -> None:
    ran = await compress(conversation(30), enabled=False)
    assert not ran.decided("compression")
    assert not ran.asked("compressor")


@each("again")
async def test_a_conversation_is_compressed_again_only_after_a_while(
    added: int, minutes: float, fails: bool, summary: str, why: str
) -> None:
    agent = ShannonAgent(configured(ShannonSettings, **QUICK, memory={"enabled": False}))
    replies = iter(["The first summary.", 500, 500] if fails else ["The first summary.", "The second summary."])
    endpoint = Shuffled(script(compressor=lambda request: next(replies)))
    async with (
        lazy_store(configured(CheckpointerSettings)) as store,
        on_bench(endpoint.script, endpoint=endpoint, store=store) as bench,
    ):
        for messages, delay in ((21, 0.0), (21 + added, minutes)):
            shared = {name: getattr(bench.session, name) for name in ("models", "tools", "events", "store")}
            session = make_session(now=NOW + timedelta(minutes=delay), **shared)
            endpoint.requests.clear()
            with session.bind():
                question = Question(text="And now?", history=tuple(conversation(messages)), thread_id="t.1")
                await agent.research(question, session)
        ran = Ran(None, bench)  # type: ignore[arg-type]
        assert f"The {summary} summary." in ran.prompt("refiner")
        assert ran.decided("compression")[-1].cause == why


async def test_a_failed_summary_leaves_none() -> None:
    ran = await compress(conversation(21), 500)
    assert ran.recovered == ["compression_skipped"]
    assert "Summary of the earlier conversation" not in ran.prompt("refiner")
    blank = await compress(conversation(21), " ")
    assert "Summary of the earlier conversation" not in blank.prompt("refiner")
