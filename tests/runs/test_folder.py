import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.errors import UserError
from aiq.core.samples import SampleKey, Shard
from aiq.runs.folder import RunFolder, Writer, find_run, in_use, new_run_id, write_atomic


@given(st.integers(1, 9), st.integers(0, 40))
def test_each_key_is_in_one_shard_and_shards_have_similar_sizes(of: int, count: int) -> None:
    keys = tuple(SampleKey(str(number), 1) for number in range(count))
    parts = [Shard.parse(f"{number}/{of}").part(keys) for number in range(1, of + 1)]
    assert sorted(key for part in parts for key in part) == sorted(keys)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@given(st.integers(0, 20), st.integers(1, 20), st.data())
def test_a_files_name_says_which_shard_wrote_it(turn: int, of: int, data: st.DataObject) -> None:
    writer = Writer(turn, Shard(data.draw(st.integers(1, of)) if of > 1 else 1, of))
    assert Writer.read(str(writer)) == writer


def test_a_folder_in_use_is_refused_until_it_is_free(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.lock(), pytest.raises(UserError, match="still running"), RunFolder(tmp_path).lock():
        pass
    with RunFolder(tmp_path).lock():
        pass


def test_checking_for_a_writer_needs_no_write_access_and_ignores_other_checks(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    with RunFolder(tmp_path).lock():
        assert in_use(tmp_path)
    (lock,) = tmp_path.iterdir()
    lock.chmod(0o444)
    with lock.open("rb") as handle:
        fcntl.flock(handle, fcntl.LOCK_SH)
        assert not in_use(tmp_path)


def test_run_ids_sort_by_time_and_differ() -> None:
    first = new_run_id()
    time.sleep(0.002)  # two runs of one process are never as close
    assert first < new_run_id()


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    path.write_text("old")
    with path.open() as reader:
        write_atomic(path, "new")
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
    with pytest.raises(UserError, match="not a run folder"):
        find_run("c", str(results))
    with pytest.raises(UserError, match="no runs"):
        find_run("latest", str(tmp_path / "empty"))
