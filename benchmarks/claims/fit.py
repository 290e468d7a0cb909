"""Fits the weights of the score's parts to planted claims: logistic regression with no weight below zero."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aiq.citations.claims.rules import Score
from benchmarks.claims.judged import Judged

_STEPS = 4000
_RATE = 2.0
_RIDGE = 0.002
"""How much large weights cost; it keeps them finite where a part never errs on the planted claims."""

Array = NDArray[np.float64]


def shares(judged: Sequence[Judged]) -> list[float]:
    """What each pair counts: single facts and summaries, supported and unsupported, a quarter each; the sum is 1."""
    groups = [(item.pair.summary, item.pair.verdict) for item in judged]
    sizes = Counter(groups)
    return [1 / (len(sizes) * sizes[group]) for group in groups]


def fit(judged: Sequence[Judged]) -> Score:
    """The weights, with two decimals, by projected gradient descent on the log loss."""
    names = list(judged[0].parts)
    sizes: Array = np.array([[item.parts[name] for name in names] for item in judged])
    given: Array = np.array([float(item.pair.verdict == "supported") for item in judged])
    counts: Array = np.array(shares(judged))
    weights, start = np.zeros(len(names)), 0.0
    for _ in range(_STEPS):
        off = counts * (1 / (1 + np.exp(-(sizes @ weights + start))) - given)
        weights = np.maximum(0.0, weights - _RATE * (sizes.T @ off + _RIDGE * weights))
        start -= _RATE * float(off.sum())
    found = {"start": start, **dict(zip(names, weights.tolist(), strict=True))}
    return Score.model_validate({name: round(weight, 2) for name, weight in found.items()})
