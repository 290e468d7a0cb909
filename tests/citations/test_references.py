"""Titles of reference lists, their entries, and what after them is none."""

import pytest

from aiq.citations.entries import title_strength
from aiq.citations.parse import ParsedReport, parse_report

BOTH = [(1, ["https://v.com/1"]), (2, ["https://v.com/2"])]


def _urls(report: ParsedReport) -> list[tuple[int, list[str]]]:
    return [(entry.number, list(dict.fromkeys(use.url for use in entry.urls))) for entry in report.entries]


def _listed(entries: str, title: str = "## References", behind: str = "## Appendix\n\nx\n") -> ParsedReport:
    return parse_report(f"So it is [1].\n\n{title}\n\n{entries}\n\n{behind}")


# fmt: off
NUMBERS = [
    "[{}] ", "[{}]: ", "[{}]", "{}. ", "{}) ", "({}) ", "{}: ", "{}、", "{}．", "{}.", "【{}】", "【{}】: ",
    "［{}］", "[^{}]: ", "[^{}] ", "**[{}]** ", "**[{}]:** ", "**{}.** ", "**{}**. ", "**{}** ", "• [{}] ",
    "- [{}] ", "* [{}] ", "+ [{}] ", "· [{}] ", "– [{}] ", "◦ [{}] ", "- {}. ", "- ({}) ", "（{}）", "[{}]. ",
    "[{}] - ", "[{}] | ", "{} - ", "{} ", "\\[{}\\] ", "<sup>{}</sup> ", "<a id=\"ref{}\"></a>[{}] ", "[[{}]] ",
    "[Ref {}] ", "[citation:{}] ", "[来源{}] ", "来源{}：", "文献{}: ", "Source {}: ", "Reference {}: ", "> [{}] ",
    "> {}. ", "| {} | ", "| [{}] | ", "|{}|", "`[{}]` ", "*[{}]* ", "__[{}]__ ", "{}. [{}] ", "- **[{}]**: ",
    "<li>[{}] ", "### [{}] ", "#### {}. ", "[{}]　", "〔{}〕", "[{}†] ", "0{}. ", "   [{}] ", "\t[{}] ", "{}，",
    "- ", "* ", "• ", "<li>", "| ", "[文档{}] ", "[Document {}]: ", "{}.\n",
]

# fmt: on


@pytest.mark.parametrize("numbering", NUMBERS)
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_numberings(numbering: str, gap: str) -> None:
    entries = gap.join(numbering.replace("{}", str(n)) + f"A - https://v.com/{n}" for n in (1, 2))
    assert _urls(_listed(entries)) == BOTH


@pytest.mark.parametrize("numerals", ["①②", "¹²"])
def test_numerals_that_are_no_digits(numerals: str) -> None:
    report = _listed("\n".join(f"{numeral} A - https://v.com/{n}" for n, numeral in enumerate(numerals, 1)))
    assert _urls(report) == BOTH


# fmt: off
TEXTS = [
    "A - {}", "A. {}", "A: {}", "A, {}", "{} - A", "{}", "<{}>", "A ({})", "A [{}]", "A **{}**", "A `{}`",
    "A，{}。", "A（{}）", "A：{}；", "[A]({})", "[A]({} \"t\")", "[A](<{}>)", "\"A\", B, 2024. {}.", "A\n{}",
    "A\n   {}", "A\n\n   {}", "A\n   - {}", "A\n   - URL: {}\n   - Date: 2024", "A\nURL: {}", "A\n链接：{}",
    "A 「{}」", "A. Retrieved from {}", "A - {} (accessed 2024-01-01)", "A <a href=\"{}\">B</a>", "A<br>{}",
    "A - [{}]({})", "A\n    *B*\n    {}", "A. Available at:\n{}", "*{}*", "A _{}_", "A {}、", "A“{}”", "A:\n{}",
    "A — {}|", "A long title that\nwraps, {}", "A - {}\nAccessed 2026-01-01",
]

# fmt: on


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("numbering", ["[{}] ", "{}. ", "- ", "[{}]: "])
def test_where_the_url_stands(text: str, numbering: str) -> None:
    entries = (numbering.replace("{}", str(n)) + text.replace("{}", f"https://v.com/{n}") for n in (1, 2))
    assert _urls(_listed("\n".join(entries))) == BOTH


@pytest.mark.parametrize(
    "entries",
    [
        "1. A https://v.com/1\n1. B https://v.com/2",
        "| # | Title | URL |\n|---|---|---|\n| 1 | A | https://v.com/1 |\n| [2] | B | https://v.com/2 |",
        "| Title | URL |\n|---|---|\n| A | https://v.com/1 |\n| B | https://v.com/2 |",
        "[1] A - https://v.com/1 [2] B - https://v.com/2",
        "[1](https://v.com/1) A\n[2](https://v.com/2) B",
        "    [1] A https://v.com/1\n    [2] B https://v.com/2",
        "[1] A https://v.com/1\n\n**Papers**\n\n[2] B https://v.com/2",
        "### Web\n\n[1] A https://v.com/1\n\n### Papers\n\n[2] B https://v.com/2",
        "The following sources were used:\n\n[1] A https://v.com/1\n[2] B https://v.com/2",
        "[1] A - https://v.com/1\nA remark about it.\n\n[2] B - https://v.com/2",
        "Smith, J. (2020). A. https://v.com/1\n\nDoe, A. (2021). B. https://v.com/2",
        '<ol>\n<li><a href="https://v.com/1">A</a></li>\n<li><a href="https://v.com/2">B</a></li>\n</ol>',
        "［1］张三．题目[J]．期刊，2020．https://v.com/1。\n［2］李四．题目[EB/OL]．https://v.com/2，2021-03-04。",
    ],
)
def test_other_lists(entries: str) -> None:
    assert _urls(_listed(entries)) == BOTH


@pytest.mark.parametrize(
    "appendix",
    [
        "## Appendix\n\n1. Method one\n2. Method two\n",  # D10
        "1. Method one\n2. Method two\n",  # D10
        "Appendix:\n\n1. Method one\n",
        "The end of the report.\n",  # D11
        "附录A\n\n1. 方法一\n2. 方法二\n",
        "---\n\nWritten in 2026 [1].\n",
        "```\n[3] https://v.com/3\n```\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
    ],
)
@pytest.mark.parametrize("numbering", ["[{}] ", "{}. ", "- ", ""])
def test_what_follows_a_list_is_no_entry(appendix: str, numbering: str) -> None:
    entries = "\n".join(numbering.replace("{}", str(n)) + f"A https://v.com/{n}" for n in (1, 2))
    report = _listed(entries, behind=appendix)
    assert _urls(report) == BOTH
    assert report.text[report.lists[0].end :].strip() == appendix.strip()


@pytest.mark.parametrize(
    "text",
    [
        "## Sources of the Nile\n\n1. White Nile\n2. Blue Nile\n",
        "## References\n\nNone.\n",
        "## Notes\n\n1. Prices are in euros.\n",
        "## Data sources\n\n- Surveys\n- Interviews\n",
        "References: see below.\n",
        "```python\n## References\n[1] A https://v.com/1\n```\n",
        "1. A thing https://v.com/1\n2. Another https://v.com/2\n",
        "- Sources\n- References\n",
        "Sources\n\nWe asked https://v.com for help, and they said a lot of things that we cannot repeat here.\n",
    ],
)
def test_no_list(text: str) -> None:
    assert parse_report(text).entries == ()


@pytest.mark.parametrize(
    "line",
    [
        "[1] A https://v.com/1 [2] B https://v.com/2",
        "[1]A，https://v.com/1。[2]B，https://v.com/2。",
        "【1】A https://v.com/1 【2】B https://v.com/2",
        "（1）A https://v.com/1；（2）B https://v.com/2",
        "①A https://v.com/1 ②B https://v.com/2",
        "1. A https://v.com/1 2. B https://v.com/2",
        "1、A https://v.com/1 2、B https://v.com/2",
        "[1] A https://v.com/1<br>[2] B https://v.com/2",
        "<p>[1] A https://v.com/1</p><p>[2] B https://v.com/2</p>",
        "<ol><li>A https://v.com/1</li><li>B https://v.com/2</li></ol>",
        '<ol><li><a href="https://v.com/1">A</a></li><li><a href="https://v.com/2">B</a></li></ol>',
        "<ul><li>[1] https://v.com/1</li><li>[2] https://v.com/2</li></ul>",
    ],
)
def test_entries_that_share_a_line(line: str) -> None:
    assert _urls(_listed(line)) == BOTH


@pytest.mark.parametrize(
    "line",
    [
        "[1] A https://v.com/1 (see [2]), and https://v.com/1",
        "[1] A https://v.com/1, vol. 3. Also https://v.com/1",
        "[1] A https://v.com/1, issue (2): https://v.com/1",
        "[1] A, Journal [2] https://v.com/1",
        "1. A https://v.com/1 (2) https://v.com/1",
        "- A https://v.com/1 2. https://v.com/1",
        "1. A https://v.com/v1.2. More at https://v.com/1",
        "1. A https://v.com/1,2. More at https://v.com/1",
    ],
)
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


def test_a_rule_between_entries_parts_no_list() -> None:
    assert _urls(_listed("[1] A https://v.com/1\n\n---\n\n[2] B https://v.com/2")) == BOTH


def test_every_list_counts() -> None:
    report = parse_report(
        "A [1].\n\n### Sources\n1. A https://v.com/1\n\n## Part two\n\nB [1].\n\n**参考文献：**\n[1] B https://v.com/2\n"
    )
    assert [entry.section for entry in report.entries] == [0, 1]
    assert [report.text[found.end :].strip()[:8] for found in report.lists] == ["## Part ", ""]


def test_a_list_without_heading_at_the_end_is_one() -> None:
    report = parse_report("So it is [1].\n\n[1] A - https://v.com/1\n[2] B - https://v.com/2\n\n")
    assert [entry.number for entry in report.entries] == [1, 2]
    assert [mark.numbers for mark in report.marks] == [(1,)]


def test_footnotes_are_entries_wherever_they_stand() -> None:
    report = parse_report("So [^1].\n\n[^1]: A https://v.com/1\n\nMore [^2].\n\n[^2]: B https://v.com/2\n\nEnd.\n")
    assert [entry.number for entry in report.entries] == [1, 2]
    assert [mark.form for mark in report.marks] == ["footnote", "footnote"]


@pytest.mark.parametrize("gap", [" ", "\n"])
@pytest.mark.parametrize("title", ["Sources:", "**Sources:**", "来源："])
def test_a_list_in_its_titles_line_is_one_where_no_other_is(title: str, gap: str) -> None:
    line = f"{title} [1] A https://v.com/1{gap}[2] B https://v.com/2"
    assert _urls(parse_report(f"42 [1].\n\n{line}\n")) == BOTH
    report = parse_report("42.\n\nSource: [2] B https://v.com/2\n\n## References\n[1] A https://v.com/1")
    assert [entry.number for entry in report.entries] == [1]


def test_a_bibliography_in_prose_beside_a_real_list_is_text() -> None:
    """As real reports have it: titles that cite the list below."""
    report = parse_report(
        "So.\n\n## 参考资料\n\n1. 《书名》，出版社 [1][2]\n2. 《书名》 [1]\n\n"
        "## References\n\n[1] A https://v.com/1\n[2] B https://v.com/2\n"
    )
    assert len(report.lists) == 1
    assert [mark.numbers for mark in report.marks] == [(1,), (2,), (1,)]


def test_a_link_over_two_entries_belongs_to_neither() -> None:
    report = _listed("[1] [```\n[1]](https://v.com)")
    for entry in report.entries:
        assert all(entry.place.start <= use.start and use.end <= entry.place.end for use in entry.urls)


STRONG = """
Sources|References|Reference List|Bibliography|Works Cited|Citations|Source List|References (3)
References and notes
Sources cited|7. References|VII. References|A. References|Appendix A: References|Appendix: Sources|Reference
Sources & References|References & Further Reading|Key Sources|Selected References|REFERENCES|Cited Sources
Sources Used
Sources used in this report|Notes and references|Literature Cited|Reference links|List of sources|Sources [12]
References — Web|References:|Sources and further reading|Web Sources|Full References
参考文献|参考文献：|参考文献:|七、参考文献|（七）参考文献|第七章 参考文献|第七部分：参考文献|7.参考文献|参考资料
参考来源|引用来源|来源
资料来源|数据来源|信息来源|参考链接|引用文献|引用的著作|參考文獻|參考資料|資料來源|参考文献与数据来源
主要参考文献|参考文献及资料来源
参考文献和注释|参考文献（3）|参考文献 (References)|References (参考文献)|参考文献 / References|附录：参考文献
附录A：参考文献|参考文献列表
参考书目|注释与参考文献|【参考文献】|《参考文献》|参考网站
参照文献|参考資料|出典|引用元|引用文献|参考リンク|参考サイト|参照元|情報源|出典一覧|引用・参考文献|主な参考文献
参考文献一覧
참고문헌|참고 문헌|참고자료|출처|참고문헌 및 출처|출처 목록|주요 출처|7. 참고문헌|인용문헌
Quellen|Quellenverzeichnis|Literatur|Literaturverzeichnis|Referenzen|Einzelnachweise|Quellen und Literatur
Quellennachweise
Verwendete Quellen|7. Quellen:|Belege
Références|Références bibliographiques|Bibliographie|Ouvrages cités|Sources et références|Notes et références
Liste des références
Sources consultées|Sitographie|Sources citées
Referencias|Referencias bibliográficas|Fuentes|Bibliografía|Obras citadas|Fuentes consultadas
Fuentes y referencias
Lista de referencias|Trabajos citados|Fuentes de información
"""

NONE = """
Sources of the Nile|Literature review|Source code|Citation analysis|Data|List of the main pages|Energy sources
Referenced standards|The sources are unclear|文献综述|数据分析|主要资料|来源国家分析|引用量排名|Quellcode
Fuentes de energía|Resourceful|1.|---
Sources said that prices rose|参考价格|出典が不明な記述|Referendum
"""


def _titles(lines: str) -> list[str]:
    return [title for line in lines.strip().splitlines() for title in line.split("|")]


@pytest.mark.parametrize("title", _titles(STRONG))
def test_titles(title: str) -> None:
    assert title_strength(title) == "strong"
    assert title_strength(f"## **{title}**") == "strong"


@pytest.mark.parametrize(
    "title",
    [
        "Notes",
        "Endnotes:",
        "## Further reading",
        "Links",
        "External links",
        "Data sources",
        "注释",
        "脚注",
        "각주",
        "Fußnoten",
    ],
)
def test_titles_under_which_other_things_stand_too(title: str) -> None:
    assert title_strength(title) == "weak"


@pytest.mark.parametrize("line", [*_titles(NONE), "References " + "x" * 100, ""])
def test_other_lines(line: str) -> None:
    assert title_strength(line) is None


# fmt: off
MARKUP = [
    "# {}", "###### {} ######", "**{}**", "__{}__", "*{}*", "***{}***", "{}:", "{}：", "**{}:**", "**{}**：",
    "> ## {}", "## 7. {}", "7. {}", "## 七、{}", "<h2>{}</h2>", "<h3 id='r'><b>{}</b></h3>", "<strong>{}</strong>",
    "{}。", "- **{}**", "<b>{}:</b><br>", "# 📚 {}", "== {} ==", "[{}]", "【{}】", "## [{}](#refs)",
    "## {} {{#refs}}", "<summary>{}</summary>", "\\section*{{{}}}", "## `{}`", "―― {} ――", "{} (12)",
    "{}（共12条）",
]

# fmt: on


@pytest.mark.parametrize("markup", MARKUP)
@pytest.mark.parametrize("title", ["References", "参考文献", "Quellen", "참고문헌"])
def test_markup_around_a_title(markup: str, title: str) -> None:
    assert title_strength(markup.format(title)) == "strong"
