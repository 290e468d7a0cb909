"""Datasets in their official formats: rows become samples, filters choose among them.

`load` is the one way in; a dataset is one class named in config (`dataset.target`).
"""

from aiq.datasets.base import Dataset, DatasetSource, SourceSettings
from aiq.datasets.load import load
from aiq.datasets.stored import Samples

__all__ = ["Dataset", "DatasetSource", "Samples", "SourceSettings", "load"]
