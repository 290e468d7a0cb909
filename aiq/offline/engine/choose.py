"""Choosing tools: which of those offered to call next, and with which arguments."""

from aiq.offline.chat import ToolCall
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Situation


def choose(situation: Situation, orders: Orders) -> tuple[ToolCall, ...]:
    """The next calls; none where it is time to reply."""
    return ()
