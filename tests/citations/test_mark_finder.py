"""Which brackets are citations: every form of a mark, and everything that only looks like one."""

import pytest

from aiq.citations.parse import ParsedReport, parse_report

LIST = "\n\n## References\n\n" + "".join(f"[{n}] Title {n} - https://v.com/{n}\n" for n in range(1, 8))


def _read(body: str, references: str = LIST) -> ParsedReport:
    return parse_report(body + references)


def _marks(body: str, references: str = LIST) -> list[tuple[str, str, tuple[int, ...]]]:
    report = _read(body, references)
    return [(report.text[mark.start : mark.end], mark.form, mark.numbers) for mark in report.marks]


@pytest.mark.parametrize(
    ("body", "mark", "form", "numbers"),
    [
        ("So it is [1].", "[1]", "number", (1,)),
        ("So it is[1].", "[1]", "number", (1,)),
        ("So it is [9].", "[9]", "number", (9,)),
        ("So[9] it is.", "[9]", "number", (9,)),
        ("So it is [ 1 ].", "[ 1 ]", "number", (1,)),
        ("So it is [01].", "[01]", "number", (1,)),
        ("就是这样[1]。", "[1]", "number", (1,)),
        ("こうです［1］。", "［1］", "number", (1,)),
        ("こうです［１］。", "［１］", "number", (1,)),
        ("그렇습니다[1].", "[1]", "number", (1,)),
        ("So ist es〔1〕.", "〔1〕", "number", (1,)),
        ("So it is \\[1\\].", "\\[1\\]", "number", (1,)),
        ("So it is [[1]].", "[[1]]", "number", (1,)),
        ("So it is [citation:1].", "[citation:1]", "number", (1,)),
        ("So it is [Source 1].", "[Source 1]", "number", (1,)),
        ("So it is [ref. 2, 3].", "[ref. 2, 3]", "group", (2, 3)),
        ("如此[来源1]。", "[来源1]", "number", (1,)),
        ("So it is [1, p. 15].", "[1, p. 15]", "number", (1,)),
        ("So it is [1, pp. 3-5].", "[1, pp. 3-5]", "number", (1,)),
        ("So it is [1, 3].", "[1, 3]", "group", (1, 3)),
        ("So it is [1; 2].", "[1; 2]", "group", (1, 2)),
        ("So it is [1 and 2].", "[1 and 2]", "group", (1, 2)),
        ("So it is [1, 2, and 3].", "[1, 2, and 3]", "group", (1, 2, 3)),
        ("就是这样[1，3]。", "[1，3]", "group", (1, 3)),
        ("就是这样[1、2]。", "[1、2]", "group", (1, 2)),
        ("So it is [1-3].", "[1-3]", "range", (1, 2, 3)),
        ("So it is [1–3].", "[1–3]", "range", (1, 2, 3)),
        ("So it is [1,2,5-7].", "[1,2,5-7]", "range", (1, 2, 5, 6, 7)),
        ("So it is [1]–[3].", "[1]–[3]", "range", (1, 2, 3)),
        ("So it is [1\u20113].", "[1\u20113]", "range", (1, 2, 3)),  # the hyphen that does not break
        ("So it is [1−3].", "[1−3]", "range", (1, 2, 3)),
        ("こうです[1〜3]。", "[1〜3]", "range", (1, 2, 3)),
        ("就是这样[1到3]。", "[1到3]", "range", (1, 2, 3)),
        ("就是这样[1和3]。", "[1和3]", "group", (1, 3)),
        ("就是这样[1，　3]。", "[1，　3]", "group", (1, 3)),
        ("So it is [1,\u00a03].", "[1,\u00a03]", "group", (1, 3)),
        ("So it is [1,\n3].", "[1,\n3]", "group", (1, 3)),
        ("So it is [see 1].", "[see 1]", "number", (1,)),
        ("就是这样[见参考文献1]。", "[见参考文献1]", "number", (1,)),
        ("就是这样[资料1]。", "[资料1]", "number", (1,)),
        ("So it is [Doc 1].", "[Doc 1]", "number", (1,)),
        ("So it is [1, Table 2].", "[1, Table 2]", "number", (1,)),
        ("So it is [1 p.15].", "[1 p.15]", "number", (1,)),
        ("就是这样[1，图2]。", "[1，图2]", "number", (1,)),
        ("So it is [1, Fig. S2].", "[1, Fig. S2]", "number", (1,)),
        ("So it is [1, para. 3].", "[1, para. 3]", "number", (1,)),
        ("So it is [1, p. ix].", "[1, p. ix]", "number", (1,)),
        ("就是这样^[1]^。", "^[1]^", "superscript", (1,)),
        ("__So it is__[1].", "[1]", "number", (1,)),
        ("_So_[1] it is.", "[1]", "number", (1,)),
        ("__[1]__", "[1]", "number", (1,)),
        ("Node.js[1] it is.", "[1]", "number", (1,)),
        ("So it is [1] - [3].", "[1] - [3]", "range", (1, 2, 3)),
        ("So it is [^1].", "[^1]", "footnote", (1,)),
        ("So it is [^1^].", "[^1^]", "footnote", (1,)),
        ("So it is 【1†L2-L4】.", "【1†L2-L4】", "lenticular", (1,)),
        ("So it is 【1】.", "【1】", "lenticular", (1,)),
        ("So it is [3†source].", "[3†source]", "lenticular", (3,)),
        ("So it is<sup>[1]</sup>.", "<sup>[1]</sup>", "superscript", (1,)),
        ('So<sup><a href="#r1">[1]</a></sup>.', '<sup><a href="#r1">[1]</a></sup>', "superscript", (1,)),
        ('So <a href="#r1">[1]</a>.', '<a href="#r1">[1]</a>', "number", (1,)),
        ('So <a href="https://v.com/1">[1]</a>.', "[1]", "number", (1,)),
        ("So [1](https://v.com/1) it is.", "[1](https://v.com/1)", "numbered_link", (1,)),
        ("So [1](<https://v.com/1>) it is.", "[1](<https://v.com/1>)", "numbered_link", (1,)),
        ("So [[1]](https://v.com/1) it is.", "[[1]](https://v.com/1)", "numbered_link", (1,)),
        ("So [1](#ref-1) it is.", "[1](#ref-1)", "number", (1,)),  # leads to its entry, not away
        ("| so | it [1] |\n|---|---|\n| is | x |", "[1]", "number", (1,)),
        ("> So it is [1].", "[1]", "number", (1,)),
        ("## So it is [1]", "[1]", "number", (1,)),
        ("<p>So it is [1]</p>", "[1]", "number", (1,)),
        ("see [the [1] page](https://v.com/1)", "[1]", "number", (1,)),
        ("the [text][1]", "[1]", "number", (1,)),
        ("GPT-4[1]", "[1]", "number", (1,)),
        ("GPT4[1]", "[1]", "number", (1,)),
        ("It cost $5 [1] and then $6.", "[1]", "number", (1,)),
        ("```\ncode\n``` [1]", "[1]", "number", (1,)),  # models close a fence and cite it in one line
    ],
)
def test_marks(body: str, mark: str, form: str, numbers: tuple[int, ...]) -> None:
    assert _marks(body) == [(mark, form, numbers)]


@pytest.mark.parametrize(
    "body",
    [
        "In [2024] we ran arr[0].",  # D6
        "arr[1] and list[2] and my_values[3] and x[1]",
        "matrix[1][2] and arr[0][1] and dict['a'][1] and x[i][2][3]",
        "self.items[1] and df.iloc[1] and _private[1]",
        "x = [1] and y=[1, 2]",
        "It cost [1,234] and [2,000,000].",
        "[2页] [5 页]",
        "the vector [1, 2]",
        "[2019] EWHC 123 and [1932] AC 562",
        "[1990-1995]",
        "[sic] [x] [ ] [a1] [1a] [a, b] [1/2] [1.2] [1 2] [1,]",
        "[Smith 2020](https://v.com/1)",
        "[0] [0, 1] [0.5, 1.5]",
        "a value in the interval [1, 3]",
        "取值区间[1, 3] 范围为[1, 5] 在[1, 3]之间",
        "(95% CI [1, 3]) and (95% CI: [1, 3]) 95%CI为[1, 3]",
        "[3, sections were cut] [1: tables] [1, parachutes] [1，表示]",
        "`cited [1]` and ``[2] ` [3]``",
        "```\n[1]\n```",
        "~~~python\nx y [1]\n~~~",
        "    indented [1]",
        "$x [1]$ and $$y [2]$$ and \\(z [3]\\)",
        "$x_[1]$",
        "\\[ a [1] \\]",
        "<code>so [1]</code> <!-- [2] -->",
        "<pre>\n[1]\n</pre>",
        "![figure [1]](https://v.com/x.png)",
        "![1](https://v.com/x.png)",
        "[text](https://v.com/[1])",
        "[text][9]",
        "- [x] done\n- [ ] open",
        "term [^note]",
        "[3-1] [1-1] [1-500]",
        "(1) {1} §1",
    ],
)
def test_no_marks(body: str) -> None:
    assert _marks(body) == []


@pytest.mark.parametrize("body", ["[1][2] [3]", "[1]、[2]，[3]", "【1】【2】【3】", "[^1][^2][^3]", "[[1],[2],[3]]"])
def test_neighbouring_marks_are_read_one_by_one(body: str) -> None:
    assert [numbers for _, _, numbers in _marks(f"So it is {body}.")] == [(1,), (2,), (3,)]


def test_a_numbered_link_knows_its_url_and_is_no_url_of_the_body() -> None:
    report = _read("So [1](https://v.com/1 'title') it is.")
    (mark,) = report.marks
    assert mark.url is not None
    assert report.text[slice(*mark.url)] == "https://v.com/1"
    assert report.body_urls == ()


@pytest.mark.parametrize(
    ("body", "items"),
    [
        ("[1]–[3]", "1]–[3"),
        ("[1, 3]", "1, 3"),
        ("[^1^]", "^1"),
        ("<sup>[1]</sup>", "1"),
        ("【1†L2】", "1"),
        ("[ref 1, p. 3]", "1"),
        ("［１］", "１"),
        ("[[1]](https://v.com/1)", "1"),
    ],
)
def test_items_are_what_a_repair_writes_new_numbers_into(body: str, items: str) -> None:
    report = _read(f"So it is {body}.")
    (mark,) = report.marks
    assert report.text[slice(*mark.items)] == items
