"""The agent of damaged reports: which report, how damaged, and an audit of what was damaged."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from aiq.agents.external.perturbed import DamagedReports, DamagedSettings
from aiq.citations.registry import SourceRegistry
from aiq.core.errors import AgentError, ToolError, ToolErrorKind
from aiq.core.events import EventLog
from aiq.core.samples import Question, SampleKey
from aiq.core.session import ApprovingUser, Session
from aiq.core.sources import Page
from aiq.core.tools import Reader
from aiq.core.usage import Limits
from aiq.datasets.perturbed import Damaged

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


def session(sample_id: str) -> Session:
    nothing: Any = None
    return Session(
        key=SampleKey(sample_id, 1),
        run_seed=0,
        now=datetime(2026, 11, 1, tzinfo=UTC),
        models=nothing,
        tools=nothing,
        web=TwoPages(),
        user=ApprovingUser(),
        limits=Limits(),
        events=EventLog(lambda event: None),
        sources=SourceRegistry(),
    )


@pytest.fixture
def agent(tmp_path: Path) -> DamagedReports:
    file = tmp_path / "reports.jsonl"
    file.write_text(json.dumps({"id": "a.b", "article": ARTICLE}) + "\n", encoding="utf-8")
    return DamagedReports(DamagedSettings(path=str(file)))


async def test_the_id_says_what_is_damaged(agent: DamagedReports) -> None:
    whole = await agent.research(Question(text="?"), session("a.b.none.0"))
    changed = await agent.research(Question(text="?"), session("a.b.numbers.100"))
    assert whole.text == ARTICLE
    assert "12" not in changed.text.partition("References")[0]
    assert (
        changed.text == changed.raw_text == (await agent.research(Question(text="?"), session("a.b.numbers.100"))).text
    )


async def test_the_damage_stays_and_the_audit_tells_of_it(agent: DamagedReports) -> None:
    world = session("a.b.fabricated.100")
    report = await agent.research(Question(text="?"), world)
    assert report.audit is not None
    assert "https://a.example/kelso" not in report.text
    assert len(report.audit.removed_citations) == 2
    assert [source.url for source in world.sources.all()] == ["https://a.example/kelso"]


@pytest.mark.parametrize("sample_id", ["a.b", "a.b.typos.50", "a.b.numbers.much", "numbers.50"])
async def test_an_id_that_names_no_damage_is_refused(agent: DamagedReports, sample_id: str) -> None:
    with pytest.raises(AgentError, match=r"names no damage; use dataset=drb_damaged"):
        await agent.research(Question(text="?"), session(sample_id))


async def test_a_report_that_cannot_be_damaged_so_fails(agent: DamagedReports) -> None:
    with pytest.raises(AgentError, match="nothing in the report that order could damage"):
        await agent.research(Question(text="?"), session("a.b.order.50"))


def test_ids_and_their_parts() -> None:
    assert Damaged.of(Damaged("7.x", "facts", 25).id) == ("7.x", "facts", 25)
    assert Damaged("7", "facts", 25).tags == {"base": "7", "damage": "facts", "degree": "25"}
    assert [Damaged.of(text) for text in ("7", "7.25", "", ".facts.25", "7.facts.-1", "7..2")] == [None] * 6
