"""From dataset settings to samples: reads, joins the truth, checks ids, selects."""

from aiq.core.errors import DatasetError
from aiq.core.files import Files
from aiq.core.plugins import load as load_class
from aiq.core.plugins import validate
from aiq.core.samples import Sample
from aiq.core.settings import DatasetSettings
from aiq.datasets.base import Dataset, DatasetSource
from aiq.datasets.select import select
from aiq.datasets.truth import read_truth


def load(settings: DatasetSettings, *, seed: int, limit: int | None) -> Dataset:
    """The chosen samples of a dataset. `seed` draws `dataset.sample`; `limit` keeps the first n.

    Raises DatasetError for files, rows and filters, ConfigError for unknown settings of the class.
    """
    if settings.path is not None and settings.hub is not None:
        raise DatasetError("dataset.path and dataset.hub are both set; leave one of them null")
    kind: type[DatasetSource] = load_class(settings.target, "dataset.target")
    own = {**settings.settings, "path": settings.path, "hub": settings.hub}
    source = kind(validate(kind.Settings, own, "dataset"))
    samples = list(source.samples())
    _refuse_duplicates(samples, settings)
    files = Files()
    truths = read_truth(files, settings.path, settings.truth)
    files.count(source.fingerprint.encode())
    samples = [sample.model_copy(update={"truth": truths.get(sample.id, sample.truth)}) for sample in samples]
    return Dataset(
        name=settings.name,
        samples=select(samples, settings, seed=seed, limit=limit),
        fingerprint=files.fingerprint,
        size=len(samples),
    )


def _refuse_duplicates(samples: list[Sample], settings: DatasetSettings) -> None:
    seen: dict[str, int] = {}
    for number, sample in enumerate(samples, start=1):
        first = seen.setdefault(sample.id, number)
        if first != number:
            raise DatasetError(
                f"{settings.path or settings.hub}: samples {first} and {number} have the same id {sample.id}"
            )
