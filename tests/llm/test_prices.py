"""Usage as endpoints report it, in whatever spelling, and what limits count if they report none."""

from typing import Any

import pytest

from aiq.core.errors import LimitReached, ModelError
from aiq.core.llm_settings import LlmSettings
from aiq.core.usage import Limits
from aiq.llm.prices import PriceList, plain_usage
from tests.cases import table
from tests.llm.endpoint import OK, completed, http
from tests.settings import configured

each = table(__file__)

DOLLAR = {"m": {"input": 1_000_000, "output": 1_000_000}}
"""Prices at which each token costs a dollar."""


@each("reported")
async def test_usage_in_other_spellings_is_read_and_passed_on_as_whole_numbers(bench: Any, reported: object) -> None:
    async with bench([http(200, completed(usage=reported))]) as b:
        message = await b.models.chat("aiq.planner").ainvoke("hello")
        usage = b.session.usage.total()
        assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (10, 4, 5)
        assert usage.unreported_calls == 0
        assert message.usage_metadata["total_tokens"] == 15


@pytest.mark.parametrize(
    "reported",
    [
        *(None, {}, [], "x", {"prompt_tokens": None, "completion_tokens": 3}, {"prompt_tokens": 3}),
        *({"prompt_tokens": odd, "completion_tokens": 1} for odd in (-1, 0, 1.5, True, "nan", "many", 1e12, 10**400)),
    ],
)
def test_impossible_usage_counts_as_unreported(reported: object) -> None:
    assert plain_usage(reported) == {}
    settings = configured(LlmSettings, base_url="http://localhost/v1", model="m", prices=DOLLAR)
    usage = PriceList(settings).usage({"model": "m", "messages": [], "tools": None}, "", reported)
    assert (usage.calls, usage.unreported_calls, usage.cost_usd, usage.total_tokens) == (1, 1, 0.0, 0)
    assert usage.estimated_usd > 0


@pytest.mark.parametrize(("text", "tokens"), [("word " * 66, 100), ("\u6c34" * 160, 100), ("\u0434" * 160, 100)])
def test_tokens_are_estimated_by_script(text: str, tokens: int) -> None:
    settings = configured(LlmSettings, base_url="http://localhost/v1", model="m", prices=DOLLAR)

    def estimated(reply: str) -> float:
        return PriceList(settings).usage({"model": "m"}, reply, None).estimated_usd

    assert estimated(text) - estimated("") == pytest.approx(tokens, abs=1)


@pytest.mark.parametrize("limit", ["sample_usd", "run_usd"])
async def test_calls_without_usage_count_towards_a_limit_by_their_text_and_not_as_cost(bench: Any, limit: str) -> None:
    async with bench([http(200, completed(usage=None))], limits=configured(Limits, **{limit: 30}), prices=DOLLAR) as b:
        await b.ask(text="x" * 120)
        usage = b.session.usage.total()
        assert (usage.cost_usd, usage.unreported_calls) == (0.0, 1)
        with pytest.raises(LimitReached, match=rf"limits\.{limit}=30 reached \(.*llm\.characters_per_token"):
            await b.ask()
        assert len(b.endpoint.got) == 1


async def test_a_call_without_an_answer_counts_as_its_longest_answer(bench: Any) -> None:
    async with bench([OK], delay=5, prices=DOLLAR, max_tokens=700, retry={"attempts": 1}) as b:
        with pytest.raises(ModelError, match="no answer in time"):
            await b.ask(seconds=0.1)
        usage = b.session.usage.total()
        assert (usage.unreported_calls, usage.cost_usd) == (1, 0.0)
        assert 700 < usage.estimated_usd < 800
