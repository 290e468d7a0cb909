from typing import Any

import pytest

from aiq.agents.shannon.rules import (
    estimate_tokens,
    merge_memory,
    needs_compression,
    split_tokens,
    window_share,
)
from tests.cases import table

each = table(__file__)


@pytest.mark.parametrize(
    ("total", "split"),
    [(-7, (-4, -3)), (0, (0, 0)), (1, (0, 1)), (5, (3, 2)), (7, (4, 3)), (10, (6, 4)), (999, (599, 400))],
)
def test_a_total_is_split_in_60_to_40(total: int, split: tuple[int, int]) -> None:
    assert split_tokens(total) == split


@pytest.mark.parametrize(
    ("messages", "tokens"),
    [
        ([], 0),
        ([""], 5),
        (["user: hello"], 7),
        ([{"role": "user", "content": "hello"}], 7),
        ("user: hello", 7),
        (["abc", "abc"], 11),
        (["中文"], 6),
        (["字"] * 4, 23),
    ],
)
def test_tokens_are_a_quarter_of_all_bytes_plus_five_per_message(messages: Any, tokens: int) -> None:
    assert estimate_tokens(messages) == tokens


@each("window")
def test_the_windows_of_tiers(tier: str, window: int, threshold: int, target: int) -> None:
    assert [window_share(tier, share) for share in (1, 0.75, 0.375)] == [window, threshold, target]


@each("session")
def test_when_a_conversation_is_compressed(
    session: str, messages: int, tokens: int, new: int, minutes: float | None, reason: str
) -> None:
    assert needs_compression(session, messages, tokens, "small", new, minutes) == (not reason, reason)


def test_the_numbers_of_compression_are_parameters() -> None:
    assert needs_compression("s", 3, 800, "small", 1, 2, above=2, share=0.1, pause_messages=1, pause_minutes=2) == (
        True,
        "",
    )


def test_memories_are_merged_by_kind_without_duplicates() -> None:
    recent: list[dict[str, Any]] = [{"id": "1", "answer": "a"}, {"answer": "x" * 100 + "y"}]
    semantic: list[dict[str, Any]] = [{"point_id": "p"}, {"id": 1}, {"answer": "x" * 100 + "z"}]
    merged, counts = merge_memory(recent, semantic, [{"point_id": "p"}, {"point_id": "q"}])
    assert merged == [
        {"id": "1", "answer": "a", "_source": "recent"},
        {"answer": "x" * 100 + "y", "_source": "recent"},
        {"point_id": "p", "_source": "semantic"},
        {"point_id": "q", "_source": "summary"},
    ]
    assert counts == {"recent": 2, "semantic": 1, "summary": 1, "duplicate": 3}
    assert "_source" not in recent[0]


def test_merged_memories_are_cut() -> None:
    recent, semantic, summaries = ([{"id": f"{kind}{n}"} for n in range(5)] for kind in "rsu")
    merged, counts = merge_memory(recent, semantic, summaries)
    assert [memory["id"] for memory in merged] == [f"{kind}{n}" for kind in "rs" for n in range(5)]
    assert counts == {"recent": 5, "semantic": 5, "summary": 5, "duplicate": 0}
    assert merge_memory([], [], []) == ([], {"recent": 0, "semantic": 0, "summary": 0, "duplicate": 0})
