"""The run whose attempts are a server's tasks: one folder per start, read like that of any other run.

Its dataset is the questions of the tasks that ended in it, in `questions.jsonl` beside their rows.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from aiq import datasets
from aiq.core.base import Record
from aiq.core.errors import DatasetError
from aiq.core.run_settings import DatasetSettings, RunSettings
from aiq.core.samples import Sample
from aiq.core.usage import UsageLedger
from aiq.datasets import Dataset, Samples
from aiq.experiment.plan import RunPlan
from aiq.experiment.provenance import new_manifest, utc_now
from aiq.experiment.resources import Resources
from aiq.experiment.sessions import Sessions
from aiq.runs.folder import MANIFEST, RunFolder, new_run_id
from aiq.runs.journal import Journal
from aiq.runs.manifest import DatasetIdentity
from aiq.runs.reader import read_state
from aiq.runs.rows import SampleRow
from aiq.runs.summary import summarise
from aiq.serve.agents import Agents

QUESTIONS = "questions.jsonl"


class AskedQuestion(Record):
    """A line of `questions.jsonl`, in the format of dataset=questions."""

    id: str
    question: str
    turns: tuple[str, ...] = ()
    thread_id: str | None = None
    collection_name: str | None = None


class ServedRun:
    """The run of one start, while it is open. `home`: the folder of all starts."""

    def __init__(
        self, settings: RunSettings, overrides: Sequence[str], agents: Agents, resources: Resources, home: Path
    ) -> None:
        self.folder = RunFolder(home / new_run_id())
        settings = settings.changed("dataset", path=str(self.folder.path / QUESTIONS))
        dataset = Dataset(name=settings.dataset.name, samples=Samples(), fingerprint="", size=0)
        name = agents.names[0]
        agent, options = agents.agent(name, {}), {"agent": name}
        plan = RunPlan(settings, tuple(overrides), agent, settings.agent.settings, (), dataset, options=options)
        self._start = time.monotonic()
        self.folder.create()
        self._lock = self.folder.lock()
        self.folder.write_manifest(new_manifest(plan, self.folder.run_id))
        self.sessions = Sessions(settings, resources, self.folder, UsageLedger(), lambda reason, seconds: None)
        self._rows: Journal[SampleRow] = Journal(self.folder.samples_path)
        self._questions: Journal[AskedQuestion] = Journal(self.folder.path / QUESTIONS)

    def rows(self, run_id: str) -> Path:
        """The file with the rows of a run of this or an earlier start."""
        return RunFolder(self.folder.path.parent / run_id).samples_path

    def keep(self, sample: Sample, row: SampleRow) -> int:
        """Append an ended attempt with its question; returns the byte at which its row begins."""
        fields = sample.question.model_dump(include={"thread_id", "collection_name"})
        self._questions.append(AskedQuestion(id=sample.id, question=sample.question.text, turns=sample.turns, **fields))
        place = self._rows.size
        self._rows.append(row)
        return place

    def close(self) -> None:
        """End the run and write its summary."""
        for files in (self.sessions, self._rows, self._questions):
            files.close()
        end(self.folder, time.monotonic() - self._start)
        self._lock.__exit__(None, None, None)


def end(folder: RunFolder, seconds: float) -> None:
    """Write the manifest and the summary of a run that has ended or was cut off (then its `seconds` are unknown)."""
    manifest, state = folder.read_manifest(), read_state(folder)
    update: dict[str, Any] = {
        "status": "finished",
        "finished": utc_now(),
        "counts": {"attempts_planned": len(state.spec.keys), **state.statuses(), "judge_errors": 0},
    }
    with suppress(DatasetError):  # there were no questions
        dataset = datasets.load(manifest.section("dataset", DatasetSettings), seed=0, limit=None)
        identity = {"name": dataset.name, "fingerprint": dataset.fingerprint}
        update["dataset"] = DatasetIdentity(**identity, size=dataset.size, samples=len(dataset.samples))
    manifest = manifest.model_copy(update=update)
    folder.write_manifest(manifest)
    folder.write_summary(summarise(manifest, state, seconds))


def mark_ended(home: Path) -> None:
    """Mark the latest run as ended; it is still marked as running if its server was killed."""
    latest = max(home.glob(f"*/{MANIFEST}"), default=None)
    if latest is not None and (folder := RunFolder(latest.parent)).read_manifest().status == "running":
        end(folder, 0.0)
