"""`scripts/fuzz [N] [--seed S]`: N generated reports and registries, on all cores; what fails goes to the corpus.

Cases come in rounds, each with its own seed made from S and its position, so that the same call tries
the same cases on any machine, and another S tries others. A round ends at its first failure, which
Hypothesis reduces as far as it can. The exit code is 1 if anything failed.
"""

import argparse
import hashlib
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy
from tqdm import tqdm

from tests.citations.fuzzing.case import CORPUS, Case, write_case
from tests.citations.fuzzing.properties import check
from tests.citations.fuzzing.reports import hostile_cases, long_cases, planned_cases

_ROUND = 1_000
_SECONDS = 10
"""CPU seconds after which a case counts as hanging."""
_STAGES = ((hostile_cases, 700), (planned_cases, 295), (long_cases, 5))
"""What a round tries, and how many of each."""


@dataclass(frozen=True)
class Failure:
    """The smallest case found, and where in the code it failed, which distinguishes one defect from another."""

    case: Case
    where: str


def a_round(number: int) -> Failure | None:
    """The first failure among the cases of one round."""
    return next(filter(None, (smallest_failure(cases, most, number) for cases, most in _STAGES)), None)


def smallest_failure(
    cases: SearchStrategy[Case],
    most: int,
    number: int,
    prove: Callable[[Case], object] = check,
    seconds: float = _SECONDS,
) -> Failure | None:
    """The smallest failure among up to `most` cases drawn with seed `number`."""
    last = Case()

    @seed(number)
    @settings(
        max_examples=most,
        phases=(Phase.generate, Phase.shrink),
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def run(case: Case) -> None:
        nonlocal last
        last = case
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            prove(case)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    signal.signal(signal.SIGPROF, _too_long)
    try:
        run()
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        frame = next(frame for frame in reversed(frames) if frame.name != _too_long.__name__)
        message = f"{type(error).__name__}: {error}".partition("\n")[0][:600]
        return Failure(last.model_copy(update={"wrong": message}), f"{frame.name}:{frame.lineno}")
    return None


def _too_long(signum: int, frame: object) -> None:
    raise TimeoutError("one case took too long")


def _keep(failure: Failure) -> str:
    """Write a case to the corpus and return its file's name."""
    name = failure.where.partition(":")[0].strip("_<>")
    digest = hashlib.sha256(failure.case.text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    path = CORPUS / f"{name}-{digest}.json"
    CORPUS.mkdir(exist_ok=True)
    write_case(path, failure.case)
    return path.name


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the rounds, print what failed, and keep it."""
    parser = argparse.ArgumentParser("fuzz", description="Try generated reports and registries on the citation code.")
    parser.add_argument("cases", nargs="?", type=int, default=100_000, help="how many, in rounds of 1,000 (100,000)")
    parser.add_argument("--seed", type=int, default=0, help="another seed tries other cases (0)")
    options = parser.parse_args(arguments)
    rounds = max(1, -(-options.cases // _ROUND))
    numbers = range(options.seed * 1_000_000, options.seed * 1_000_000 + rounds)
    failures: dict[str, Failure] = {}
    failing = 0
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        for failure in tqdm(pool.imap(a_round, numbers), total=rounds, unit=" rounds", dynamic_ncols=True):
            if failure is not None:
                failing += 1
                if failure.where not in failures:  # kept at once, so that stopping the rest does not lose it
                    failures[failure.where] = failure
                    path = f"tests/citations/corpus/{_keep(failure)}"
                    tqdm.write(f"{failure.where}: {failure.case.wrong}\n    kept as {path}")
    print(f"seed {options.seed}: {failing} of {rounds} rounds failed, {len(failures)} defects")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
