"""A proxy that drops our headers changes nothing: neither reports nor scores."""

from pathlib import Path

import pytest

from aiq.__main__ import main
from tests.cases import rows
from tests.proxy import forwarding


@pytest.mark.parametrize(
    "experiment",
    [
        "shallow_freshqa",
        *(pytest.param(name, marks=pytest.mark.whole) for name in ("escalation_freshqa", "deep_drb", "documents_qa")),
    ],
)
def test_a_run_does_not_depend_on_our_headers(experiment: str, world_port: int, tmp_path: Path) -> None:
    limit = 1 if experiment == "deep_drb" else 2
    chosen = (f"experiment={experiment}", f"limit={limit}")
    with forwarding(world_port) as proxy:
        proxied = _results(tmp_path / "proxied", *chosen, f"llm.base_url={proxy.base_url}")
    direct = _results(tmp_path / "direct", *chosen)
    assert direct == proxied
    assert len(direct) > limit


def _results(folder: Path, *overrides: str) -> dict[tuple[str, str], object]:
    """The reports and scores of a run."""
    assert main(["run", *overrides, f"output_dir={folder}", "runner.progress=false"]) == 0
    samples, scores = (rows(next(folder.glob(f"*/*/{name}.jsonl"))) for name in ("samples", "scores"))
    figures = {
        (row["sample_id"], row["metric"]): (row.get("value"), row.get("numerator"), row.get("denominator"))
        for row in scores
    }
    return {**{(row["sample_id"], "report"): row["report"] for row in samples}, **figures}
