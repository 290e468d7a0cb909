"""Figures of agreement for the claim check and its two baselines, as a table."""

from collections import Counter
from collections.abc import Callable, Sequence

from aiq.stats.agreement import accuracy, auc, bootstrap95, f1, kappa
from benchmarks.claims.judged import Judged

VERDICTS = ("supported", "unsupported", "unknown")
_DRAWS = 400
Says = Callable[[Judged], str]
Scores = Callable[[Judged], float]


def table(judged: Sequence[Judged], overlap_from: float) -> str:
    """One line a way of checking: accuracy, F1 of each verdict, kappa, AUC, each with its 95 % interval."""
    most = Counter(item.pair.verdict for item in judged).most_common(1)[0][0]
    rows: list[tuple[str, Says, Scores]] = [
        ("claim check", lambda item: item.verdict, lambda item: item.score),
        ("majority", lambda item: most, lambda item: 0.0),
        (
            f"word overlap >= {overlap_from:.2f}",
            lambda item: "supported" if item.overlap >= overlap_from else "unsupported",
            lambda item: item.overlap,
        ),
    ]
    clusters: dict[str, list[Judged]] = {}
    for item in judged:
        clusters.setdefault(item.pair.cluster, []).append(item)
    counts = Counter(item.pair.verdict for item in judged)
    shares = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    lines = [
        f"{len(judged)} pairs in {len(clusters)} clusters: {shares}",
        "",
        "| | accuracy | F1 supported | F1 unsupported | F1 unknown | kappa | AUC |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, says, scores in rows:
        cells = [_cell(list(clusters.values()), judged, measure) for measure in measures(says, scores)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def measures(says: Says, scores: Scores) -> list[Callable[[Sequence[Judged]], float | None]]:
    """The columns, each a function of pairs; AUC tells supported from unsupported."""

    def labels(items: Sequence[Judged]) -> list[tuple[str, str]]:
        return [(item.pair.verdict, says(item)) for item in items]

    def ranking(items: Sequence[Judged]) -> float | None:
        by = {v: [scores(item) for item in items if item.pair.verdict == v] for v in ("supported", "unsupported")}
        return auc(by["supported"], by["unsupported"])

    return [
        lambda items: accuracy(labels(items)),
        lambda items: f1(labels(items), "supported"),
        lambda items: f1(labels(items), "unsupported"),
        lambda items: f1(labels(items), "unknown"),
        lambda items: kappa(labels(items)),
        ranking,
    ]


def _cell(
    clusters: Sequence[Sequence[Judged]], judged: Sequence[Judged], measure: Callable[[Sequence[Judged]], float | None]
) -> str:
    value = measure(judged)
    if value is None:
        return "–"
    interval = bootstrap95(clusters, measure, draws=_DRAWS)
    return f"{value:.3f}" + (f" ({interval[0]:.3f}, {interval[1]:.3f})" if interval else "")


def even_threshold(scored: Sequence[tuple[float, bool, float]]) -> float:
    """The score, in steps of 0.01, from which on "supported" is missed as often as it is said wrongly.

    Each row: score, whether it is supported, what it counts. The difference of the two falls with the
    threshold, so there is one answer, where a largest accuracy may have several that are far apart.
    """
    steps = [step / 100 for step in range(1, 100)]

    def uneven(step: float) -> float:
        wrong = [(yes, count) for score, yes, count in scored if (score >= step) != yes]
        return abs(sum(count if yes else -count for yes, count in wrong))

    return min(steps, key=uneven)


def by_kind(judged: Sequence[Judged]) -> str:
    """Of each kind of pair how many got which verdict, and the middle score."""
    kinds: dict[tuple[str, str], list[Judged]] = {}
    for item in judged:
        kinds.setdefault((item.pair.verdict, item.pair.kind), []).append(item)
    lines = [
        "| verdict | kind | n | supported | unsupported | unknown | median score |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (verdict, kind), items in sorted(kinds.items()):
        said = Counter(item.verdict for item in items)
        shares = " | ".join(f"{said[v] / len(items):.2f}" for v in VERDICTS)
        middle = sorted(item.score for item in items)[len(items) // 2]
        lines.append(f"| {verdict} | {kind} | {len(items)} | {shares} | {middle:.2f} |")
    return "\n".join(lines)
