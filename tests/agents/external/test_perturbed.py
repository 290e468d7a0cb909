"""The agent of perturbed reports: which report, how it is perturbed, and the audit of its citations."""

import json
from pathlib import Path

import pytest

from aiq.agents.external.perturbed import PerturbedReports, PerturbedReportsSettings
from aiq.core.errors import AgentError, ToolError, ToolErrorKind
from aiq.core.samples import Question, SampleKey
from aiq.core.sources import Page
from aiq.core.tools import Reader
from tests.sessions import make_session
from tests.settings import configured

ARTICLE = (
    "Kelso Bridge has 12 piers [1]. Tarn Bridge has 5 piers [2].\n\n"
    "References\n[1] Kelso - https://a.example/kelso\n[2] Tarn - https://a.example/tarn"
)


class TwoPages:
    """A web of two pages; one of them is down."""

    async def fetch(self, url: str, reader: Reader | None = None) -> Page:
        if url != "https://a.example/kelso":
            raise ToolError(ToolErrorKind.NOT_AVAILABLE, f"{url} is not here")
        return Page(url=url, final_url=url, title="Kelso", text="Kelso Bridge has 12 piers.")


@pytest.fixture
def agent(tmp_path: Path) -> PerturbedReports:
    file = tmp_path / "reports.jsonl"
    file.write_text(json.dumps({"id": "a.b", "article": ARTICLE}) + "\n", encoding="utf-8")
    return PerturbedReports(configured(PerturbedReportsSettings, path=str(file)))


async def test_the_id_says_what_is_changed(agent: PerturbedReports) -> None:
    keys = [SampleKey(f"a.b.{suffix}", 1) for suffix in ("none.0", "numbers.100", "numbers.100")]
    sessions = [make_session(key=key, web=TwoPages()) for key in keys]
    texts = [(await agent.research(Question(text="?"), session)).text for session in sessions]
    assert texts[0] == ARTICLE
    assert "12" not in texts[1].partition("References")[0]
    assert texts[1] == texts[2]


async def test_the_damage_stays_and_the_audit_shows_it(agent: PerturbedReports) -> None:
    session = make_session(key=SampleKey("a.b.fabricated.100", 1), web=TwoPages())
    report = await agent.research(Question(text="?"), session)
    assert report.audit is not None
    assert "https://a.example/kelso" not in report.text
    assert report.text == report.raw_text
    assert len(report.audit.removed_citations) == 2
    assert [source.url for source in session.sources.all()] == ["https://a.example/kelso"]


@pytest.mark.parametrize(
    ("sample_id", "message"),
    [
        *((bad, "names no perturbation; use dataset=drb_perturbed") for bad in ("a.b", "a.b.typos.50", "numbers.50")),
        ("a.b.numbers.much", "names no perturbation"),
        ("a.b.order.50", "the report has nothing that the perturbation order could change"),
    ],
)
async def test_what_cannot_be_perturbed_fails(agent: PerturbedReports, sample_id: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        await agent.research(Question(text="?"), make_session(key=SampleKey(sample_id, 1)))
