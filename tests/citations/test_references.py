"""Titles of reference lists, their entries, and text after them that is not an entry."""

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


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_numberings(gap: str) -> None:
    def of(numbering: str) -> ParsedReport:
        return _listed(gap.join(numbering.replace("{}", str(n)) + f"A - https://v.com/{n}" for n in (1, 2)))

    assert [numbering for numbering in _texts("numbering") if _urls(of(numbering)) != BOTH] == []


@pytest.mark.parametrize("numbering", ["[{}] ", "{}. ", "- ", "[{}]: "])
def test_the_url_may_be_anywhere_in_an_entry(numbering: str) -> None:
    def of(text: str) -> ParsedReport:
        entries = (numbering.replace("{}", str(n)) + text.replace("{}", f"https://v.com/{n}") for n in (1, 2))
        return _listed("\n".join(entries))

    assert [text for text in _texts("where") if _urls(of(text)) != BOTH] == []


def test_other_lists() -> None:
    assert [text for text in (*_texts("other"), *_texts("shared line")) if _urls(_listed(text)) != BOTH] == []


@pytest.mark.parametrize("appendix", _texts("after"))
@pytest.mark.parametrize("numbering", ["[{}] ", "{}. ", "- ", ""])
def test_what_follows_a_list_is_not_an_entry(appendix: str, numbering: str) -> None:
    entries = "\n".join(numbering.replace("{}", str(n)) + f"A https://v.com/{n}" for n in (1, 2))
    report = _listed(entries, behind=appendix)
    assert _urls(report) == BOTH
    assert report.text[report.lists[0].end :].strip() == appendix.strip()


def test_no_list() -> None:
    assert [text for text in _texts("none") if parse_report(text).entries] == []


def test_numbers_within_an_entry_do_not_begin_another() -> None:
    assert [line for line in _texts("one") if [number for number, _ in _urls(_listed(line))] != [1]] == []


@pytest.mark.parametrize(
    "entries",
    [
        "[1] A https://v.com/1, which goes on from [2] https://x.com\n[2] https://v.com/2\n[3] https://v.com/3\n",
        "1. A https://v.com/1 and Part 2. https://x.com\n\n2. https://v.com/2\n3. https://v.com/3\n",
        "(1) A https://v.com/1 (2) https://x.com (3) https://x.com\n(2) https://v.com/2\n(3) https://v.com/3\n",
    ],
)
def test_a_number_with_which_the_next_line_begins_did_not_begin_an_entry_before(entries: str) -> None:
    parsed = _urls(_listed(entries))
    assert [(number, urls[0]) for number, urls in parsed] == [(n, f"https://v.com/{n}") for n in (1, 2, 3)]


def test_entries_in_one_line_may_skip_a_number_and_the_last_may_lack_a_target() -> None:
    assert _urls(_listed("[1] A https://v.com/1 [3] B https://v.com/3")) == [BOTH[0], (3, ["https://v.com/3"])]
    assert _urls(_listed("[1] A https://v.com/1 [2] B, a book")) == [BOTH[0], (2, [])]


def test_a_list_at_the_end_needs_no_heading() -> None:
    report = parse_report("So it is [1].\n\n[1] A - https://v.com/1\n[2] B - https://v.com/2\n\n")
    assert [entry.number for entry in report.entries] == [1, 2]
    assert [mark.numbers for mark in report.marks] == [(1,)]


def test_footnotes_are_entries_wherever_they_are() -> None:
    report = parse_report("So [^1].\n\n[^1]: A https://v.com/1\n\nMore [^2].\n\n[^2]: B https://v.com/2\n\nEnd.\n")
    assert [entry.number for entry in report.entries] == [1, 2]
    assert [mark.form for mark in report.marks] == ["footnote", "footnote"]


@pytest.mark.parametrize(
    ("strength", "titles"),
    [
        ("strong", _texts("strong")),
        ("strong", [text.format(name) for text in _texts("markup") for name in ("References", "参考文献", "참고문헌")]),
        ("weak", _texts("weak")),
        (None, _texts("no title")),
    ],
)
def test_titles(strength: str | None, titles: list[str]) -> None:
    """A title consists of words of the table and nothing else, whatever markup is around them."""
    assert [title for title in titles if title_strength(title) != strength] == []
