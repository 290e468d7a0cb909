"""Reads `truth.jsonl`, what the closed world knows of each sample."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from aiq.core.errors import DatasetError
from aiq.core.files import Files, find, read_rows, resolve
from aiq.core.plugins import describe
from aiq.core.samples import Truth, TruthRow


def read_truth(files: Files, path: str | None, given: str | None) -> Mapping[str, Truth]:
    """Truth by sample id: from the file `given` (`dataset.truth`), else from one beside the dataset, else none."""
    found = resolve(given) if given is not None else _beside(path)
    if found is None:
        return {}
    truths: dict[str, Truth] = {}
    for row in read_rows(files, found, "dataset.truth", ("sample_id",)):
        try:
            parsed = TruthRow.model_validate(row.values)
        except ValidationError as error:
            raise DatasetError(f"{row.where}: {describe(error)}; mend it, or generate the dataset again") from None
        if parsed.sample_id in truths:
            raise DatasetError(f"{row.where}: sample_id {parsed.sample_id} stands there already; keep one")
        truths[parsed.sample_id] = Truth(hops=parsed.hops, needs_depth=parsed.needs_depth, facts=parsed.facts)
    return truths


def _beside(path: str | None) -> Path | None:
    if path is None:
        return None
    base = resolve(path)
    return find(base if base.is_dir() else base.parent, "truth.jsonl")
