"""The results site in a real browser, from disk: by mouse and keyboard, accessible, and safe from hostile reports."""

import shlex
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from aiq.site.results import write_site
from aiq.site.server import server_of
from tests.site.made import ADDRESS, PASSAGE, RELAXED, REPORT, row, score, write_results
from tests.site.seen import EVIL
from tests.site.test_audit_page import REPORT as AUDITED
from tests.site.test_audit_page import page_of

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (requirements/test.lock)")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")

expect = playwright.expect
Page = Any
"""Opens a Playwright page that collects its errors."""
Opened = Callable[..., Page]

SIZES = {"wide": {"width": 1400, "height": 900}, "phone": {"width": 390, "height": 800}}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("results")
    write_results(path)
    write_site(path)
    return path


@pytest.fixture
def opened(window: Any, results: Path) -> Iterator[Opened]:
    """Opens a page; checks at the end that nothing was logged or requested, and no script of a report has run."""
    wrong: list[str] = []
    pages = []

    def refuse(dialog: Any) -> None:
        wrong.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def open_page(address: str = "index.html") -> Page:
        page = window.new_page()
        pages.append(page)
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", refuse)
        own = ("file:", "data:", "blob:", "http://127.0.0.1:")
        page.on("request", lambda request: None if request.url.startswith(own) else wrong.append(request.url))
        if address.startswith("http"):
            page.clock.install()
        page.goto(address if address.startswith("http") else f"{results.as_uri()}/{address}")
        page.wait_for_selector("main:not([hidden])")
        return page

    yield open_page
    for page in pages:
        page.close()
    assert wrong == []


def look(page: Page, size: str, colours: str) -> None:
    page.set_viewport_size(SIZES[size])
    page.emulate_media(color_scheme=colours)


def lines(page: Page) -> list[str]:
    """The samples or runs that the table shows."""
    return [text.split()[0] for text in page.locator(".sortable tbody td[data-label=sample]").all_inner_texts()]


def test_from_the_index_to_the_call_that_wrote_a_report_by_mouse(opened: Opened) -> None:
    page = opened()
    page.get_by_role("link", name="a", exact=True).click()
    page.get_by_role("link", name="sample s1, epoch 1", exact=True).click()
    page.locator(".report a.cite").first.click()
    panel = page.get_by_role("region", name="citation")
    expect(panel).to_contain_text(PASSAGE)
    assert panel.locator("mark").count() > 3
    panel.get_by_role("link", name="The tool call that returned it").click()
    expect(page.locator("details[data-part=e2]")).to_contain_text("mayor")
    page.go_back()
    panel.get_by_role("link", name="The model call that wrote the report").click()
    event = page.locator("details[data-part=e6]")
    expect(event.locator("pre").first).to_contain_text("The mayor of Tessmark is Ilan Corvey")
    assert page.evaluate("document.activeElement.parentElement.dataset.part") == "e6"
    page.wait_for_url("**#s1.1/e6")


def test_a_sample_that_loads_too_late_is_not_shown(opened: Opened) -> None:
    page = opened("made/b/index.html")
    page.wait_for_selector(".sortable tbody a")
    page.evaluate("location.hash = '#s1.1'; setTimeout(() => { location.hash = '' })")
    page.wait_for_timeout(500)
    assert page.locator("#overview").is_visible()
    assert not page.locator(".sample").is_visible()


def test_from_the_index_to_the_call_that_wrote_a_report_by_keyboard(opened: Opened) -> None:
    page = opened()
    press = page.keyboard.press
    for key in ("/", *"made", "Escape", "j", "j", "k", "j"):
        press(key)
    assert page.evaluate("document.activeElement.textContent") == "b"
    for key in ("j", "Enter"):
        press(key)
    page.wait_for_selector(".sortable tbody a")
    for key in ("j", "Enter"):
        press(key)
    page.wait_for_selector(".sample h1")
    press("n")
    expect(page.locator(".panel")).to_contain_text(PASSAGE)
    assert page.evaluate("document.activeElement.className") == "panel"
    press("m")
    page.wait_for_selector("details[data-part=e6][open]")
    press("Escape")
    page.wait_for_url("**#s1.1")
    press("j")
    expect(page.get_by_text("2 of 2")).to_be_visible()
    press("Escape")
    expect(page.locator("#overview")).to_be_visible()
    assert page.evaluate("document.activeElement.textContent") == "2"
    press("?")
    expect(page.get_by_role("dialog")).to_contain_text("the model call that wrote the report")
    for key in ("Escape", "Escape"):
        press(key)
    page.wait_for_url("**/index.html")
    expect(page.get_by_role("heading", level=1)).to_have_text("Results")


FILTERS = {
    f"{RELAXED} = 0": ["s2", "s3"],
    "flips = 1": ["s3"],
    f"{RELAXED}=1 city 1?": ["s1"],
    "cost > 0.015 tokens<=2010": ["s2"],
    "cost >= $0.02 tokens<3,010": ["s2"],
    f'{RELAXED} == 0 "mayor of city 3"': ["s3"],
    '"city mayor"': [],
    "hops = 2 route != deep": ["s1", "s2", "s3"],
    "nowhere": [],
    "unknown = 1": [],
}


def test_samples_are_filtered_by_words_and_by_comparisons(opened: Opened) -> None:
    page = opened("made/a/index.html")
    for query, expected in FILTERS.items():
        page.get_by_role("searchbox").fill(query)
        assert lines(page) == expected, query
    expect(page.get_by_role("status")).to_have_text("there is no column unknown")


def test_samples_are_sorted_by_any_column(opened: Opened) -> None:
    page = opened("made/a/index.html")
    heading = page.locator("th[data-name=cost]")
    for direction, first in (("descending", "s3"), ("ascending", "s1")):
        heading.get_by_role("button").click()
        assert heading.get_attribute("aria-sort") == direction
        assert lines(page)[0] == first
    page.get_by_role("button", name=f"wrong by {RELAXED} (2)").click()
    assert lines(page) == ["s2", "s3"]
    page.get_by_role("button", name="answers and reasons").click()
    brief = page.locator(".brief").first
    assert "It is mayor 2, I think [1]." in brief.inner_text()
    assert f"because {EVIL}" in brief.inner_text()


def test_what_failed_comes_first_and_a_run_of_nothing_else_says_so(opened: Opened) -> None:
    page = opened("made/c/index.html")
    problem = page.locator(".problems.all")
    assert "All 2 attempts failed" in problem.inner_text()
    assert f"ModelError: {EVIL}" in problem.inner_text()
    problem.get_by_role("button").click()
    assert len(lines(page)) == 2
    assert "aiq rescore made/a " in page.get_by_role("region", name="Settings").inner_text()
    assert opened().locator("tr.bad").count() == 1


def test_two_runs_are_compared(opened: Opened) -> None:
    page = opened()
    for name in ("a", "b"):
        page.get_by_role("checkbox", name=f"choose {name}", exact=True).check()
    page.get_by_role("link", name="Compare 2 runs").click()
    page.wait_for_selector(".sortable")
    assert "aiq compare made/a made/b" in page.locator(".command").inner_text()
    assert "-0.167" in page.get_by_role("region", name="means").inner_text()
    page.get_by_role("group", name="filters").get_by_role("button", name="changed").click()
    assert lines(page) == ["s3.1"]
    page.get_by_role("link", name="s3.1").click()
    assert "nothing" in page.locator(".diff").inner_text()
    assert page.locator(".side section").count() == 2


def test_each_of_three_runs_is_compared_with_the_first(opened: Opened) -> None:
    page = opened("compare.html#made/a,made/b,made/a")
    page.wait_for_selector(".sortable")
    means = page.get_by_role("region", name="means").inner_text()
    assert "B - A, same samples" in means
    assert "C - A, same samples" in means
    assert "-0.167" in means
    page.get_by_role("group", name="filters").get_by_role("button", name="B worse").click()
    assert lines(page) == ["s3.1"]
    page.get_by_role("link", name="s3.1").click()
    assert page.locator(".diff").last.inner_text() == "nothing"  # C is A
    assert page.get_by_role("heading", name="What ").all_inner_texts() == [f"What {run} changed of A" for run in "BC"]


def changed(results: Path, name: str, runs: str, old: str, new: str) -> str:
    """Where made/a and made/b are compared in a copy of the results in which the data of these runs are changed."""
    copy = shutil.copytree(results, results.parent / name)
    for run in runs:
        data = copy / f"made/{run}/site/summary.js"
        data.write_text(data.read_text().replace(old, new))
    return f"../{name}/compare.html#made/a,made/b"


def test_runs_are_not_compared_by_the_mean_of_a_ratio(opened: Opened, results: Path) -> None:
    page = opened(changed(results, "ratio", "ab", '"estimator":"mean"', '"estimator":"ratio"'))
    page.wait_for_selector(".sortable")
    assert "-0.167" not in page.get_by_role("region", name="means").inner_text()


def test_a_fall_is_better_if_lower_is_better(opened: Opened, results: Path) -> None:
    page = opened(changed(results, "lower", "ab", '"higher":true', '"higher":false'))
    page.get_by_role("group", name="filters").get_by_role("button", name="B better").click()
    assert lines(page) == ["s3.1"]
    assert page.locator(".sortable tbody .score.high").inner_text() == "-1"


def test_only_samples_with_the_same_question_are_compared(opened: Opened, results: Path) -> None:
    page = opened(changed(results, "asked", "b", "mayor of city 1?", "mayor of city 9?"))
    page.wait_for_selector(".sortable")
    assert "4 attempts in common" in page.get_by_role("region", name="means").inner_text()
    assert [line[:2] for line in lines(page)] == ["s2", "s2", "s3", "s3"]


def test_a_sweep_is_opened_and_its_plots_are_drawn_and_saved(opened: Opened) -> None:
    page = opened()
    page.get_by_role("link", name="20261123").click()
    figure = page.locator("figure").first
    figure.scroll_into_view_if_needed()
    figure.locator("svg .mark-symbol path").first.wait_for()
    for kind in ("PNG", "SVG"):
        with page.expect_download() as download:
            figure.get_by_role("button", name=f"save as {kind}").click()
        assert download.value.suggested_filename == f"plot-1.{kind.lower()}"


def test_plots_of_a_run_are_drawn_when_visible_and_offer_their_data(opened: Opened) -> None:
    page = opened("made/a/index.html")
    figure = page.locator("figure#flow")
    figure.scroll_into_view_if_needed()
    figure.locator("svg .mark-area path").first.wait_for()
    figure.get_by_text("data of this plot").click()
    assert "shallow: wrong" in figure.get_by_role("region").inner_text()
    typed = page.get_by_role("region", name="Settings").locator("code").first.inner_text()
    assert shlex.split(typed) == ["aiq", "run", "experiment=made", "judge=[fresheval]", "agent.phrases=[it isn't]"]


def test_a_hostile_report_stays_text(opened: Opened) -> None:
    page = opened("made/a/index.html#s1.1/c0")
    page.wait_for_selector(".panel:not([hidden])")
    page.locator("#timeline").scroll_into_view_if_needed()
    page.wait_for_selector(".timeline details")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    report = page.locator(".report").first
    assert EVIL in report.inner_text()
    assert "</script><script>alert(2)</script>" in report.inner_text()
    assert page.locator("img, iframe, object, embed, form:not([method=dialog]), #detail script").count() == 0
    links = page.eval_on_selector_all(
        "#detail a[href]", "found => found.map((one) => [one.getAttribute('href'), one.rel])"
    )
    assert all(
        href.startswith("#") or (href.startswith("https://") and rel == "noopener noreferrer") for href, rel in links
    )
    assert [ADDRESS, "noopener noreferrer"] in links
    names = page.evaluate("[...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames())")
    assert not [name for name in names if name.startswith("on")]
    opened("made/a/index.html#s2.1").wait_for_selector(".sample h1")


PLACES = {
    "index": "index.html",
    "run": "made/a/index.html",
    "sample": "made/a/index.html#s1.1/c0",
    "compare": "compare.html#made/a,made/b",
    "sweep": "made/sweep/index.html",
}


@pytest.mark.parametrize("name", PLACES)
def test_the_pages_are_accessible(name: str, opened: Opened) -> None:
    page = opened(PLACES[name])
    of_looks = {"runOnly": ["color-contrast", "scrollable-region-focusable", "target-size"]}  # the others see the same
    for size, colours, rules in (("wide", "light", {}), ("phone", "dark", of_looks)):
        look(page, size, colours)
        options = {"resultTypes": ["violations"], "preload": False, **rules}
        violations = axe.Axe().run(page, options=options).response["violations"]
        serious = [(v["id"], v["nodes"][0]["html"]) for v in violations if v["impact"] in ("serious", "critical")]
        assert serious == [], (size, colours)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), size


def test_a_served_page_follows_its_run(opened: Opened, window: Any, tmp_path: Path) -> None:
    write_results(tmp_path)
    folder = tmp_path / "made" / "a"
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"status": "finished"', '"status": "running"'))
    scores = (folder / "scores.jsonl").read_text()
    (folder / "scores.jsonl").write_text("")  # the page is opened before the first score
    write_site(tmp_path)
    server = server_of(tmp_path, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    try:
        page = opened(f"{address}/made/a/index.html#s1.1")  # what it has read of this sample's file is soon old
        page.keyboard.press("Escape")
        page.get_by_role("searchbox").fill("city 9")
        assert lines(page) == []
        for name, new in (
            ("samples", row(9).model_dump_json()),
            ("scores", scores + score(row(9), 1.0).model_dump_json()),
        ):
            with (folder / f"{name}.jsonl").open("a", encoding="utf-8") as file:
                file.write(f"{new}\n")
        assert write_site(tmp_path) == (1, [])
        page.clock.fast_forward(6000)
        expect(page.locator(".sortable tbody a")).to_have_accessible_name("sample s9, epoch 1")
        page.locator(".sortable tbody a").click()
        expect(page.locator("#detail .report")).to_contain_text("mayor 9")
        codes = {path: httpx2.get(f"{address}/{path}").status_code for path in ("index.html", "made/a/manifest.json")}
        assert codes == {"index.html": 200, "made/a/manifest.json": 404}
        assert httpx2.get(f"{address}/index.html", headers={"Host": "rebound.example"}).status_code == 404
        stranger = window.new_page()  # any page of the web that is open in the same browser
        script = f"<script>read = []; aiq = (record) => read.push(record)</script><script src={address}/site/runs.js>"
        stranger.set_content(f"{script}</script>")
        assert stranger.evaluate("read") == []
        stranger.close()
    finally:
        server.shutdown()
        server.server_close()


CARDS = """() => {
    const shown = (id) => getComputedStyle(document.querySelector(`#${id} > .card`)).display;
    const colour = (id) => getComputedStyle(document.querySelector(`#${id} > .shown`)).color;
    const told = [shown("m0")];
    document.getElementById("m0").focus();
    told.push(shown("m0"), document.activeElement.id, shown("m1"));
    document.getElementById("m1").focus();
    told.push(shown("m0"), shown("m1"));
    const card = document.querySelector("#m1 > .card").getBoundingClientRect();
    told.push(card.left >= 0 && card.right <= innerWidth && card.top >= 0 && card.bottom <= innerHeight);
    return [...told, document.documentElement.scrollWidth <= innerWidth, colour("m0") != colour("m2")].join(" ");
}"""


def test_cards_of_an_audit_open_on_focus_and_stay_on_the_screen(opened: Opened, results: Path) -> None:
    (results / "audit.html").write_text(page_of(AUDITED), encoding="utf-8")
    page = opened("audit.html")
    for width in (1400, 700):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(CARDS) == "none block m0 none none block true true true"
        page.evaluate("document.activeElement.blur()")
    assert page.locator("script").count() == 0


def test_printed_pages_are_complete(opened: Opened) -> None:
    page = opened("made/a/index.html")
    page.locator(".plot svg").first.wait_for(state="attached")
    assert page.locator(".plot svg").count() < page.locator(".plot").count()  # some were not seen
    page.pdf()
    assert page.locator(".plot svg").count() == page.locator(".plot").count()
    page.goto(f"{page.url}#s1.1")
    page.wait_for_selector(".sample h1")
    page.emulate_media(media="print")
    assert ADDRESS in page.locator(".report").first.inner_text()
    assert REPORT.split("[")[0].split("\n")[-1].strip() in page.locator(".report").first.inner_text()
    assert not page.locator("nav.top").is_visible()


def test_a_page_without_its_shared_files_says_what_is_missing(window: Any, results: Path, tmp_path: Path) -> None:
    shutil.copytree(results / "made/a", tmp_path / "a")
    page = window.new_page()
    for folder, is_said in ((results / "made/a", False), (tmp_path / "a", True)):
        page.goto((folder / "index.html").as_uri())
        assert page.get_by_text("zip -r pages.zip site made/a").is_visible() == is_said
    page.close()
