"""AI-Q as one agent: no written report is lost, the cost of each stage, prompt variants."""

from pathlib import Path
from typing import Any

import pytest

from aiq.agents.ai_q.recorded import STAGES, usage_by_stage
from aiq.citations.registry import SourceRegistry
from aiq.core.errors import ConfigError
from aiq.core.samples import Question, Sample
from aiq.core.sources import Source
from aiq.core.usage import Limits, Usage
from aiq.experiment.attempt import run_attempt
from aiq.experiment.compose import compose, settings_from
from aiq.experiment.plan import make_plan
from aiq.experiment.provenance import prompts_digest
from aiq.offline.chat import ChatReply, ChatRequest, call
from aiq.runs.rows import SampleRow
from tests.agents.conftest import PROMPTS, agent, on_bench
from tests.agents.replies import ADMITS, REPORT, TASK, calls, chat, turn_of
from tests.settings import configured


class BrokenRegistry(SourceRegistry):
    """Fails the first time it is read, which is when the report is verified."""

    broken = True

    def known(self) -> tuple[Source, ...]:
        if self.broken:
            self.broken = False
            raise ValueError("the registry is broken")
        return super().known()


def writes_the_file_and_goes_on(request: ChatRequest) -> ChatReply:
    if turn_of(request) == 0:
        return calls(call("write_file", file_path="/report.md", content=REPORT))
    return calls(call("think", thought="hm"))


def fails_then(request: ChatRequest) -> ChatReply | int:
    return 400 if turn_of(request) else writes_the_file_and_goes_on(request)


def writes(report: str) -> Any:
    return lambda request: ChatReply(text=report)


LOST = chat(shallow=ADMITS, roles={"aiq.orchestrator": lambda request: 400})


@pytest.mark.parametrize(
    ("script", "settings", "calls_at_most", "status", "raw", "says"),
    [
        pytest.param(writes_the_file_and_goes_on, {}, 3, "limit", REPORT, "model_calls=3 reached", id="limit"),
        pytest.param(fails_then, {}, 99, "failed", REPORT, "400", id="failing endpoint"),
        pytest.param(writes(REPORT), {"entry": "shallow"}, 99, "failed", REPORT, "registry is broken", id="shallow"),
        pytest.param(writes(REPORT), {}, 99, "failed", REPORT, "the registry is broken", id="verification fails"),
        pytest.param(
            LOST, {"entry": "chat", "enable_clarifier": False}, 99, "failed", ADMITS, "400", id="escalation fails"
        ),
        pytest.param(writes(""), {}, 99, "failed", None, "wrote no report", id="nothing was written"),
    ],
)
async def test_a_report_already_written_is_in_the_row_of_an_attempt_that_fails_later(
    script: Any, settings: dict[str, Any], calls_at_most: int, status: str, raw: str | None, says: str
) -> None:
    rows: list[SampleRow] = []
    limits = configured(Limits, sample_model_calls=calls_at_most)
    sources = BrokenRegistry() if "broken" in says else SourceRegistry()
    async with on_bench(script, limits=limits, sources=sources) as bench:
        sample = Sample(id="s1", question=Question(text="Who?" if script is LOST else TASK))
        aiq_agent: Any = agent(**{"entry": "deep", **settings})
        row = await run_attempt(aiq_agent, sample, bench.session, rows.append)
    assert rows == [row]
    assert (row.status, row.report, row.raw_report) == (status, None, raw)
    assert row.error is not None
    assert says in row.error.message


# What each stage of an attempt cost.


def test_every_role_of_ai_q_has_its_stage() -> None:
    prompts = {name.removesuffix(".j2") for name in PROMPTS.sources()}
    roles = {name for name in prompts if not name.endswith(("_request", "_repair"))}
    assert {f"aiq.{role}" for role in roles} == {role for role in STAGES if role.startswith("aiq.")}
    assert list(usage_by_stage({"my.tool": Usage(calls=1)})) == ["other"]


# Prompt variants.


def variant(tmp_path: Path, name: str, text: str) -> str:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path)


async def test_a_variant_replaces_the_shipped_prompt_of_the_same_name(tmp_path: Path) -> None:
    folder = variant(tmp_path, "shallow_researcher.j2", "Answer briefly, at {{ current_datetime }}.")
    leaked = "Answer briefly, at whatever time it may be, and never say who told you so."
    variant(tmp_path, "escalation.j2", leaked)
    async with on_bench(chat(shallow=f"Ilan Corvey.\n\n{leaked}")) as bench:
        report = await bench.ask(agent(prompts_dir=folder), "Who?")
    assert bench.endpoint.of("aiq.shallow_researcher")[0].system == "Answer briefly, at 2026-11-01T09:00:00+00:00."
    assert bench.endpoint.of("aiq.intent_classifier")[0].system == PROMPTS.render("intent_classifier.j2")
    assert report.text == "Ilan Corvey."  # a variant is kept out of reports like the shipped prompts


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("shalow.j2", "x", r"shalow\.j2 replaces no prompt; there are: clarifier\.j2, "),
        ("planner.j2", "{{ dialogue }}", r"planner\.j2 uses dialogue, which this prompt is not given; it is given: av"),
        ("planner.j2", "a\n{% if %}", r"planner\.j2, line 2: "),
    ],
)
def test_a_variant_that_does_not_fit_gives_a_one_line_error(tmp_path: Path, name: str, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=rf"^agent\.prompts_dir: .*{says}"):
        agent(prompts_dir=variant(tmp_path, name, text))
    with pytest.raises(ConfigError, match=r"^agent\.prompts_dir: there is no folder .*nowhere"):
        agent(prompts_dir="nowhere")


def test_variants_count_in_the_hash_of_the_agents_prompts(tmp_path: Path) -> None:
    def digest(*overrides: str) -> str | None:
        return prompts_digest(make_plan(settings_from(compose(["experiment=shallow_freshqa", *overrides]))))

    unchanged = variant(tmp_path, "planner.j2", PROMPTS.source("planner.j2"))
    assert digest(f"agent.prompts_dir={unchanged}") == digest()
    changed = variant(tmp_path, "planner.j2", "Plan.")
    assert digest(f"agent.prompts_dir={changed}") != digest()
