"""Several judgements of one report: votes, orders of presentation, and a panel of models; each is a judge call.

The value of a metric is the mean over all calls. One call without a usable answer is a failure of the judge as
a whole: a mean over fewer would be another measurement under the same name.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, Final, Generic, Literal, NamedTuple, Self, TypeVar

from pydantic import Field, JsonValue, model_validator

from aiq.core.errors import JudgeError
from aiq.core.gather import gather_bounded
from aiq.core.reports import Score
from aiq.core.session import Session
from aiq.core.settings import OneOrMore, Settings
from aiq.judges.structured import ask
from aiq.stats.noise import NOISE, Judgement, noise_of

T = TypeVar("T")
Order = Literal["first", "swapped"]

_AT_ONCE: Final = 4  # judgements of one report under way together; the run's concurrency multiplies it


class PanelSettings(Settings):
    """Who judges, and how often.

    `votes`: judgements a model, each with a seed of its own. `panel`: models that judge, instead of the
    role's one. `temperature`: of the judgements; None: the role's. `tries`: questions to a model until its
    answer is usable.
    """

    votes: int = Field(default=1, ge=1, le=99)
    panel: OneOrMore = ()
    temperature: float | None = Field(default=None, ge=0, le=2)
    tries: int = Field(default=3, ge=1)

    @model_validator(mode="after")
    def _members_differ(self) -> Self:
        if len(set(self.panel)) < len(self.panel) or not all(name.strip() for name in self.panel):
            raise ValueError("panel names a model twice, or an empty one; for more judgements of one model set votes")
        return self


class JudgeCall(NamedTuple):
    """Where a judgement comes from. `model`: of the panel, None for the role's own. `vote` counts from 0."""

    model: str | None
    order: Order
    vote: int


class Vote(NamedTuple, Generic[T]):
    """A judgement: what was read from the usable answer, the tries it took, and the model that gave it."""

    call: JudgeCall
    model: str
    answer: T
    tries: int


class Panel:
    """The calls of a judge in one role. `orders`: in which orders the prompt is put."""

    def __init__(self, role: str, settings: PanelSettings, orders: Sequence[Order] = ("first",)) -> None:
        self._role = role
        self._settings = settings
        models = settings.panel or (None,)
        self._calls = [JudgeCall(m, order, vote) for m in models for order in orders for vote in range(settings.votes)]
        self.panels = {role: settings.panel} if settings.panel else {}

    async def ask(
        self, session: Session, prompt: Callable[[Order], str], read: Callable[[str, Order], T]
    ) -> list[Vote[T]]:
        """A judgement a call: member by member, order by order, vote by vote.

        Raises JudgeError where a call has no usable answer, and what `structured.ask` raises.
        """
        prompts = {call.order: prompt(call.order) for call in self._calls}

        async def one(call: JudgeCall) -> Vote[T]:
            return await self._judge(session, call, prompts[call.order], lambda text: read(text, call.order))

        return await gather_bounded(self._calls, one, _AT_ONCE)

    async def _judge(self, session: Session, call: JudgeCall, prompt: str, read: Callable[[str], T]) -> Vote[T]:
        given = {"model": call.model, "temperature": self._settings.temperature}
        options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        try:
            answer, tries = await ask(
                session, self._role, prompt, read, tries=self._settings.tries, vote=call.vote, **options
            )
        except JudgeError as error:
            if len(self._calls) == 1:
                raise
            which = ", ".join([*filter(None, [call.model]), f"order {call.order}", f"vote {call.vote + 1}"])
            raise JudgeError(f"{error} ({which}: one of {len(self._calls)} judgements, all of which count)") from None
        return Vote(call, call.model or session.models.name(self._role), answer, tries)


def mean_score(
    metric: str,
    votes: Sequence[Vote[T]],
    values: Sequence[float],
    detail: Mapping[str, JsonValue],
    shown: Callable[[T], Mapping[str, JsonValue]],
) -> Score:
    """The mean of the judgements' values. The detail lists each with its place and, of several, their `noise`."""
    judged = list(zip(votes, values, strict=True))
    judgements: list[JsonValue] = [
        {
            "model": vote.model,
            "order": vote.call.order,
            "vote": vote.call.vote + 1,
            "tries": vote.tries,
            "value": value,
            **shown(vote.answer),
        }
        for vote, value in judged
    ]
    noise = noise_of(
        [
            Judgement(member=vote.model, order=vote.call.order, vote=vote.call.vote, value=value)
            for vote, value in judged
        ]
    )
    spread: dict[str, JsonValue] = {} if noise is None else {NOISE: noise.model_dump(mode="json")}
    return Score(metric=metric, value=fmean(values), detail={**detail, "judgements": judgements, **spread})
