"""The page of a run: complete, safe to open, from disk and without a network, for a thousand samples too."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from aiq.runs.folder import RunFolder
from aiq.runs.manifest import Manifest
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.runs.summary import Summary
from aiq.site.run_page import write_page
from aiq.site.tables import notes
from tests.site.conftest import InBrowser
from tests.site.seen import EVIL, Seen

RUN: dict[str, Any] = json.loads(Path(__file__).with_name("run.json").read_text(encoding="utf-8"))
"""A small run: manifest, summary, a row that is completed and one that failed."""


def sample(number: int, *, kind: str = "completed") -> SampleRow:
    row = SampleRow.model_validate(RUN[kind])
    return row.model_copy(update={"sample_id": f"s{number}", "question": f"{row.question} {number}"})


def score(row: SampleRow, **values: object) -> ScoreRow:
    common = {"judge": "j", "judge_hash": "h", "judge_version": "1", "judge_model": None, "prompt_hash": None}
    given = {"metric": "race.overall", "status": "scored", "value": 0.5, **common, **values}
    return ScoreRow(sample_id=row.sample_id, epoch=row.epoch, attempt=row.attempt, **given)


def folder_with(path: Path, rows: list[SampleRow], scores: list[ScoreRow], **changed: object) -> RunFolder:
    """The run with these rows; `changed` are fields of manifest or summary."""
    folder = RunFolder(path)
    folder.create()
    for file, lines in ((folder.samples_path, rows), (folder.scores_path, scores)):
        file.write_text("".join(f"{line.model_dump_json()}\n" for line in lines), encoding="utf-8")
    manifest = {name: value for name, value in changed.items() if name in Manifest.model_fields}
    folder.write_manifest(Manifest.model_validate(RUN["manifest"] | manifest))
    summary = {name: value for name, value in changed.items() if name in Summary.model_fields}
    folder.write_summary(Summary.model_validate(RUN["summary"] | summary))
    return folder


@pytest.fixture
def page(tmp_path: Path) -> str:
    rows = [sample(1), sample(2, kind="failed")]
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


def test_a_run_without_judges_says_so_and_one_with_a_real_model_has_no_banner(tmp_path: Path) -> None:
    hashes = RUN["manifest"]["hashes"] | {"judges": {}}
    page = write_page(folder_with(tmp_path, [sample(1)], [], hashes=hashes, offline=False)).read_text()
    assert "nothing was scored: judge=[] names no judge" in Seen(page).text
    assert "offline model" not in page


@pytest.mark.parametrize(
    ("agent", "judge", "offline", "elsewhere", "told", "untold"),
    [
        (3, 2, True, "", ["Made with the offline model"], "no model call"),
        (0, 2, True, "", ["no model call through its session", "Judged by the offline stack"], "offline model"),
        (0, 0, True, "", ["no model call through its session"], "offline"),
        (0, 2, False, "", ["no model call through its session"], "offline"),
        (3, 2, False, "", [], "session"),
        (3, 2, True, "agent.own", ["Judged by the offline stack"], "session"),
        (3, 0, True, "agent.own", [], ""),
        (3, 2, True, "judge.own", ["Made with the offline model"], "session"),
        (0, 2, True, "judge.own", ["no model call through its session"], "offline"),
    ],
)
def test_the_notes_say_whose_models_made_the_numbers_and_what_was_not_measured(
    agent: int, judge: int, offline: bool, elsewhere: str, told: list[str], untold: str
) -> None:
    calls = {"agent": agent, "judge": judge}
    usage = {
        who: {"total": {"calls": n}, "roles": {f"{who}.own": {"calls": n}} if n else {}} for who, n in calls.items()
    }
    changed = {"usage": usage, "offline": offline, "elsewhere": [elsewhere]}
    said = list(notes(Summary.model_validate(RUN["summary"] | changed)))
    assert len(said) == len(told)
    assert all(part in note for part, note in zip(told, said, strict=True))
    assert not untold or untold not in "".join(said)


@pytest.mark.parametrize("mode", [None, "off", "record", "replay", "auto", "refresh"])
def test_a_replayed_run_says_that_its_times_are_not_the_models(mode: str | None, tmp_path: Path) -> None:
    config = RUN["manifest"]["config"] | ({"cassette": {"mode": mode}} if mode else {})
    page = write_page(folder_with(tmp_path, [sample(1)], [], config=config)).read_text()
    assert ("times and waits are not those of the models" in page) == (mode in ("replay", "auto", "refresh"))


def test_text_of_reports_and_sources_stays_text_and_the_page_needs_no_network(page: str) -> None:
    seen = Seen(page)
    assert EVIL in seen.text
    assert seen.is_harmless()
    assert seen.scripts() == 1  # the page's own
    assert "default-src 'none'" in page
    assert "@import" not in page
    assert "url(" not in page.split("</style>")[0]
    atlas, news = "https://atlas.offline.example/tessmark", "https://news.offline.example/old"
    assert {"https://good.example/a?b=1&c=2", atlas, news} <= set(seen.links())
    assert "<br />\n[2] Old page" in page  # reference lines are lines


def test_failures_come_first(page: str) -> None:
    assert page.index('id="s2.1"') < page.index('id="s1.1"')


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
