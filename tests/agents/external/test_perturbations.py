"""Perturbations change what they claim to change, more with higher severity, and nothing else."""

import json
import re
from collections import Counter
from difflib import SequenceMatcher
from random import Random

import pytest

from aiq.agents.external.perturbations import PERTURBATIONS, perturbed
from aiq.citations.parse import parse_report
from aiq.core.files import shipped

ROWS = [json.loads(line) for line in (shipped("benchmarks/drb_mini") / "reference.jsonl").read_text().splitlines()]
REPORTS = {row["id"]: row["article"] for row in ROWS}
ENGLISH, CHINESE = REPORTS[1], REPORTS[12]


def perturb(name: str, report: str, share: float) -> str:
    return perturbed(name, report, share, Random(7))


def lines(report: str) -> set[str]:
    return set(report.splitlines())


def distance(report: str, other: str) -> float:
    return 1 - SequenceMatcher(None, report.splitlines(), other.splitlines(), autojunk=False).ratio()


def body(report: str) -> str:
    return report[: parse_report(report).lists[0].start]


@pytest.mark.parametrize("name", sorted(PERTURBATIONS))
@pytest.mark.parametrize("report", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_a_higher_severity_changes_all_that_a_lower_one_does_and_more(name: str, report: str) -> None:
    mild, severe = perturb(name, report, 0.25), perturb(name, report, 1.0)
    assert mild == perturb(name, report, 0.25)
    assert mild != report
    assert lines(report) - lines(mild) <= lines(report) - lines(severe)
    assert distance(report, mild) < distance(report, severe)


@pytest.mark.parametrize(
    "name", ["facts", "roles", "numbers", "nonsense", "shuffled", "sections", "padding", "remarks", "order"]
)
def test_the_reference_list_stays_as_it_is(name: str) -> None:
    for report in (ENGLISH, CHINESE):
        assert perturb(name, report, 0.5).endswith(report[parse_report(report).lists[0].start :])


def test_numbers_change_and_marks_do_not() -> None:
    changed = perturb("numbers", ENGLISH, 1.0)
    marks = re.compile(r"\[\d+\]")
    assert marks.findall(changed) == marks.findall(ENGLISH)
    before, after = (re.findall(r"[\d,]*\d", marks.sub("", body(text))) for text in (ENGLISH, changed))
    assert len(before) == len(after) > 10
    assert all(a != b for a, b in zip(before, after, strict=True))
    assert re.sub(r"[\d,]+", "#", changed) == re.sub(r"[\d,]+", "#", ENGLISH)


def test_roles_keep_every_word() -> None:
    changed = perturb("roles", ENGLISH, 1.0)
    assert Counter(changed) == Counter(ENGLISH)
    assert "Ashena University studied at Fenden Melheim" in changed


def test_facts_are_swapped_with_other_names_of_the_report() -> None:
    changed = perturb("facts", ENGLISH, 1.0)
    known = set(re.findall(r"[A-Z][a-z]+", ENGLISH))
    assert set(re.findall(r"[A-Z][a-z]+", changed)) <= known
    assert "Fenden Melheim studied at Ashena University" not in changed


def test_fabricated_addresses_are_on_the_same_hosts_and_new() -> None:
    changed = perturb("fabricated", ENGLISH, 0.5)
    before, after = ([use.url for e in parse_report(t).entries for use in e.urls] for t in (ENGLISH, changed))
    replaced = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert len(replaced) == 8  # of 15
    assert all(a.split("/")[2] == b.split("/")[2] and b not in before for a, b in replaced)
    assert body(changed) == body(ENGLISH)


def test_shuffled_marks_point_to_other_references() -> None:
    changed = perturb("shuffled", ENGLISH, 1.0)
    before, after = ([mark.numbers for mark in parse_report(text).marks] for text in (ENGLISH, changed))
    assert all(a != b for a, b in zip(before, after, strict=True))
    assert re.sub(r"\[\d+\]", "[]", body(changed)) == re.sub(r"\[\d+\]", "[]", body(ENGLISH))


def test_inline_links_are_shuffled_and_fabricated_too() -> None:
    report = "A [one](https://a.example/1) and [two](https://b.example/2).\n\nMore [three](https://c.example/3)."
    shuffled = re.findall(r"https://\S+?(?=\))", perturb("shuffled", report, 1.0))
    assert all(a != b for a, b in zip(shuffled, re.findall(r"https://\S+?(?=\))", report), strict=True))
    assert len(set(re.findall(r"https://\S+?(?=\))", perturb("fabricated", report, 1.0)))) == 3
    assert "a.example/1" not in perturb("fabricated", report, 1.0)


def test_controls_keep_the_content() -> None:
    for report in (ENGLISH, CHINESE):
        paragraphs = {report[slice(*place)] for place in parse_report(report).paragraphs}
        for name in ("padding", "instructions", "remarks", "order"):
            changed = perturb(name, report, 1.0)
            assert paragraphs <= {changed[slice(*place)] for place in parse_report(changed).paragraphs}
        longer = len(perturb("padding", report, 2.0)) - len(report)
        assert longer > 1.5 * sum(map(len, paragraphs))


def test_nonsense_keeps_the_marks_and_not_the_facts() -> None:
    changed = perturb("nonsense", ENGLISH, 1.0)
    assert [mark.numbers for mark in parse_report(changed).marks] == [m.numbers for m in parse_report(ENGLISH).marks]
    assert "1991" not in body(changed)


@pytest.mark.parametrize("name", sorted(PERTURBATIONS))
@pytest.mark.parametrize("report", ["", "# Only a heading", "one two [1]\n\n[1] https://a.example", "。。。[1][2]"])
def test_any_text_is_a_report(name: str, report: str) -> None:
    assert isinstance(perturb(name, report, 1.0), str)
