"""Summaries and compaction of old tool results: bounded, deterministic, and affecting only what the model sees."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from aiq.agents.ai_q.settings import ShallowSettings
from aiq.agents.ai_q.shallow import ShallowResearcher
from aiq.agents.ai_q.states import ShallowResearchAgentState
from aiq.agents.toolkit.compaction import MARK, CompactionSettings, compacted, summary
from aiq.core.events import Decision, ToolReturned
from aiq.offline.chat import ChatReply, ChatRequest
from aiq.tools.blocks import SEPARATOR, document
from tests.agents.conftest import PROMPTS, WebSearch, on_bench
from tests.agents.replies import results, search, turn_of
from tests.settings import configured

LONG = "A sentence about farms. " * 60


FILLER = "The valley has many farms and mills. Its fairs are held in spring. " * 12
PAGES = SEPARATOR.join(
    [
        document("https://a.test/orlune", "Orlune", f"{FILLER}The mayor of Orlune is Ada Venn. {FILLER}", "2026-03-01"),
        document("https://b.test/fairs", "Fairs of the valley", FILLER),
    ]
)
PAPERS = "1. **On rivers** (2024)\n   - **Publication**: River Studies\n   - **Link**: https://c.test/p\n" + FILLER
KNOWLEDGE = f"Found 1 relevant document(s):\n--- Result 1 ---\nSource: a.pdf\nPage: 15\nCitation: a.pdf, p.15\n{FILLER}"
FINDINGS = f"{FILLER}\n\n**Sources**\n[1] Orlune - https://a.test/orlune\n[2] Plan - report.pdf, p.15"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param(
            PAGES,
            [
                '<Document href="https://a.test/orlune">',
                "<title>\nOrlune\n</title>",
                "<published>2026-03-01</published>",
                "</Document>",
                '<Document href="https://b.test/fairs">',
                "<title>\nFairs of the valley\n</title>",
            ],
            id="search-and-fetch",
        ),
        pytest.param(PAPERS, ["1. **On rivers** (2024)", "- **Link**: https://c.test/p"], id="papers"),
        pytest.param(KNOWLEDGE, ["--- Result 1 ---", "Source: a.pdf", "Citation: a.pdf, p.15"], id="knowledge"),
        pytest.param(FINDINGS, ["[1] Orlune - https://a.test/orlune", "[2] Plan - report.pdf, p.15"], id="findings"),
    ],
)
def test_url_title_and_citation_lines_stay(text: str, lines: list[str]) -> None:
    short = summary(text, 600)
    assert len(short) <= 600
    for line in lines:
        assert line in short
    assert short.splitlines()[-1] == MARK


def test_sentences_that_match_the_query_are_kept_in_their_document() -> None:
    short = summary(PAGES, 500, "current mayor of Orlune")
    assert "The mayor of Orlune is Ada Venn." in short.partition("https://b.test")[0]
    assert "The mayor of Orlune" not in summary(PAGES, 500, "spring fairs")
    chinese = document("https://z.test/", "城市", "这里有许多农场。" * 60 + "奥伦的市长是林安。" + "春天有集市。" * 60)
    assert "奥伦的市长是林安。" in summary(chinese, 300, "奥伦的市长是谁")


@settings(max_examples=30)
@given(st.text(max_size=3000), st.integers(200, 2500), st.text(max_size=40))
def test_summaries_are_bounded_and_deterministic(text: str, most: int, about: str) -> None:
    short = summary(text, most, about)
    assert len(short) <= most
    assert len(text) > most or short == text
    assert short == summary(text, most, about)


# Compaction of a conversation.


def chain(count: int) -> list[AnyMessage]:
    """A question and `count` calls with a long result each."""
    messages: list[AnyMessage] = [HumanMessage("Who is the mayor?")]
    for n in range(count):
        tool_call = {"name": "web_search_tool", "args": {"query": f"query {n}"}, "id": f"c{n}"}
        messages += [
            AIMessage("", tool_calls=[tool_call]),
            ToolMessage(document(f"https://p.test/{n}", "T", LONG), tool_call_id=f"c{n}"),
        ]
    return messages


def sizes(messages: list[AnyMessage]) -> list[int]:
    return [len(str(m.content)) for m in messages if isinstance(m, ToolMessage)]


WHOLE = sizes(chain(1))[0]


@pytest.mark.parametrize(
    ("settings", "short"),
    [
        pytest.param({"enabled": False, "max_chars": 1}, 0, id="enabled-false"),
        pytest.param({"max_chars": 10**6}, 0, id="max_chars-not-reached"),
        pytest.param({"max_chars": 5 * WHOLE, "keep_last": 2}, 2, id="oldest-first-until-all-fit"),
        pytest.param({"max_chars": 1, "keep_last": 3}, 3, id="keep_last"),
        pytest.param({"max_chars": 1, "keep_last": 9}, 0, id="keep_last-of-all"),
        pytest.param({"max_chars": 1, "keep_last": 0}, 6, id="keep_last-none"),
    ],
)
async def test_the_oldest_results_are_shortened(settings: dict[str, Any], short: int) -> None:
    messages = chain(6)
    async with on_bench(lambda request: ChatReply(text="x")):
        shown = compacted(messages, configured(CompactionSettings, extract_chars=300, **settings))
    assert [size <= 300 for size in sizes(shown)] == [True] * short + [False] * (6 - short)
    assert [m.tool_call_id for m in shown if isinstance(m, ToolMessage)] == [f"c{n}" for n in range(6)]
    assert sizes(messages) == [WHOLE] * 6  # the messages in the state are unchanged


async def test_a_long_chain_stays_bounded_and_nothing_is_lost_elsewhere() -> None:
    def script(request: ChatRequest) -> ChatReply:
        return search(f"q{turn_of(request)}") if request.tools else ChatReply(text="A [1].")

    settings = configured(
        ShallowSettings,
        max_tool_iterations=12,
        max_llm_turns=20,
        compaction=configured(CompactionSettings, max_chars=4000, keep_last=2, extract_chars=200),
    )
    async with on_bench(script, search=WebSearch(text=LONG)) as bench:
        state = ShallowResearchAgentState(messages=[HumanMessage("Who?")])
        result = await ShallowResearcher(settings, PROMPTS).run(state)
    shown_sizes = [sum(map(len, results(request))) for request in bench.endpoint.requests]
    assert max(shown_sizes) <= max(4000, 2 * 1600 + 10 * 200)
    texts = results(bench.endpoint.requests[-1])
    assert all(f'<Document href="https://pages.test/q{n}">' in text for n, text in enumerate(texts))
    assert [MARK in text for text in texts] == [True] * 10 + [False] * 2
    assert all(len(event.content) > 1400 for event in bench.logged(ToolReturned))
    assert all(source.text == LONG for source in bench.session.sources.all())
    assert len(bench.session.sources.all()) == 12
    assert all(MARK not in str(message.content) for message in result.messages)
    notes = [event for event in bench.logged(Decision) if event.name == "compaction"]
    assert notes[-1].value == 10
    assert notes[-1].detail["characters_after"] == shown_sizes[-1] < notes[-1].detail["characters_before"]
