"""What is recalled of a conversation, and which prompts show it."""

from typing import Any

import pytest

from aiq.agents.shannon.memory import in_pairs
from aiq.core.errors import ModelError
from aiq.core.samples import Turn
from tests.agents.shannon.runs import QUICK, Ran, research
from tests.cases import table

each = table(__file__)

RIVER = ("How long is the river of Orlune?", "What do people trade in Orlune?")


def shown(ran: Ran, part: str = "refiner") -> list[str]:
    """What this part's prompt shows of the conversation."""
    text = ran.asked(part)[0].messages[1].text
    return [block.partition("</conversation>")[0].strip() for block in text.split("<conversation>")[1:]]


def users(ran: Ran) -> list[str]:
    return [block.splitlines()[0].removeprefix("User: ") for block in shown(ran)]


async def recall(*before: str, ask: str = "And its mill?", said: str = "So it is [1].", **memory: Any) -> Ran:
    settings = {**QUICK, "synthesis_style": "concise", "memory": memory, "compression": {"enabled": False}}
    return await research({"synthesizer": said}, settings, {"text": ask}, before=before)


async def test_a_later_turn_remembers_what_was_asked_and_answered() -> None:
    ran = await recall(*RIVER, said="The river is 66 km long [1].")
    assert users(ran) == list(RIVER)
    assert all("Assistant: The river is 66 km long [1]" in block for block in shown(ran))
    (decision,) = ran.decided("memory")
    assert (decision.value, decision.cause) == (2, "hierarchical")
    assert decision.detail == {"recent": 2, "semantic": 0, "summary": 0, "duplicate": 0}
    for part in ("refiner", "decomposer", "researcher", "synthesizer"):
        assert shown(ran, part)[:2] == shown(ran)


async def test_the_latest_and_the_most_similar_turns_are_recalled_without_duplicates() -> None:
    topics = [f"Topic {n} of the town" for n in range(6)]
    ran = await recall("How long is the river?", *topics, ask="how long is the river")
    assert users(ran) == [*topics[1:], "How long is the river?"]
    assert ran.decided("memory")[0].detail == {"recent": 5, "semantic": 1, "summary": 0, "duplicate": 0}
    twice = await recall("How long is the river?", ask="how long is the river")
    assert users(twice) == ["How long is the river?"]
    assert twice.decided("memory")[0].detail["duplicate"] == 1


@each("remembered")
async def test_how_much_is_remembered_is_a_setting(memory: dict[str, Any], remembered: list[str]) -> None:
    ran = await recall("The river?", "Topic 1", "Topic 2", ask="The river", **memory)
    assert users(ran) == remembered


HISTORY = [Turn(speaker=speaker, text=f"{speaker} {n}") for n in range(15) for speaker in ("user", "assistant")]


@each("end")
async def test_without_memories_the_end_of_the_history_is_shown(
    thread: str | None, settings: dict[str, Any], first: str | None, pairs: int
) -> None:
    question = {"history": HISTORY, "thread_id": thread}
    ran = await research({}, {**QUICK, "memory": settings, "compression": {"enabled": False}}, question)
    assert len(users(ran)) == pairs
    assert users(ran)[:1] == [first] * (first is not None)
    assert [decision.cause for decision in ran.decided("memory")] == ["session"] * bool(pairs)


async def test_history_before_the_first_turn_is_remembered_in_later_ones() -> None:
    question = {"history": [*HISTORY[:4], Turn(speaker="user", text="user 2")], "text": "And its mill?"}
    ran = await research({}, {**QUICK, "compression": {"enabled": False}}, question, before=("How old is Orlune?",))
    assert users(ran) == ["user 0", "user 1", "user 2", "How old is Orlune?"]


async def test_a_first_turn_has_nothing_to_remember() -> None:
    ran = await research({}, QUICK, {"thread_id": "t"})
    assert not shown(ran)
    assert not ran.decided("memory")


async def test_memories_come_from_an_embedding_model_and_are_none_if_it_fails() -> None:
    settings = {**QUICK, "memory": {"embedding_model": "embedder", "recent": 0, "threshold": 0.9}}
    ran = await research({}, settings, {"text": "The river now?"}, before=("A river", "The mill"))
    assert users(ran) == ["A river"]
    endpoint: Any = ran.bench.endpoint
    assert endpoint.embedded == ["A river", "The mill", "The river now?"]  # once, to recall by and to be recalled by
    question = {"history": HISTORY[:2], "thread_id": "t"}
    failed = await research({}, {**QUICK, "memory": {"embedding_model": "500"}}, question)
    assert failed.recovered == ["memory_skipped", "memory_not_kept"]
    assert users(failed) == ["user 0"]
    with pytest.raises(ModelError, match="has not answered once"):
        await research({}, {**QUICK, "memory": {"embedding_model": "400"}}, question)


@pytest.mark.parametrize(
    ("speakers", "pairs"),
    [
        ("", []),
        ("ua", [("0", "1")]),
        ("uau", [("0", "1"), ("2", "")]),
        ("aua", [("", "0"), ("1", "2")]),
        ("uua", [("0", ""), ("1", "2")]),
        ("uaa", [("0", "1"), ("", "2")]),
    ],
)
def test_a_history_in_pairs(speakers: str, pairs: list[tuple[str, str]]) -> None:
    names = {"u": "user", "a": "assistant"}
    turns = [Turn(speaker=names[speaker], text=str(n)) for n, speaker in enumerate(speakers)]
    assert [(item.query, item.answer) for item in in_pairs(turns)] == pairs
