"""Citations without brackets, and the powers, units and enumerations that look like them."""

import pytest

from aiq.citations.parse import parse_report


def _marks(body: str, numerals: str) -> list[tuple[str, str, tuple[int, ...]]]:
    entries = "".join(f"{numeral} Title - https://v.com/{n}\n" for n, numeral in enumerate(numerals.split(), 1))
    report = parse_report(f"{body}\n\n## References\n\n{entries}")
    assert [entry.number for entry in report.entries] == list(range(1, len(numerals.split()) + 1))
    return [(report.text[mark.start : mark.end], mark.form, mark.numbers) for mark in report.marks]


@pytest.mark.parametrize(
    ("body", "numerals", "expected"),
    [
        ("So<sup>1</sup> it<sup>2, 3</sup> is.", "1. 2. 3.", [("<sup>1</sup>", (1,)), ("<sup>2, 3</sup>", (2, 3))]),
        ("他<sup>1</sup>说。", "1.", [("<sup>1</sup>", (1,))]),
        ("for x<sup>1, 2</sup> and", "1. 2.", [("<sup>1, 2</sup>", (1, 2))]),
        ("So it is.¹ It was²,³ and.", "1. 2. 3.", [("¹", (1,)), ("²,³", (2, 3))]),
        ("So it is.¹ It was².", "¹ ² ³", [("¹", (1,)), ("²", (2,))]),
        ("如此。¹ 是这样²。", "1. 2.", [("¹", (1,)), ("²", (2,))]),
    ],
)
def test_superscripts(body: str, numerals: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert _marks(body, numerals) == [(text, "superscript", numbers) for text, numbers in expected]


@pytest.mark.parametrize(
    "body",
    [
        "10<sup>2</sup> and 5 m<sup>2</sup> and km<sup>2</sup> and x<sup>2</sup>",
        "10² and 5 m² and km² and x² and (a+b)² and sin² and 20 mW/cm² and 平方米²",
        "E=mc<sup>2</sup> and A = πr<sup>2</sup>",
        "The <sup>3</sup>He isotope",
        "10<sup>9</sup> people<sup>9</sup>",
        "`so<sup>1</sup>` and `so it is.¹`",
    ],
)
def test_powers_and_units_are_no_citations(body: str) -> None:
    assert _marks(body, "1. 2. 3.") == []


def test_raised_numbers_beside_brackets_are_powers() -> None:
    assert [text for text, _, _ in _marks("The area² is [1] large.", "[1] [2]")] == ["[1]"]


def test_circled_numbers_are_citations_where_the_list_has_them() -> None:
    found = _marks("包括①价格、②质量。如此①。如此②③。", "① ② ③")
    assert found == [("①", "circled", (1,)), ("②", "circled", (2,)), ("③", "circled", (3,))]
    assert _marks("如此①。如此②。", "[1] [2]") == []


def test_bare_numbers_behind_sentences_are_marks_where_that_is_the_habit() -> None:
    body = "One is so.1 Two (too).2 Three “it is.”3 Four is.1, 2 Five is.3 See fig.1 and No.2 and GPT 3.5 in 2024."
    assert [numbers for _, _, numbers in _marks(body, "1. 2. 3.")] == [(1,), (2,), (3,), (1, 2), (3,)]
    assert [form for _, form, _ in _marks("One.1 Two.2 Three [3].", "1. 2. 3.")] == ["number"]
