"""The run's answers: asked for once, kept when their spend is, and open again when asking failed."""

import asyncio
from pathlib import Path

import pytest

from aiq.core.errors import ModelError
from aiq.experiment.stores import AnswerStore, SharedAnswers
from aiq.runs.folder import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


class Model:
    def __init__(self) -> None:
        self.asked = 0

    async def ask(self) -> str:
        self.asked += 1
        await asyncio.sleep(0)
        return f"answer {self.asked}"


async def test_a_question_is_asked_once_whoever_asks(folder: RunFolder) -> None:
    store, model = AnswerStore(folder), Model()
    judges = [SharedAnswers(store) for _ in range(5)]
    assert await asyncio.gather(*[judge.once("q", model.ask) for judge in judges]) == ["answer 1"] * 5
    assert await judges[0].once("other", model.ask) == "answer 2"
    for judge in judges:
        judge.write()
    store.close()
    store = AnswerStore(folder)
    assert await SharedAnswers(store).once("q", model.ask) == "answer 1"
    assert model.asked == 2
    assert len((folder.path / "answers.jsonl").read_text().splitlines()) == 2


async def test_only_what_its_asker_has_booked_outlives_the_process(folder: RunFolder) -> None:
    """Else a run that is killed would find an answer that stands in no row's usage."""
    store, model = AnswerStore(folder), Model()
    booked, killed = SharedAnswers(store), SharedAnswers(store)
    await booked.once("a", model.ask)
    await killed.once("b", model.ask)
    await booked.once("b", model.ask)  # used, but not paid for here
    booked.write()
    store = AnswerStore(folder)
    await SharedAnswers(store).once("a", model.ask)
    assert model.asked == 2
    await SharedAnswers(store).once("b", model.ask)
    assert model.asked == 3


async def test_a_failure_leaves_the_question_to_the_next_one(folder: RunFolder) -> None:
    store, model = AnswerStore(folder), Model()

    async def fails() -> str:
        raise ModelError("nothing came")

    one, other = SharedAnswers(store), SharedAnswers(store)
    told = await asyncio.gather(one.once("q", fails), other.once("q", model.ask), return_exceptions=True)
    assert isinstance(told[0], ModelError)
    assert told[1] == "answer 1"
    one.write()
    assert not (folder.path / "answers.jsonl").exists()
    other.write()
    assert (folder.path / "answers.jsonl").read_text()


async def test_a_torn_answer_is_asked_for_again(folder: RunFolder) -> None:
    store, model = AnswerStore(folder), Model()
    judge = SharedAnswers(store)
    await judge.once("q", model.ask)
    judge.write()
    store.close()
    file = folder.path / "answers.jsonl"
    file.write_bytes(file.read_bytes()[:-4])
    assert await SharedAnswers(AnswerStore(folder)).once("q", model.ask) == "answer 2"
