"""What a model call costs: from the usage that its endpoint reports, in whatever form; else estimated from its text."""

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aiq.core.llm_settings import LlmSettings
from aiq.core.usage import Quantity, Usage

MOST_TOKENS = 100_000_000
"""Of one call: ten times the largest context there is. Anything above is not a count."""

_LATIN = re.compile("[\\u0000-\\u024f\\u1e00-\\u206f]+")
_CJK = re.compile("[\\u2e80-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\uff00-\\uffef\\U00020000-\\U0003ffff]+")

_log = logging.getLogger(__name__)


def _count(value: object) -> int | None:
    """A number of tokens, which some endpoints write as "10" or 10.0; None for anything else."""
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else -1.0
    except (ValueError, OverflowError):
        return None
    return int(number) if 0 <= number <= MOST_TOKENS and number.is_integer() else None


def plain_usage(reported: object) -> dict[str, Any]:
    """The `usage` object of an answer with whole numbers, which clients rely on, and with counts only.

    All tokens of the total beyond the prompt's count as the answer's: some endpoints leave thoughts, which are billed
    like the answer, out of its count, and embeddings have none. Empty if the tokens are unknown, as they are if the
    prompt has 0: some proxies write 0 for what they do not know.
    """
    counts = _counts(reported) if isinstance(reported, Mapping) else {}
    answer_tokens = counts.get("total_tokens", -1) - counts.get("prompt_tokens", 0)
    if answer_tokens >= 0:
        counts["completion_tokens"] = max(answer_tokens, counts.get("completion_tokens", 0))
    if not counts.get("prompt_tokens") or "completion_tokens" not in counts:
        return {}
    return {**counts, "total_tokens": counts["prompt_tokens"] + counts["completion_tokens"]}


def _counts(values: Mapping[str, Any]) -> dict[str, Any]:
    counts = {name: _counts(value) if isinstance(value, Mapping) else _count(value) for name, value in values.items()}
    return {name: value for name, value in counts.items() if value is not None}


def _cached(counts: Mapping[str, Any]) -> int:
    """The prompt tokens that came from a cache, by OpenAI's field name, Moonshot's or DeepSeek's."""
    fields = {**counts, **(counts.get("prompt_tokens_details") or {})}
    return int(fields.get("cached_tokens") or fields.get("prompt_cache_hit_tokens") or 0)


class PriceList:
    """Prices by model name. The cost of a model without one is None, with a warning the first time."""

    def __init__(self, settings: LlmSettings) -> None:
        self._prices = settings.prices
        self._ratios = settings.characters_per_token
        self._warned: set[str] = set()

    def usage(self, body: Mapping[str, Any], reply: Any, reported: object) -> Usage:
        """One exchange's usage, from the request `body`, the `reply` to it (None: none came) and the usage reported.

        Without a report it is an unreported call whose known cost is 0, with an estimate that limits count.
        """
        model, counts = str(body.get("model", "")), plain_usage(reported)
        usage = Usage(calls=1, unreported_calls=1)
        if counts:
            prompt = counts["prompt_tokens"]
            cached = min(_cached(counts), prompt)
            usage = Usage(calls=1, input_tokens=prompt, cached_tokens=cached, output_tokens=counts["completion_tokens"])
        estimate = {} if counts else self.estimate(body, reply)
        costs: dict[str, Any] = {"cost_usd": None, "estimated_tokens": estimate.get("tokens", 0)}
        if self.knows(model):
            costs |= {"cost_usd": self._prices[model].cost(usage), "estimated_usd": estimate.get("usd", 0.0)}
        elif model not in self._warned:
            self._warned.add(model)
            _log.warning("llm.prices has no price for model '%s': its cost is unknown", model)
        return replace(usage, **costs)

    def knows(self, model: str) -> bool:
        """Whether this model has a price."""
        return model in self._prices

    def estimate(self, body: Mapping[str, Any], reply: Any) -> dict[Quantity, float]:
        """Tokens and US dollars by the text sent and received; 0 dollars for a model without a price.

        A reply that did not come (None) counts as the longest that the request allows.
        """
        price = self._prices.get(str(body.get("model", "")))
        max_tokens = _count(body.get("max_completion_tokens") or body.get("max_tokens")) or 0
        usage = Usage(
            input_tokens=self._tokens(
                [body[name] for name in ("messages", "tools", "response_format", "input") if name in body]
            ),
            output_tokens=max_tokens if reply is None else self._tokens(reply),
        )
        return {"tokens": usage.total_tokens, "usd": 0.0 if price is None else price.cost(usage)}

    def tokens(self, body: Mapping[str, Any]) -> int:
        """How many tokens a call may take: those of its text, and the longest answer that it allows."""
        return round(self.estimate(body, None)["tokens"])

    def _tokens(self, value: Any) -> int:
        """How many tokens a JSON value has at `llm.characters_per_token`."""
        text = json.dumps(value, ensure_ascii=False)
        latin, cjk = (sum(map(len, script.findall(text))) for script in (_LATIN, _CJK))
        counts = ((latin, self._ratios.latin), (cjk, self._ratios.cjk), (len(text) - latin - cjk, self._ratios.other))
        return round(sum(characters / ratio for characters, ratio in counts))
