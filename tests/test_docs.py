"""The documentation: links resolve, the files and names it mentions exist, and its examples run as printed."""

import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

import aiq
from aiq.__main__ import main
from scripts.settings_tables import stale

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "agents.md"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*/*.md")])
FOLDERS = ("aiq", "benchmarks", "conf", "docs", "requirements", "scripts", "tests")
PATH = re.compile(rf"(?:{'|'.join(FOLDERS)})/[\w./*-]*|[\w*-]+\.(?:py|j2|md|yaml|toml|css|js)")
EXAMPLE = re.compile(r"[A-Z]{2,}(?!\.md)|\bmine\b|\bmy_")
"""Placeholders for the reader's own names."""
CODE = re.compile(r"`((?:[^`\n]|\n(?!\n))*)`")


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)", without_code(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> Iterator[str]:
    for target in re.findall(r"\]\(([^)\s]+)\)", CODE.sub("", without_code(page))):
        if not re.match(r"\w+:", target):
            name, _, anchor = target.partition("#")
            file = page.parent / name if name else page
            if not file.exists() or (anchor and anchor not in anchors(file)):
                yield target


def missing_paths(page: Path) -> Iterator[str]:
    for name in CODE.findall(without_code(page)):
        if PATH.fullmatch(name) and not EXAMPLE.search(name):
            matches = () if "/" in name else (file for folder in FOLDERS for file in (ROOT / folder).rglob(name))
            if not any(ROOT.glob(name.rstrip("/"))) and not any(matches):
                yield name


def misnamed_links(page: Path) -> Iterator[str]:
    """Links like [`name`](file.py) to a file that defines no such class or function."""
    for name, target in re.findall(r"\[`(\w+)`\]\(([^)\s]+\.py)\)", without_code(page)):
        code = (page.parent / target).read_text(encoding="utf-8")
        if not re.search(rf"^ *(?:class|def|async def) {name}\b", code, re.MULTILINE):
            yield f"{name} in {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve_and_named_files_exist(page: Path) -> None:
    assert [*broken_links(page), *missing_paths(page), *misnamed_links(page)] == []


def test_the_example_agent_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    code = re.search(r"```python\n(# my_agent\.py\n.*?)```", page, re.DOTALL)
    config = re.search(r"```yaml\n(# My agent.*?)```", page, re.DOTALL)
    assert code is not None
    assert config is not None
    (tmp_path / "conf" / "agent").mkdir(parents=True)
    (tmp_path / "my_agent.py").write_text(code.group(1), encoding="utf-8")
    (tmp_path / "conf" / "agent" / "mine.yaml").write_text(config.group(1), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["run", "experiment=shallow_freshqa", "agent=mine", "limit=3", "runner.progress=false"]) == 0
    summary = json.loads(next(Path("results").glob("*/*/summary.json")).read_text(encoding="utf-8"))
    assert summary["statuses"] == {"completed": 3}
    assert list(summary["routes"]) == ["mine"]
    assert summary["metrics"]["citations.valid_rate"]["mean"] == 1
    assert "my.agent" in summary["usage"]["agent"]["roles"]
    capsys.readouterr()
    assert main(["run", "experiment=shallow_freshqa", "agent=mine", "agent.searches=0"]) == 2
    assert "agent.searches=0" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["my_react", "my_graph"])
def test_the_example_functions_run_as_printed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = re.search(rf"```python\n(# {name}\.py\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    assert len(code.group(1).splitlines()) <= 32
    (tmp_path / f"{name}.py").write_text(code.group(1), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    run = aiq.run(
        [
            "experiment=shallow_freshqa",
            "agent=python",
            f"agent.function={name}:answer",
            "limit=2",
            "runner.progress=false",
        ]
    )
    assert (run.summary.statuses, list(run.summary.routes)) == ({"completed": 2}, ["python"])
    assert run.summary.metrics["fresheval.relaxed"].mean >= 0.5
    assert run.summary.metrics["citations.valid_rate"].mean == 1
    assert (usage := run.summary.usage["agent"].roles[f"{name.removeprefix('my_')}.agent"]).calls >= 4
    assert usage.input_tokens > 500


def test_the_example_script_runs_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    script = re.search(r"```python\n(# my_script\.py\n.*?)```", page, re.DOTALL)
    assert script is not None
    (tmp_path / "my_script.py").write_text(script.group(1), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path("my_script.py", run_name="__main__")
    output = capsys.readouterr()
    assert "{'completed': 3} 0" in output.out
    assert "fresheval.relaxed" in output.out
    assert output.err == ""


def test_the_settings_tables_are_current() -> None:
    assert list(stale()) == []  # if not, run scripts/settings_tables.py
