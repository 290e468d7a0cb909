"""What models have answered a run's judges to questions that stand for themselves, in `answers.jsonl`.

A page with its statements may be cited by two reports, or by two epochs' reports. The question is then asked
once, with a seed of its own content, so that it makes no difference whose turn it was.
"""

from collections.abc import Awaitable, Callable
from typing import Final, Literal

from aiq.core.base import Record
from aiq.core.once import Locks
from aiq.experiment.folder import RunFolder
from aiq.experiment.shelf import Shelf

FILE_NAME: Final = "answers.jsonl"


class StoredAnswer(Record):
    """`key`: the digest of everything that decides the answer. `text`: the answer, one that could be used."""

    schema_version: Literal[1] = 1
    key: str
    text: str


class AnswerStore:
    """The answers of one run. One is written only when the spend of who asked for it has been written.

    Otherwise a run that is killed in between would come by answers that stand in no books.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._written = Shelf(folder.path / FILE_NAME, StoredAnswer, "key")
        self._unwritten: dict[str, StoredAnswer] = {}
        self._locks = Locks()

    def of_one(self) -> "AskedAnswers":
        """The store as one judge's work on one report uses it."""
        return AskedAnswers(self)

    async def once(self, key: str, ask: Callable[[], Awaitable[str]]) -> tuple[str, bool]:
        """The answer, and whether it was asked for now."""
        async with self._locks.held(key):
            if key in self._unwritten:
                return self._unwritten[key].text, False
            if key in self._written:
                return self._written.read(key).text, False
            answer = StoredAnswer(key=key, text=await ask())
            self._unwritten[key] = answer
            return answer.text, True

    def write(self, key: str) -> None:
        """Keep an answer: its spend stands in the books."""
        self._written.append(self._unwritten.pop(key))

    def close(self) -> None:
        self._written.close()


class AskedAnswers:
    """Implements core `Answers` for one judge's work on one report, and knows what that work has paid for."""

    def __init__(self, store: AnswerStore) -> None:
        self._store = store
        self._paid: list[str] = []

    async def once(self, key: str, ask: Callable[[], Awaitable[str]]) -> str:
        text, now = await self._store.once(key, ask)
        if now:
            self._paid.append(key)
        return text

    def write(self) -> None:
        """Keep what was paid for; called when the spend has been written."""
        for key in self._paid:
            self._store.write(key)
        self._paid.clear()
