"""Reports made of findings: every statement cited, facts in the sections that ask for them, tables, comparisons."""

import re
from typing import Any

import pytest

from aiq.citations.registry import SourceRegistry
from aiq.citations.verify import verify
from aiq.core.sources import Source
from aiq.offline.reading import facts, findings, knowledge, tasks
from aiq.offline.reading.documents import Document
from aiq.offline.reading.findings import Finding
from aiq.offline.writing import phrases, report
from aiq.offline.writing.order import Order

TASK = (
    "Compare the companies of kite making in the Fenlow Valley: headquarters, number of employees and founders, where "
    "the founders were born, and how the trade began."
)
TITLES = (
    "Headquarters and number of employees",
    "Founders and where they were born",
    "How the trade began",
    "Comparison",
    "Conclusion",
)
PAGES = {
    "Kite making in the Fenlow Valley": (
        "The history of kite making in the Fenlow Valley began in 1902.",
        "The companies are Arden Kites, Bellow Works and Corin Sails.",
    ),
    "Arden Kites": (
        "Arden Kites is headquartered in Oster.",
        "In August 2026, Arden Kites had 5,749 employees.",
        "Arden Kites was founded by Mira Tolle.",
    ),
    "Bellow Works": ("Bellow Works is headquartered in Oster.", "In August 2026, Bellow Works had 310 employees."),
    "Corin Sails": ("Corin Sails is headquartered in Lunde.", "In August 2026, Corin Sails had 1,200 employees."),
    "Mira Tolle": ("Mira Tolle was born in Lunde.",),
}
ASKED = ("Arden Kites", "Bellow Works", "Corin Sails", "Mira Tolle")


def found() -> tuple[Finding, ...]:
    return tuple(
        findings.of(sentence, Document(key=f"https://pages.test/{n}", title=title, text=sentence, rank=n))
        for n, (title, sentences) in enumerate(PAGES.items())
        for sentence in sentences
    )


def written(seed: int = 1, **changes: Any) -> str:
    task = tasks.parse(TASK)
    known = knowledge.gather(found(), task.subject, facts.wanted(TASK), ASKED, None)
    order = Order(task=task, title=task.title, titles=TITLES, found=found(), known=known, seed=seed, references=True)
    return report.write(order.model_copy(update=changes))


def section(text: str, title: str) -> str:
    return text.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_every_citation_is_valid_and_every_source_is_cited() -> None:
    registry = SourceRegistry()
    for n, title in enumerate(PAGES):
        registry.add(Source(url=f"https://pages.test/{n}", title=title), (n,))
    verified = verify(written(), registry.all())
    assert verified.audit.removed_citations == ()
    assert verified.audit.dangling == verified.audit.unused == ()
    assert len(verified.audit.valid_citations) == len(PAGES)


def test_facts_stand_in_the_section_that_asks_for_them() -> None:
    text = written()
    assert "Arden Kites is headquartered in Oster [" in section(text, TITLES[0])
    assert "Mira Tolle was born in Lunde [" in section(text, TITLES[1])
    assert "began in 1902 [" in section(text, TITLES[2])


def test_members_are_compared_in_a_table_and_in_words() -> None:
    text = written()
    table = section(text, "Comparison")
    assert re.search(r"\| Name \| .*Headquarters", table)
    assert re.search(r"\| Arden Kites \|.*5,749 \[\d\].*\|", table)
    lead = text.partition("\n## ")[0]
    assert re.search(r"Arden Kites.*5,749.*Bellow Works.*310 \[\d\]\[\d\]", lead)  # what matters most stands first
    conclusion = section(text, "Conclusion")
    assert re.search(r"(Arden Kites and Bellow Works.*Oster|Oster.*Arden Kites and Bellow Works)", conclusion)


def test_no_statement_is_made_twice() -> None:
    body = written().partition("## References")[0]
    for sentences in PAGES.values():
        for sentence in sentences:
            assert body.count(sentence.rstrip(".")) <= 1


def test_sections_without_findings_are_left_out_and_named() -> None:
    text = written(titles=("Headquarters", "Prices of silk", "Conclusion"))
    assert "## Prices of silk" not in text
    assert "prices of silk" in section(text, "Conclusion")


def test_the_plans_order_and_title_are_kept() -> None:
    text = written()
    headings = re.findall(r"^##? (.+)$", text, re.MULTILINE)
    assert headings == [tasks.parse(TASK).title, *TITLES, "References"]


@pytest.mark.parametrize("chinese", [True, False])
def test_phrases_exist_in_both_languages(chinese: bool) -> None:
    for kind in phrases._EN:
        values = dict.fromkeys(("subject", "list", "noun", "top", "bottom", "most", "least", "value", "strong"), "x")
        assert phrases.say(kind, 1, chinese=chinese, **values)
    assert phrases._EN.keys() == phrases._ZH.keys()


def test_enumerations() -> None:
    assert phrases.enumerate_(["a"], chinese=False) == "a"
    assert phrases.enumerate_(["a", "b", "c"], chinese=False) == "a, b and c"
    assert phrases.enumerate_(["甲", "乙", "丙"], chinese=True) == "甲、乙和丙"
