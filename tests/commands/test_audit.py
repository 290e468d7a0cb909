"""`aiq audit` as a command: reports, runs and files of reports in; table, JSON, verified report and page out."""

import gzip
import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.citations.repair import Edit, apply_edits
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source
from aiq.runs.folder import RunFolder
from aiq.runs.journal import Journal
from aiq.runs.manifest import Manifest
from aiq.runs.rows import SampleRow, Timing
from tests.cases import table
from tests.settings import configured

each = table(__file__)
Captured = pytest.CaptureFixture[str]

REPORT = """The Vell Tower is 330 metres tall [1], two [2]. 三[3]。[1, 9] See [it](https://v.com/z).

Nothing is cited here.

## References

[1] One - http://v.com/1
[2] Bad - https://bit.ly/x
[3] 三 - https://nope.com/三
[4] a.pdf, p.1
"""
PAGE = (
    "The Vell Tower stands in the old harbour of Maren. It was opened in 1889 after ten years of work. "
    "The Vell Tower is 330 metres tall. Every year about six million people visit it, most of them in summer. "
    "Its architect, Ilan Corvey, also built the railway bridge over the river Tess. The tower is painted anew every "
    "seven years, which takes sixty tons of paint."
)
SOURCES = (
    f'{{"url": "https://v.com/1", "title": "One", "text": "{PAGE}"}}\n\n'
    '{"citation_key": "a.pdf, p.1"}\n{"url": "https://nope.com/三", "kind": "echoed"}\n'
)
VERIFIED = """The Vell Tower is 330 metres tall [1], two. 三。[1] See [it](https://v.com/z).

Nothing is cited here.

## References

[1] One - https://v.com/1
[2] a.pdf, p.1
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    report, sources = tmp_path / "report.md", tmp_path / "sources.jsonl"
    report.write_text(REPORT, encoding="utf-8")
    sources.write_text(SOURCES, encoding="utf-8")
    return str(report), str(sources)


def audit(*arguments: str | Path) -> int:
    return main(["audit", *map(str, arguments)])


def audit_json(tmp_path: Path, *arguments: str | Path) -> Any:
    path = tmp_path / "audit.json"
    audit(*arguments, "--json", path)
    return json.loads(path.read_text(encoding="utf-8"))


def test_prints_an_aligned_table_and_exits_1(files: tuple[str, str], capsys: Captured) -> None:
    report, sources = files
    assert audit(report, "--sources", sources) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [" ".join(line.split()) for line in lines[:8]] == [
        "old new outcome cited",
        "1 1 valid, exact http://v.com/1",
        "-> https://v.com/1",
        "2 - shortened_url https://bit.ly/x",
        "3 - url_not_in_registry (echoed) https://nope.com/三",
        "4 2 valid, document a.pdf, p.1",
        "9 - dangling -",
        "",
    ]
    assert {line.index(word) for line, word in zip(lines[:4], ["cited", "http:", "->", "https"], strict=True)} == {
        lines[0].index("cited")
    }
    assert lines[8:] == [
        "4 entries: 2 valid, 1 invalid, 1 unsafe",
        "5 citations in the text, 1 number dangling, 1 entry never cited, 1 paragraph without citation",
        "citations.valid_rate 0.500, citations.exact_rate 0.500",
    ]


def test_writes_the_verified_report_which_then_passes(files: tuple[str, str], tmp_path: Path) -> None:
    report, sources = files
    repaired = tmp_path / "repaired.md"
    assert audit(report, "--sources", sources, "--repaired", repaired) == 1
    assert repaired.read_text(encoding="utf-8") == VERIFIED
    assert audit(repaired, "--sources", sources) == 0


def test_json_has_the_documented_fields(files: tuple[str, str], tmp_path: Path) -> None:
    report, sources = files
    record = audit_json(tmp_path, report, "--sources", sources)
    citations = [(REPORT[row["start"] : row["end"]], row["form"], row["entry"]) for row in record["citations"]]
    assert citations == [
        ("[1]", "number", 1),
        ("[2]", "number", 2),
        ("[3]", "number", 3),
        ("[1, 9]", "group", 1),
        ("[1, 9]", "group", None),
        ("[it](https://v.com/z)", "link", None),
    ]
    names = ("number", "url", "citation_key", "outcome", "level", "source", "reason")
    assert [tuple(entry[name] for name in names) for entry in record["entries"]] == [
        (1, "http://v.com/1", None, "valid", "exact", "https://v.com/1", None),
        (2, "https://bit.ly/x", None, "unsafe", None, None, "shortened_url"),
        (3, "https://nope.com/三", None, "invalid", None, None, "url_not_in_registry"),
        (4, None, "a.pdf, p.1", "valid", "document", "a.pdf, p.1", None),
    ]
    assert apply_edits(REPORT, [Edit(**edit) for edit in record["edits"]]) == VERIFIED
    assert [(row["number"], row["reason"]) for row in record["removed_citations"]] == [
        (2, "shortened_url"),
        (3, "url_not_in_registry"),
    ]
    assert [(row["number"], row["original_number"]) for row in record["valid_citations"]] == [(1, 1), (2, 4)]
    assert record["metrics"] == {
        "citations.valid_rate": 0.5,
        "citations.exact_rate": 0.5,
        "citations.kept": 2,
        "citations.removed": 2,
    }
    assert (record["dangling"], record["unused"]) == ([9], [4])
    assert [REPORT[start:end] for start, end in record["uncited_paragraphs"]] == ["Nothing is cited here."]
    (cited,) = record["passages"]
    assert (REPORT[cited["start"] : cited["end"]], cited["entry"], cited["source"]) == (
        "The Vell Tower is 330 metres tall [1], two [2]. 三[3]。[1, 9]",
        1,
        "https://v.com/1",
    )
    passage = cited["passage"]
    assert passage["text"] == PAGE[passage["start"] : passage["end"]] == "The Vell Tower is 330 metres tall."
    shared = [passage["text"][start:end] for start, end in passage["shared"]]
    assert shared == ["Vell", "Tower", "330", "metres", "tall"]


def test_without_sources_valid_entries_have_no_outcome(files: tuple[str, str], tmp_path: Path) -> None:
    record = audit_json(tmp_path, files[0])
    assert [(entry["outcome"], entry["reason"]) for entry in record["entries"]] == [
        (None, "no_sources"),
        ("unsafe", "shortened_url"),
        (None, "no_sources"),
        (None, "no_sources"),
    ]
    assert record["metrics"] == {
        "citations.valid_rate": None,
        "citations.exact_rate": None,
        "citations.kept": None,
        "citations.removed": 1,
    }


def test_options_widen_what_verifies(files: tuple[str, str], tmp_path: Path) -> None:
    report, sources = files
    entry = audit_json(tmp_path, report, "--sources", sources, "--accept", "echoed")["entries"][2]
    assert (entry["outcome"], entry["level"]) == ("valid", "exact")
    paged_report = tmp_path / "pages.md"
    paged_report.write_text("A [1].\n\nSources:\n[1] a.pdf, p.30\n", encoding="utf-8")
    assert audit(paged_report, "--sources", sources) == 1
    assert audit(paged_report, "--sources", sources, "--pages", "ignore") == 0


def test_reads_standard_input_and_gzipped_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    packed = tmp_path / "sources.jsonl.gz"
    packed.write_bytes(gzip.compress(SOURCES.encode()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(VERIFIED.encode())))
    assert audit("-", "--sources", packed) == 0
    assert "2 entries: 2 valid" in capsys.readouterr().out


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """A Deep Research Bench file of two reports."""
    path = tmp_path / "agent.jsonl.gz"
    rows = [{"id": 1, "prompt": "One?", "article": REPORT}, {"id": 2, "prompt": "Two?", "article": "No citation."}]
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return path


def test_a_file_of_reports_has_a_line_each(reports: Path, tmp_path: Path, capsys: Captured) -> None:
    record = audit_json(tmp_path, reports)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[:2] for line in lines[1:4]] == [["1", "4"], ["2", "0"], ["all", "4"]]
    assert " ".join(lines[5]) == "2 reports, 1 with something to remove"
    assert [report["sample_id"] for report in record["reports"]] == ["1", "2"]
    assert record["metrics"]["citations.removed"] == 1
    assert audit(reports, "--sample", "2") == 0
    assert audit(reports, "--sample", "1", "--html", tmp_path / "one.html") == 1
    assert "One?" in (tmp_path / "one.html").read_text(encoding="utf-8")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder: three answered samples, one in two epochs, one with a report from a file; and a failed one."""
    folder = RunFolder(tmp_path / "run")
    folder.create()
    common = {"sample_hash": "0" * 16, "attempt": 1, "question": "Q?", "timing": Timing(started="2026", seconds=1)}
    sources = (Source(url="https://v.com/1", text=PAGE), Source(citation_key="a.pdf, p.9"))
    answered = {**common, "status": "completed", "report": "verified", "sources": sources}
    journal: Journal[SampleRow] = Journal(folder.samples_path)
    journal.append(
        SampleRow(sample_id="10", epoch=1, raw_report=REPORT, **answered),
        SampleRow(sample_id="9", epoch=2, raw_report="One [1].\n\nSources:\n[1] a.pdf, p.1\n", **answered),
        SampleRow(sample_id="9", epoch=1, raw_report="superseded [7]", **answered),
        SampleRow(sample_id="9", epoch=1, raw_report="Fine.", **answered),
        SampleRow(sample_id="11", epoch=1, status="failed", **common),
        SampleRow(sample_id="12", epoch=1, raw_report=REPORT, **{**answered, "sources": ()}),
    )
    journal.close()
    shipped = json.loads(Path(__file__).parents[1].joinpath("site", "run.json").read_text(encoding="utf-8"))
    config = {"citations": configured(CitationSettings, pages="ignore").model_dump(mode="json")}
    folder.write_manifest(Manifest.model_validate({**shipped["manifest"], "config": config}))
    return folder.path


def test_a_run_is_audited_by_its_agents_raw_reports(run: Path, tmp_path: Path, capsys: Captured) -> None:
    record = audit_json(tmp_path, run)
    assert [(row["sample_id"], row["epoch"], len(row["valid_citations"])) for row in record["reports"]] == [
        ("9", 1, 0),
        ("9", 2, 1),
        ("10", 1, 2),
        ("12", 1, 0),
    ]
    assert record["reports"][-1]["with_sources"] is False  # nobody knows what was retrieved
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:6]] == ["9", "9.2", "10", "12", "all"]
    assert audit(run, "--sample", "9", "--epoch", "2") == 0
    assert audit(run, "--sample", "9", "--epoch", "2", "--pages", "exact") == 1


@pytest.mark.parametrize(
    ("report", "sources", "said"),
    [
        (None, SOURCES, "report.md cannot be read (No such file or directory); check REPORT"),
        (b"caf\xe9", SOURCES, "report.md, line 1: not UTF-8"),
        ("Zwölf".encode("utf-16"), SOURCES, "report.md, line 1: not UTF-8"),
        (b"PK\x03\x04 zero \x00 byte", SOURCES, "report.md is empty or not text"),
        (b" \n", SOURCES, "report.md is empty"),
        (b"ok", None, "sources.jsonl"),
        (b"ok", '{"title": "x"}', "line 1: a source needs a url or a citation_key"),
        (b"ok", '{"url": "https://v.com"}\nnot json', "line 2: not valid JSON"),
        (b"ok", '{"url": "https://v.com", "kind": "guessed"}', "kind"),
        (b"ok", '{"url": 7}', "line 1: url"),
        (b"ok", '{"url": "v.com/1"}', "line 1: url='v.com/1' is not a URL"),
        (b"ok", '{"url": "report.pdf"}', "a document's name goes into citation_key"),
        (b"ok", "[1]", "line 1"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    report: bytes | None, sources: str | None, said: str, tmp_path: Path, capsys: Captured
) -> None:
    if report is not None:
        (tmp_path / "report.md").write_bytes(report)
    if sources is not None:
        (tmp_path / "sources.jsonl").write_text(sources, encoding="utf-8")
    assert audit(tmp_path / "report.md", "--sources", tmp_path / "sources.jsonl") == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("first", ["# The Vell Tower\n\n", "```\nx = [7]\n```\n", "[5]: https://v.com/5\n\n"])
def test_a_byte_order_mark_counts_in_offsets_but_is_ignored(
    first: str, files: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, sources = Path(files[0]), files[1]
    report.write_text(first + REPORT, encoding="utf-8")
    plain = audit_json(tmp_path, report, "--sources", sources)
    report.write_text(f"\ufeff{first}{REPORT}", encoding="utf-8")
    marked = audit_json(tmp_path, report, "--sources", sources, "--repaired", tmp_path / "repaired.md")
    assert (tmp_path / "repaired.md").read_text(encoding="utf-8")[0] == "\ufeff"
    for part in ("citations", "entries"):
        shifted = [{**row, "start": row["start"] + 1, "end": row["end"] + 1} for row in plain[part]]
        assert marked[part] == shifted
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(report.read_bytes())))
    assert audit_json(tmp_path, "-", "--sources", sources) == marked


def test_each_report_of_a_file_has_its_own_sources(files: tuple[str, str], reports: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in SOURCES.splitlines() if line.strip()]
    path = tmp_path / "mine.jsonl"

    def outcomes(report: int) -> list[str]:
        path.write_text("".join(json.dumps({**row, "id": report}) + "\n" for row in rows), encoding="utf-8")
        entries = audit_json(tmp_path, reports, "--sources", path)["reports"][0]["entries"]
        return [entry["outcome"] for entry in entries]

    single = audit_json(tmp_path, files[0], "--sources", files[1])
    assert outcomes(1) == [entry["outcome"] for entry in single["entries"]]
    assert "valid" not in outcomes(2)


def test_a_torn_last_line_of_a_run_is_reported(run: Path, capsys: Captured) -> None:
    with (run / "samples.jsonl").open("a") as file:
        file.write('{"sample_id": "10", "epo')
    audit(run)
    assert f"{run}/samples.jsonl: a torn last line (24 bytes) is skipped" in capsys.readouterr().err
    assert main(["show", str(run), "9"]) == 0
    assert capsys.readouterr().err.count("samples.jsonl: a torn last line") == 1


@each("arguments")
def test_incompatible_arguments_are_refused_before_any_work(
    arguments: list[str],
    said: str,
    files: tuple[str, str],
    reports: Path,
    run: Path,
    tmp_path: Path,
    capsys: Captured,
) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "other.jsonl").write_text('{"id": 7, "url": "https://v.com/1"}', encoding="utf-8")
    names = {"tmp": tmp_path, "report": files[0], "sources": files[1], "reports": reports, "run": run}
    assert audit(*(argument.format(**names) for argument in arguments)) == 2
    output = capsys.readouterr()
    assert said.format(**names) in output.err
    assert output.err.count("\n") == 1
    assert output.out == ""


def test_rows_without_a_report_or_with_a_repeated_id_are_named(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "agent.jsonl"
    path.write_text('{"id": 1, "article": "ok"}\n{"id": 2, "prompt": "?"}\n', encoding="utf-8")
    assert audit(path) == 2
    assert "agent.jsonl, line 2: article" in capsys.readouterr().err
    path.write_text('{"id": 1, "article": "ok"}\n{"id": 1, "article": "other"}\n', encoding="utf-8")
    assert audit(path, "--sample", "1") == 2
    assert "agent.jsonl has 2 reports of sample 1" in capsys.readouterr().err


def test_sources_are_merged_like_in_a_registry(tmp_path: Path) -> None:
    report, sources = tmp_path / "report.md", tmp_path / "sources.jsonl"
    report.write_text("The Vell Tower is 330 metres tall [1].\n\n## References\n\n[1] https://v.com/1\n", "utf-8")
    rows = [{"url": "https://v.com/1", "kind": "mentioned"}, {"url": "https://v.com/1", "title": "One"}]
    rows.append({"url": "http://www.v.com/1/", "text": PAGE})
    sources.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    record = audit_json(tmp_path, report, "--sources", sources)
    assert [row["passage"]["text"] for row in record["passages"]] == ["The Vell Tower is 330 metres tall."]
    digest = hashlib.sha256(PAGE.encode()).hexdigest()[:16]
    assert [(s["url"], s["title"], s["digest"]) for s in record["sources"]] == [("https://v.com/1", "One", digest)]


def test_an_unsafe_link_is_unsafe_whatever_its_entry_is(tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    report.write_text("A [1](javascript:x) [1].\n\n## References\n\n[1] https://v.com/1\n", encoding="utf-8")
    record = audit_json(tmp_path, report)
    outcomes = [(row["form"], row["outcome"], row["reason"]) for row in record["citations"]]
    assert outcomes == [("numbered_link", "unsafe", "unsafe_scheme"), ("number", None, "no_sources")]
