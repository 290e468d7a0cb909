"""The fuzzer finds a planted defect: its rounds, its corpus, and the benchmark beside it."""

import subprocess
import sys
from pathlib import Path

import pytest

from aiq.core.sources import Source
from tests.citations.fuzzing.case import Case, Plan, read_case, write_case
from tests.citations.fuzzing.fuzz import smallest_failure
from tests.citations.fuzzing.reports import hostile_cases, long_cases, planned_cases

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def test_a_defect_is_found_and_reduced() -> None:
    def check(case: Case) -> None:
        if "[1-3]" in case.text:
            raise AssertionError("the fragment is there")

    failure = smallest_failure(long_cases, 500, 1, check)
    assert failure is not None
    assert failure.case.text == "[1-3]"
    assert failure.case.wrong == "AssertionError: the fragment is there"
    assert failure.where.startswith("check:")


def test_a_case_that_hangs_is_a_failure() -> None:
    def check(case: Case) -> None:
        while case.plan is not None:
            pass

    failure = smallest_failure(planned_cases, 1, 1, check, seconds=0.2)
    assert failure is not None
    assert failure.case.wrong.startswith("TimeoutError")


def test_the_same_seed_tries_the_same_cases_and_what_holds_has_no_failure() -> None:
    first, second, other = list[Case](), list[Case](), list[Case]()
    for number, cases in ((1, first), (1, second), (2, other)):
        assert smallest_failure(hostile_cases, 20, number, cases.append) is None
    assert first == second != other


def test_a_case_comes_back_from_the_corpus(tmp_path: Path) -> None:
    case = Case(
        wrong="half a pair \ud800",
        text="a\ud800\x00\r\n中",
        sources=(Source(url="https://v.com/é", kind="echoed"),),
        plan=Plan(cited=("https://v.com/1",), sentences=((1, 2), ())),
    )
    write_case(tmp_path / "case.json", case)
    assert read_case(tmp_path / "case.json") == case


def test_the_benchmark_runs() -> None:
    command = [sys.executable, "-m", "benchmarks.performance.citations", "--quick"]
    proc = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = proc.stdout.splitlines()
    assert lines[0].split() == ["what", "seconds", "ratio", "promise"]
    assert sum("audit of one report" in line for line in lines) == 2
    assert sum(line.startswith("linear:") for line in lines) == 1
    assert "BROKEN" not in proc.stdout
