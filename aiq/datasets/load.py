"""From dataset settings to samples: reads, joins the truth, checks ids, and chooses among the samples."""

from collections.abc import Sequence

from pydantic import ValidationError

from aiq.core.errors import AiqError, DatasetError
from aiq.core.files import Files
from aiq.core.plugins import describe, failure
from aiq.core.run_settings import DatasetSettings
from aiq.core.samples import Sample
from aiq.core.seeds import derive
from aiq.datasets.base import Dataset, DatasetSource, read_truth

_TAGS = {"split": ("split",), "language": ("language",), "type": ("fact_type", "topic", "type")}
"""The tags that a setting compares with."""


def load(settings: DatasetSettings, *, seed: int, limit: int | None) -> Dataset:
    """The chosen samples of a dataset. `seed` draws `dataset.sample`; `limit` keeps the first n.

    Raises DatasetError for files, rows and filters, ConfigError for unknown settings of the class.
    """
    if settings.path is not None and settings.hub is not None:
        raise DatasetError("dataset.path and dataset.hub are both set; leave one of them null")
    source: DatasetSource = settings.make("dataset")[0]
    try:
        samples = list(source.samples())
    except ValidationError as error:
        raise DatasetError(f"{settings.target} made a sample that is none: {describe(error)}") from None
    except AiqError:
        raise
    except Exception as error:
        raise DatasetError(f"{settings.target} cannot read its samples: {failure(error)}") from error
    place = settings.path or settings.hub
    ids = _numbers([sample.id for sample in samples])
    threads = _numbers([sample.question.thread_id for sample in samples])
    for key, (first, second, *_) in ids.items():
        raise DatasetError(f"{place}: samples {first} and {second} have the same id {key}; give each its own")
    for thread, (first, second, *_) in threads.items():
        raise DatasetError(
            f"{place}: samples {first} and {second} have the same thread_id {thread}, and samples are asked at once, "
            "in any order; give each its own, and put what was said before into history"
        )
    files = Files()
    truths = read_truth(files, settings.path, settings.truth)
    files.count(source.fingerprint.encode())
    for number, sample in enumerate(samples):
        if sample.id in truths:
            samples[number] = sample.model_copy(update={"truth": truths[sample.id]})
    chosen = select(samples, settings, seed=seed, limit=limit)
    return Dataset(name=settings.name, samples=chosen, fingerprint=files.fingerprint, size=len(samples))


def _numbers(values: Sequence[str | None]) -> dict[str, list[int]]:
    """Where each value is that several samples have, the first sample being 1."""
    places: dict[str, list[int]] = {}
    for number, value in enumerate(values, start=1):
        if value is not None:
            places.setdefault(value, []).append(number)
    return {value: numbers for value, numbers in places.items() if len(numbers) > 1}


def select(samples: Sequence[Sample], settings: DatasetSettings, *, seed: int, limit: int | None) -> tuple[Sample, ...]:
    """The samples that pass every filter, in dataset order.

    `split` and `language` compare with the sample's; `type` with its `fact_type`, `topic` or `type`;
    case does not count. Raises DatasetError when an id does not exist or a filter leaves nothing.
    """
    chosen = list(samples) if settings.ids is None else _by_ids(samples, settings.ids, settings.name)
    for setting in _TAGS:
        if (value := getattr(settings, setting)) is not None:
            chosen = _by_tags(chosen, setting, value)
    if settings.sample is not None:
        order = sorted(chosen, key=lambda sample: (derive(seed, "dataset sample", sample.id), sample.id))
        drawn = {sample.id for sample in order[: settings.sample]}
        chosen = [sample for sample in chosen if sample.id in drawn]
    return tuple(chosen[:limit])


def _by_ids(samples: Sequence[Sample], wanted: Sequence[str], name: str) -> list[Sample]:
    known = {sample.id: sample for sample in samples}
    absent = [key for key in wanted if key not in known]
    if absent:
        there = f" (it has {len(samples)}, from {samples[0].id} to {samples[-1].id})" if samples else ""
        raise DatasetError(f"dataset.ids: {name} has no sample {', '.join(absent[:5])}{there}")
    if not wanted:
        raise DatasetError("dataset.ids is empty; name at least one id, or leave it out for all samples")
    return [sample for sample in samples if sample.id in wanted]


def _by_tags(samples: Sequence[Sample], setting: str, value: str) -> list[Sample]:
    def values(sample: Sample) -> set[str]:
        found = [sample.tags.get(name) for name in _TAGS[setting]]
        found += [sample.question.language] if setting == "language" else []
        return {text.lower() for text in found if text}

    kept = [sample for sample in samples if value.lower() in values(sample)]
    if not kept:
        there = sorted(set().union(*map(values, samples)))
        listed = f"there are {', '.join(there[:8])}" if there else f"no sample has a {setting}"
        raise DatasetError(f"dataset.{setting}={value} leaves no sample; {listed}")
    return kept
