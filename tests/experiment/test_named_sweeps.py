"""The sweeps that come with aiq, in small: they recommend what the construction of the closed world implies."""

import csv
from pathlib import Path

import pytest

from aiq.__main__ import main
from aiq.core.files import shipped
from aiq.runs.sweeps import Sweep, find_sweep


def swept(place: Path, *overrides: str) -> Sweep:
    assert main(["run", "-m", *overrides, f"output_dir={place}", "runner.progress=false"]) == 0
    return find_sweep("latest", str(place)).read()


@pytest.mark.whole
def test_chains_need_a_search_for_each_of_their_facts(tmp_path: Path) -> None:
    """A chain's second page is only named on its first, so one search answers one-hop questions but no chain."""
    with shipped("benchmarks/freshqa_mini/freshqa_mini.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["false_premise"] == "FALSE"]
    hops = {kind: [row["id"] for row in rows if row["num_hops"] == kind][:7] for kind in ("one-hop", "multi-hop")}
    sweep = swept(
        tmp_path,
        *(
            "experiment=sweep_shallow",
            "limit=null",
            f"dataset.ids=[{','.join([*hops['one-hop'], *hops['multi-hop']])}]",
        ),
        *("agent.shallow.max_tool_iterations=1,5", "agent.shallow.max_llm_turns=2,6"),
    )
    folder = find_sweep("latest", str(tmp_path))
    slices = [folder.point(number).read_summary().slices["num_hops"] for number in range(4)]
    means = {kind: [by_kind[kind]["fresheval.relaxed"].mean for by_kind in slices] for kind in hops}
    assert means["one-hop"][3] == pytest.approx(means["one-hop"][0], abs=0.15)
    assert means["multi-hop"][3] > means["multi-hop"][0] + 0.4
    assert means["multi-hop"][:3] == [means["multi-hop"][0]] * 3  # five calls are of no use in two turns
    assert sweep.recommendation is not None
    assert sweep.points[sweep.recommendation.point].axes == {
        "agent.shallow.max_tool_iterations": "5",
        "agent.shallow.max_llm_turns": "6",
    }
    judge_calls = [folder.point(number).read_summary().usage["judge"].total.calls for number in range(4)]
    assert judge_calls[0] == 14
    assert judge_calls[1] == judge_calls[2] == 0  # the same reports


def test_coverage_grows_with_research_rounds(tmp_path: Path) -> None:
    axes = ("agent.deep.max_loops=1,2", "agent.deep.max_queries=4", "limit=2")
    sweep = swept(tmp_path, "experiment=sweep_deep", *axes)
    coverage_1, coverage_2 = (point.metrics["world.coverage"].mean for point in sweep.points)
    assert coverage_2 > coverage_1
    assert sweep.recommendation is not None
    assert sweep.recommendation.point == 1
