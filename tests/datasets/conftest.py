"""`loaded(class, path, setting=...)`: a dataset as runs load it."""

from pathlib import Path
from typing import Any

from aiq.core.run_settings import DatasetSettings
from aiq.datasets import Dataset, load
from tests.settings import configured

FRESHQA = "aiq.datasets.freshqa:FreshQA"
DRB = "aiq.datasets.deep_research_bench:DeepResearchBench"
OWN = "aiq.datasets.questions:Questions"


def loaded(target: str, path: Path | str | None = None, **more: Any) -> Dataset:
    settings = {"name": "d", "path": None if path is None else str(path), **more}
    return load(configured(DatasetSettings, target=target, **settings), seed=0, limit=None)
