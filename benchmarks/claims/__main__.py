"""`scripts/claims choose|planted|verdicts`: chooses weights and thresholds on planted claims, and measures the check.

choose    on one half of the planted claims: the weights and thresholds to write into rules.toml
planted   on the other half: agreement with what is known, beside two baselines
verdicts  on a file of judged citations (JSONL, one pair a line): the same, and the disagreements
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from aiq.citations.claims.evidence import weighed
from aiq.citations.claims.rules import rules
from aiq.core.errors import UserError
from aiq.offline.world.claims.cases import planted_claims
from benchmarks.claims.fit import fit, shares
from benchmarks.claims.judged import Judged, Pair, judge, planted
from benchmarks.claims.measure import by_kind, even_threshold, table
from benchmarks.claims.verdicts import read_verdicts

_ENGLISH, _CHINESE = 4, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["choose", "planted", "verdicts"])
    parser.add_argument("file", type=Path, nargs="?", help="judged citations, for `verdicts`")
    parser.add_argument("--seed", type=int, default=1, help="seed of the planted claims (default: %(default)s)")
    args = parser.parse_args()
    if args.what == "verdicts":
        if args.file is None:
            parser.error("verdicts needs a file")
        report(judge(read_verdicts(args.file)), overlap_threshold(args.seed))
    elif args.what == "choose":
        choose(judge(_claims(args.seed, "choose")))
    else:
        report(judge(_claims(args.seed, "check")), overlap_threshold(args.seed))


def _claims(seed: int, part: str) -> list[Pair]:
    return planted(planted_claims(seed, english=_ENGLISH, chinese=_CHINESE), part)


def choose(judged: Sequence[Judged]) -> None:
    """Print the weights and thresholds that the rules should have."""
    told = [item for item in judged if item.pair.verdict in ("supported", "unsupported") and item.parts]
    weights = fit([item for item in told if not item.across])
    for name, weight in weights:
        print(f"{name} = {weight:.2f}  # rules.toml has {getattr(rules().score, name):.2f}")
    for name, across in (("supported", False), ("supported_across", True)):
        items = [item for item in told if item.across == across]
        even = _even(items, [weighed(item.parts, weights) for item in items])
        print(f"{name} = {even:.2f}  # on {len(items)} pairs; rules.toml has {getattr(rules().thresholds, name):.2f}")
    print(f"word overlap: {_even_overlap(judged):.2f}")


def overlap_threshold(seed: int) -> float:
    """The baseline's threshold, chosen on the same half as ours."""
    return _even_overlap(judge(_claims(seed, "choose")))


def _even_overlap(judged: Sequence[Judged]) -> float:
    told = [item for item in judged if item.pair.verdict in ("supported", "unsupported")]
    return _even(told, [item.overlap for item in told])


def _even(judged: Sequence[Judged], scores: Sequence[float]) -> float:
    right = [item.pair.verdict == "supported" for item in judged]
    return even_threshold(list(zip(scores, right, shares(judged), strict=True)))


def report(judged: Sequence[Judged], overlap_from: float) -> None:
    """Print the tables."""
    told = [item for item in judged if item.pair.verdict != "half"]
    print(table(told, overlap_from), by_kind(judged), sep="\n\n")
    summaries = [item for item in told if item.pair.summary]
    if summaries:
        print("", "Summaries alone:", "", table(summaries, overlap_from), sep="\n")


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        print(f"claims: {error}", file=sys.stderr)
        sys.exit(2)
