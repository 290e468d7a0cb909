"""Whole runs: recorded over sockets, replayed without a network; changed prompts, added judges, rescored runs."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.cassettes.store import Store
from aiq.core.files import shipped
from tests.experiment.conftest import Workplace
from tests.forked import Forked
from tests.proxy import Proxy, forwarding

QUIET = "runner.progress=false"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*overrides: str, code: int = 0) -> Path:
    """Do one run and return its folder."""
    before = set(Path("results").glob("*/*/manifest.json"))
    assert main(["run", *overrides, QUIET]) == code
    (new,) = set(Path("results").glob("*/*/manifest.json")) - before
    return new.parent


def rows(run: Path) -> list[str]:
    """All rows of a run's samples and scores, sorted, without times and without the usage of shared judge calls."""
    kept = []
    for name, without in (("samples.jsonl", ["timing"]), ("scores.jsonl", ["timing", "usage"])):
        for line in (run / name).read_text(encoding="utf-8").splitlines():
            kept.append(json.dumps({**json.loads(line), **dict.fromkeys(without)}, sort_keys=True))
    return sorted(kept)


def repeatable(run: Path) -> Any:
    """The parts of summary and manifest that a replay must repeat."""
    summary, manifest = (
        json.loads((run / f"{name}.json").read_text(encoding="utf-8")) for name in ("summary", "manifest")
    )
    return [summary[name] for name in ("metrics", "usage", "statuses", "failures")], manifest["git_revision"]


def replays(*overrides: str, at_once: tuple[int, ...] = (1, 16)) -> tuple[list[Path], bool]:
    """Replay at each of these concurrencies, one after another in a child process; return the run folders, and whether
    the process had no network.
    """
    runs = [[*overrides, "cassette=replay", f"runner.concurrency={number}", QUIET] for number in at_once]
    old = set(Path("results").glob("*/*/manifest.json"))
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if "KEY" in name]:
            patch.delenv(name)
        with Forked("tests.cassettes.unconnected", json.dumps(runs)) as child:
            assert child.wait(250) == 0, child.err
            alone = child.out.startswith("no network")
    return sorted(path.parent for path in set(Path("results").glob("*/*/manifest.json")) - old), alone


DEEP = ("experiment=deep_drb", "judge=[race,fact]", "agent.deep.max_loops=1", "agent.deep.max_researcher_calls=1")
RECORDED = (*DEEP, "dataset.ids=[1,9]")


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recorded run of deep research and its judges."""
    folder = tmp_path_factory.mktemp("deep")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run(*RECORDED, "cassette=record", "runner.concurrency=3")
    return folder


def first_run() -> Path:
    return min(Path("results").glob("*/*/manifest.json")).parent


def test_a_recorded_run_is_replayed_byte_for_byte_without_a_network(
    deep: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(deep)
    recorded = first_run()
    cassettes = {path: path.read_bytes() for path in Path("cassettes").rglob("*.sqlite")}
    (replayed,), alone = replays(*RECORDED, at_once=(16,))
    assert rows(replayed) == rows(recorded)
    assert repeatable(replayed) == repeatable(recorded)
    assert {path: path.read_bytes() for path in Path("cassettes").rglob("*.sqlite")} == cassettes
    assert len(cassettes) == 2
    if not alone:
        pytest.skip("replayed without a connection, but with a network: the kernel gives no namespace without one")


def test_shared_judge_calls_are_replayed_whichever_sample_is_first(deep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(deep)
    whole = rows(first_run())
    second = run(*DEEP, "dataset.ids=[9]", "cassette=replay", "runner.concurrency=1")
    assert rows(second) == [row for row in whole if json.loads(row)["sample_id"] == "9"]


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.whole
def test_libraries_first_loaded_in_a_replay_may_probe_for_sockets() -> None:
    Path("plain.py").write_text("async def answer(question, session):\n    return 'Nobody knows.'\n")
    settings = ("experiment=shallow_freshqa", "limit=1", "agent=python", "agent.function=plain:answer")
    recorded = run(*settings, "cassette=record")
    for replayed in replays(*settings)[0]:  # in a process that has not loaded these libraries
        assert rows(replayed) == rows(recorded)


FAULTS = "offline.faults={http_500: 0.3, http_429: 0.2, cut_connection: 0.2, malformed_tool_call: 0.3}"


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.whole
def test_faults_are_recorded_and_replayed_and_no_replay_waits_for_a_retry() -> None:
    settings = ("experiment=shallow_freshqa", "limit=6", FAULTS)
    patience = ("llm.retry.first_seconds=0.01", "llm.retry.attempts=3", "runner.max_error_rate=1")
    recorded = run(*settings, *patience, "cassette=record")
    for folder in replays(*settings, *patience[1:], "llm.retry.first_seconds=3600", "llm.retry.most_seconds=3600")[0]:
        assert rows(folder) == rows(recorded)
    with Store(Path("cassettes/shallow_freshqa/agent.sqlite"), writes=False) as store:
        exchanges = [exchange for name in store.names() for exchange in store.exchanges(name)]
    assert {exchange.status for exchange in exchanges} >= {200, 500, 429}
    assert any("RemoteProtocolError" in (exchange.error or "") for exchange in exchanges)


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.whole
def test_an_attempt_with_several_turns_is_replayed() -> None:
    settings = ("experiment=full_freshqa", "dataset=turns_mini", "dataset.ids=[1,21,26]")
    recorded = run(*settings, "cassette=record")
    for folder in replays(*settings)[0]:
        assert rows(folder) == rows(recorded)


REMEMBERS = """
from aiq.agents.toolkit.memory import Memory
from aiq.core.samples import Question
from aiq.core.session import Session


async def answer(question: Question, session: Session) -> str:
    memory = Memory(session, "mine.memory", "offline-embedding")
    for said in (question.text, "How deep is the lake?", question.text):
        await memory.remember("rivers", said, f"{session.key.sample_id}: {said}", session.now)
    similar = await memory.similar("rivers", f"Tell me: {question.text}", 2, 0.75)
    return "\\n".join(turn.model_dump_json() for turn in [*await memory.recent("rivers", 9), *similar])
"""
"""An agent with embedded memories, whose thread has the same name for every sample."""


@pytest.mark.usefixtures("elsewhere")
def test_embedded_memories_are_replayed_and_not_shared_between_samples() -> None:
    Path("remembers.py").write_text(REMEMBERS, encoding="utf-8")
    settings = ("experiment=shallow_freshqa", "limit=3", "judge=[]", "agent=python", "agent.function=remembers:answer")
    recorded = run(*settings, "cassette=record", "runner.concurrency=3")
    assert rows(run(*settings, "cassette=replay", "runner.concurrency=1")) == rows(recorded)
    for row in map(json.loads, rows(recorded)):
        turns = [json.loads(line) for line in row["report"].splitlines()]
        assert {turn["answer"].partition(":")[0] for turn in turns} == {row["sample_id"]}
        assert [turn["id"][:6] for turn in turns] == ["000001", "000002", "000003", "000003", "000001"]
        assert row["usage"]["mine.memory"]["calls"] == 3


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.usefixtures("elsewhere")
def test_what_was_learned_about_a_strict_endpoint_is_recorded(world_port: int) -> None:
    strict = Path(__file__).resolve().parents[3] / "shared" / "endpoints" / "strict.py"
    if not strict.is_file():
        pytest.skip("no ../shared/endpoints beside the checkout")
    port = free_port()
    chosen = (
        "experiment=full_freshqa",
        "limit=1",
        f"llm.base_url=http://127.0.0.1:{port}/v1",
        "llm.quirks.seed=false",
        "llm.quirks.parallel_tool_calls=false",
    )
    refused = "seed,parallel_tool_calls,response_format"
    command = [sys.executable, str(strict), str(port), f"http://127.0.0.1:{world_port}/v1", "--refuse", refused]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as endpoint:
        Workplace.wait_for(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0)
        recorded = run(*chosen, "cassette=record")
        endpoint.kill()
    with Store(Path("cassettes/full_freshqa/agent.sqlite"), writes=False) as store:
        assert store.about["structured"]
        assert set(store.about["structured"].values()) == {"prose"}
    assert rows(run(*chosen, "cassette=replay")) == rows(recorded)


@pytest.fixture
def proxy(world_port: int) -> Iterator[Proxy]:
    with forwarding(world_port) as made:
        yield made


@pytest.mark.usefixtures("elsewhere")
def test_after_a_prompt_change_only_affected_requests_are_recorded_again(
    proxy: Proxy, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    chosen = ("experiment=shallow_freshqa", "limit=1", "judge=[]", f"llm.base_url={proxy.base_url}")
    run(*chosen, "cassette=record")
    asked = len(proxy.forwarded)
    prompts = shutil.copytree(shipped("aiq/agents/ai_q/prompts"), tmp_path / "prompts")
    prompt = prompts / "shallow_researcher.j2"
    prompt.write_text(prompt.read_text(encoding="utf-8").replace("research", "Research", 1), encoding="utf-8")
    changed = (*chosen, f"agent.prompts_dir={prompts}")
    capsys.readouterr()
    run(*changed, "cassette=replay", code=2)
    said = capsys.readouterr().err
    assert "the prompts of agent have changed since the recording was made" in said
    assert "not recorded: aiq." in said
    assert 'messages[0].content: recorded "' in said
    assert len(proxy.forwarded) == asked
    fresh = run(*changed, "cassette=auto")
    assert asked < len(proxy.forwarded) <= 2 * asked
    asked = len(proxy.forwarded)
    for mode in ("replay", "refresh"):
        assert rows(run(*changed, f"cassette={mode}")) == rows(fresh)
    run(*chosen, "cassette=replay", code=2)  # `refresh` has deleted this recording
    assert len(proxy.forwarded) == asked


@pytest.mark.usefixtures("elsewhere")
def test_samples_that_a_refresh_left_out_are_still_of_the_earlier_prompts(
    proxy: Proxy, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    chosen = ("experiment=shallow_freshqa", "judge=[]", f"llm.base_url={proxy.base_url}", "agent.prompts_dir=prompts")
    prompt = shutil.copytree(shipped("aiq/agents/ai_q/prompts"), tmp_path / "prompts") / "shallow_researcher.j2"
    run(*chosen, "limit=2", "cassette=record")
    prompt.write_text(prompt.read_text(encoding="utf-8").replace("research", "Research", 1), encoding="utf-8")
    for limit, code in (("limit=1", 1), ("limit=2", 0)):
        run(*chosen, limit, "cassette=refresh")
        capsys.readouterr()
        assert main(["cassettes", "verify", "cassettes/shallow_freshqa"]) == code
        assert ("the prompts of agent have changed" in capsys.readouterr().out) == bool(code)


TINY = ("experiment=tiny", "agent.ask=true", "judge.letters.ask=true")
TWO = "judge=[letters,words]"


@pytest.fixture
def tiny(here: Workplace) -> Path:
    """A small recorded run; the endpoint's list of questions is cleared."""
    (here.path / "conf/judge/words.yaml").write_text("# @package judge.words\n# Words\ntarget: tiny_parts:Words\n")
    recorded = run(*TINY, "cassette=record")
    here.endpoint.asked.clear()
    return recorded


def test_auto_asks_only_for_an_added_judge(here: Workplace, tiny: Path) -> None:
    before = here.path.joinpath("cassettes/tiny/agent.sqlite").read_bytes()
    run(*TINY, TWO, "cassette=auto")
    assert len(here.endpoint.asked) == 6
    assert all(text.startswith("words of ") for text in here.endpoint.asked)
    here.endpoint.asked.clear()
    run(*TINY, TWO, "cassette=replay")
    assert rows(run(*TINY, "cassette=replay")) == rows(tiny)
    assert here.endpoint.asked == []
    assert here.path.joinpath("cassettes/tiny/agent.sqlite").read_bytes() == before


def test_rescoring_never_touches_the_agents_recording(
    here: Workplace, tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cassettes = here.path / "cassettes/tiny"
    (here.path / "conf/judge/words.yaml").write_text("# @package judge.words\n# Words\ntarget: tiny_parts:Prompted\n")
    agent, judge = ((cassettes / f"{account}.sqlite").read_bytes() for account in ("agent", "judge"))
    again = ["rescore", tiny.name, TWO, "judge.letters.ask=true"]
    assert main([*again, "cassette=replay"]) == 2
    assert "cassette=auto" in capsys.readouterr().err
    assert (cassettes / "judge.sqlite").read_bytes() == judge
    assert here.endpoint.asked == []
    assert main(again) == 0
    assert here.endpoint.asked
    assert all(text.startswith("words of ") for text in here.endpoint.asked)
    here.endpoint.asked.clear()
    for mode in ("replay", "auto"):
        assert main([*again, f"cassette={mode}"]) == 0
    assert rows(run(*TINY, "cassette=replay")) == rows(tiny)
    assert here.endpoint.asked == []
    assert (cassettes / "agent.sqlite").read_bytes() == agent


def test_a_resumed_run_records_what_was_left(here: Workplace, capsys: pytest.CaptureFixture[str]) -> None:
    here.endpoint.refuse_from = 4
    run(*TINY, "cassette=record", code=2)
    here.endpoint.refuse_from = None
    assert main(["run", f"resume={here.only_run()}", QUIET]) == 0
    whole = here.only_run()
    here.endpoint.asked.clear()
    replayed = run(*TINY, "cassette=replay")
    assert here.endpoint.asked == []
    assert here.values(replayed) == here.values(whole)


def test_an_agent_that_swallows_a_miss_has_not_answered(here: Workplace, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(Path(__file__).parent / "curious.py", here.path)
    (here.path / "conf/agent/careless.yaml").write_text("# Careless\ntarget: curious:Careless\n")
    chosen = ("experiment=tiny", "agent=careless")
    run(*chosen, "cassette=record")
    here.write_samples({f"s{number}": f"question numbe{'r' * (number != 3)} {number}" for number in range(6)})
    capsys.readouterr()
    stopped = run(*chosen, "cassette=replay", "runner.concurrency=1", code=2)
    assert 'recorded "question number 3", now "question numbe 3"' in capsys.readouterr().err
    assert {row["sample_id"]: row["status"] for row in here.lines(stopped / "samples.jsonl")}["s3"] == "cancelled"
    assert main(["run", f"resume={stopped}", "cassette.mode=auto", QUIET]) == 0
    assert here.values(stopped)["s3", 1, "report"] == "question numbe 3"
