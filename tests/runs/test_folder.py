import time
from pathlib import Path

import pytest

from aiq.core.errors import UserError
from aiq.runs.folder import RunFolder, find_run, new_run_id, write_whole


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
    assert find_run("exp", str(results)).path == results / "exp/a"
    assert find_run("exp/b", str(results)).path == results / "exp/b"
    assert find_run(str(results / "exp/b"), "nowhere").path == results / "exp/b"
    with pytest.raises(UserError, match="no run folder"):
        find_run("c", str(results))
    with pytest.raises(UserError, match="no runs"):
        find_run("latest", str(tmp_path / "empty"))
