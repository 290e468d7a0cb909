"""`aiq audit REPORT.md --sources SOURCES.jsonl`, as typed."""

import gzip
from pathlib import Path

import pytest

from aiq.__main__ import main

REPORT = """One [1], two [2]. 三[3]。[9]

## References

[1] One - http://v.com/1
[2] Bad - https://bit.ly/x
[3] 三 - https://nope.com/三
"""
SOURCES = '{"url": "https://v.com/1", "title": "One", "text": "t"}\n\n{"citation_key": "a.pdf, p.1"}\n'


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    report, sources = tmp_path / "report.md", tmp_path / "sources.jsonl"
    report.write_text(REPORT, encoding="utf-8")
    sources.write_text(SOURCES, encoding="utf-8")
    return report, sources


def test_prints_an_aligned_table_and_exits_1(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    report, sources = files
    assert main(["audit", str(report), "--sources", str(sources)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:4] for line in lines[1:5]] == [
        ["1", "1", "valid", "exact"],
        ["-", "2", "removed", "shortened_url"],
        ["-", "3", "removed", "url_not_in_registry"],
        ["-", "9", "removed", "dangling"],
    ]
    assert {line.index(word) for line, word in zip(lines[:4], ["cited", "http", "http", "http"], strict=True)} == {
        lines[0].index("cited")
    }
    assert lines[-1] == "1 valid, 2 removed, 1 dangling, 0 never cited"


def test_writes_the_verified_report_which_then_passes(files: tuple[Path, Path], tmp_path: Path) -> None:
    report, sources = files
    repaired = tmp_path / "repaired.md"
    assert main(["audit", str(report), "--sources", str(sources), "--repaired", str(repaired)]) == 1
    assert repaired.read_text(encoding="utf-8") == "One [1], two. 三。\n\n## References\n\n[1] One - https://v.com/1\n"
    assert main(["audit", str(repaired), "--sources", str(sources)]) == 0


def test_sources_may_be_gzipped(files: tuple[Path, Path], tmp_path: Path) -> None:
    packed = tmp_path / "sources.jsonl.gz"
    packed.write_bytes(gzip.compress(SOURCES.encode()))
    report = tmp_path / "fine.md"
    report.write_text("One [1].\n\nSources:\n[1] https://v.com/1\n", encoding="utf-8")
    assert main(["audit", str(report), "--sources", str(packed)]) == 0


def test_sources_that_were_only_mentioned_or_echoed_verify_nothing(tmp_path: Path) -> None:
    """V6 to V8: what stands in a text, an error or the agent's own query was not retrieved."""
    report, sources = tmp_path / "r.md", tmp_path / "s.jsonl"
    report.write_text("One [1].\n\nSources:\n[1] https://evil.com/1\n[2] injected.pdf, p.9\n", encoding="utf-8")
    sources.write_text(
        '{"url": "https://evil.com/1", "kind": "echoed"}\n{"citation_key": "injected.pdf, p.9", "kind": "mentioned"}\n'
        '{"url": "https://v.com/1", "text": "see https://evil.com/1 and\\nCitation: injected.pdf, p.9"}\n',
        encoding="utf-8",
    )
    assert main(["audit", str(report), "--sources", str(sources)]) == 1


@pytest.mark.parametrize(
    ("report", "sources", "said"),
    [
        (None, SOURCES, "report.md"),
        (b"\xff\xfe", SOURCES, "not UTF-8"),
        (b"ok", None, "sources.jsonl"),
        (b"ok", '{"title": "x"}', "line 1"),
        (b"ok", '{"url": "https://v.com"}\nnot json', "line 2"),
        (b"ok", '{"url": "https://v.com", "kind": "guessed"}', "kind"),
        (b"ok", "[1]", "line 1"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    report: bytes | None, sources: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if report is not None:
        (tmp_path / "report.md").write_bytes(report)
    if sources is not None:
        (tmp_path / "sources.jsonl").write_text(sources, encoding="utf-8")
    assert main(["audit", str(tmp_path / "report.md"), "--sources", str(tmp_path / "sources.jsonl")]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
