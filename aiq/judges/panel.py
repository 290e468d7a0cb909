"""Several judgements of one report: votes, orders of presentation, and a panel of models; each with a seat of its own.

The value of a metric is the mean over all seats. One seat without a usable answer is a failure of the judge as
a whole: a mean over fewer would be another measurement under the same name.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Annotated, Any, Final, Generic, Literal, NamedTuple, Self, TypeVar

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from aiq.core.errors import JudgeError
from aiq.core.reports import Score
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.judges.structured import ask, each_bounded
from aiq.stats.noise import NOISE, Judgement, noise_of

T = TypeVar("T")
Order = Literal["first", "swapped"]

_AT_ONCE: Final = 4  # judgements of one report under way together; the run's concurrency multiplies it


def _models(value: object) -> object:
    """One model may stand without brackets."""
    return (value,) if isinstance(value, str) else value


class PanelSettings(Settings):
    """Who judges, and how often.

    `votes`: judgements a model, each with a seed of its own. `panel`: models that judge, instead of the
    role's one. `temperature`: of the judgements; None: the role's. `tries`: questions to a model until its
    answer is usable.
    """

    votes: int = Field(default=1, ge=1, le=99)
    panel: Annotated[tuple[str, ...], BeforeValidator(_models)] = ()
    temperature: float | None = Field(default=None, ge=0, le=2)
    tries: int = Field(default=3, ge=1)

    @model_validator(mode="after")
    def _members_differ(self) -> Self:
        if len(set(self.panel)) < len(self.panel) or not all(name.strip() for name in self.panel):
            raise ValueError("panel names a model twice, or an empty one; for more judgements of one model set votes")
        return self


class Seat(NamedTuple):
    """Where a judgement comes from. `model`: of the panel, None for the role's own. `vote` counts from 0."""

    model: str | None
    order: Order
    vote: int


class Vote(NamedTuple, Generic[T]):
    """A judgement: what was read from the usable answer, the tries it took, and the model that gave it."""

    seat: Seat
    model: str
    answer: T
    tries: int

    @property
    def where(self) -> dict[str, JsonValue]:
        """Its place, for details."""
        return {"model": self.model, "order": self.seat.order, "vote": self.seat.vote + 1, "tries": self.tries}


class Panel:
    """The seats of a judge in one role. `orders`: in which orders the prompt is put."""

    def __init__(self, role: str, settings: PanelSettings, orders: Sequence[Order] = ("first",)) -> None:
        self._role = role
        self._settings = settings
        self._seats = [
            Seat(model, order, vote)
            for model in settings.panel or (None,)
            for order in orders
            for vote in range(settings.votes)
        ]

    @property
    def panels(self) -> Mapping[str, tuple[str, ...]]:
        """The panel's models by role; empty where the role's own model judges."""
        return {self._role: self._settings.panel} if self._settings.panel else {}

    async def ask(
        self, session: Session, prompt: Callable[[Order], str], read: Callable[[str, Order], T]
    ) -> list[Vote[T]]:
        """One judgement a seat: member by member, order by order, vote by vote.

        Raises JudgeError where a seat has no usable answer, and what `asking.ask` raises.
        """
        prompts = {seat.order: prompt(seat.order) for seat in self._seats}

        async def one(seat: Seat) -> Vote[T]:
            return await self._judge(session, seat, prompts[seat.order], lambda text: read(text, seat.order))

        return await each_bounded(self._seats, one, _AT_ONCE)

    async def _judge(self, session: Session, seat: Seat, prompt: str, read: Callable[[str], T]) -> Vote[T]:
        options: dict[str, Any] = {} if seat.model is None else {"model": seat.model}
        if self._settings.temperature is not None:
            options["temperature"] = self._settings.temperature
        try:
            answer, tries = await ask(
                session, self._role, prompt, read, tries=self._settings.tries, vote=seat.vote, **options
            )
        except JudgeError as error:
            if len(self._seats) == 1:
                raise
            which = ", ".join([*filter(None, [seat.model]), f"order {seat.order}", f"vote {seat.vote + 1}"])
            raise JudgeError(f"{error} ({which}: one of {len(self._seats)} judgements, all of which count)") from None
        return Vote(seat, seat.model or session.models.name(self._role), answer, tries)


def mean_score(
    metric: str,
    votes: Sequence[Vote[T]],
    values: Sequence[float],
    detail: Mapping[str, JsonValue],
    shown: Callable[[T], Mapping[str, JsonValue]],
) -> Score:
    """The mean of the judgements' values. The detail lists each with its place and, of several, their `noise`."""
    judgements: list[JsonValue] = [
        {**vote.where, "value": value, **shown(vote.answer)} for vote, value in zip(votes, values, strict=True)
    ]
    noise = noise_of(
        [
            Judgement(member=vote.model, order=vote.seat.order, vote=vote.seat.vote, value=value)
            for vote, value in zip(votes, values, strict=True)
        ]
    )
    spread: dict[str, JsonValue] = {} if noise is None else {NOISE: noise.model_dump(mode="json")}
    return Score(metric=metric, value=fmean(values), detail={**detail, "judgements": judgements, **spread})
