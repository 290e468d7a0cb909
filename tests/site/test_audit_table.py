"""The table on the terminal: complete, never wider than it, and without control codes from a report."""

import pytest
from rich.cells import cell_len

from aiq.citations.files import AuditCase, audited
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source
from aiq.site.audit_table import print_audit
from tests.settings import configured

REPORT = """One [1], two [2], three [3][4], four [7](http://v.com/2).

## References
[1] One - https://v.com/1?utm_source=x
[2] Long - https://nope.com/a/very/long/path/that/goes/on/and/on/and/on/for/ever/and/ever/until/it/ends.html
[3] 中文 - https://v.com/中文/路径/非常长的路径/还有更多/更多更多/更多更多更多更多更多更多
[4] Red - https://v.com/\x1b[31mred
"""


@pytest.mark.parametrize("width", [60, 200])
def test_the_table_is_complete_fits_the_terminal_and_has_no_control_codes(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    case = AuditCase(
        REPORT, (Source(url="https://v.com/1"), Source(url="https://v.com/2")), configured(CitationSettings)
    )
    print_audit(audited(case).record)
    lines = capsys.readouterr().out.splitlines()
    assert ["7", "2", "valid,", "exact", "http://v.com/2"] in map(str.split, lines)  # no list has it
    table = lines[: lines.index("4 entries: 1 valid, 3 invalid") - 1]
    assert max(map(cell_len, table)) <= width
    cited = "".join(line[table[0].index("cited") :].strip() for line in table)
    assert "https://nope.com/a/very/long/path/that/goes/on/and/on/and/on/for/ever/and/ever/until/it/ends.html" in cited
    assert "https://v.com/中文/路径/非常长的路径/还有更多/更多更多/更多更多更多更多更多更多" in cited
    assert "\x1b" not in "".join(table)
