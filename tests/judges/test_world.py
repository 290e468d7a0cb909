"""`world.coverage`: when a report states a fact (whole words, one sentence and its context), and how it is scored."""

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.reports import Score
from aiq.core.samples import NeededFact, Question, Sample, Truth
from aiq.core.session import Session
from aiq.judges.base import NoSettings
from aiq.judges.world import World, stated_forms
from tests.judges.parts import as_report

SESSION = cast(Session, None)  # the judge does not use its session

FACTS = (
    NeededFact(id="d1/halden-works/headquarters", forms=("Halden Works & Tessmark",)),
    NeededFact(id="d1/halden-works/employees", forms=("Halden Works & 4310", "Halden & four thousand")),
    NeededFact(id="d2/corvey/born_in", forms=("Corvey & Orlune",)),
    NeededFact(id="d3/velmora/founded", forms=("Velmora & 1921",)),
)
TRUTH = Truth(hops=3, needs_depth=True, facts=FACTS)


def sample(truth: Truth | None) -> Sample:
    return Sample(id="1", question=Question(text="?"), truth=truth)


async def coverage(text: str, truth: Truth | None = TRUTH) -> Score:
    (score,) = await World(NoSettings()).score(sample(truth), as_report(text), SESSION)
    return score


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Nothing.", 0.0),
        ("Halden Works sits in Tessmark and has 4,310 staff.", 0.5),
        ("Halden Works sits in Tessmark. Halden has four thousand staff. Corvey is from Orlune. Velmora: 1921.", 1.0),
    ],
)
async def test_coverage_is_the_share_of_needed_facts(text: str, share: float) -> None:
    assert (await coverage(text)).value == share


async def test_the_detail_says_what_is_missing_and_how_deep() -> None:
    score = await coverage("Halden Works sits in Tessmark.")
    assert score.value == 0.25
    assert score.detail["missing"] == [fact.id for fact in FACTS[1:]]
    assert score.detail["needed"] == {"d1": 2, "d2": 1, "d3": 1}
    assert score.detail["lacked"] == {"d1": 1, "d2": 1, "d3": 1}


@pytest.mark.parametrize(
    ("truth", "reason"),
    [
        (None, "the dataset has no truth for this sample"),
        (Truth(hops=1, needs_depth=False), "the sample needs no facts"),
    ],
)
async def test_without_truth_or_facts_there_is_a_reason_and_a_failed_attempt_has_no_number(
    truth: Truth | None, reason: str
) -> None:
    assert (await coverage("x", truth)).not_applicable == reason
    assert World(NoSettings()).metrics_for(sample(truth)) == ()
    assert World(NoSettings()).metrics_for(sample(TRUTH)) == World.metrics


FORM, CHINESE = "Halden Works & 4310", "哈尔登工业公司 & 4310"
STATED = [
    (FORM, "Halden Works employs 4,310 people [2]."),
    (FORM, "In 2026 some **4310** people worked at *Halden Works*."),
    (FORM, "halden works: 4’310 staff"),
    (FORM, "## Halden Works: 4,310 people"),
    (FORM, "## Halden Works\n\nFounded in 1987. The staff numbers 4,310 [1][3]."),
    (FORM, "# Tidal energy\n## Companies\n### Halden Works\n- Employees: 4,310\n- Seat: Tessmark"),
    (FORM, "**Halden Works**\n\n- Employees: 4,310"),
    (FORM, "Figures for Halden Works:\n- 4,310 employees"),
    (FORM, "- Halden Works\n  - employees: 4,310"),
    (FORM, "| Company | Employees |\n|---|---|\n| Halden Works | 4,310 |"),
    (FORM, "Halden Works is large. It employs 4,310 people."),
    (FORM, "Halden Works is large. It is old. The company employs 4,310 people."),
    (FORM, "Of [Halden Works](https://a.example/halden) 4,310 people live."),
    (CHINESE, "截至2026年3月，哈尔登工业公司共有员工4310人[1]。"),
    (CHINESE, "哈尔登工业公司规模很大。该公司共有员工4310人。"),
    (CHINESE, "### 哈尔登工业公司\n- 员工：4,310人"),
    ("玻璃子午线 & 科维", "《玻璃子午线》的作者是科维。"),
    ("Corvey", "The answer is Corvey."),
]
NOT_STATED = [
    (FORM, ""),
    (FORM, "Halden Works employs 14,310 people."),
    (FORM, "Halden Works employs 4,310,000 people."),
    (FORM, "Halden Workshop employs 4,310 people."),
    (FORM, "Halden Works is large. Kestral Rail employs 4,310 people."),
    (FORM, "Halden Works employs many.\n\nThe count is 4,310."),
    (FORM, "## Halden Works\n\nIt is large.\n\n## Kestral Rail\n\nIt has 4,310 people."),
    (FORM, "- Halden Works\n- Kestral Rail: 4,310"),
    (FORM, "**Halden Works**\n\nIt is large.\n\nAnother has 4,310."),
    (FORM, "Nothing is known.\n\n## References\n\n[1] Halden Works has 4,310 staff - https://a.example/4310"),
    (CHINESE, "哈尔登工业公司规模很大。凯斯铁路公司共有员工4310人。"),
    (CHINESE, "哈尔登工业公司共有员工14310人。"),
    (CHINESE, "不详。\n\n## 参考来源\n\n[1] 哈尔登工业公司4310 - https://a.example"),
    ("Halden Works & 12", "Halden Works is well known [12]."),
    ("Corvey", "The answer is Corveyne."),
]


@pytest.mark.parametrize(
    ("form", "report", "expected"),
    [*((*case, True) for case in STATED), *((*case, False) for case in NOT_STATED)],
)
def test_what_a_report_states(form: str, report: str, expected: bool) -> None:
    assert stated_forms(report, [form]) == ({form} if expected else set())


@given(st.text(max_size=300))
def test_any_text_can_be_read(report: str) -> None:
    stated_forms(report, [FORM])
    assert stated_forms(f"{report.replace('#', '')}\n\nHalden Works has 4,310 people.\n\nEnd.", [FORM])
