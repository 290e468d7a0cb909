"""The agents' instructions stay out of reports."""

from pathlib import Path
from typing import Any

import pytest

from aiq.agents.ai_q import disclosure
from aiq.core.events import Recovery

PROMPTS = Path(disclosure.__file__).parent / "prompts"


@pytest.mark.parametrize("prompt", ["shallow_researcher.j2", "researcher.j2", "planner.j2", "orchestrator.j2"])
async def test_a_prompt_in_a_report_is_dropped_and_the_rest_stays(prompt: str, on_bench: Any) -> None:
    template = (PROMPTS / prompt).read_text(encoding="utf-8")
    told = [line for line in template.splitlines() if line.strip() and "{" not in line]
    report = "# Title\n\n" + "\n".join(told) + "\n\nIt is Ilan Corvey [1].\n\n## Sources\n[1] T - https://t.example/"
    async with on_bench(lambda request: 500) as bench:
        kept = disclosure.undisclosed(report, bench.session)
        assert kept.split("\n\n")[0] == "# Title"
        assert "It is Ilan Corvey [1]." in kept
        assert not any(line.strip() in kept for line in told if len(line) > 30)
        (event,) = bench.logged(Recovery)
        assert event.what == "prompt_disclosed"


async def test_lines_that_prompts_and_reports_share_are_no_disclosure(on_bench: Any) -> None:
    report = "## References\n\n## Answer\n\n**Sources**\n\n[1] Title - URL\n\n## Premise check"
    async with on_bench(lambda request: 500) as bench:
        assert disclosure.undisclosed(report, bench.session) == report
        assert bench.logged(Recovery) == []
