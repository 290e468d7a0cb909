"""`scripts/claims choose|planted|verdicts`: chooses the thresholds on planted claims, and measures the check.

choose    on one half of the planted claims: the thresholds to write into rules.toml
planted   on the other half: agreement with what is known, beside two baselines
verdicts  on a file of judged citations (JSONL, one pair a line): the same, and the disagreements
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from aiq.citations.claims.rules import rules
from aiq.core.errors import UserError
from aiq.offline.world.claims.cases import planted_claims
from benchmarks.claims.judged import Judged, Pair, judge, planted
from benchmarks.claims.measure import best_threshold, by_kind, table
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
    """Print the thresholds that the rules should have."""
    for name, across in (("supported", False), ("supported_across", True)):
        items = [j for j in judged if j.across == across and j.verdict != "unknown"]
        scored = [
            (j.score, j.pair.verdict == "supported") for j in items if j.pair.verdict in ("supported", "unsupported")
        ]
        now = getattr(rules().thresholds, name)
        print(f"{name} = {best_threshold(scored):.2f}  # on {len(scored)} pairs; rules.toml has {now:.2f}")
    print(f"word overlap: {_best_overlap(judged):.2f}")


def overlap_threshold(seed: int) -> float:
    """The baseline's threshold, chosen on the same half as ours."""
    return _best_overlap(judge(_claims(seed, "choose")))


def _best_overlap(judged: Sequence[Judged]) -> float:
    told = [j for j in judged if j.pair.verdict in ("supported", "unsupported")]
    return best_threshold([(j.overlap, j.pair.verdict == "supported") for j in told])


def report(judged: Sequence[Judged], overlap_from: float) -> None:
    """Print the tables."""
    told = [item for item in judged if item.pair.verdict != "half"]
    print(table(told, overlap_from), by_kind(judged), sep="\n\n")


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        print(f"claims: {error}", file=sys.stderr)
        sys.exit(2)
