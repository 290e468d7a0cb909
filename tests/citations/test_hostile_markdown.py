"""No text takes more than time linear in its length: four times as long, about four times the time.

Ratios within one process, never times: the limit lies between linear (4) and quadratic (16).
"""

import time

import pytest

from aiq.citations.parse import parse_report

_SIZE = 4_000
_LIMIT = 10
_TOO_SHORT = 0.2
"""Seconds of CPU under which a ratio says nothing; a quadratic rule takes longer at this size."""
_ATTEMPTS = 3
"""A busy machine makes one measurement wrong, a quadratic rule all of them."""

# fmt: off
PIECES = [
    "![", "[", "](", "<", "`", "*", "$", ">", "- ", "|", "&", "\\[", "\\(", "[[[[", "]]]]", "http://", "http://a](",
    "http://a，", "[a](", "[a](b ", "[a](<", "[a](b \"", "[a](b (", "![a](", "[1](", "[1", "[1,", "[1] ", "【1†",
    "<a ", "<a b='", "<code>", "<pre>", "<!--", "<?", "<![CDATA[", "$a ", "$1 ", "$$", "a", "a+", "\\", "(", "）",
    "```\n", "> ", "- - ", "# ", "a\n", "a\n\n", "|a|\n", "| a\\|b ", "<div>\n", "## References\n",
    "## References\n[1] a https://v.com/1\n", "Notes\n1. a\n", "[^1]: a\n", "[^1]: https://v.com\n", "[1] a [2] b ",
    "[1] a - https://v.com/1 ", "(a\n", "Accessed\n", "So it is.1 ", "a**", "<sup>", "href=\"", " - \n  - \n",
    "> - a\n", "- ```\n", "[citation:", "x/http://v.com/-\n", "a.1,", "①", "a¹", "[1]-", "=", "[1, 2, ",
    "<a> ", "<li>a https://v.com ", "1. https://v.com 2. ", "[2]x https://v.com ", "[1] a https://v.com\n---\n",
    "[1,\n", "```\n[1] https://v.com/1\n```\n", "```\n## References\n[1] https://v.com/1\n```\n", "```markdown\n",
    "[see ",
]
# fmt: on


def _seconds(text: str) -> float:
    start = time.process_time()
    parse_report(text)
    return time.process_time() - start


@pytest.mark.timing
@pytest.mark.parametrize("before", ["", "So [1].\n\n## References\n\n[1] ", "| a | b |\n|---|---|\n| "])
@pytest.mark.parametrize("piece", PIECES)
def test_time_is_linear(piece: str, before: str) -> None:
    count = _SIZE // len(piece)
    for _ in range(_ATTEMPTS):
        long = _seconds(before + piece * 4 * count)
        if long < _TOO_SHORT or long < _LIMIT * _seconds(before + piece * count):
            return
    pytest.fail(f"four times as much of {piece!r} takes more than {_LIMIT} times as long")


@pytest.mark.timing
@pytest.mark.parametrize(
    "text",
    [
        "|" + "a|" * 5_000 + "\n|" + "-|" * 5_000 + "\n|" + "b\\|`x`|" * 5_000,
        "word [1] " * 30_000,
        "a" * 300_000,
        "> " * 100_000 + "x",
        f'<img srcset="{"a" * 100_000}">',
    ],
    ids=["table", "line", "word", "nested", "pictures"],
)
def test_a_giant_of_one_kind_takes_a_small_multiple_of_prose(text: str) -> None:
    prose = "Ordinary prose, as reports have it, with a citation at its end [1].\n\n" * (len(text) // 70)
    assert any(_seconds(text) < 25 * _seconds(prose) for _ in range(_ATTEMPTS))
