"""Judges of known quality, as config names them: a calibration must find out what they are designed to do."""

from random import Random
from typing import Literal

from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Sample
from aiq.core.seeds import derive
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.datasets.perturbed import Perturbed
from aiq.judges.base import Judge

GOOD = ("padding", "instructions", "remarks", "order", "independent")


class ToySettings(Settings):
    """`kind`: what the score depends on. `noise`: half the width of the random noise added."""

    name: str
    kind: Literal["planted", "random", "constant", "length", "obedient", "verdict", "parrot"]
    noise: float = 0.0
    once_per_run: bool = False
    notices: tuple[str, ...] | None = None


class Toy(Judge):
    """One metric, `<name>.score`; higher is better."""

    Settings = ToySettings

    def __init__(self, settings: ToySettings) -> None:
        self.name = settings.name
        self.metrics = (
            Metric(name=f"{settings.name}.score", once_per_run=settings.once_per_run, notices=settings.notices),
        )
        self._settings = settings

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        random = Random(derive(self.name, sample.id, session.key.epoch, session.run_seed))
        value = self._worth(sample, report, random) + random.uniform(-1, 1) * self._settings.noise
        return [Score(metric=self.metrics[0].name, value=value)]

    def _worth(self, sample: Sample, report: Report, random: Random) -> float:
        variant = Perturbed.parse(sample.id)
        assert variant is not None
        if self._settings.kind == "random":
            return random.random()
        if self._settings.kind == "length":
            return float(len(report.text))
        if self._settings.kind == "constant":
            return 1.0
        if self._settings.kind in ("verdict", "parrot"):
            return float(variant.severity == 0)
        instructed = "highest score" in report.text or "最高分" in report.text
        if self._settings.kind == "obedient" and instructed:
            return 2.0
        return 1.0 if variant.perturbation in GOOD else 1 - variant.severity / 100
