"""The page of a sweep: its recommendation can be checked, in a real browser, from disk and with hostile names."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from aiq.runs.sweeps import Axis, MainEffect, Point, PointDifference, Recommendation, Sweep, SweepFolder
from aiq.site.sweep_page import write_sweep_page
from aiq.site.sweep_tables import print_begin, print_sweep
from aiq.stats.estimates import Difference, Estimate
from tests.site.seen import EVIL, Seen

METRIC = "fresheval.relaxed"
PLACE = "made/sweep"
AXES = {"agent.a.max_loops": ("1", "2", "400"), "agent.b.policy": ("never", EVIL), "seed": ("0", "1")}


def sweep_of(axes: int, **changed: Any) -> Sweep:
    """Points that get better and costlier with their number; the last is the best, the one before it recommended."""
    names = [*AXES][:axes]
    values = [dict(zip(names, combination, strict=True)) for combination in product(*(AXES[name] for name in names))]
    last = len(values) - 1
    fields = {
        "sweep_id": "20261123-090000-123abc",
        "experiment": "sweep_mini",
        "status": "finished",
        "samples": 40,
        "overrides": ("experiment=sweep_mini",),
        "metric": METRIC,
        "spend": "tokens",
        "axes": [Axis(name=name, values=AXES[name]) for name in names],
        "points": [point(number, axes) for number, axes in enumerate(values)],
        "differences": [difference(number, last) for number in range(last)],
        "main_effects": [effect(name, value) for name in names if axes > 1 for value in AXES[name]],
        "front": range(last + 1),
        "recommendation": Recommendation(
            point=last - 1,
            best=last,
            metric=METRIC,
            spend="tokens",
            threshold=0.5,
            n=40,
            chosen={last - 1: 0.8, last: 0.2},
            reason="it is within one standard error of the best",
        ),
    }
    return Sweep.model_validate(fields | changed)


def point(number: int, axes: Mapping[str, str]) -> Point:
    quality, spend = figure(0.5 + number / 40), figure(1000.0 + 300 * number)
    numbers = {"n_samples": 40, "metrics": {METRIC: quality}, "spend": {"tokens": spend, "cost_usd": figure(0.0)}}
    return Point(number=number, axes=axes, overrides=(), status="finished", exit_code=0, **numbers)


def figure(mean: float) -> Estimate:
    return Estimate(mean=mean, ci95=(mean * 0.9, mean * 1.1), n=40, estimator="mean")


def difference(number: int, best: int) -> PointDifference:
    mean = (number - best) / 40
    estimate = Difference(mean=mean, ci95=(mean - 0.1, mean + 0.1), n=40, p=0.2, spread=0.2)
    return PointDifference(point=number, against=best, kind="best", metric=METRIC, difference=estimate, p=0.2)


def effect(axis: str, value: str) -> MainEffect:
    return MainEffect(axis=axis, value=value, metric=METRIC, estimate=figure(0.6))


def written(sweep: Sweep, results: Path) -> str:
    folder = SweepFolder(results / PLACE)
    folder.point(0).create()
    folder.point(0).page_path.touch()
    return write_sweep_page(folder, sweep).read_text(encoding="utf-8")


def test_the_page_says_what_is_recommended_and_why(tmp_path: Path) -> None:
    seen = Seen(written(sweep_of(1), tmp_path))
    assert "recommended: max_loops=2 (point 1): it is within one standard error of the best" in seen.words
    assert "others: 20.0 % point 2 (max_loops=400)" in seen.words
    assert [attrs["class"] for tag, attrs in seen.tags if tag == "tr" and attrs.get("class")] == [
        *("other", "recommended", "best")
    ]
    assert seen.links() == ["../../index.html", "0/index.html"]  # the other points have no page
    assert "cost_usd" not in seen.text  # nothing costs anything


def test_a_table_has_the_numbers_of_the_first_plot(tmp_path: Path) -> None:
    """From the cheapest point: the difference from the best and its standard error, 0.2 / sqrt(40)."""
    words = Seen(written(sweep_of(1), tmp_path)).words
    rows = ("-0.05 0.03162 -0.15 to 0.05 40 other", "-0.025 0.03162 -0.125 to 0.075 40 recommended", "0 0 - - best")
    places = [words.index(row) for row in rows]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"recommendation": None, "undecided": "2 of 3 points are not finished"}, "2 of 3 points are not finished"),
        ({"metric": None, "spend": None, "recommendation": None, "differences": (), "front": ()}, "no recommendation"),
    ],
)
def test_a_sweep_without_recommendation_says_why(changed: dict[str, Any], told: str, tmp_path: Path) -> None:
    seen = Seen(written(sweep_of(1, **changed), tmp_path))
    assert told in seen.text
    assert ("figure" in dict(seen.tags)) == ("undecided" in changed)


def test_a_stopped_point_says_why_and_is_not_a_candidate(tmp_path: Path) -> None:
    whole = sweep_of(1)
    why = {"status": "stopped", "same_as": 1, "note": "as point 1 on all of 20 samples"}
    stopped = whole.points[0].model_copy(update=why)
    words = Seen(written(whole.with_point(stopped), tmp_path)).words
    assert "1,100 40 0 stopped as point 1 on all of 20 samples" in words  # no share of the bootstrap before the samples
    assert "1 stopped, 2 finished" in words


@pytest.mark.parametrize(
    ("recommended", "higher", "said"),
    [(1, True, "best less one"), (1, False, "best plus one"), (2, True, None)],
)
def test_a_threshold_is_drawn_if_the_recommended_point_is_not_the_best(
    recommended: int, higher: bool, said: str | None, tmp_path: Path
) -> None:
    whole = sweep_of(1, higher_is_better={METRIC: higher})
    assert whole.recommendation is not None
    chosen = whole.recommendation.model_copy(update={"point": recommended})
    page = written(whole.model_copy(update={"recommendation": chosen}), tmp_path)
    plots = (tmp_path / PLACE / "site/plots.js").read_text(encoding="utf-8")
    assert ("The dotted line" in page, "one standard error" in plots) == (said is not None, said is not None)
    assert said is None or said in plots


@pytest.mark.parametrize(
    ("axes", "titles"),
    [
        (1, ["fresheval.relaxed", "tokens a sample"]),
        (2, ["fresheval.relaxed", "tokens a sample", "policy=never", f"policy={EVIL}", "by max_loops", "by policy"]),
        (3, ["by max_loops", "by policy", "by seed"]),
    ],
)
def test_the_plots_fit_the_number_of_axes(axes: int, titles: list[str], tmp_path: Path) -> None:
    written(sweep_of(axes), tmp_path)
    page = (tmp_path / PLACE / "index.html").read_text(encoding="utf-8")
    captions = [Seen(part.split("</figcaption>")[0]).text for part in page.split("<figcaption>")[3:]]
    assert [title.endswith(end) for title, end in zip(captions, titles, strict=True)] == [True] * len(titles)


def test_names_stay_text_and_the_policy_forbids_inline_scripts(tmp_path: Path) -> None:
    page = written(sweep_of(2, experiment=f"sweep{EVIL}"), tmp_path)
    seen = Seen(page)
    assert EVIL in seen.text
    sources = [attrs.get("src") for tag, attrs in seen.tags if tag == "script"]
    assert sources == ["../../site/site.js", "site/plots.js", "../../site/plots.js"]
    assert "script-src 'self' file:" in page
    assert not any(name.startswith("on") for _, attrs in seen.tags for name in attrs)
    assert not [tag for tag, _ in seen.tags if tag in ("img", "iframe", "svg")]


def test_long_values_are_cut_in_tables_and_written_in_full_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = [f"['could not find anything', {number}]" for number in range(2)]
    points = [Point(number=number, axes={"agent.phrases": value}, overrides=()) for number, value in enumerate(long)]
    axes = (Axis(name="agent.phrases", values=tuple(long)),)
    blank = {"differences": (), "main_effects": (), "recommendation": None, "front": ()}
    sweep = sweep_of(1).model_copy(update={"axes": axes, "points": tuple(points), **blank})
    print_begin(sweep)
    assert f"2: {long[1]}" in capsys.readouterr().out
    print_sweep(sweep, SweepFolder(tmp_path))
    out = capsys.readouterr().out
    assert "2: ['could not find..." in out
    assert long[1] not in out
