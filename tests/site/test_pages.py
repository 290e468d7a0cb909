"""Writing the results pages: streamed, safe, only if something has changed, and also for older runs."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.core.samples import Question, Sample
from aiq.datasets import Samples
from aiq.runs.folder import RunFolder
from aiq.runs.manifest import Manifest
from aiq.site.pages import data_line, data_records, write_run
from aiq.site.records import rerun_command
from aiq.site.results import write_site
from aiq.site.timeline import timeline, writer_of
from tests.site.made import ADDRESS, PASSAGE, RELAXED, REPORT, RUN, events, row, write_made_run, write_results
from tests.site.seen import EVIL, Seen


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("site") / "results"
    write_results(path)
    assert write_site(path) == (4, [])
    return path


def records(path: Path) -> list[Any]:
    return list(data_records(path))


def test_a_run_is_a_small_page_with_data_loaded_on_demand(results: Path) -> None:
    run = results / "made/a"
    assert (run / "index.html").stat().st_size < 2000
    (summary,) = records(run / "site/summary.js")
    columns = summary["columns"]
    assert list(zip(columns["id"], columns["epoch"], strict=True)) == [(f"s{n}", e) for n in (1, 2, 3) for e in (1, 2)]
    assert columns["scores"][RELAXED] == [1.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    assert summary["metrics"][0]["mean"] == 0.5
    assert {path.name for path in (run / "site").iterdir()} == {"summary.js", "plots.js", "samples-0.js", "events-0.js"}


def test_a_sample_has_everything_that_a_reader_needs(results: Path) -> None:
    first = records(results / "made/a/site/samples-0.js")[0]
    assert [(c["shown"], c["outcome"]) for c in first["cited"][:2]] == [("[1]", "valid"), ("[2]", "invalid")]
    passage = first["cited"][0]["passages"][0]["found"]
    assert "".join(passage["parts"]) == PASSAGE
    assert first["sources"][0]["address"] == ADDRESS
    assert first["sources"][0]["event"] == 2
    assert first["writer"] == 6
    assert first["scores"][0]["detail"]["judgements"][0]["answer"].startswith("comment: because")
    assert first["gold"] is None


def test_reports_are_safe_html_before_they_reach_a_page(results: Path) -> None:
    for run in ("a", "b"):
        for sample in records(results / f"made/{run}/site/samples-0.js"):
            seen = Seen(sample["report"])
            assert seen.is_harmless()
            assert seen.scripts() == 0
            assert not any("style" in attrs for _, attrs in seen.tags)


@pytest.mark.parametrize("text", ["</script><script>", "<!--", "a\u2028b\u2029c", "\ud83d", "'\"\\\n"])
def test_no_text_breaks_out_of_its_line_of_data(text: str, tmp_path: Path) -> None:
    line = data_line({"text": text})
    assert line.count("\n") == 1
    assert not {"<", "\u2028", "\u2029"} & {*line}
    (tmp_path / "data.js").write_bytes(line.encode("utf-8", "replace"))
    assert records(tmp_path / "data.js")[0]["text"] == text.encode("utf-8", "replace").decode()


def test_unchanged_pages_are_not_rewritten_and_deleted_runs_leave_the_index(tmp_path: Path) -> None:
    write_results(tmp_path)
    assert write_site(tmp_path)[0] == 4
    assert write_site(tmp_path) == (0, [])
    with (tmp_path / "made/a/samples.jsonl").open("a", encoding="utf-8") as file:
        file.write(row(4).model_dump_json() + "\n")
    shutil.rmtree(tmp_path / "made/b")
    assert write_site(tmp_path) == (1, [])
    assert {run["path"] for run in records(tmp_path / "site/runs.js")} == {"made/a", "made/c", "made/sweep"}
    assert records(tmp_path / "made/a/site/summary.js")[0]["columns"]["id"][-1] == "s4"


def test_a_run_that_cannot_be_read_stops_no_other(tmp_path: Path) -> None:
    write_results(tmp_path)
    (tmp_path / "made/a/samples.jsonl").unlink()
    (tmp_path / "made/a/samples.jsonl").mkdir()
    written, (why,) = write_site(tmp_path)
    assert (written, "made/a/samples.jsonl" in why) == (3, True)


def test_long_runs_are_split_and_stale_files_are_removed(tmp_path: Path) -> None:
    rows = [row(number).model_copy(update={"raw_report": "word " * 2000}) for number in range(1, 80)]
    folder = write_made_run(tmp_path / "e/r", rows, set())
    write_run(folder)
    columns = records(folder.path / "site/summary.js")[0]["columns"]
    names = sorted(path.name for path in (folder.path / "site").glob("*-*.js"))
    assert len(names) > 2
    for name in names:
        assert (folder.path / "site" / name).stat().st_size < 400_000
    last = f"samples-{columns['texts'][-1]}.js"
    assert records(folder.path / "site" / last)[-1]["id"] == columns["id"][-1] == "s79"
    folder.samples_path.write_text(rows[0].model_dump_json() + "\n", encoding="utf-8")
    write_run(folder)
    assert sorted(path.name for path in (folder.path / "site").glob("*-*.js")) == ["events-0.js", "samples-0.js"]


def test_samples_are_in_the_order_of_the_dataset_with_their_gold_answers(tmp_path: Path) -> None:
    folder = write_made_run(tmp_path / "e/r", [row(1), row(2)], set())
    samples = [Sample(id=f"s{n}", question=Question(text="?"), answers=(f"{EVIL}{n}",)) for n in (2, 1)]
    write_run(folder, Samples(samples))
    attempts = records(folder.path / "site/samples-0.js")
    assert [(a["id"], a["gold"]["answers"]) for a in attempts] == [("s2", [f"{EVIL}2"]), ("s1", [f"{EVIL}1"])]
    assert attempts[0]["gold"]["other"]  # than the question that was asked


def test_a_run_of_the_first_version_has_a_page_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = Path(__file__).parent.parent / "experiment" / "version_1"
    shutil.copytree(old, tmp_path / "tiny" / "old")
    assert main(["site", str(tmp_path)]) == 0
    assert "1 page written" in capsys.readouterr().out
    attempts = records(tmp_path / "tiny/old/site/samples-0.js")
    assert attempts
    assert records(tmp_path / "tiny/old/site/events-0.js")[0]["agent"]["events"]


def test_a_broken_run_is_named_and_does_not_stop_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_results(tmp_path)
    row = json.dumps({**json.loads((tmp_path / "made/b/samples.jsonl").read_bytes().splitlines()[0]), "later": 1})
    (tmp_path / "made/b/samples.jsonl").write_text(row + "\n", encoding="utf-8")  # of another version
    assert main(["site", str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert "3 pages written" in printed.out
    assert f"{tmp_path}/made/b/samples.jsonl, line 1: " in printed.err
    assert printed.err.count("\n") == 1
    assert main(["site", str(tmp_path / "nowhere")]) == 2
    shutil.rmtree(tmp_path / "site")
    (tmp_path / "site").write_text("")  # where the folder cannot be made
    capsys.readouterr()
    assert main(["site", str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith(" cannot be written: File exists\n")


@pytest.mark.parametrize(
    ("overrides", "sample", "command"),
    [
        (["experiment=made", "limit=3", "epochs=2"], "7", "aiq run experiment=made epochs=2 'dataset.ids=[7]'"),
        (["a=1 2", "dataset.ids=[1]"], "s-7", "aiq run 'a=1 2' 'dataset.ids=[s-7]'"),
        (["output_dir=x"], "a b", "aiq run 'dataset.ids=['\"'\"'a b'\"'\"']'"),
    ],
)
def test_the_command_that_runs_a_sample_again(overrides: list[str], sample: str, command: str) -> None:
    manifest = Manifest.model_validate(RUN["manifest"] | {"overrides": overrides})
    assert rerun_command(manifest, sample) == command


def test_a_timeline_has_results_in_their_calls_and_each_text_once() -> None:
    session = timeline([json.loads(event.model_dump_json()) for event in events(REPORT)])
    assert [(e["kind"], e["seq"], e["parent"]) for e in session["events"]] == [
        *(("stage", 0, None), ("round", 1, None), ("tool", 2, None), ("model", 3, 2)),
        *(("decision", 5, None), ("model", 6, None)),
    ]
    assert session["calls"] == {"call-1": 2}
    assert [speaker for speaker, _ in session["texts"]] == ["user", "reply", "tool", "reply"]
    assert writer_of(REPORT, session) == 6
    assert writer_of("nobody wrote this", session) is None


def test_an_unfinished_run_has_a_page(tmp_path: Path) -> None:
    folder = write_made_run(tmp_path / "e/r", [row(1)], set(), status="running")
    write_run(RunFolder(folder.path))
    assert records(tmp_path / "site/runs.js")[0]["status"] == "running"
