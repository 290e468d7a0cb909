"""Events of all attempts in few files: each session's events are found by its key, whatever ran beside it."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from aiq.core.events import StageChanged
from aiq.core.samples import SampleKey
from aiq.runs.events import Account, EventFiles, copy_agent_events, events_of
from aiq.runs.folder import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


def stages(folder: RunFolder, sample: str, attempt: int = 1, account: Account = "agent") -> list[str]:
    return [event["stage"] for event in events_of(folder, SampleKey(sample, 1), attempt, account)]


def write(files: EventFiles, sample: str, *said: str, attempt: int = 1, account: Account = "agent") -> None:
    with files.session(SampleKey(sample, 1), attempt, account) as emit:
        for stage in said:
            emit(StageChanged(stage=stage))


def test_there_are_as_many_files_as_concurrent_sessions_and_each_session_is_found(folder: RunFolder) -> None:
    files = EventFiles(folder)
    for round_ in range(3):
        with ExitStack() as stack:
            names = [f"s{round_}/{n}" for n in range(4)]
            emits = [stack.enter_context(files.session(SampleKey(name, 1), 1, "agent")) for name in names]
            for step in ("first", "second"):
                for name, emit in zip(names, emits, strict=True):
                    emit(StageChanged(stage=f"{name} {step}"))
    files.close()
    assert len(list(folder.path.glob("events-*.jsonl"))) == 4
    for name in (f"s{round_}/{n}" for round_ in range(3) for n in range(4)):
        assert stages(folder, name) == [f"{name} first", f"{name} second"]


def test_only_the_last_attempt_counts_with_all_its_judges(folder: RunFolder) -> None:
    files = EventFiles(folder)
    write(files, "a", "killed")
    write(files, "a", "again")
    write(files, "a", "race", account="judge")
    write(files, "a", "fact", account="judge")
    write(files, "a", "second", attempt=2)
    files.close()
    assert stages(folder, "a") == ["again"]
    assert stages(folder, "a", account="judge") == ["race", "fact"]
    assert stages(folder, "a", 2) == ["second"]
    assert stages(folder, "a", 2, "judge") == stages(folder, "b") == []


def test_events_after_the_end_are_dropped_and_a_torn_line_is_cut(folder: RunFolder) -> None:
    files = EventFiles(folder)
    with files.session(SampleKey("a", 1), 1, "agent") as emit:
        emit(StageChanged(stage="a"))
    emit(StageChanged(stage="too late"))
    files.close()
    with (folder.path / "events-0.jsonl").open("a") as file:
        file.write('{"type": "stage_changed", "stage": "to')
    assert stages(folder, "a") == ["a"]
    files = EventFiles(folder)
    write(files, "b", "b")
    files.close()
    assert (stages(folder, "a"), stages(folder, "b")) == (["a"], ["b"])


def test_a_rescored_run_copies_the_events_of_agents_but_not_of_judges(tmp_path: Path) -> None:
    old, new = RunFolder(tmp_path / "old"), RunFolder(tmp_path / "new")
    old.create()
    new.create()
    files = EventFiles(old)
    for sample in ("a", "b"):
        write(files, sample, "killed")
        write(files, sample, sample)
        write(files, sample, "judge", account="judge")
    files.close()
    copy_agent_events(old, new)
    files = EventFiles(new)
    write(files, "b", "other judge", account="judge")
    files.close()
    assert (stages(new, "a"), stages(new, "b")) == (["a"], ["b"])
    assert (stages(new, "a", account="judge"), stages(new, "b", account="judge")) == ([], ["other judge"])
