"""Rules on budgets: tokens, context windows, compression and merged memories (specification 1.13, 1.16)."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

WINDOWS: Mapping[str, int] = {"small": 8000, "medium": 32000, "large": 128000, "xlarge": 200000}
"""Context window of each tier's models, in tokens."""


def split_tokens(total: int) -> tuple[int, int]:
    """Input and output tokens of a call if only their sum is known: 60 %, rounded down, and the rest (1.13)."""
    input_tokens = int(total * 0.6)
    return input_tokens, total - input_tokens


def estimate_tokens(messages: str | Sequence[str | Mapping[str, str]]) -> int:
    """A quarter of the bytes, plus 5 for each message; a message is `role: content` or a mapping of the two (1.16)."""
    items = [messages] if isinstance(messages, str) else messages
    texts = [item if isinstance(item, str) else f"{item['role']}: {item['content']}" for item in items]
    return sum(len(text.encode()) for text in texts) // 4 + 5 * len(texts)


def window_share(tier: str, share: float) -> int:
    """Tokens in this share of the tier's context window; an unknown tier has 8000 (1.16)."""
    return int(WINDOWS.get(tier, 8000) * share)


def needs_compression(
    session_id: str,
    messages: int,
    tokens: int,
    tier: str,
    new_messages: int,
    minutes: float | None,
    above: int = 20,
    share: float = 0.75,
    pause_messages: int = 20,
    pause_minutes: float = 30,
) -> tuple[bool, str]:
    """Whether to compress a conversation, and why not (1.16).

    It needs a session, more messages than `above`, at least the `share` of the tier's window in tokens and, if it was
    compressed before (`minutes` ago, else None), at least `pause_messages` and `pause_minutes` since then.
    """
    if not session_id or messages <= above:
        return False, "Too few messages"
    if tokens < window_share(tier, share):
        return False, "Below token threshold"
    if minutes is not None and (new_messages < pause_messages or minutes < pause_minutes):
        return False, "Rate limited"
    return True, ""


def merge_memory(
    recent: Sequence[Mapping[str, JsonValue]],
    semantic: Sequence[Mapping[str, JsonValue]],
    summaries: Sequence[Mapping[str, JsonValue]],
    maximum: int = 10,
) -> tuple[list[dict[str, JsonValue]], dict[str, int]]:
    """Memories of all kinds, in this order, without duplicates, cut to `maximum`; and a count of each kind (1.16).

    Each gets its kind as `_source`. Those with the same `point_id`, else `id`, else first 100 characters of `answer`,
    are duplicates, counted as `duplicate`.
    """
    counts = dict.fromkeys(("recent", "semantic", "summary", "duplicate"), 0)
    memories: dict[str, dict[str, JsonValue]] = {}
    kinds = (("recent", recent), ("semantic", semantic), ("summary", summaries))
    for kind, item in [(kind, item) for kind, items in kinds for item in items]:
        key = str(item.get("point_id") or item.get("id") or f"query_{str(item.get('answer') or '')[:100]}")
        counts["duplicate" if key in memories else kind] += 1
        memories.setdefault(key, {**item, "_source": kind})
    return list(memories.values())[:maximum], counts
