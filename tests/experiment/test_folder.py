import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.errors import ConfigError, UserError
from aiq.core.samples import SampleKey
from aiq.runs.folder import RunFolder, check_output, file_name, find_run, new_run_id, write_whole


@given(st.text(min_size=1, max_size=300))
def test_every_sample_id_is_a_file_name(sample_id: str) -> None:
    name = file_name(sample_id)
    assert name
    assert not set(name) & set('/\\:*?"<>|\0\n ')
    assert not name.startswith(".")
    assert len(f"{name}.10.judge.jsonl".encode()) <= 255


@pytest.mark.parametrize("sample_id", ["58", "s1", "任务-3", "a.b_c-d"])
def test_plain_ids_stay_as_they_are(sample_id: str) -> None:
    assert file_name(sample_id) == sample_id


def test_ids_that_look_alike_have_files_of_their_own() -> None:
    assert len({file_name(sample_id) for sample_id in ("a/b", "a:b", "a b", "a_b")}) == 4


def test_events_of_agent_and_judge_lie_side_by_side(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.events_path(SampleKey("s1", 2)).name == "s1.2.jsonl"
    assert folder.events_path(SampleKey("s1", 2), judge=True).name == "s1.2.judge.jsonl"


@pytest.mark.parametrize("place", ["", "tiny"])
def test_a_file_where_the_results_should_be_is_named(tmp_path: Path, place: str) -> None:
    results = tmp_path / "results"
    file = results / place if place else results
    file.parent.mkdir(exist_ok=True)
    file.write_text("not a folder")
    with pytest.raises(ConfigError, match=f"{file} is a file"):
        check_output(str(results), "tiny")


def test_a_folder_in_use_is_refused_until_it_is_free(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.lock(), pytest.raises(UserError, match="still alive"), RunFolder(tmp_path).lock():
        pass
    with RunFolder(tmp_path).lock():
        pass


def test_run_ids_sort_by_time_and_differ() -> None:
    first = new_run_id()
    time.sleep(0.002)  # two runs of one process are never as close
    assert first < new_run_id()


def test_a_reader_never_meets_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    path.write_text("old")
    with path.open() as reader:
        write_whole(path, "new")
        assert reader.read() == "old"
    assert path.read_text() == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["summary.json"]


def test_runs_are_found_by_folder_id_and_latest(tmp_path: Path) -> None:
    import os

    results = tmp_path / "results"
    for number, name in enumerate(("exp/b", "exp/a")):
        manifest = results / name / "manifest.json"
        manifest.parent.mkdir(parents=True)
        manifest.write_text("{}")
        os.utime(manifest, (number, number))
    assert find_run("latest", str(results)).path == results / "exp/a"
    assert find_run("b", str(results)).path == results / "exp/b"
    assert find_run("exp/b", str(results)).path == results / "exp/b"
    assert find_run(str(results / "exp/b"), "nowhere").path == results / "exp/b"
    with pytest.raises(UserError, match="no run folder"):
        find_run("c", str(results))
    with pytest.raises(UserError, match="no runs"):
        find_run("latest", str(tmp_path / "empty"))
