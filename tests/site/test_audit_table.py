"""The table on the terminal: aligned, never wider than it, and obeying nothing that a report says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from aiq.citations.files import AuditCase, audited
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source
from aiq.site.audit_table import print_audit, shortened
from tests.settings import configured

REPORT = """One [1], two [2], three [3][4].

## References
[1] One - https://v.com/1?utm_source=x
[2] Long - https://nope.com/a/very/long/path/that/goes/on/and/on/and/on/for/ever/and/ever/until/it/ends.html
[3] 中文 - https://v.com/中文/路径/非常长的路径/还有更多/更多更多/更多更多更多更多更多更多
[4] Red - https://v.com/\x1b[31mred
"""


def lines(monkeypatch: pytest.MonkeyPatch, width: int) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    console = Console(width=width, force_terminal=False)
    case = AuditCase(REPORT, (Source(url="https://v.com/1"),), configured(CitationSettings))
    with console.capture() as capture:
        print_audit(audited(case).record, console)
    return capture.get().splitlines()


@pytest.mark.parametrize("width", [80, 100, 140, 200])
def test_no_line_of_the_table_is_wider_than_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = lines(monkeypatch, width)
    table = shown[: shown.index("")]
    assert max(map(cell_len, table)) <= width
    column = cell_len(table[0].partition("cited")[0])
    for line in table[1:]:
        assert cell_len(line[: line.index("http")].removesuffix("-> ")) == column


def test_the_middle_of_a_long_url_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    long = next(line for line in lines(monkeypatch, 100) if "nope.com" in line)
    assert "https://nope.com/a/very" in long
    assert long.endswith("until/it/ends.html")
    assert "…" in long


def test_a_terminal_obeys_nothing_of_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in "".join(lines(monkeypatch, 120))


@given(st.text(max_size=60), st.integers(8, 60))
def test_shortened_text_fits(text: str, cells: int) -> None:
    short = shortened(text, cells)
    assert cell_len(short) <= cells
    assert short == text or cell_len(text) > cells
