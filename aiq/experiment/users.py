"""The user of an attempt: who answers an agent's questions and reviews its plans while nobody sits there."""

from functools import cache
from pathlib import Path

from aiq.core.models import Message, Models
from aiq.core.prompts import Prompts
from aiq.core.samples import Sample
from aiq.core.settings import UserSettings
from aiq.core.users import ApprovingUser, FeedbackUser, RejectingUser, User

ROLE = "user.simulated"
TEMPLATES = ("simulated_user.j2", "simulated_user_request.j2")


def make_user(settings: UserSettings, sample: Sample, models: Models) -> User:
    """The user that the settings name, for one attempt at one sample."""
    match settings.kind:
        case "reject":
            return RejectingUser()
        case "feedback":
            return FeedbackUser(settings.feedback)
        case "simulated":
            return SimulatedUser(sample.question.text, sample.preferences or "", models)
        case _:
            return ApprovingUser()


def prompt_hash(settings: UserSettings) -> str | None:
    """The hash of the prompts that such a user speaks by; None where it uses no model."""
    return _prompts().hash(*TEMPLATES) if settings.kind == "simulated" else None


class SimulatedUser:
    """A model that plays the person who asked. It knows the question, the preferences and what was said, no more.

    Its calls are made in the attempt's session, under the role `user.simulated`.
    """

    def __init__(self, question: str, preferences: str, models: Models) -> None:
        self._question = question
        self._preferences = preferences
        self._models = models
        self._said: list[str] = []

    async def answer(self, question: str) -> str:
        return await self._reply("question", question)

    async def review(self, plan: str) -> str:
        return await self._reply("plan", plan)

    async def _reply(self, kind: str, prompt: str) -> str:
        variable = _prompts().render(
            "simulated_user_request.j2",
            kind=kind,
            question=self._question,
            preferences=self._preferences,
            said=self._said,
            prompt=prompt,
        )
        asked = (
            Message(role="system", content=_prompts().render("simulated_user.j2")),
            Message(role="user", content=variable),
        )
        reply = (await self._models.complete(ROLE, asked)).text.strip()
        self._said += [f"Assistant: {prompt}", f"You: {reply}"]
        return reply


@cache
def _prompts() -> Prompts:
    return Prompts(Path(__file__).parent / "prompts")
