"""Reading reports: what is a mark, what a list, what neither; every row of the table of headings and entries."""

import pytest

from aiq.citations.parsing import ParsedReport, parse_report

LIST = "\n\n## References\n\n[1] A - https://v.com/1\n[2] B - https://v.com/2\n[3] C - https://v.com/3\n"


def _marks(body: str, references: str = LIST) -> list[tuple[str, str, tuple[int, ...]]]:
    report = parse_report(body + references)
    return [(report.text[mark.start : mark.end], mark.form, mark.numbers) for mark in report.marks]


def _urls(report: ParsedReport) -> list[tuple[int, list[str]]]:
    return [(entry.number, [use.url for use in entry.urls]) for entry in report.entries]


@pytest.mark.parametrize(
    ("body", "mark", "form", "numbers"),
    [
        ("So it is [1].", "[1]", "bracket", (1,)),
        ("So it is[1].", "[1]", "bracket", (1,)),
        ("So it is [9].", "[9]", "bracket", (9,)),
        ("So[9] it is.", "[9]", "bracket", (9,)),
        ("就是这样[1]。", "[1]", "bracket", (1,)),
        ("So it is [1, 3].", "[1, 3]", "group", (1, 3)),
        ("So it is [1; 2].", "[1; 2]", "group", (1, 2)),
        ("就是这样[1，3]。", "[1，3]", "group", (1, 3)),
        ("So it is [1-3].", "[1-3]", "range", (1, 2, 3)),
        ("So it is [1–3].", "[1–3]", "range", (1, 2, 3)),
        ("So it is [^1].", "[^1]", "footnote", (1,)),
        ("So it is 【1†L2-L4】.", "【1†L2-L4】", "lenticular", (1,)),
        ("So it is 【1】.", "【1】", "lenticular", (1,)),
        ("So it is [3†source].", "[3†source]", "lenticular", (3,)),
        ("So it is \\[1\\].", "\\[1\\]", "bracket", (1,)),
        ("So it is [[1]].", "[[1]]", "bracket", (1,)),
        ("So it is [citation:1].", "[citation:1]", "bracket", (1,)),
        ("So it is<sup>1</sup>.", "<sup>1</sup>", "superscript", (1,)),
        ("So [1](https://v.com/1) it is.", "[1](https://v.com/1)", "link", (1,)),
        ("So [[1]](https://v.com/1) it is.", "[[1]](https://v.com/1)", "link", (1,)),
        ("| so | it [1] |\n|---|---|\n| is | x |", "[1]", "bracket", (1,)),
        ("> So it is [1].", "[1]", "bracket", (1,)),
        ("## So it is [1]", "[1]", "bracket", (1,)),
        ("see [the [1] page](https://v.com/1)", "[1]", "bracket", (1,)),
        ("```\ncode\n``` [1]", "[1]", "bracket", (1,)),  # models close a fence and cite it in one line
    ],
)
def test_marks(body: str, mark: str, form: str, numbers: tuple[int, ...]) -> None:
    assert _marks(body) == [(mark, form, numbers)]


@pytest.mark.parametrize(
    "body",
    [
        "In [2024] we ran arr[0].",  # D6
        "arr[1] and list[2] and my_values[3] and x[1]",
        "[2019] EWHC 123",
        "[1990-1995]",
        "[sic] [x] [ ] [a1]",
        "[0] [0, 1] [0.5, 1.5]",
        "a value in the interval [1, 3]",
        "取值区间[1, 3]",
        "`cited [1]` and ``[2] ` [3]``",
        "```\n[1]\n```",
        "~~~python\nx = y [1]\n~~~",
        "    indented [1]",
        "$x [1]$ and $$y [2]$$ and \\(z [3]\\)",
        "<code>so [1]</code> <!-- [2] -->",
        "<pre>\n[1]\n</pre>",
        "![figure [1]](https://v.com/x.png)",
        "[text](https://v.com/[1])",
        "10<sup>9</sup>",
        "[3-1]",
    ],
)
def test_no_marks(body: str) -> None:
    assert _marks(body) == []


def test_neighbouring_marks_are_read_one_by_one() -> None:
    assert [mark for mark, _, _ in _marks("So it is [1][2] [3].")] == ["[1]", "[2]", "[3]"]


def test_bare_numbers_behind_sentences_are_marks_where_that_is_the_habit() -> None:
    body = "One is so.1 Two (too).2 Three “it is.”3 Four is.1, 2 Five is.3 See fig.1 and No.2 and GPT 3.5 in 2024."
    assert [numbers for _, form, numbers in _marks(body) if form == "plain"] == [(1,), (2,), (3,), (1, 2), (3,)]
    assert [form for _, form, _ in _marks("One.1 Two.2 Three [3].")] == ["bracket"]


@pytest.mark.parametrize(
    "heading",
    [
        "## Sources",
        "### Sources",
        "# REFERENCES",
        "**References**",
        "**Sources:**",
        "Sources:",
        "Reference List",
        "#### Sources",
        "###### References",
        "## Bibliography",
        "## Works Cited",
        "#### **Works cited**",
        "## Citations",
        "## Source List",
        "## References (3)",
        "## References and notes",
        "## Sources cited",
        "## 7. References",
        "## VII. References:",
        "## 📚 References",
        "__References__",
        "References\n==========",
        "## 参考文献",
        "参考文献：",
        "**参考文献：**",
        "## 七、参考文献",
        "#### **引用的著作**",
        "資料來源：",
        "## 参考文献一覧",
        "## 참고문헌",
        "## Quellenverzeichnis",
        "## Références",
        "## Referencias:",
        "> ## References",
    ],
)
def test_headings(heading: str) -> None:
    report = parse_report(f"So it is [1].\n\n{heading}\n\n[1] A - https://v.com/1\n[2] B - https://v.com/2\n")
    assert _urls(report) == [(1, ["https://v.com/1"]), (2, ["https://v.com/2"])]
    assert report.text[report.lists[0].start :].startswith(heading)


@pytest.mark.parametrize(
    "entries",
    [
        "[1] A: https://v.com/1\n[2] B: https://v.com/2",
        "- [1] A - https://v.com/1\n- [2] B - https://v.com/2",
        "* [1] https://v.com/1\n* [2] https://v.com/2",
        "• [1] https://v.com/1\n• [2] https://v.com/2",
        "1. A https://v.com/1\n2. B https://v.com/2",
        "1) A https://v.com/1\n2) B https://v.com/2",
        "1: A https://v.com/1\n2: B https://v.com/2",
        "1、A https://v.com/1\n2、B https://v.com/2",
        "(1) A https://v.com/1\n(2) B https://v.com/2",
        "[^1]: A https://v.com/1\n[^2]: B https://v.com/2",
        "[^1] A https://v.com/1\n[^2] B https://v.com/2",
        "[1]: https://v.com/1\n[2]: https://v.com/2",
        "[1]A https://v.com/1\n[2]B https://v.com/2",
        "**[1]** A https://v.com/1\n\n**[2]** B https://v.com/2",
        "**1.** A https://v.com/1\n**2.** B https://v.com/2",
        "【1】 A https://v.com/1\n【2】 B https://v.com/2",
        "［1］A https://v.com/1\n［2］B https://v.com/2",
        "\\[1\\] A https://v.com/1\n\\[2\\] B https://v.com/2",
        "- https://v.com/1\n- https://v.com/2",
        "- A: <https://v.com/1>\n- B: [B](https://v.com/2)",
        "1. A https://v.com/1\n1. B https://v.com/2",
        "| # | Title | URL |\n|---|---|---|\n| 1 | A | https://v.com/1 |\n| [2] | B | https://v.com/2 |",
        "[1] A\nhttps://v.com/1\n[2] B\n    https://v.com/2",
        "[1] A\n\nhttps://v.com/1\n\n[2] B\n\n   URL: https://v.com/2",
        "[1] A long title that\nwraps, https://v.com/1\n[2] B (https://v.com/2)",
        "1. A\n   - URL: https://v.com/1\n   - Accessed: 2026\n2. B\n   - URL: https://v.com/2",
        "[1] A - https://v.com/1\nAccessed 2026-01-01\n[2] B - https://v.com/2",
        "[1] A - https://v.com/1 [2] B - https://v.com/2",
        "[1] **https://v.com/1**\n[2] `https://v.com/2`",
        "[1] https://v.com/1。\n[2] 见https://v.com/2，以及更多",
        "[1] A (https://v.com/1).\n[2] B, https://v.com/2;",
        "[1] [https://v.com/1](https://v.com/1)\n[2] [B](https://v.com/2)",
        "[1](https://v.com/1) A\n[2](https://v.com/2) B",
        "[[1]](https://v.com/1) A\n[[2]](https://v.com/2) B",
        "    [1] A https://v.com/1\n    [2] B https://v.com/2",
        "**Web**\n\n[1] A https://v.com/1\n\n**Papers**\n\n[2] B https://v.com/2"[9:],
    ],
)
def test_entries(entries: str) -> None:
    report = parse_report(f"So it is [1].\n\n## References\n\n{entries}\n")
    assert _urls(report) == [(1, ["https://v.com/1"]), (2, ["https://v.com/2"])]


@pytest.mark.parametrize(
    "appendix",
    [
        "## Appendix\n\n1. Method one\n2. Method two\n",  # D10
        "1. Method one\n2. Method two\n",  # D10
        "Appendix:\n\n1. Method one\n",
        "The end of the report.\n",  # D11
        "---\n\nWritten in 2026 [1].\n",
        "```\n[3] https://v.com/3\n```\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
    ],
)
def test_what_follows_a_list_is_no_entry(appendix: str) -> None:
    report = parse_report(f"So.\n\n## References\n\n[1] A https://v.com/1\n[2] B https://v.com/2\n\n{appendix}")
    assert [entry.number for entry in report.entries] == [1, 2]
    assert report.text[report.lists[0].end :].strip() == appendix.strip()


@pytest.mark.parametrize(
    "text",
    [
        "## Sources of the Nile\n\n1. White Nile\n2. Blue Nile\n",
        "## References\n\nNone.\n",
        "## Notes\n\n1. Prices are in euros.\n",
        "References: see below.\n",
        "```\n## References\n[1] A https://v.com/1\n```\n",
        "1. A thing https://v.com/1\n2. Another https://v.com/2\n",
        "- Sources\n- References\n",
    ],
)
def test_no_list(text: str) -> None:
    assert parse_report(text).entries == ()


def test_a_list_without_heading_at_the_end_is_one() -> None:
    report = parse_report("So it is [1].\n\n[1] A - https://v.com/1\n[2] B - https://v.com/2\n\n")
    assert [entry.number for entry in report.entries] == [1, 2]
    assert [mark.numbers for mark in report.marks] == [(1,)]


def test_footnotes_are_entries_wherever_they_stand() -> None:
    report = parse_report("So [^1].\n\n[^1]: A https://v.com/1\n\nMore [^2].\n\n[^2]: B https://v.com/2\n\nEnd.\n")
    assert [entry.number for entry in report.entries] == [1, 2]
    assert [mark.form for mark in report.marks] == ["footnote", "footnote"]


def test_a_list_in_one_line_is_one_where_no_other_is() -> None:
    report = parse_report("42 [1].\n\nSources: [1] A https://v.com/1 [2] B https://v.com/2")
    assert [entry.number for entry in report.entries] == [1, 2]
    report = parse_report("42.\n\nSource: [2] B https://v.com/2\n\n## References\n[1] A https://v.com/1")
    assert [entry.number for entry in report.entries] == [1]


def test_a_bibliography_in_prose_beside_a_real_list_is_text() -> None:
    """As real reports have it: titles that cite the list below."""
    report = parse_report("So.\n\n## 参考资料\n\n1. 《书名》，出版社 [1][2]\n2. 《书名》 [1]\n" + LIST)
    assert len(report.lists) == 1
    assert [mark.numbers for mark in report.marks] == [(1,), (2,), (1,)]


def test_a_fence_that_is_never_closed_does_not_swallow_the_references() -> None:
    report = parse_report(
        "So [1].\n\n```\ncode\n\nmore\n\n参考文献：\n[1] https://v.com/1 - A\n[2] https://v.com/2 - B\n"
    )
    assert [entry.number for entry in report.entries] == [1, 2]


def test_a_report_wrapped_in_a_markdown_fence_is_read() -> None:
    report = parse_report(
        "```markdown\n# T\n\nSo [1].\n\n```\ncode [1]\n```\n\n## References\n[1] https://v.com/1\n```\n"
    )
    assert [mark.start for mark in report.marks] == [report.text.index("[1]")]
    assert _urls(report) == [(1, ["https://v.com/1"])]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_offsets_hold_for_every_kind_of_line_end(newline: str) -> None:
    lines = ["# T", "", "`x` so [1]", "", "> 引 [2]", "", "## References", "[1] https://v.com/1", "[2] https://v.com/2"]
    text = newline.join(lines)
    report = parse_report(text)
    assert [text[mark.start : mark.end] for mark in report.marks] == ["[1]", "[2]"]
    assert [text[use.url_start : use.url_end] for e in report.entries for use in e.urls] == [
        "https://v.com/1",
        "https://v.com/2",
    ]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (
            "see https://en.wikipedia.org/wiki/Mercury_(planet) now",
            "https://en.wikipedia.org/wiki/Mercury_(planet)",
        ),  # D4
        ("(https://en.wikipedia.org/wiki/Mercury_(planet)).", "https://en.wikipedia.org/wiki/Mercury_(planet)"),  # D4
        ("见https://v.com/1，以及更多", "https://v.com/1"),  # D5
        ("“https://v.com/1”", "https://v.com/1"),
        ("**https://v.com/1**", "https://v.com/1"),
        ("_https://v.com/1_", "https://v.com/1"),
        ("| https://v.com/1 | x |", "https://v.com/1"),
        ("https://v.com/1. Next", "https://v.com/1"),  # D14
        ("<https://v.com/1>", "https://v.com/1"),
        ("[a](https://v.com/1 'title')", "https://v.com/1"),
        ("[a](<https://v.com/a b>)", "https://v.com/a b"),
        ("https://v.com/a\\_b", "https://v.com/a_b"),
        ("https://v.com/?a=1&section=2", "https://v.com/?a=1&section=2"),  # D1
        ("https://de.wikipedia.org/wiki/Müller’s", "https://de.wikipedia.org/wiki/Müller"),
        ("https://wiki.mbalib.com/wiki/中产阶级 - 中产阶级", "https://wiki.mbalib.com/wiki/中产阶级"),
        ("https://v.com/cut...", "https://v.com/cut..."),
        ("(https://v.com/cut…)", "https://v.com/cut…"),
    ],
)
def test_where_a_url_ends(text: str, url: str) -> None:
    assert [use.url for use in parse_report(text).body_urls] == [url]


def test_urls_in_code_are_no_urls_of_the_body() -> None:
    text = "`u1`|**https://v.com/2** and `https://v.com/3`\n\n```\npostgres://user@10.0.0.1/db\n```\n"
    assert [use.url for use in parse_report(text).body_urls] == ["https://v.com/2"]
