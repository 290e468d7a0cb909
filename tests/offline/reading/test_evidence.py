"""Evidence for a hop: the right phrase, the right page, the newest word; none where there is none."""

from datetime import UTC, datetime

import pytest

from aiq.offline.chat import ChatMessage
from aiq.offline.reading import chain, claims, documents, evidence, premises
from aiq.offline.reading.documents import Document
from aiq.offline.reading.questions import parse

NOW = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who is the mayor of Tessmark?", "Ilan Corvey"),
        ("What is the population of Tessmark?", "412,300"),
        ("Which river flows through Tessmark?", "Alda"),
        ("In which country is Tessmark?", "Averland"),
        ("Who founded Halden Works?", "Mira Tessel"),
        ("When was Halden Works founded?", "1987"),
        ("Where was Mira Tessel born?", "Orlune"),
        ("Where did Mira Tessel study?", "Velmora Institute"),
        ("Who is the mayor of the city where Halden Works is headquartered?", "Ilan Corvey"),
        ("霍尔登工业公司的总部位于哪里？", "特斯马克"),
        ("霍尔登工业公司的创始人是谁？", "米拉·泰塞尔"),
        ("霍尔登工业公司的首席执行官是谁？", "乌戈·佩尔"),
    ],
)
def test_answers(pages: list[Document], question: str, answer: str) -> None:
    assert chain.follow(parse(question), pages, now=NOW, seed="a careful one").answer == answer


def test_without_a_date_the_best_worded_page_wins(pages: list[Document]) -> None:
    hop = parse("Who is the mayor of Tessmark?").hops[0]
    dated = evidence.search(pages, "Tessmark", hop, now=NOW, avoid=("Tessmark",))
    undated = evidence.search(pages, "Tessmark", hop, now=None, avoid=("Tessmark",))
    assert dated[0].answer == "Ilan Corvey"
    assert undated[0].answer == "Bo Dant"


def test_what_is_not_there_is_not_found(pages: list[Document]) -> None:
    assert evidence.search(pages, "Orlune", parse("Who is the mayor of Orlune?").hops[0], now=NOW) == []
    state = chain.follow(parse("Who is the mayor of the city where Mira Tessel was born?"), pages, now=NOW, seed=1)
    assert state.open is not None
    assert (state.open.subject, state.open.hop.noun) == ("Orlune", "mayor")


def test_stale_evidence_is_known_as_such_only_with_a_date(pages: list[Document]) -> None:
    old = [page for page in pages if page.key.endswith("guide-2019")]
    step = chain.follow(parse("Who is the mayor of Tessmark?"), old, now=NOW, seed=1).steps[0]
    assert step.stale(NOW)
    assert not step.stale(None)


@pytest.mark.parametrize(
    ("question", "contradicted"),
    [
        ("Why did Halden Works move its headquarters to Orlune?", True),
        ("Why did Halden Works move its headquarters to Tessmark?", False),
        ("When did Ilan Corvey stop being the mayor of Tessmark?", True),  # he still is
        ("When did Bo Dant stop being the mayor of Tessmark?", False),  # he was
        ("When did Ugo Pell stop being the mayor of Tessmark?", True),  # he never was
        ("When did Mira Tessel study at Harsby College?", True),
        ("When did Ana Breck write The Unknown Book?", False),  # nothing known
    ],
)
def test_premises(pages: list[Document], question: str, contradicted: bool) -> None:
    claim = claims.find(question)
    assert claim is not None
    found = premises.contradiction(claim, pages, now=NOW, seed="a careful one")
    assert (found is not None) == contradicted


def test_a_plain_denial_contradicts() -> None:
    page = '<Document href="u"><title>Denmark</title>Denmark has not adopted the euro as its currency.</Document>'
    claim = claims.find("When did Denmark adopt the euro as its currency?")
    assert claim is not None
    assert premises.contradiction(claim, documents.parse(page), now=NOW, seed=0) is not None


def test_documents_keep_their_first_place_and_longest_text() -> None:
    short = '<Document href="u1"><title>A</title><published>2026-01-02</published>Short.</Document>'
    long = '<Document href="u1"><title>A</title>Short. And more of it.</Document>'
    other = '<Document href="u2"><title>B &amp; C</title>Other.</Document>'
    found = documents.gather([ChatMessage(role="tool", content=c) for c in (short + other, long)])
    assert [(d.key, d.rank, d.title) for d in found] == [("u1", 0, "A"), ("u2", 1, "B & C")]
    assert found[0].text == "Short. And more of it."
    assert [str(d.when) for d in documents.parse(short)] == ["2026-01-02"]
    assert documents.parse("Search returned no results") == []


def test_knowledge_results_are_documents_with_their_citation_key() -> None:
    text = (
        "Found 1 relevant document(s):\n--- Result 1 ---\nSource: plan.pdf\nPage: 3\nCitation: plan.pdf, p.3\n"
        "Content Type: text\nRelevance Score: 0.9\nThe mayor of Tessmark is Ilan Corvey."
    )
    (document,) = documents.parse(text)
    assert (document.key, document.title) == ("plan.pdf, p.3", "plan.pdf")
    assert document.text == "The mayor of Tessmark is Ilan Corvey."
