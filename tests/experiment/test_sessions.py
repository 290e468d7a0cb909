"""Users in evaluations: what each kind says, what a simulated one is shown, and how runs use them."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from aiq.__main__ import main
from aiq.core.llm_settings import LlmSettings
from aiq.core.run_settings import UserSettings
from aiq.core.samples import Question, Sample, SampleKey
from aiq.datasets.deep_research_bench import BenchSettings, DeepResearchBench
from aiq.datasets.questions import Questions
from aiq.experiment.sessions import SIMULATED_USER, make_user
from aiq.llm.models import RunModels
from aiq.llm.transport import open_client
from aiq.offline.chat import ChatReply
from aiq.runs.events import events_of
from aiq.runs.folder import RunFolder
from tests.agents.conftest import fenced, on_bench
from tests.cases import table
from tests.settings import configured

each = table(__file__)

SAMPLE = Sample(id="1", question=Question(text="Write a report on rivers."), preferences="I care about floods.")


def models() -> RunModels:
    """The run's models, which scripted users do not call."""
    settings = configured(LlmSettings, base_url="http://model.test/v1", model="m")
    return RunModels(settings, open_client(settings, offline_port=None))


@pytest.mark.parametrize(
    ("settings", "reviews"),
    [
        pytest.param(configured(UserSettings), ["approve"] * 3, id="approve"),
        pytest.param(configured(UserSettings, kind="reject"), ["reject"] * 3, id="reject"),
        pytest.param(
            configured(UserSettings, kind="feedback", feedback=("a", "b")), ["a", "b", "approve"], id="feedback"
        ),
    ],
)
async def test_scripted_users(settings: UserSettings, reviews: list[str]) -> None:
    for _ in range(2):  # remarks begin again for every attempt
        user = make_user(settings, SAMPLE, models())
        assert [await user.review("plan") for _ in range(3)] == reviews
        assert await user.answer("When?") == "skip"


@pytest.mark.parametrize(
    "values", [{"kind": "feedback"}, {"kind": "approve", "feedback": ["a"]}, {"kind": "nobody"}, {"feedback": 3}]
)
def test_senseless_settings_are_errors(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        configured(UserSettings, **values)


def test_preferences_are_read_and_are_part_of_a_samples_identity(tmp_path: Path) -> None:
    plain = SAMPLE.model_copy(update={"preferences": None})
    assert plain.hash == Sample(id="1", question=SAMPLE.question).hash != SAMPLE.hash
    row = {"id": "1", "prompt": "P", "question": "P", "preferences": "I care about floods."}
    file = tmp_path / "query.jsonl"
    file.write_text(json.dumps(row) + "\n")
    (task,) = DeepResearchBench(configured(BenchSettings, path=str(file))).samples()
    (question,) = Questions(configured(Questions.Settings, path=str(file))).samples()
    assert task.preferences == question.preferences == "I care about floods."
    assert "preferences" not in question.tags
    assert "floods" not in question.question.model_dump_json()  # what an agent is told


async def test_a_simulated_user_knows_all_turns_that_it_asks() -> None:
    settings = configured(UserSettings, kind="simulated")
    async with on_bench(lambda request: ChatReply(text="skip")) as bench:
        user = make_user(settings, SAMPLE.model_copy(update={"turns": ("Which rivers?",)}), bench.session.models)
        assert await user.answer("When?") == "skip"
    assert fenced(bench.endpoint.requests[0], "request") == "Which rivers?\n\nWrite a report on rivers."


TASK = "Write a report on tidal energy on the Morquist Coast: companies, founders and outlook."
WISH = "I care about fishing rights."
HIDDEN = {
    "criteria.jsonl": {
        "id": "1",
        "dimension_weight": {"insight": 1.0},
        "criterions": {"insight": [{"criterion": "hidden criterion", "explanation": "-", "weight": 1.0}]},
    },
    "reference.jsonl": {"id": "1", "article": "hidden reference"},
}


def run_with(folder: Path, *overrides: str) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
    """(row, manifest, events) of a run over one task whose plan is put to the user."""
    row = {"id": "1", "prompt": TASK, "language": "en", "preferences": WISH}
    for name, values in {"query.jsonl": row, **HIDDEN}.items():
        (folder / name).write_text(json.dumps(values) + "\n")
    agent = ["agent.clarifier.enable_plan_approval=true", "agent.deep.max_loops=1"]
    common = ["experiment=full_freshqa", "dataset=drb", f"dataset.path={folder}", "judge=[]", "runner.progress=false"]
    assert main(["run", *common, *agent, f"output_dir={folder}/results", *overrides]) == 0
    (run,) = (folder / "results/full_freshqa").iterdir()
    events = events_of(RunFolder(run), SampleKey("1", 1), 1)
    sample = json.loads((run / "samples.jsonl").read_text())
    return sample, json.loads((run / "manifest.json").read_text()), events


def reviews_in(events: list[dict[str, Any]]) -> list[str]:
    return [event["answer"] for event in events if event["type"] == "approval" and event["kind"] == "plan"]


@each("given")
def test_a_user_who_would_never_see_a_plan_is_an_error(
    user: list[str], given: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *given, *user]) == 2
    assert capsys.readouterr().err == f"aiq: {user[0]}: this user reviews plans and is shown none; {says}\n"


def test_an_old_run_with_such_a_user_can_still_be_resumed(tmp_path: Path) -> None:
    settings = [f"output_dir={tmp_path}", "limit=1", "runner.progress=false"]
    assert main(["run", "experiment=shallow_freshqa", "judge=[]", *settings]) == 0
    folder = next(tmp_path.glob("*/*/manifest.json")).parent
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["config"]["user"]["kind"] = "reject"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert main(["run", f"resume={folder}"]) == 0


def test_a_run_with_a_simulated_user(tmp_path: Path) -> None:
    """It knows request, preferences and conversation; the agent knows no preferences, and neither the judges' texts."""
    sample, manifest, events = run_with(tmp_path, "user.kind=simulated")
    assert reviews_in(events) == ["Please also cover this: I care about fishing rights.", "approve"]
    assert sample["usage"][SIMULATED_USER]["calls"] == 2
    assert len(manifest["hashes"]["prompts"]["user"]) == 16
    calls = [event for event in events if event["type"] == "model_called"]
    first, second = (json.dumps(call["messages"]) for call in calls if call["role"] == SIMULATED_USER)
    assert TASK in first
    assert f"<preferences>\\n{WISH}\\n</preferences>" in first
    assert "**Research Plan Preview**" in first
    assert "<dialogue>" not in first
    assert "You: Please also cover this: I care about fishing rights." in second
    assert all("hidden" not in json.dumps(call["messages"]) for call in calls)
    earlier = [call for call in calls if call["seq"] < next(c["seq"] for c in calls if c["role"] == SIMULATED_USER)]
    assert all("fishing" not in json.dumps(call["messages"]) for call in earlier)


def test_a_run_recalls_no_earlier_run_from_a_shared_memory_file(tmp_path: Path) -> None:
    file, results = tmp_path / "questions.jsonl", tmp_path / "results"
    file.write_text(json.dumps({"question": "Who is the mayor of Brackwater?", "thread_id": "t"}) + "\n")
    storage = ["checkpointer=sqlite", f"checkpointer.path={tmp_path}/c.db", f"output_dir={results}"]
    dataset = ["dataset=questions", f"dataset.path={file}", "judge=[]", "agent.enable_escalation=false"]
    for epochs in (1, 2):
        overrides = [*dataset, *storage, f"epochs={epochs}", "runner.progress=false"]
        assert main(["run", "experiment=full_freshqa", *overrides]) == 0
    first, second = sorted((results / "full_freshqa").iterdir())
    prompts = []
    for run, epoch in ((first, 1), (second, 1), (second, 2)):
        events = events_of(RunFolder(run), SampleKey("1", epoch), 1)
        prompts.append(next(event["messages"] for event in events if event["type"] == "model_called"))
    assert prompts == [prompts[0]] * 3
    assert "user" not in json.loads((first / "manifest.json").read_text())["hashes"]["prompts"]
