"""Datasets in their official formats: rows become samples, filters select among them.

`load` is the only entry point; a dataset is a class named in config (`dataset.target`).
"""

from aiq.datasets.base import Dataset, DatasetSource, SourceSettings
from aiq.datasets.load import load
from aiq.datasets.stored import Samples

__all__ = ["Dataset", "DatasetSource", "Samples", "SourceSettings", "load"]
