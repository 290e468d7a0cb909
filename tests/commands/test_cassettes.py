"""`aiq cassettes`: what verify says of recorded runs, listing, forgetting, exporting, and mistakes in one line."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.cassettes.exchange import Exchange
from aiq.cassettes.recorder import SHARED, TOOL
from aiq.cassettes.store import Store
from aiq.core.files import shipped
from aiq.experiment.compose import compose, settings_from
from aiq.experiment.plan import make_plan
from aiq.experiment.provenance import prompts_of
from tests.cases import table

each = table(__file__)

FOLDER = "cassettes/mine"
RUN = ("experiment=shallow_freshqa", "limit=2", "agent.prompts_dir=variants")
ASKED = Exchange("POST", "http://a.example/v1", request_body=b"a question", status=200, response_body=b"an answer")
PROMPT = "shallow_researcher.j2"


@cache
def prompts() -> dict[str, str]:
    return prompts_of(make_plan(settings_from(compose(RUN))))


def record(folder: str = FOLDER, account: str = "agent", names: tuple[str, ...] = ("1/1", "2/1"), **about: Any) -> Path:
    """Cassettes as the run would record them."""
    path = Path(folder) / f"{account}.sqlite"
    clock = {"clock": "2026-11-01T09:00:00+00:00", "versions": {"aiq": "0.1.0"}}
    with Store(path, writes=True) as store:
        store.describe({"overrides": list(RUN), "prompts": prompts(), **clock, **about})
        for name in names:
            cassette = store.cassette(name, make=True)
            assert cassette is not None
            cassette.add(ASKED, cassette.place())
            cassette.mark(whole=True)
    return path


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a command with a variant of a prompt of the agent; returns exit code and lines."""
    monkeypatch.chdir(tmp_path)
    Path("variants").mkdir()
    Path("variants", PROMPT).write_text((shipped("benchmarks").parent / "aiq/agents/ai_q/prompts" / PROMPT).read_text())

    def carry_out(*arguments: str) -> tuple[int, list[str]]:
        code = main(["cassettes", *arguments])
        out, err = capsys.readouterr()
        return code, (out + err).splitlines()

    return carry_out


def test_a_current_recording_has_no_problems(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    record()
    record(account="judge", names=("1/1", SHARED))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    openai_run = [*RUN, "llm=openai", "llm.model=some-model"]  # whose key nobody needs here
    record("cassettes/other", overrides=openai_run)
    assert run("verify", "cassettes") == (0, ["2 recordings with 6 exchanges: nothing wrong"])
    code, lines = run("list", FOLDER)
    assert code == 0
    assert lines[0].endswith("variants, clock 2026-11-01T09:00:00+00:00, aiq 0.1.0")
    assert [line.split() for line in lines[3:]] == [
        ["1/1", "agent", "1", "0.0", "yes"],
        ["2/1", "agent", "1", "0.0", "yes"],
        ["1/1", "judge", "1", "0.0", "yes"],
        ["shared", "judge", "1", "0.0", "yes"],
    ]
    assert {"cassettes/mine/judge.sqlite", "cassettes/other/agent.sqlite"} <= {
        line.split()[0] for line in run("list", "cassettes")[1]
    }


def test_a_changed_word_in_a_prompt_is_reported(run: Callable[..., Any]) -> None:
    agent, judge = record(), record(account="judge", prompts={"fresheval": "then", "agent": "then"})
    prompt = Path("variants", PROMPT)
    prompt.write_text(prompt.read_text().replace("precisely", "exactly"))
    finding = "have changed since; re-record what they affect: cassette=refresh"
    assert run("verify", FOLDER) == (
        1,
        [
            f"{agent}: the prompts of agent {finding}",
            f"{judge}: the prompts of fresheval {finding}",
            "1 recording with 4 exchanges: 2 findings",
        ],
    )


def test_the_cassette_of_a_sample_that_is_gone_can_be_forgotten(run: Callable[..., Any]) -> None:
    path = record(names=("1/1", "9/2", "gone/1", "a/b/1"), overrides=[*RUN, "dataset.ids=[1]"])
    findings = [
        f"{path}: {sample}/1: freshqa_mini has no sample {sample}; `aiq cassettes forget {FOLDER} {sample}` deletes it"
        for sample in ("gone", "a/b")
    ]
    assert run("verify", FOLDER) == (1, [*findings, "1 recording with 4 exchanges: 2 findings"])
    assert run("forget", FOLDER, "gone", "absent") == (
        2,
        [f"aiq: {FOLDER} has no cassette of sample absent; see aiq cassettes list"],
    )
    assert run("forget", FOLDER, "gone", "a/b") == (0, [f"{path}: 2 cassettes forgotten"])
    assert run("verify", FOLDER) == (0, ["1 recording with 2 exchanges: nothing wrong"])


def test_runs_that_cannot_be_composed_and_files_that_are_no_cassettes(run: Callable[..., Any]) -> None:
    path = record(overrides=["experiment=gone"])
    code, (finding, summary) = run("verify", FOLDER)
    assert (code, summary) == (1, "1 recording with 2 exchanges: 1 finding")
    assert finding.startswith(
        f"{path}: the run cannot be composed again, so its prompts and samples are not compared: experiment=gone: "
    )
    path.write_text("no database")
    code, (finding, summary) = run("verify", FOLDER)
    assert (code, summary) == (1, "1 recording with 0 exchanges: 1 finding")
    assert finding.startswith(
        f"{path}: not a readable recording (file is not a database); delete the file and record it again "
    )


def test_an_imported_cassette_belongs_to_no_run(run: Callable[..., Any]) -> None:
    record()
    assert run("export", FOLDER, "out", "--sample", "2")[0] == 0
    assert run("import", "theirs", "out/agent/2-1.yaml", "--sample", "x") == (
        0,
        ["theirs/agent.sqlite: 1 exchange in the cassette x/1"],
    )
    assert run("verify", "theirs") == (0, ["1 recording with 1 exchange: nothing wrong"])
    assert run("list", "theirs")[1][0].endswith("kB): of no run")


def test_exporting_says_what_it_leaves_out(run: Callable[..., Any]) -> None:
    with Store(record(), writes=True) as store:
        cassette = store.cassette("1/1")
        assert cassette is not None
        cassette.add(Exchange(TOOL, "tool:///mine", status=200), 7)
    left_out = "left out, because vcrpy cannot hold it: call of a tool: 1"
    assert run("export", FOLDER, "out", "--json") == (0, ["2 cassettes with 2 exchanges written to out", left_out])
    assert sorted(path.name for path in Path("out").rglob("*.*")) == ["1-1.json", "2-1.json"]


@each("arguments")
def test_a_mistake_is_one_line(run: Callable[..., Any], arguments: list[str], line: str) -> None:
    record()
    code, lines = run(*arguments)
    assert (code, len(lines), lines[0][: 5 + len(line)]) == (2, 1, f"aiq: {line}")
