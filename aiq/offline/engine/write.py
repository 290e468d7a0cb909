"""Writing prose from what was found: an answer, findings, a report, a summary, in the form that the orders ask for."""

from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Situation


def write(situation: Situation, orders: Orders) -> str:
    """The reply's text."""
    return ""
