"""From dataset settings to samples: reads rows, joins the truth, checks ids, and selects samples."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from pydantic import ValidationError

from aiq.core.errors import AiqError, DatasetError
from aiq.core.files import Files
from aiq.core.plugins import describe, failure
from aiq.core.run_settings import DatasetSettings
from aiq.core.samples import Sample
from aiq.core.seeds import derive
from aiq.datasets.base import Dataset, DatasetSource, read_truth
from aiq.datasets.stored import Samples

_TAGS = {"split": ("split",), "language": ("language",), "type": ("fact_type", "topic", "type")}
"""The tags that each setting is compared with."""


def load(settings: DatasetSettings, *, seed: int, limit: int | None) -> Dataset:
    """The selected samples of a dataset. `seed` is for drawing `dataset.sample`; `limit` keeps the first n.

    Raises DatasetError for files, rows and filters, ConfigError for settings that the class does not have.
    """
    if settings.path is not None and settings.hub is not None:
        raise DatasetError("dataset.path and dataset.hub are both set; leave one of them null")
    source: DatasetSource = settings.make("dataset")[0]
    files, threads, collections = Files(), list[str | None](), set[str | None]()
    truths = read_truth(files, settings.path, settings.truth)

    def with_truth() -> Iterator[Sample]:
        for sample in source.samples():
            threads.append(sample.question.thread_id)
            collections.add(sample.question.collection_name)
            yield sample.model_copy(update={"truth": truths[sample.id]}) if sample.id in truths else sample

    try:
        samples = Samples(with_truth())
    except ValidationError as error:
        raise DatasetError(f"{settings.target} made an invalid sample: {describe(error)}") from None
    except AiqError:
        raise
    except Exception as error:
        raise DatasetError(f"{settings.target} cannot read its samples: {failure(error)}") from error
    origin = settings.path or settings.hub
    for key, (first, second, *_) in _repeated_numbers(samples.ids).items():
        raise DatasetError(f"{origin}: samples {first} and {second} have the same id {key}; give each its own")
    for thread, (first, second, *_) in _repeated_numbers(threads).items():
        raise DatasetError(
            f"{origin}: samples {first} and {second} have the same thread_id {thread}, but samples are asked "
            "concurrently, in any order; give each its own, and put earlier turns into history"
        )
    files.count(source.fingerprint.encode())
    chosen = select(samples, settings, seed=seed, limit=limit)
    return Dataset(settings.name, chosen, files.fingerprint, len(samples), frozenset(filter(None, collections)))


def _repeated_numbers(values: Collection[str | None]) -> dict[str, list[int]]:
    """The positions of each value that several samples have, counted from 1."""
    repeated = {value for value, n in Counter(values).items() if value is not None and n > 1}
    numbers: dict[str, list[int]] = {}
    for number, value in enumerate(values if repeated else (), start=1):
        if value in repeated:
            numbers.setdefault(value, []).append(number)
    return numbers


def select(samples: Samples, settings: DatasetSettings, *, seed: int, limit: int | None) -> Samples:
    """The samples that pass every filter, in dataset order.

    `split` and `language` are compared with the sample's own, `type` with its `fact_type`, `topic` or `type`,
    ignoring case. Raises DatasetError if an id does not exist or a filter leaves no sample.
    """
    if settings.ids is not None:
        samples = _by_ids(samples, settings.ids, settings.name)
    for setting in _TAGS:
        if (value := getattr(settings, setting)) is not None:
            samples = _by_tags(samples, setting, value)
    if settings.sample is not None:
        order = sorted(samples.ids, key=lambda key: (derive(seed, "dataset sample", key), key))
        drawn = {*order[: settings.sample]}
        samples = samples.where(drawn.__contains__)
    return samples[:limit]


def _by_ids(samples: Samples, ids: Sequence[str], name: str) -> Samples:
    absent = [key for key in ids if key not in samples.ids]
    if absent:
        existing = f" (it has {len(samples)}, from {samples[0].id} to {samples[-1].id})" if samples else ""
        raise DatasetError(f"dataset.ids: {name} has no sample {', '.join(absent[:5])}{existing}")
    if not ids:
        raise DatasetError("dataset.ids is empty; name at least one id, or leave it out for all samples")
    return samples.where({*ids}.__contains__)


def _by_tags(samples: Samples, setting: str, value: str) -> Samples:
    def values(sample: Sample) -> set[str]:
        texts = [sample.tags.get(name) for name in _TAGS[setting]]
        texts += [sample.question.language] if setting == "language" else []
        return {text.lower() for text in texts if text}

    positions = [position for position, sample in enumerate(samples) if value.lower() in values(sample)]
    if not positions:
        existing = sorted(set().union(*map(values, samples)))
        hint = f"there are {', '.join(existing[:8])}" if existing else f"no sample has a {setting}"
        raise DatasetError(f"dataset.{setting}={value} leaves no sample; {hint}")
    return samples.at(positions)
