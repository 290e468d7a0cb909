"""Which sentence cites which source, and the passage of the source that is closest to the sentence."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.audit import audit_report
from aiq.citations.files import AuditCase, audited
from aiq.citations.match import SourceIndex
from aiq.citations.parse import parse_report
from aiq.citations.passages import SourceSentences, cited_passages, cited_statements
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source
from tests.cases import table
from tests.settings import configured

each = table(__file__)

LIST = "\n\n## References\n\n[1] Atlas - https://a.example/x\n[2] News - https://b.example/y\n"


@each("text")
def test_a_statement_is_the_sentence_with_the_mark(text: str, statements: list[str]) -> None:
    assert [statement.text for statement in cited_statements(parse_report(f"# Title\n\n{text}{LIST}"))] == statements


def test_a_statement_has_its_place_marks_and_urls() -> None:
    text = f"It stood. It grew [1] and [2] (https://d.example/x). It fell.{LIST}"
    (statement,) = cited_statements(parse_report(text))
    assert (statement.marks, statement.body_urls) == ((0, 1), (0,))
    assert text[statement.start : statement.end] == "It grew [1] and [2] (https://d.example/x)."


@pytest.mark.timing
@pytest.mark.parametrize(
    "text",
    [
        f"A view! https://d.example/{'x' * 5000} and more",
        "It grew.[1]" + " [1]" * 5000 + " it",
        "It grew. (see " + "[1], " * 5000,
        "It grew." + "(https://d.example/a " * 2000,
        "| a " * 5000 + "\n" + "| [1] " * 3000,
        "\\" * 20000 + "[1]",
    ],
)
def test_hostile_reports_are_read_quickly(text: str) -> None:
    report = parse_report(text + LIST)
    start = time.process_time()
    cited_statements(report)
    assert time.process_time() - start < 2


@given(st.text(alphabet=st.sampled_from("aB1 []()【】*-#|.\n。https://x.example,，\ue000\ue001"), max_size=300))
def test_any_text_can_be_read_and_every_citation_is_in_at_most_one_statement(text: str) -> None:
    report = parse_report(text)
    statements = cited_statements(report)
    marks = [number for statement in statements for number in statement.marks]
    assert marks == sorted(set(marks))
    assert all(0 <= s.start < s.end <= len(text) for s in statements)


TOWER = (
    "Tower of Maren | Home | Contact\n\nThe Vell Tower stands in the harbour of Maren. It was opened in 1889 after two "
    "years of work. The tower is painted anew every seven years. The tower is 1,330 metres tall. Its architect, Ilan "
    "Corvéy, also built the railway bridge over the river Tess."
)

TOWER_ZH = "高塔位于港口。它于1889年竣工，由陈望设计。每七年重新粉刷一次。"


def marked(text: str, statement: str) -> str | None:
    """The closest passage, with brackets around the shared words."""
    passage = SourceSentences(text).closest(statement)
    if passage is None:
        return None
    assert text[passage.start : passage.end] == passage.text
    output, at = "", 0
    for start, end in passage.shared:
        output += f"{passage.text[at:start]}[{passage.text[start:end]}]"
        at = end
    return output + passage.text[at:]


@pytest.mark.parametrize(
    ("text", "statement", "passage"),
    [
        (TOWER, "The tower is 1330 metres tall.", "The [tower] is [1,330] [metres] [tall]."),
        (
            TOWER,
            "Ilan Corvey's bridges cross the Tess.",
            "Its architect, [Ilan] [Corvéy], also built the railway [bridge] over the river [Tess].",
        ),
        (
            TOWER,
            "Opened in 1889, it stands in Maren.",
            "The Vell Tower [stands] in the harbour of [Maren]. It was [opened] in [1889] after two years of work.",
        ),
        (TOWER_ZH, "该塔于1889年竣工，陈望设计。", "它于[1889][年竣工]，由[陈望设计]。"),
        (TOWER_ZH, "Finished in 1889.", "它于[1889]年竣工，由陈望设计。"),
        (TOWER, "高塔建于港口。", None),
        (TOWER, "It was with the and of.", None),
        ("", "The tower is tall.", None),
    ],
)
def test_the_closest_passage_is_what_shares_most_and_no_more(text: str, statement: str, passage: str | None) -> None:
    assert marked(text, statement) == passage


def test_rare_words_weigh_more_than_common_ones_and_the_first_of_equals_counts() -> None:
    text = " ".join(f"The city council of Maren met {word}." for word in ("early", "late", "often", "once", "again"))
    assert marked(f"{text} Corvey resigned.", "Corvey left the city.") == "[Corvey] resigned."
    assert marked("A tall tower. A tall tower.", "Tall tower.") == "A [tall] [tower]."
    row = marked("cell " * 500 + "needle " + "cell " * 500, "needle") or ""
    assert "[needle]" in row
    assert len(row) <= 302


REPORT = """# Halden

Halden Works was founded in 1912 [1][2][1]. It was sold [1]. See [the page](https://a.example/x) of Halden.
Nobody knows [3]. Invented [4]. Linked [1](https://b.example/y).

## References
[1] https://a.example/x
[2] https://b.example/y
[3] https://c.example/z
[4] https://nowhere.example/q
"""

SOURCES = (
    Source(url="https://a.example/x", text="It rains. Halden Works was founded in 1912. The works were sold in 1931."),
    Source(url="https://b.example/y", text="The harbour festival draws visitors every summer."),
    Source(url="https://c.example/z"),
)


def test_every_statement_is_paired_once_with_each_source_that_it_validly_cites() -> None:
    passages = cited_passages(audit_report(parse_report(REPORT), SourceIndex(SOURCES)))
    assert [(c.statement.text, c.source.url, c.entry, c.passage and c.passage.text) for c in passages] == [
        ("Halden Works was founded in 1912.", "https://a.example/x", 1, "Halden Works was founded in 1912."),
        ("Halden Works was founded in 1912.", "https://b.example/y", 2, None),
        ("It was sold.", "https://a.example/x", 1, "The works were sold in 1931."),
        ("See the page of Halden.", "https://a.example/x", None, "Halden Works was founded in 1912."),
        ("Nobody knows.", "https://c.example/z", 3, None),
        ("Linked.", "https://b.example/y", None, None),
    ]


def test_without_passages_no_source_is_read() -> None:
    case = AuditCase(REPORT, SOURCES, configured(CitationSettings))
    with_them, without = audited(case), audited(case, passages=False)
    assert (len(with_them.passages), without.passages, without.record.passages) == (6, (), ())
    assert without.record == with_them.record.model_copy(update={"passages": ()})


@pytest.mark.timing
@pytest.mark.parametrize("unit", ["a. ", "a", " ", "\n", "中", ".”", "tower ", "1,", "word one. Word two\n"])
def test_hostile_sources_are_read_quickly(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    start = time.process_time()
    SourceSentences(text).closest(text)
    assert time.process_time() - start < 3


@given(
    st.text(alphabet=st.sampled_from('aB1s ,.!?。，中的\n"”ﬁé\u0301\x00|'), max_size=200),
    st.text(alphabet=st.sampled_from('aB1s ,.!?。，中的\n"”ﬁé\u0301\x00|'), max_size=60),
)
def test_places_are_right_in_any_text(text: str, statement: str) -> None:
    passage = SourceSentences(text).closest(statement)
    if passage is not None:
        assert text[passage.start : passage.end] == passage.text
        places = [at for place in passage.shared for at in place]
        assert places == sorted(places)
        assert 0 <= places[0] < places[-1] <= len(passage.text)
