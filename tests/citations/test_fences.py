"""Fences that hold no code: never closed before the list, around the whole report, or around its list."""

import pytest

from aiq.citations.parse import ParsedReport, parse_report
from aiq.citations.verify import verify
from aiq.core.sources import Source

LIST = "## References\n\n[1] https://v.com/1\n[2] https://v.com/2\n"
BOTH = [(1, ["https://v.com/1"]), (2, ["https://v.com/2"])]


def _urls(report: ParsedReport) -> list[tuple[int, list[str]]]:
    return [(entry.number, [use.url for use in entry.urls]) for entry in report.entries]


def _marks(report: ParsedReport) -> list[str]:
    return [report.text[mark.start : mark.end] for mark in report.marks]


def test_a_fence_that_is_never_closed_swallows_neither_references_nor_marks() -> None:
    report = parse_report(
        "So [1].\n\n```python\nx = arr[1]\ny [1]\n\nMore [2], and [7].\n\n参考文献：\n"
        "[1] https://v.com/1 - A\n[2] https://v.com/2 - B\n"
    )
    assert _urls(report) == [(1, ["https://v.com/1"]), (2, ["https://v.com/2"])]
    assert [report.text[mark.start - 3 : mark.end] for mark in report.marks] == ["So [1]", "re [2]"]
    assert report.paragraphs[-1][1] == report.text.index("[7].") + 4


def test_code_before_the_list_in_such_a_fence_stays_code() -> None:
    report = parse_report(f"So [1].\n\n```\ncode [1]\nmore `x` [2]\n{LIST}")
    assert [mark.start for mark in report.marks] == [3]
    assert len(report.entries) == 2


def test_a_fence_that_is_never_closed_and_swallows_no_list_is_code() -> None:
    assert [mark.start for mark in parse_report(f"{LIST}\n## More\n\nSo [1].\n\n```\nx [1]\n\ny [2]\n").marks] == [68]


def test_a_report_wrapped_in_a_markdown_fence_is_read() -> None:
    report = parse_report(
        "```markdown\n# T\n\nSo [1].\n\n```\ncode [1]\n```\n\n## References\n[1] https://v.com/1\n```\n"
    )
    assert [mark.start for mark in report.marks] == [report.text.index("[1]")]
    assert _urls(report) == [(1, ["https://v.com/1"])]


@pytest.mark.parametrize("info", ["markdown", "md", "", "text"])
def test_a_report_in_a_fence_below_an_introduction_is_read(info: str) -> None:
    report = parse_report(f"Here is the report:\n\n```{info}\n# T\n\nSo [1], `a[1]`.\n\n{LIST}```\n\nAnything else?\n")
    assert (_marks(report), _urls(report)) == (["[1]"], BOTH)
    assert report.text[report.lists[0].end :] == "\n```\n\nAnything else?\n"


def test_a_fence_around_a_report_is_not_closed_by_the_code_in_it() -> None:
    report = parse_report(
        f"Here it is:\n\n```markdown\nSo [1].\n\n```py\nx[1]\n```\n\nMore [2].\n\n{LIST}```\n\nBye [2].\n"
    )
    assert [report.text[mark.start - 3 : mark.end] for mark in report.marks] == ["So [1]", "re [2]", "ye [2]"]
    assert _urls(report) == BOTH


@pytest.mark.parametrize(
    "text",
    [
        "So [1].\n\n## References\n\n```\n[1] https://v.com/1\n[2] https://v.com/2\n```\n\n## Appendix\n",
        "So [1].\n\n参考文献：\n~~~text\n[1] https://v.com/1\n[2] https://v.com/2\n~~~\n",
        f"So [1].\n\n```\n{LIST}```\n",
    ],
)
def test_a_numbered_list_alone_in_a_fence_is_one(text: str) -> None:
    assert (_marks(parse_report(text)), _urls(parse_report(text))) == (["[1]"], BOTH)


@pytest.mark.parametrize(
    "text",
    [
        f"So [1].\n\n```python\n{LIST}```\n",  # code says which language it is
        f"Cite like [1].\n\n```\n{LIST}```\n\nThen more, which is by far longer than the example above it, is said.\n",
        f"So [1] it is, and there is much more to say, by far more than the code below.\n\n```\nx = 1\n{LIST}```\n",
        "So [1].\n\n## References\n\n```\n@article{a,\n  url = {https://v.com/1}\n}\n```\n",
    ],
)
def test_any_other_list_in_a_fence_is_code(text: str) -> None:
    assert parse_report(text).entries == ()


def test_a_list_without_a_valid_entry_goes_with_the_fence_around_it() -> None:
    text = "So [1].\n\n## References\n\n```\n[1] https://v.com/1\n```\n\n## Appendix\n\nx\n"
    assert verify(text, [Source(url="https://v.com/9")]).text == "So.\n\n## Appendix\n\nx\n"
