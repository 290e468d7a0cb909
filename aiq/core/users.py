"""The person at the other end: answers an agent's questions and reviews its plans.

The run makes one for each attempt (`aiq.experiment.users`); in `aiq chat` it is whoever types.
"""

from collections.abc import Iterable
from typing import Protocol


class User(Protocol):
    """In evaluations a program; in `aiq chat` a person."""

    async def answer(self, question: str) -> str:
        """Reply to a clarifying question."""

    async def review(self, plan: str) -> str:
        """Reply to a plan preview: `approve`, `reject`, or feedback in words."""


class ApprovingUser:
    """Skips every question and approves every plan, so that headless runs never wait."""

    async def answer(self, question: str) -> str:
        return "skip"

    async def review(self, plan: str) -> str:
        return "approve"


class RejectingUser(ApprovingUser):
    """Skips every question and rejects every plan."""

    async def review(self, plan: str) -> str:
        return "reject"


class FeedbackUser(ApprovingUser):
    """Skips every question; says one remark of each plan as long as there are some, then approves."""

    def __init__(self, remarks: Iterable[str]) -> None:
        self._remarks = iter(remarks)

    async def review(self, plan: str) -> str:
        return next(self._remarks, "approve")
