"""How well predicted labels and scores agree with given ones: accuracy, F1, kappa, AUC, bootstrap intervals."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Literal, TypeVar

T = TypeVar("T")

Pair = tuple[str, str]
"""(label that is given, label that was predicted)"""


def accuracy(pairs: Sequence[Pair]) -> float | None:
    """The share of pairs that are equal; None without any."""
    return sum(given == predicted for given, predicted in pairs) / len(pairs) if pairs else None


def f1(pairs: Sequence[Pair], label: str) -> float | None:
    """Harmonic mean of precision and recall of one label; None where nobody says it."""
    both = sum(given == predicted == label for given, predicted in pairs)
    said = sum((given == label) + (predicted == label) for given, predicted in pairs)
    return 2 * both / said if said else None


def kappa(pairs: Sequence[Pair]) -> float | None:
    """Agreement beyond chance (Cohen 1960): 1 perfect, 0 as by chance; None where chance alone agrees fully."""
    if not pairs:
        return None
    given, predicted = Counter(pair[0] for pair in pairs), Counter(pair[1] for pair in pairs)
    chance = sum(given[label] * predicted[label] for label in sorted(given)) / len(pairs) ** 2
    return None if chance == 1 else (sum(a == b for a, b in pairs) / len(pairs) - chance) / (1 - chance)


def weighted_kappa(pairs: Sequence[tuple[int, int]], *, power: Literal[1, 2] = 2) -> float | None:
    """Kappa of ordered labels: a disagreement weighs |difference| ** power (Cohen 1968; 1 linear, 2 quadratic).

    1 - sum of observed weights / sum of those expected from both margins. None where chance alone agrees fully.
    """
    given, predicted = Counter(pair[0] for pair in pairs), Counter(pair[1] for pair in pairs)
    observed = sum(abs(a - b) ** power for a, b in pairs)
    chance = sum(n * m * abs(a - b) ** power for a, n in given.items() for b, m in predicted.items())
    return 1 - observed * len(pairs) / chance if chance else None


def auc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """The chance that a positive scores above a negative, ties half (Mann and Whitney 1947); None without both."""
    if not positive or not negative:
        return None
    ordered = sorted(negative)
    wins = sum(bisect_left(ordered, score) + bisect_right(ordered, score) for score in positive)
    return wins / (2 * len(positive) * len(negative))


def bootstrap95(
    clusters: Sequence[Sequence[T]], measure: Callable[[Sequence[T]], float | None], *, draws: int = 1000, seed: int = 0
) -> tuple[float, float] | None:
    """The middle 95 % of a measure over resampled clusters (Efron 1979); None where too few draws have a value."""
    random = Random(seed)
    values = []
    for _ in range(draws):
        drawn = [item for _ in clusters for item in clusters[int(random.random() * len(clusters))]]
        if (value := measure(drawn)) is not None:
            values.append(value)
    if len(values) < draws // 2 or len(clusters) < 2:
        return None
    values.sort()
    return values[int(0.025 * len(values))], values[min(len(values) - 1, int(0.975 * len(values)))]
