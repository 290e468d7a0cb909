"""Rules on when a ReAct loop stops, and what it keeps (specification 1.5)."""

from collections.abc import Sequence

from pydantic import validate_call

from aiq.agents.shannon.records import AgentResult

COMPLETE_PHRASES = (
    "task complete", "problem solved", "found the answer", "successfully completed", "objective achieved",
    "goal reached", "finished", "done",
)  # fmt: skip
"""Phrases of a thought that says nothing is left to do."""

SUCCESS_PHRASES = ("success", "correct", "solved", "answer is", "found", "comprehensive")
"""Phrases of an observation that says nothing is left to do."""


def is_task_complete(text: str) -> bool:
    """Whether a thought says that the task is done; any substring counts, even that of "not finished" (1.5)."""
    return any(phrase in text.lower() for phrase in COMPLETE_PHRASES)


def _length_ratio(first: str, second: str) -> float:
    """The ratio of the lengths in bytes; infinite if `second` is empty."""
    length = len(second.encode())
    return len(first.encode()) / length if length else float("inf")


def observations_similar(first: str, second: str) -> bool:
    """Equal, or neither over twice as long in bytes as the other and over 70 % of `second`'s words in `first` (1.5).

    Words of up to 3 bytes count as not found.
    """
    if first == second:
        return True
    if not 0.5 <= _length_ratio(first, second) <= 2.0:
        return False
    first_words, words = set(first.split()), second.split()
    return bool(words) and sum(len(word.encode()) > 3 and word in first_words for word in words) / len(words) > 0.7


@validate_call
def react_should_stop(
    observations: Sequence[str], thoughts: Sequence[str], results: Sequence[AgentResult], iteration: int
) -> bool:
    """Whether a loop stops after `iteration` rounds, from the second on (1.5).

    It stops if there is a thought and one of the last 3 observations reports success; if the last two are similar; or
    if the last two results found equally many URLs and the last two observations are about as long (0.8 to 1.2).
    """
    if iteration < 2:
        return False
    if thoughts and any(phrase in text.lower() for text in observations[-3:] for phrase in SUCCESS_PHRASES):
        return True
    if len(observations) < 2:
        return False
    previous, last = observations[-2:]
    if observations_similar(previous, last):
        return True
    counts = [_url_count(result) for result in results[-2:]]
    return len(counts) == 2 and counts[0] == counts[1] > 0 and 0.8 < _length_ratio(last, previous) < 1.2


def _url_count(result: AgentResult) -> int:
    outputs = (o.output for o in result.tool_outputs if o.success and o.tool == "web_search")
    return sum(output.count("http") for output in outputs if isinstance(output, str))


def truncate_observations(observations: Sequence[str], maximum: int = 20) -> list[str]:
    """The last observations, at most `maximum` including a note that replaces the dropped ones (1.5)."""
    dropped = len(observations) - maximum + 1
    if dropped <= 1:
        return list(observations)
    return [f"[{dropped} older observations truncated]", *observations[dropped:]]
