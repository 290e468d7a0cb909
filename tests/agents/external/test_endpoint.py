"""An agent behind a URL: what it is sent, what its answer becomes, and that its calls count like any other."""

from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.agents.external.endpoint import EndpointAgent, EndpointSettings
from aiq.core.errors import AgentError, AiqError, ConfigError, LimitReached, ModelError
from aiq.core.reports import Report
from aiq.core.samples import Question, Turn
from aiq.core.usage import Limits
from tests.experiment.conftest import Workplace
from tests.experiment.conftest import endpoint as endpoint
from tests.experiment.conftest import here as here
from tests.experiment.conftest import place as place
from tests.llm.conftest import Bench
from tests.llm.conftest import bench as bench
from tests.llm.endpoint import completed, error, http
from tests.settings import configured

CITES = "Kelso has 12 bridges [1].\n\n## References\n[1] https://b.example/nobody-knows"
QUESTION = Question(
    text="And now?", history=(Turn(speaker="user", text="How many?"), Turn(speaker="assistant", text="9"))
)


def judge_bench(bench: Any, *script: bytes, **options: Any) -> AbstractAsyncContextManager[Bench]:
    """A run whose `llm` has a model and options other than the agent's."""
    llm = {"model": "judge", "temperature": 0.5, "extra_body": {"top_k": 1}}
    context: AbstractAsyncContextManager[Bench] = bench(list(script), **llm, **options)
    return context


async def answer(b: Bench, **settings: Any) -> Report:
    """The agent's report, from the bench's endpoint at a different address from the run's."""
    base_url = b.endpoint.base_url.replace("127.0.0.1", "localhost")
    agent = EndpointAgent(configured(EndpointSettings, base_url=base_url, model="researcher", **settings))
    return await agent.research(QUESTION, b.session)


async def test_the_question_goes_there_and_the_answer_is_the_report(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-of-the-agent")
    prices = {"researcher": {"input": 1, "output": 1}}
    async with judge_bench(bench, error(503), http(200, completed(CITES)), prices=prices) as b:
        report = await answer(b, api_key_env="TEST_KEY")
        assert report == Report(text=CITES, raw_text=CITES, route="endpoint", citation_status="unverified")
        request = b.endpoint.got[-1]
        assert request.body == {
            "model": "researcher",
            "messages": [
                {"role": "user", "content": "How many?"},
                {"role": "assistant", "content": "9"},
                {"role": "user", "content": "And now?"},
            ],
            "seed": b.session.seed(),
        }
        assert request.headers["authorization"] == "Bearer sk-of-the-agent"
        usage = b.session.usage.by_role()["endpoint.agent"]
        assert (usage.calls, usage.input_tokens, usage.output_tokens, usage.cost_usd) == (2, 100, 20, 1.2e-4)


async def test_its_calls_are_limited(bench: Any) -> None:
    limits = configured(Limits, sample_model_calls=1)
    async with judge_bench(bench, http(200, completed(CITES)), limits=limits) as b:
        await answer(b)
        with pytest.raises(LimitReached):
            await answer(b)


async def test_it_has_its_own_timeout(bench: Any) -> None:
    async with judge_bench(bench, http(200, completed(CITES)), delay=0.4, retry={"attempts": 1}) as b:
        assert (await answer(b, timeout_seconds=5)).text == CITES
        with pytest.raises(ModelError, match="no answer in time"):
            await answer(b, timeout_seconds=0.1)


async def test_an_empty_answer_fails(bench: Any) -> None:
    async with judge_bench(bench, http(200, completed(None, refusal="I may not."))) as b:
        with pytest.raises(AgentError, match=r"route gave no answer: the text is empty .*refused: 'I may not\.'"):
            await answer(b)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "refuses the key (HTTP 401): set agent.api_key_env"),
        (404, "(it is 'researcher': agent.model) and the address agent.base_url=http://localhost:"),
        (400, "(agent.model=researcher has not answered once: check the settings of agent)"),
        (307, "set agent.base_url to where it answers"),
    ],
)
async def test_errors_name_its_own_settings(bench: Any, status: int, said: str) -> None:
    async with judge_bench(bench, error(status)) as b:
        with pytest.raises(AiqError) as caught:
            await answer(b)
        assert said in str(caught.value)
        assert "llm" not in str(caught.value)


def test_an_unreachable_endpoint_stops_the_run_at_the_first_question(
    here: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    unreachable = ["agent.base_url=http://127.0.0.1:9/v1", "agent.model=researcher", "llm.retry.attempts=2"]
    overrides = ["experiment=tiny", "agent=endpoint", *unreachable, "runner.concurrency=1", "runner.progress=false"]
    assert main(["run", *overrides]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "has not answered once: check the settings of agent" in line
    assert line.endswith("; no attempt has finished: start a new run")
    assert len(here.lines(here.only_run() / "samples.jsonl")) == 1


def test_a_whole_run_of_it_says_which_model_answered(here: Workplace) -> None:
    overrides = ["agent.base_url=" + here.endpoint.base_url.replace("127.0.0.1", "localhost"), "agent.model=researcher"]
    run = here.ran("agent=endpoint", *overrides, "judge.letters.ask=true", "limit=2", "runner.progress=false")
    rows = here.lines(run / "samples.jsonl")
    assert {row["citation_status"] for row in rows} == {"unverified"}
    assert sorted((row["report"], row["route"]) for row in rows) == [
        ("question number 0", "endpoint"),
        ("question number 1", "endpoint"),
    ]
    assert [list(row["usage"]) for row in rows] == [["endpoint.agent"]] * 2
    models = here.manifest(run)["models"]
    assert (models["endpoint.agent"], models["judge.letters"]) == ("researcher", "small-1")
    assert here.manifest(run)["elsewhere"] == here.summary(run)["elsewhere"] == ["endpoint.agent"]


def test_a_missing_key_is_reported_before_the_run() -> None:
    with pytest.raises(ConfigError, match=r"^agent\.api_key_env=NOT_SET: this environment variable is not set"):
        EndpointAgent(configured(EndpointSettings, base_url="http://a/v1", model="m", api_key_env="NOT_SET"))
