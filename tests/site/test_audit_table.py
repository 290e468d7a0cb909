"""The table on the terminal: whole, never wider than it, and obeying nothing that a report says."""

import pytest
from rich.cells import cell_len

from aiq.citations.files import AuditCase, audited
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source
from aiq.site.audit_table import print_audit
from tests.settings import configured

REPORT = """One [1], two [2], three [3][4].

## References
[1] One - https://v.com/1?utm_source=x
[2] Long - https://nope.com/a/very/long/path/that/goes/on/and/on/and/on/for/ever/and/ever/until/it/ends.html
[3] 中文 - https://v.com/中文/路径/非常长的路径/还有更多/更多更多/更多更多更多更多更多更多
[4] Red - https://v.com/\x1b[31mred
"""


@pytest.fixture(params=[60, 80, 100, 200])
def lines(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(request.param))
    case = AuditCase(REPORT, (Source(url="https://v.com/1"),), configured(CitationSettings))
    print_audit(audited(case).record)
    shown = capsys.readouterr().out.splitlines()
    table = shown[: shown.index("4 entries: 1 valid, 3 invalid") - 1]
    assert max(map(cell_len, table)) <= request.param
    return table


def test_urls_are_whole_in_a_table_that_is_no_wider_than_the_terminal(lines: list[str]) -> None:
    start = lines[0].index("cited")
    cited = "".join(line[start:].strip() for line in lines)
    assert "https://nope.com/a/very/long/path/that/goes/on/and/on/and/on/for/ever/and/ever/until/it/ends.html" in cited
    assert "https://v.com/中文/路径/非常长的路径/还有更多/更多更多/更多更多更多更多更多更多" in cited


def test_a_terminal_obeys_nothing_of_a_report(lines: list[str]) -> None:
    assert "\x1b" not in "".join(lines)
