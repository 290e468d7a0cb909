"""Rows of a dataset on the Hugging Face hub, through its own client."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from aiq.core.errors import DatasetError
from aiq.core.files import Files
from aiq.core.rows import Row
from aiq.datasets.base import SourceSettings


def hub_rows(files: Files, settings: SourceSettings) -> list[Row]:
    """The rows of `dataset.hub`; their content enters the fingerprint. Raises DatasetError."""
    from datasets import load_dataset  # takes seconds to import; nobody else needs it

    name, split = settings.hub, settings.hub_split
    try:
        table = load_dataset(name, settings.hub_config, split=split)
    except (OSError, ValueError) as error:  # no network, no such dataset, no such split or configuration
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DatasetError(
            f"dataset.hub={name} (split {split}) could not be loaded: {reason} "
            f"Check the name and the network, or download it and set dataset.path"
        ) from None
    rows = [_plain(row) for row in table]
    files.count(hashlib.sha256(json.dumps(rows, sort_keys=True, default=str).encode()).digest())
    return [Row(f"{name} ({split}), row {number}", row) for number, row in enumerate(rows, start=1)]


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """With column names as in a CSV: without blanks, in small letters."""
    return {str(name).strip().lower(): value for name, value in row.items()}
