"""The page of a run: complete, safe to open, from disk and without a network, for a thousand samples too."""

import time
from pathlib import Path

import pytest

from aiq.core.reports import Audit, RemovedCitation, ValidCitation
from aiq.core.sources import Source
from aiq.runs.folder import RunFolder
from aiq.runs.journal import Journal
from aiq.runs.manifest import DatasetIdentity, Hashes, Manifest
from aiq.runs.rows import RowError, SampleRow, ScoreRow, Timing
from aiq.runs.summary import FailurePolicy, JudgeErrors, RouteSummary, Summary, TimingSummary
from aiq.site.run_page import write_page
from aiq.stats.estimates import Estimate
from aiq.stats.noise import RunNoise
from tests.site.conftest import InBrowser
from tests.site.seen import EVIL, Seen

REPORT = f"""# Findings

The mayor is **Ilan Corvey** [1]. {EVIL} ![picture](https://tracker.example/p.png)
[bad](javascript:alert(1)) [good](https://good.example/a?b=1&c=2)

| a | b |
| - | - |
| 1 | 2 |

## References
[1] Tessmark - https://atlas.offline.example/tessmark
[2] Old page - https://news.offline.example/old.
"""


NOISE = RunNoise(
    reports=1,
    judgements=3,
    sd=0.042,
    votes=0.042,
    orders=None,
    members=None,
    order_gap=None,
    standard_error=0.024,
)


def sample(number: int, *, failed: bool = False) -> SampleRow:
    timing = Timing(started="2026-11-21T00:00:00+00:00", seconds=1.5)
    common = {"sample_id": f"s{number}", "sample_hash": "0" * 16, "epoch": 1, "attempt": 1, "timing": timing}
    if failed:
        error = RowError(type="ModelError", message=EVIL)
        return SampleRow(status="failed", question=EVIL, error=error, **common)
    audit = Audit(
        valid_citations=(
            ValidCitation(number=1, original_number=3, target="t", source="https://a.example/1", level="prefix"),
        ),
        removed_citations=(RemovedCitation(number=2, target="javascript:alert(2)", reason="unsafe_scheme"),),
    )
    return SampleRow(
        status="completed",
        question=f"Who is the mayor of city {number}?",
        tags={"hops": "2"},
        report=REPORT,
        raw_report=REPORT,
        route="shallow",
        outcome="ok",
        sources=(
            Source(url="https://a.example/1", title="First page", text="long " * 50),
            Source(url="javascript:alert(3)", title="Strange page"),
            Source(citation_key="paper.pdf, p.3", title=""),
        ),
        audit=audit,
        **common,
    )


def score(row: SampleRow, **values: object) -> ScoreRow:
    common = {"judge": "j", "judge_hash": "h", "judge_version": "1", "judge_model": None, "prompt_hash": None}
    given = {"metric": "race.overall", "status": "scored", "value": 0.5, **common, **values}
    return ScoreRow(sample_id=row.sample_id, epoch=row.epoch, attempt=row.attempt, **given)


def folder_with(path: Path, rows: list[SampleRow], scores: list[ScoreRow], *, offline: bool = True) -> RunFolder:
    folder = RunFolder(path)
    folder.create()
    samples: Journal[SampleRow] = Journal(folder.samples_path)
    samples.append(*rows)
    samples.close()
    journal: Journal[ScoreRow] = Journal(folder.scores_path)
    journal.append(*scores)
    journal.close()
    metrics = {"race.overall": Estimate(mean=0.5, ci95=(0.41, 0.59), n=len(rows), estimator="mean")}
    metrics["race_absolute.overall"] = Estimate(mean=5.0, ci95=(-1.0, 7.5), n=len(rows), estimator="mean")
    metrics["fact.citations"] = Estimate(mean=0.5, ci95=None, n=len(rows), estimator="mean")
    other = {"race.overall": Estimate(mean=0.625, ci95=None, n=1, estimator="mean")}
    folder.write_manifest(
        Manifest(
            run_id="r1",
            experiment="deep_drb",
            status="finished",
            started="2026-11-21T00:00:00+00:00",
            config={"epochs": 1, "agent": {"target": "a.b:Agent"}, "odd": EVIL},
            overrides=(),
            hashes=Hashes(config="c", agent="a", judges={"j": "h"}, prompts={}),
            models={"default": "offline-1"},
            dataset=DatasetIdentity(name="drb_mini", fingerprint="f", size=12, samples=len(rows)),
            clock="2026-11-01T09:00:00+00:00",
            offline=offline,
            versions={"aiq": "0.1.0"},
            git_revision=None,
        )
    )
    folder.write_summary(
        Summary(
            run_id="r1",
            experiment="deep_drb",
            status="finished",
            offline=offline,
            n_samples=len(rows),
            n_attempts=len(rows),
            n_errors=1,
            statuses={"completed": len(rows) - 1, "failed": 1},
            metrics=metrics,
            ranges={"race.overall": (0.0, 1.0), "race_absolute.overall": (0.0, 10.0)},
            judge_noise={"race.overall": NOISE},
            unavailable={"fact.citations": "no judge"},
            agent_failures=FailurePolicy(policy="worst", failed=1, alternative="exclude", metrics=other),
            judge_errors={"race": JudgeErrors(n=1, first="unreadable")},
            slices={"language": {"en": metrics, "zh": {}}},
            routes={"shallow": RouteSummary(n=2, metrics=metrics, cost_usd=None, mean_seconds=1.0)},
            usage={},
            cost_usd=None,
            timing=TimingSummary(run_seconds=1, attempt_mean=1, attempt_median=1, attempt_p95=1),
        )
    )
    return folder


@pytest.fixture
def page(tmp_path: Path) -> str:
    rows = [sample(1), sample(2, failed=True)]
    scores = [score(rows[0], detail={"note": EVIL}), score(rows[1], status="agent_failed", value=0.0, reason="failed")]
    return write_page(folder_with(tmp_path, rows, scores)).read_text()


def test_the_page_tells_what_came_out(page: str) -> None:
    seen = Seen(page).text
    for told in (
        "deep_drb",
        "0.500",
        "0.410 to 0.590",
        "0.625",  # with failures excluded
        "Made with the offline model",
        "no fact.citations: no judge",
        "judge race failed on 1: unreadable",
        "by language",
        "Ilan Corvey",
        "[1] prefix",
        "First page",
        "paper.pdf, p.3",
        "unsafe_scheme",
        "unknown (no price)",
        "judge noise",
        "0.042",  # its sd
    ):
        assert told in seen, told


def test_a_bar_shows_where_a_metric_lies_between_its_ends_and_one_without_ends_has_none(page: str) -> None:
    bars = [attrs["style"] for tag, attrs in Seen(page).tags if tag in ("i", "b") and "style" in attrs]
    assert bars == ["left:41.00%;width:18.00%", "left:50.00%", "left:0.00%;width:75.00%", "left:50.00%"]


def test_a_run_without_judges_says_so(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, [sample(1)], [])
    manifest = folder.read_manifest()
    folder.write_manifest(manifest.model_copy(update={"hashes": manifest.hashes.model_copy(update={"judges": {}})}))
    assert "nothing was scored: judge=[] names no judge" in Seen(write_page(folder).read_text()).text


def test_text_of_reports_and_sources_stays_text(page: str) -> None:
    seen = Seen(page)
    assert EVIL in seen.text
    assert seen.is_harmless()
    assert seen.scripts() == 1  # the page's own
    assert "https://good.example/a?b=1&c=2" in seen.links()


def test_reference_lines_are_lines_with_links(page: str) -> None:
    assert {"https://atlas.offline.example/tessmark", "https://news.offline.example/old"} <= set(Seen(page).links())
    assert "<br />\n[2] Old page" in page


def test_the_page_needs_no_network(page: str) -> None:
    assert "default-src 'none'" in page
    assert "@import" not in page
    assert "url(" not in page.split("</style>")[0]


def test_failures_come_first(page: str) -> None:
    assert page.index('id="s2.1"') < page.index('id="s1.1"')


def test_a_real_model_has_no_banner(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, [sample(1)], [], offline=False)
    assert "offline model" not in write_page(folder).read_text()


def test_only_the_last_attempt_and_its_scores_are_shown(tmp_path: Path) -> None:
    first = sample(1)
    second = first.model_copy(update={"attempt": 2, "report": "the second report"})
    page = write_page(folder_with(tmp_path, [first, second], [score(first, value=0.111)])).read_text()
    assert page.count('id="s1.1"') == 1
    assert "the second report" in page
    assert "0.111" not in page


def test_a_thousand_samples_are_written_in_seconds(tmp_path: Path) -> None:
    rows = [sample(number) for number in range(1000)]
    folder = folder_with(tmp_path, rows, [score(row) for row in rows])
    start = time.perf_counter()
    size = write_page(folder).stat().st_size
    assert time.perf_counter() - start < 20
    assert size < 10_000_000


TYPING = """
box.value = "CITY 1"; box.dispatchEvent(new Event("input"));
document.body.append(`shown ${document.getElementById("shown").textContent}, title ${document.title}`);
"""


def test_a_browser_filters_attempts_and_runs_no_script_of_a_report(page: str, in_browser: InBrowser) -> None:
    shown = in_browser(page, TYPING)
    assert "shown 1 of 2, title deep_drb" in shown
    assert Seen(shown).scripts() == 2  # the page's own, and TYPING
