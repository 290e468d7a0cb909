"""`aiq rescore`: the reports of a run are judged again, in a new folder, without running the agent."""

import json
from pathlib import Path

import pytest

from aiq.__main__ import main
from aiq.cassettes.store import Store
from aiq.experiment.compose import compose, settings_from
from aiq.experiment.plan import make_plan
from aiq.experiment.provenance import digest_of
from aiq.experiment.rescore import plan_rescore
from aiq.runs.folder import RunFolder
from aiq.site.pages import data_records
from tests.cases import group
from tests.experiment.conftest import Captured, Endpoint, Workplace

RUN = ("experiment=tiny", "agent.ask=true", "judge.letters.ask=true", "runner.progress=false")


@pytest.fixture
def run(here: Workplace) -> Path:
    """A finished run whose agent and judge ask a model; the endpoint's record of requests is empty."""
    (here.path / "conf/judge/words.yaml").write_text("# @package judge.words\n# Words\ntarget: tiny_parts:Words\n")
    assert main(["run", *RUN]) == 0
    here.endpoint.asked.clear()
    return here.only_run()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rescore(here: Workplace, run: Path, *overrides: str) -> Path:
    old_runs = set(here.runs())
    assert main(["rescore", run.name, *overrides]) == 0
    (new,) = set(here.runs()) - old_runs
    return new


def test_a_changed_judge_scores_the_same_reports_and_no_agent_is_asked(here: Workplace, run: Path) -> None:
    files = contents(run)
    reports = [row["report"] for row in here.lines(run / "samples.jsonl")]
    new = rescore(here, run, "judge.letters.minimum=3")
    assert sorted(here.endpoint.asked) == sorted(reports)  # what the judge asks; the agent would ask the questions
    assert contents(run) == files
    assert here.values(new) == here.values(run)
    assert here.summary(new)["metrics"] == here.summary(run)["metrics"]
    assert here.summary(new)["usage"] == here.summary(run)["usage"]
    assert (new / "index.html").is_file()
    assert main(["show", new.name, "s3"]) == 0
    old, hashes = (here.manifest(folder)["hashes"] for folder in (run, new))
    assert hashes["agent"] == old["agent"]
    assert hashes["judges"] != old["judges"]


def test_only_an_added_judge_scores(here: Workplace, run: Path) -> None:
    new = rescore(here, run, "judge=[letters,words]", "judge.letters.ask=true")
    assert len(here.endpoint.asked) == 6
    assert all(text.startswith("words of ") for text in here.endpoint.asked)
    metrics = here.summary(new)["metrics"]
    assert {"letters.count", "words.count"} <= set(metrics)
    assert metrics["letters.count"] == here.summary(run)["metrics"]["letters.count"]
    here.endpoint.asked.clear()
    alone = rescore(here, new, "judge=[words]", "llm.roles.judge.words.temperature=1")
    assert len(here.endpoint.asked) == 6  # another temperature is another judge
    assert set(here.summary(alone)["metrics"]) == {"words.count"}


def test_a_recording_of_judging_alone_says_how_its_run_is_composed(here: Workplace, run: Path) -> None:
    cassette = ["cassette=auto", "cassette.dir=judging"]
    for setting in ("judge.letters.minimum=3", "judge.letters.minimum=4"):
        run = rescore(here, run, setting, *cassette)
        assert here.manifest(run)["rescored"]["overrides"] == [*RUN, setting, *cassette]
    rescore(here, run, "judge=[letters,words]", *cassette)
    with Store(here.path / "judging/judge.sqlite", writes=False) as store:
        assert store.about["overrides"] == [*RUN[:2], "judge=[letters,words]"]
    assert main(["cassettes", "verify", "judging"]) == 0


def test_another_model_or_endpoint_changes_the_judges_identity_not_the_agents(
    here: Workplace, run: Path, endpoint: Endpoint
) -> None:
    new = rescore(here, run, "llm.model=big-2", "llm.prices.big-2={input: 1, output: 1}", "runner.concurrency=3")
    manifest = here.manifest(new)
    assert manifest["models"]["echo.writer"] == manifest["models"]["default"] == "small-1"
    assert manifest["models"]["judge.letters"] == "big-2"
    assert manifest["rescored"]["run"].endswith(run.name)
    assert next(data_records(new / "site/summary.js"))["rescored"] == manifest["rescored"]["run"]
    assert {row["judge_model"] for row in here.lines(new / "scores.jsonl")} == {"big-2"}

    here.endpoint.asked.clear()
    second_endpoint = type(endpoint)()
    try:
        moved_run = rescore(here, run, f"llm.base_url={second_endpoint.base_url}")
    finally:
        second_endpoint.close()
    assert (len(second_endpoint.asked), here.endpoint.asked) == (6, [])
    rows = [here.lines(folder / "scores.jsonl")[0] for folder in (run, moved_run)]
    assert rows[0]["judge_hash"] != rows[1]["judge_hash"]
    assert rows[0]["judge_model"] == rows[1]["judge_model"]


def test_the_endpoint_does_not_matter_to_a_judge_without_a_model(here: Workplace) -> None:
    """Such a judge keeps its hash, whatever the endpoint, so its scores stay valid."""
    overrides = ["experiment=tiny", "judge=[citation_audit,letters]"]
    plans = [make_plan(settings_from(compose([*overrides, *extra]))) for extra in ([], ["llm.known_as=another"])]
    (audit, letters), (second_audit, second_letters) = (plan.judges for plan in plans)
    inputs: dict[str, object] = {"settings": {}, "version": audit.judge.version, "prompt": None, "models": {}}
    expected = digest_of({"target": "aiq.judges.citation_audit:CitationAudit", **inputs})
    assert audit.spec.hash == second_audit.spec.hash == expected
    assert letters.spec.hash != second_letters.spec.hash


def test_a_named_endpoint_or_one_that_moved_during_the_run_is_the_same_judge(
    here: Workplace, run: Path, capsys: Captured
) -> None:
    assert main(["run", *RUN, "llm.known_as=mine"]) == 0
    (named_run,) = set(here.runs()) - {run}
    assert main(["run", f"resume={run}", "llm.base_url=http://127.0.0.1:9/v1"]) == 0
    for folder, address in ((named_run, "http://127.0.0.1:9/v1"), (run, here.endpoint.base_url)):
        capsys.readouterr()
        assert main(["rescore", folder.name, f"llm.base_url={address}"]) == 2
        assert "every judge has scored all reports" in capsys.readouterr().err
    plan, _, _ = plan_rescore(RunFolder(run), ["llm.base_url=http://127.0.0.1:9/v2"])
    assert plan.judges[0].spec.hash != here.manifest(run)["hashes"]["judges"]["letters"]


def test_a_rescored_run_that_was_cut_off_can_be_resumed_itself(here: Workplace, run: Path) -> None:
    new = rescore(here, run, "judge.letters.minimum=3")
    values = here.values(new)
    scores = (new / "scores.jsonl").read_text().splitlines(keepends=True)
    (new / "scores.jsonl").write_text("".join(line for line in scores if json.loads(line)["sample_id"] != "s3"))
    here.endpoint.asked.clear()
    assert main(["run", f"resume={new}"]) == 0
    assert here.endpoint.asked == [values["s3", 1, "report"]]
    assert here.values(new) == values


def test_no_agent_works_in_a_rescored_run(here: Workplace, capsys: Captured) -> None:
    here.write_samples({"a": "fail", "b": "fine"})
    run = here.ran()
    assert main(["rescore", run.name, "judge.letters.minimum=1", "runner.retry_failed=true"]) == 2
    assert "are not done or are to be retried (the first: a, epoch 1)" in capsys.readouterr().err
    new = rescore(here, run, "judge.letters.minimum=1")
    assert here.summary(new)["statuses"] == {"completed": 1, "failed": 1}
    assert main(["run", f"resume={new}", "runner.retry_failed=true"]) == 2
    assert f"resume that run: aiq run resume=results/tiny/{run.name}" in capsys.readouterr().err
    assert main(["rescore", run.name, "judge.letters.minimum=2", "runner.max_error_rate=0.1"]) == 3
    remedy = f"aiq run resume=results/tiny/{run.name} runner.retry_failed=true, then rescore it again\n"
    assert f"aiq: to retry failed attempts: {remedy}" in capsys.readouterr().err
    assert main(["run", "resume=latest"]) == 2
    remedy = f"aiq run resume=results/tiny/{run.name} runner.retry_failed=true\n"
    assert f"no unfinished run in results/; to retry failed attempts: {remedy}" in capsys.readouterr().err


def test_an_unfinished_run_must_be_finished_first(here: Workplace, run: Path, capsys: Captured) -> None:
    rows = (run / "samples.jsonl").read_text().splitlines(keepends=True)
    (run / "samples.jsonl").write_text("".join(rows[:-1]))
    assert main(["rescore", run.name, "judge.letters.minimum=1"]) == 2
    assert "1 of 6 attempts" in capsys.readouterr().err
    with RunFolder(run).lock():  # it may still come to its end
        assert main(["rescore", run.name, "judge.letters.minimum=1"]) == 2
    assert "still running" in capsys.readouterr().err
    (run / "samples.jsonl").write_text("".join(rows))
    with RunFolder(run).lock():
        assert main(["rescore", run.name, "judge.letters.minimum=1"]) == 2
    assert "still running" in capsys.readouterr().err
    assert here.runs() == [run]


def test_an_impossible_request_is_one_line_and_writes_nothing(here: Workplace, run: Path, capsys: Captured) -> None:
    for case in group(__file__, "refused"):
        capsys.readouterr()
        assert main(["rescore", run.name, *case["overrides"]]) == 2
        err = capsys.readouterr().err
        assert case["said"] in err
        assert len(err.splitlines()) == 1
    assert here.runs() == [run]
    assert here.endpoint.asked == []
