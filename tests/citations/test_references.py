"""Titles of reference lists, their entries, and what after them is none."""

import pytest

from aiq.citations.entries import title_strength
from aiq.citations.parse import ParsedReport, parse_report
from tests.citations.rows import rows

BOTH = [(1, ["https://v.com/1"]), (2, ["https://v.com/2"])]


def _texts(kind: str) -> list[str]:
    return [text for (text,) in rows("lists.jsonl", kind)]


def _urls(report: ParsedReport) -> list[tuple[int, list[str]]]:
    return [(entry.number, list(dict.fromkeys(use.url for use in entry.urls))) for entry in report.entries]


def _listed(entries: str, title: str = "## References", behind: str = "## Appendix\n\nx\n") -> ParsedReport:
    return parse_report(f"So it is [1].\n\n{title}\n\n{entries}\n\n{behind}")


@pytest.mark.parametrize("numbering", _texts("numbering"))
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_numberings(numbering: str, gap: str) -> None:
    entries = gap.join(numbering.replace("{}", str(n)) + f"A - https://v.com/{n}" for n in (1, 2))
    assert _urls(_listed(entries)) == BOTH


@pytest.mark.parametrize("text", _texts("where"))
@pytest.mark.parametrize("numbering", ["[{}] ", "{}. ", "- ", "[{}]: "])
def test_where_the_url_stands(text: str, numbering: str) -> None:
    entries = (numbering.replace("{}", str(n)) + text.replace("{}", f"https://v.com/{n}") for n in (1, 2))
    assert _urls(_listed("\n".join(entries))) == BOTH


@pytest.mark.parametrize("entries", [*_texts("other"), *_texts("shared line")])
def test_other_lists(entries: str) -> None:
    assert _urls(_listed(entries)) == BOTH


@pytest.mark.parametrize("appendix", _texts("after"))
@pytest.mark.parametrize("numbering", ["[{}] ", "{}. ", "- ", ""])
def test_what_follows_a_list_is_no_entry(appendix: str, numbering: str) -> None:
    entries = "\n".join(numbering.replace("{}", str(n)) + f"A https://v.com/{n}" for n in (1, 2))
    report = _listed(entries, behind=appendix)
    assert _urls(report) == BOTH
    assert report.text[report.lists[0].end :].strip() == appendix.strip()


@pytest.mark.parametrize("text", _texts("none"))
def test_no_list(text: str) -> None:
    assert parse_report(text).entries == ()


@pytest.mark.parametrize("line", _texts("one"))
def test_numbers_within_an_entry_begin_no_other(line: str) -> None:
    assert [number for number, _ in _urls(_listed(line))] == [1]


@pytest.mark.parametrize(
    "entries",
    [
        "[1] A https://v.com/1, which goes on from [2] https://x.com\n[2] https://v.com/2\n[3] https://v.com/3\n",
        "1. A https://v.com/1 and Part 2. https://x.com\n\n2. https://v.com/2\n3. https://v.com/3\n",
        "(1) A https://v.com/1 (2) https://x.com (3) https://x.com\n(2) https://v.com/2\n(3) https://v.com/3\n",
    ],
)
def test_a_number_that_the_next_line_has_again_began_no_entry_before(entries: str) -> None:
    found = _urls(_listed(entries))
    assert [(number, urls[0]) for number, urls in found] == [(n, f"https://v.com/{n}") for n in (1, 2, 3)]


def test_a_list_without_heading_at_the_end_is_one() -> None:
    report = parse_report("So it is [1].\n\n[1] A - https://v.com/1\n[2] B - https://v.com/2\n\n")
    assert [entry.number for entry in report.entries] == [1, 2]
    assert [mark.numbers for mark in report.marks] == [(1,)]


def test_footnotes_are_entries_wherever_they_stand() -> None:
    report = parse_report("So [^1].\n\n[^1]: A https://v.com/1\n\nMore [^2].\n\n[^2]: B https://v.com/2\n\nEnd.\n")
    assert [entry.number for entry in report.entries] == [1, 2]
    assert [mark.form for mark in report.marks] == ["footnote", "footnote"]


@pytest.mark.parametrize(
    ("strength", "title"),
    [
        *(("strong", title) for title in _texts("strong")),
        *(("strong", f"## **{title}**") for title in _texts("strong")),
        *(
            ("strong", markup.format(title))
            for markup in _texts("markup")
            for title in ("References", "参考文献", "참고문헌")
        ),
        *(("weak", title) for title in _texts("weak")),
        *((None, title) for title in _texts("no title")),
    ],
)
def test_titles(strength: str | None, title: str) -> None:
    """Words of the table and nothing else, whatever markup is around them."""
    assert title_strength(title) == strength
