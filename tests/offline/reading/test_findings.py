"""Findings on their way from researcher to report, and which sentences become findings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.offline.reading import findings, prose
from aiq.offline.reading.documents import Document
from aiq.offline.reading.findings import Finding, Reference
from aiq.offline.reading.tasks import parse

WORD = st.text(alphabet="abcdefgh", min_size=1, max_size=8)
SENTENCE = st.lists(WORD, min_size=2, max_size=8).map(lambda parts: " ".join(parts) + ".")
REFERENCE = st.builds(Reference, key=WORD.map(lambda w: f"https://pages.test/{w}"), title=WORD)
FINDINGS = st.lists(st.builds(Finding, text=SENTENCE, sources=st.tuples(REFERENCE)), min_size=1, max_size=6)


def written(found: list[Finding]) -> str:
    numbers = findings.numbered(found)
    return "\n".join([*(findings.cite(f, numbers) for f in found), "", "**Sources**", *findings.source_lines(numbers)])


@given(FINDINGS)
def test_what_a_researcher_writes_the_orchestrator_reads(found: list[Finding]) -> None:
    read = findings.parse(written(found))
    assert [(f.text, f.sources[0].key) for f in read] == [(f.text, f.sources[0].key) for f in found]


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert all(finding.sources for finding in findings.parse(text))


def test_numbers_without_a_source_are_dropped() -> None:
    text = "It lies there [1]. It is old [7].\n\n**Sources**\n[1] A - https://pages.test/a"
    assert [finding.text for finding in findings.parse(text)] == ["It lies there."]
    assert findings.parse("It lies there [1].") == []


@pytest.mark.parametrize(
    ("sentence", "plain"),
    [
        ("Many genes moved [12].", "Many genes moved."),
        ("Many genes moved 23, 25, 31••.", "Many genes moved."),
        ("Oster has a population of 261,650.", "Oster has a population of 261,650."),
        ("It employs 310, 320 or more.", "It employs 310, 320 or more."),
        ("A [sic] remark.", "A (sic) remark."),
    ],
)
def test_a_pages_own_marks_do_not_become_citations(sentence: str, plain: str) -> None:
    document = Document(key="https://pages.test/a", title="A", text=sentence, rank=0)
    assert findings.of(sentence, document).text == plain


@pytest.mark.parametrize(
    ("sentence", "fits"),
    [
        ("In August 2026, Arden Kites had 5,749 employees.", True),
        ("Arden Kites was founded by Mira Tolle.", True),
        ("Horizontal gene transfer played a pivotal role in the origin of eukaryotes.", True),
        ("Page updated 2026-05-01.", False),
        ("Subjects: Robotics (cs.RO); Machine Learning (cs.LG); Systems and Control (eess.SY).", False),
        ("See https://pages.test/a for the data that were used in this study of birds.", False),
        ("Figure 3 shows the distribution of the values that were measured in May.", False),
        ("and the rest of a sentence that began on the page before this one.", False),
        ("截至2026年，奥斯特的人口为261650人。", True),
        ("页面更新于2026-10-06。", False),
        ("奥斯特市长是谁？", False),
    ],
)
def test_which_sentences_are_readable(sentence: str, fits: bool) -> None:
    assert prose.readable(sentence) is fits


def documents(*texts: tuple[str, str]) -> list[Document]:
    return [
        Document(key=f"https://pages.test/{rank}", title=title, text=text, rank=rank)
        for rank, (title, text) in enumerate(texts)
    ]


def test_the_choice_suits_the_query_and_does_not_repeat() -> None:
    found = documents(
        (
            "Kites",
            "Kites are made of paper and bamboo in the valley. The harbour was painted green last spring by children.",
        ),
        (
            "More on kites",
            "In the valley, kites are made of paper and bamboo. Kites of silk are sold to visitors from the coast.",
        ),
    )
    chosen = [picked.text for picked in prose.choose(found, "kites made of paper, silk", most=5)]
    assert chosen[0].startswith("Kites are made of paper")
    assert chosen[1].startswith("Kites of silk")
    assert len(chosen) == 2


def test_pages_on_something_else_are_left_out() -> None:
    task = parse("How do birds achieve precise location and direction navigation during migration?")
    found = documents(
        ("Drones", "The location and direction of the drone are measured by its navigation unit every second.")
    )
    assert prose.choose(found, "birds navigation", most=5, task=task) == []


def test_words_cut_by_line_breaks_are_joined_and_compounds_are_not() -> None:
    vocabulary = frozenset({"optical", "free", "space", "ground", "based"})
    assert prose.mended("An opti-cal trap in free-space optics, ground-based.", vocabulary) == (
        "An optical trap in free-space optics, ground-based."
    )


def test_sentences_with_different_numbers_are_not_alike() -> None:
    assert not prose.alike(
        "The count of 2022 gives 1,992 people at work.", "The count of 2026 gives 2,228 people at work."
    )
    assert prose.alike("Kites are made of paper and bamboo.", "In the valley, kites are made of paper and bamboo.")
