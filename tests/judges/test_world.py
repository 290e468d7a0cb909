"""`world.coverage`: when a report states a fact (whole words, one sentence, with what is above it), and what counts."""

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.reports import Report, Score
from aiq.core.samples import NeededFact, Question, Sample, Truth
from aiq.core.session import Session
from aiq.judges.base import NoSettings
from aiq.judges.world import Statements, World

SESSION = cast(Session, None)  # it asks nothing of its session

FACTS = (
    NeededFact(id="d1/halden-works/headquarters", forms=("Halden Works & Tessmark",)),
    NeededFact(id="d1/halden-works/employees", forms=("Halden Works & 4310", "Halden & four thousand")),
    NeededFact(id="d2/corvey/born_in", forms=("Corvey & Orlune",)),
    NeededFact(id="d3/velmora/founded", forms=("Velmora & 1921",)),
)


def sample(truth: Truth | None) -> Sample:
    return Sample(id="1", question=Question(text="?"), truth=truth)


def report(text: str) -> Report:
    return Report(text=text, raw_text=text, route="deep")


async def coverage(text: str, truth: Truth | None) -> Score:
    (score,) = await World(NoSettings()).score(sample(truth), report(text), SESSION)
    return score


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Nothing.", 0.0),
        ("Halden Works sits in Tessmark.", 0.25),
        ("Halden Works sits in Tessmark and has 4,310 staff.", 0.5),
        ("Halden Works sits in Tessmark. Halden has four thousand staff. Corvey is from Orlune. Velmora: 1921.", 1.0),
    ],
)
async def test_coverage_is_the_share_of_needed_facts(text: str, share: float) -> None:
    assert (await coverage(text, Truth(hops=3, needs_depth=True, facts=FACTS))).value == share


async def test_the_detail_says_what_is_missing_and_how_deep_it_lies() -> None:
    detail = (await coverage("Halden Works sits in Tessmark.", Truth(hops=3, needs_depth=True, facts=FACTS))).detail
    assert detail["missing"] == [fact.id for fact in FACTS[1:]]
    assert detail["needed"] == {"d1": 2, "d2": 1, "d3": 1}
    assert detail["lacked"] == {"d1": 1, "d2": 1, "d3": 1}


async def test_without_truth_or_facts_there_is_a_reason_and_no_number() -> None:
    assert (await coverage("x", None)).not_applicable == "the dataset has no truth for this sample"
    assert (await coverage("x", Truth(hops=1, needs_depth=False))).not_applicable == "the sample needs no facts"


def test_a_failed_attempt_is_worst_only_in_what_its_sample_can_have() -> None:
    world = World(NoSettings())
    for truth in (None, Truth(hops=1, needs_depth=False)):
        assert world.metrics_for(sample(truth)) == ()
    needed = sample(Truth(hops=2, needs_depth=True, facts=(NeededFact(id="d1/a", forms=("x",)),)))
    assert world.metrics_for(needed) == World.metrics


FORM = "Halden Works & 4310"


@pytest.mark.parametrize(
    "report",
    [
        "Halden Works employs 4,310 people [2].",
        "In 2026 some **4310** people worked at *Halden Works*.",
        "halden works: 4’310 staff",
        "## Halden Works\n\nFounded in 1987. The staff numbers 4,310 [1][3].",
        "# Tidal energy\n## Companies\n### Halden Works\n- Employees: 4,310\n- Seat: Tessmark",
        "**Halden Works**\n\n- Employees: 4,310",
        "Figures for Halden Works:\n- 4,310 employees",
        "- Halden Works\n  - employees: 4,310",
        "| Company | Employees |\n|---|---|\n| Halden Works | 4,310 |",
        "Halden Works is large. It employs 4,310 people.",
        "Halden Works is large. It is old. The company employs 4,310 people.",
        "Of [Halden Works](https://a.example/halden) 4,310 people live.",
    ],
)
def test_stated(report: str) -> None:
    assert Statements(report).state(FORM)


@pytest.mark.parametrize(
    "report",
    [
        "",
        "Halden Works employs 14,310 people.",
        "Halden Works employs 4,310,000 people.",
        "Halden Workshop employs 4,310 people.",
        "Halden Works is large. Kestral Rail employs 4,310 people.",
        "Halden Works employs many.\n\nThe count is 4,310.",
        "## Halden Works\n\nIt is large.\n\n## Kestral Rail\n\nIt has 4,310 people.",
        "- Halden Works\n- Kestral Rail: 4,310",
        "**Halden Works**\n\nIt is large.\n\nAnother has 4,310.",
        "Nothing is known.\n\n## References\n\n[1] Halden Works has 4,310 staff - https://a.example/4310",
    ],
)
def test_not_stated(report: str) -> None:
    assert not Statements(report).state(FORM)


@pytest.mark.parametrize(
    ("report", "stated"),
    [
        ("截至2026年3月，哈尔登工业公司共有员工4310人[1]。", True),
        ("哈尔登工业公司规模很大。该公司共有员工4310人。", True),
        ("### 哈尔登工业公司\n- 员工：4,310人", True),
        ("哈尔登工业公司规模很大。凯斯铁路公司共有员工4310人。", False),
        ("哈尔登工业公司共有员工14310人。", False),
        ("不详。\n\n## 参考来源\n\n[1] 哈尔登工业公司4310 - https://a.example", False),
    ],
)
def test_chinese(report: str, stated: bool) -> None:
    assert Statements(report).state("哈尔登工业公司 & 4310") is stated


def test_titles_are_found_with_and_without_their_marks() -> None:
    assert Statements("《玻璃子午线》的作者是科维。").state("玻璃子午线 & 科维")


def test_a_heading_alone_states_what_it_says() -> None:
    assert Statements("## Halden Works: 4,310 people").state(FORM)


def test_a_citation_mark_is_no_number() -> None:
    assert not Statements("Halden Works is well known [12].").state("Halden Works & 12")


def test_a_form_of_one_fragment() -> None:
    assert Statements("The answer is Corvey.").state("Corvey")
    assert not Statements("The answer is Corveyne.").state("Corvey")


@given(st.text(max_size=300))
def test_any_text_can_be_read(report: str) -> None:
    statements = Statements(report)
    assert statements.state(FORM) in (True, False)
    assert Statements(f"{report.replace('#', '')}\n\nHalden Works has 4,310 people.\n\nEnd.").state(FORM)
