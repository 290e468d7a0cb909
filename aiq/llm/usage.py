"""Tokens as an endpoint reports them, and what they cost."""

import logging
from collections.abc import Mapping
from typing import Any

from aiq.core.settings import Price
from aiq.core.usage import Usage

_log = logging.getLogger(__name__)


def _count(values: object, name: str) -> int | None:
    value = values.get(name) if isinstance(values, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


class PriceList:
    """Prices by model name. A model without one costs None, and is warned of once."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self._prices = prices
        self._warned: set[str] = set()

    def usage(self, model: str, reported: Any) -> Usage:
        """One exchange's usage from the `usage` object of a chat completion.

        An object that is absent or has no token counts gives an unreported call: its tokens and
        cost are unknown, so totals with `unreported_calls` are lower bounds.
        """
        prompt, completion = _count(reported, "prompt_tokens"), _count(reported, "completion_tokens")
        if prompt is None or completion is None:
            return Usage(calls=1, unreported_calls=1, cost_usd=self._cost(model, 0, 0, 0))
        cached = min(_count(reported.get("prompt_tokens_details"), "cached_tokens") or 0, prompt)
        return Usage(
            calls=1,
            input_tokens=prompt,
            cached_tokens=cached,
            output_tokens=completion,
            cost_usd=self._cost(model, prompt, cached, completion),
        )

    def knows(self, model: str) -> bool:
        """Whether this model has a price."""
        return model in self._prices

    def _cost(self, model: str, prompt: int, cached: int, completion: int) -> float | None:
        price = self._prices.get(model)
        if price is None:
            if model not in self._warned:
                self._warned.add(model)
                _log.warning("llm.prices has no price for model '%s': its cost is unknown", model)
            return None
        cached_price = price.input if price.cached_input is None else price.cached_input
        return ((prompt - cached) * price.input + cached * cached_price + completion * price.output) / 1e6
