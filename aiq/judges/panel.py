"""Several judgements of one report: one judge call per vote, order of presentation, and model of a panel.

The value of a metric is the mean over all calls. If a single call has no usable answer, the whole judge fails:
a mean over fewer calls would be a different measurement under the same name.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from statistics import fmean
from typing import Any, Final, Generic, Literal, NamedTuple, Self, TypeVar

from pydantic import Field, JsonValue, model_validator

from aiq.core.concurrency import gather_bounded
from aiq.core.errors import JudgeError
from aiq.core.reports import Score
from aiq.core.session import Session
from aiq.core.settings import OneOrMore, Settings
from aiq.judges.structured import ask
from aiq.stats.noise import NOISE, Judgement, noise_of

T = TypeVar("T")
Order = Literal["first", "swapped"]

_CONCURRENCY: Final = 4  # concurrent judgements of one report; the run's concurrency multiplies it


class PanelSettings(Settings):
    """Who judges, and how often."""

    votes: int = Field(ge=1, le=99, description="judgements per model, each with its own seed")
    panel: OneOrMore = Field(description="models that judge, such as [model-a, model-b]; empty: the role's own model")
    temperature: float | None = Field(ge=0, le=2, description="temperature of the judgements; null: the role's")
    tries: int = Field(ge=1, description="attempts to get a usable answer from a model")

    @model_validator(mode="after")
    def _members_differ(self) -> Self:
        if len({*self.panel}) < len(self.panel) or not all(map(str.strip, self.panel)):
            raise ValueError("panel repeats a model, or has an empty name; for more judgements of one model set votes")
        return self


class Vote(NamedTuple, Generic[T]):
    """A judgement: the parsed answer of a call, and the tries it took. `number` counts from 0."""

    model: str
    order: Order
    number: int
    answer: T
    tries: int


class Panel:
    """The calls of a judge in one role. `orders`: the orders in which reports are presented."""

    def __init__(self, role: str, settings: PanelSettings, orders: Sequence[Order] = ("first",)) -> None:
        self._role = role
        self._options: dict[str, Any] = settings.model_dump(include={"tries", "temperature"}, exclude_none=True)
        self._calls = list(product(settings.panel or (None,), orders, range(settings.votes)))
        self.panels = {role: settings.panel} if settings.panel else {}

    async def ask(
        self, session: Session, prompts: Mapping[Order, str], read: Callable[[str, Order], T]
    ) -> list[Vote[T]]:
        """One judgement per call: by member, then order, then vote; `prompts` has one prompt per order.

        Raises JudgeError if a call has no usable answer, and what `structured.ask` raises.
        """

        async def judge(call: tuple[str | None, Order, int]) -> Vote[T]:
            model, order, vote = call
            options = {**self._options, "vote": vote, "model": model}
            try:
                answer, tries = await ask(session, self._role, prompts[order], lambda t: read(t, order), **options)
            except JudgeError as error:
                if len(self._calls) == 1:
                    raise
                origin = f"{f'{model}, ' if model else ''}order {order}, vote {vote + 1}: one of {len(self._calls)}"
                raise JudgeError(f"{error} ({origin} judgements, all of which count)") from None
            return Vote(model or session.models.name(self._role), order, vote, answer, tries)

        return await gather_bounded(self._calls, judge, _CONCURRENCY)


def mean_score(
    metric: str,
    votes: Sequence[Vote[T]],
    values: Sequence[float],
    detail: Mapping[str, JsonValue],
    vote_details: Sequence[Mapping[str, JsonValue]],
) -> Score:
    """The mean of the judgements' values.

    The detail lists each judgement with its origin and part of `vote_details`, and the `noise` if there are several.
    """
    judgements: list[JsonValue] = [
        {"model": vote.model, "order": vote.order, "vote": vote.number + 1, "tries": vote.tries, "value": value, **rest}
        for vote, value, rest in zip(votes, values, vote_details, strict=True)
    ]
    noise = noise_of([Judgement(vote.model, vote.order, value) for vote, value in zip(votes, values, strict=True)])
    spread: dict[str, JsonValue] = {} if noise is None else {NOISE: noise.model_dump(mode="json")}
    return Score(metric=metric, value=fmean(values), detail={**detail, "judgements": judgements, **spread})
