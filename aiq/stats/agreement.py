"""How well predicted labels and scores agree with given ones: accuracy, kappa, bootstrap intervals."""

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
