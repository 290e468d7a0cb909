"""Every command printed in README.md and docs/ is run as printed, in a folder with the files that the pages name.

Runs use one sample. Commands in NOT_RUN are not run; if they have settings, these are composed and checked. So are
those of the pages in LONG, which only `make whole` runs. A page's commands may build on one another. A command on
several pages is run only for the first of them.
"""

import fcntl
import gzip
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from aiq import settings
from aiq.__main__ import main
from aiq.analysis.official import RACE_FIGURES
from aiq.core.files import shipped
from aiq.datasets import load
from aiq.experiment.choices import options
from aiq.experiment.grid import split
from tests.conftest import blocks

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

NOT_RUN: Mapping[str, str] = {
    r"scripts/test": "runs this test",
    r"export |pip |uv ": "sets up the machine",
    r"aiq mcp events": "serves until its client disconnects; tests/tools/mcp/test_events_server.py starts it",
    r"aiq site --serve": "serves until Ctrl-C; tests/site/test_site.py follows a run with it",
    r"aiq offline": "serves until Ctrl-C; tests/offline/test_launch.py starts it",
    r"aiq serve(?! --)": "serves until Ctrl-C; tests/serve starts it",
    r"aiq doctor .*llm=": "needs an endpoint and its key",
    r"python -m benchmarks\.closed_world --out benchmarks": "writes into the checkout; tests/benchmarks compares it",
    r".* llm=(?!offline)": "needs a model endpoint and its key",
    r".* search=(?!offline|corpus)": "needs a search API and its key",
    r".* web=live": "needs the internet",
    r".* agent=endpoint": "needs an agent that serves HTTP",
    r".* agent\.function=my_react": "tests/test_docs.py runs it",
    r".* dataset\.hub=": "needs the internet",
    r".* checkpointer=postgres": "needs a PostgreSQL server",
    r"python -m benchmarks\.(intervals|false_alarms)": "simulates for minutes; tests/benchmarks does less",
    r"python -m benchmarks\.performance\.(events|overhead|scale)": "takes minutes; tests/benchmarks starts what it can",
    r"aiq export .*--format (inspect|mlflow|wandb)": "needs an extra; tests/commands/test_export.py does it with one",
    r"python -m benchmarks\.gate_trials": "does 15 runs; tests/benchmarks/test_gate_trials.py does one",
    r"aiq run .*runner\.processes=": "starts processes; tests/experiment/test_shards.py does a smaller one",
    r"aiq run .*tools\.mcp\.": "starts a tool server, as `aiq tools` in docs/tools.md does; tests/tools/mcp does runs",
    r"python scripts/cassettes\.py": "works on the checkout; tests/test_committed_cassettes.py runs it",
    r"aiq run -m": "is a sweep that takes minutes; tests/experiment/test_sweep.py does small ones",
    r".* runner=(ray|slurm)": "needs a cluster, or an extra; benchmarks.performance.scale does it",
    r"aiq recommend": "reads a sweep; tests/experiment/test_sweep.py has some",
    r".*\[npx,": "needs the npm registry, and a server elsewhere",
    r".*\.\./shared/": "" if SHARED.is_dir() else "needs real data beside the checkout",
}
"""Why a command that begins like this is not run."""

LONG = {"datasets.md", "planner.md", "scale.md", "shannon.md", "site.md", "sweeps.md"}
"""Pages whose commands take long; their experiments are covered by other tests."""

MEANT: Mapping[str, str] = {
    r"PATH_TO_DEEP_RESEARCH_BENCH": str(shipped("benchmarks/drb_mini")),
    r"\.\./shared": str(SHARED),
    r"\[python,": f"[{sys.executable},",
    r"\bMODEL\b": "mine",
    r"rescore deep_drb": "rescore results/tried/tasks",
    r"\bID\b": "3",
    r"\bRUN_[AB]\b": "results/tried/questions",
    r"results/EXPERIMENT/RUN_ID": "results/tried/questions",
    r"results/\w+/RUN_ID": "results/tried/questions",
}
"""What a reader would write in place of such a word."""

LATEST: Mapping[str, str] = {
    "show": "questions",
    "watch": "questions",
    "fresheval": "questions",
    "rescore": "tasks",
    "gate": "questions",
    "resume": "cut",
}
"""Which of the runs in `tried` is made the latest one, by the command that uses it."""

SMALLER: Mapping[str, tuple[str, ...]] = {
    r"aiq run (?!.*agent=).*experiment=deep_drb": ("agent.deep.max_loops=1", "agent.deep.max_researcher_calls=1"),
}
"""Settings that make the run of a command that begins like this smaller, where it would take seconds."""

PROGRAMS = {
    "scripts/run": "aiq run",
    ".venv/bin/aiq": "aiq",
    ".venv/bin/python": "python",
    "scripts/test": "scripts/test",
}


def commands(page: Path) -> Iterator[str]:
    """The commands in a page's shell blocks, one line each, without comments."""
    for block in blocks(page.read_text(encoding="utf-8"), ("", "sh", "bash", "console")):
        for line in re.sub(r"\s*\\\n\s*", " ", block).splitlines():
            program, _, rest = re.sub(r"(^|\s+)#.*", "", line).strip().partition(" ")
            command = f"{PROGRAMS.get(program, program)} {rest}".strip()
            if re.match(r"(aiq|python|export|pip|uv|cat|scripts/test)( |$)", command):
                yield command


def printed_first() -> Iterator[tuple[Path, list[str]]]:
    """Each page that prints commands no earlier page has, with those commands."""
    seen: set[str] = set()
    for page in PAGES:
        new = [command for command in commands(page) if command not in seen]
        seen.update(new)
        if new:
            yield page, new


def pages() -> Iterator[Any]:
    """The commands of each page, and whether they are run or only composed."""
    for page, new in printed_first():
        if page.name in LONG:
            yield pytest.param(new, False, id=f"{page.name} composed")
        yield pytest.param(new, True, id=page.name, marks=[pytest.mark.whole] if page.name in LONG else ())


def test_the_commands_are_found() -> None:
    assert len([command for page in PAGES for command in commands(page)]) > 40
    assert list(commands(ROOT / "README.md"))[:2] == ["aiq run experiment=deep_drb", "scripts/test"]


def test_what_scripts_run_installs_can_serve() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    names = [re.split(r"\W", requirement)[0] for requirement in extras["serve"]]
    lock = (ROOT / "requirements/run.lock").read_text(encoding="utf-8")
    assert names == [name for name in names if re.search(rf"^{name}==", lock, re.MULTILINE)]


WORLD_PAGE = json.loads(next(shipped("benchmarks/world/pages.jsonl").open(encoding="utf-8")))
WHOLE = {"id": "1", "article": f"A fact [1].\n\n## References\n\n[1] A - {WORLD_PAGE['url']}\n"}


@pytest.fixture(scope="session")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages name and three runs in `results/tried`, made by one of the workers."""
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "tried"
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "made").exists():
            shutil.rmtree(place, ignore_errors=True)
            _write_files(place)
            (place / "made").touch()
    return place


def _write_files(place: Path) -> None:
    place.mkdir()
    document = next(shipped("benchmarks/world/documents").glob("*.pdf"))
    shutil.copy(document, place / "report.pdf")
    prompt = json.loads(next(shipped("benchmarks/drb_mini/query.jsonl").open(encoding="utf-8")))["prompt"]
    question = "Who is the mayor of Corvane?"
    texts = {
        "report.md": WHOLE["article"],
        "sources.jsonl": json.dumps(WORLD_PAGE) + "\n",
        "notes/a.md": "# Notes\n\nThe tower is 330 metres tall.\n",
        "questions.csv": f"question,answers\n{question},Ilan\n",
        "raw_results.jsonl": json.dumps({"id": 1, **dict.fromkeys(RACE_FIGURES, 0.5)}) + "\n",
        "raw_data/mine.jsonl": json.dumps({**WHOLE, "prompt": prompt}) + "\n",
        "answers.jsonl": json.dumps({**WHOLE, "prompt": _first_question()}) + "\n",
        "labels.jsonl": '{"sample_id": "1", "label": "no"}\n',
        "pages.jsonl": json.dumps(WORLD_PAGE) + "\n",
        "plain.py": f"async def answer(question, session):\n    return {WHOLE['article']!r}\n",
    }
    for name, text in texts.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    for name, archive in {"pages.jsonl": "pages.jsonl.gz", "raw_data/mine.jsonl": "raw_data/agent.jsonl.gz"}.items():
        (place / archive).write_bytes(gzip.compress((place / name).read_bytes()))
    _write_agents(place)
    runs = place / "results/tried"
    _make_run(runs / "questions", "experiment=shallow_freshqa", "dataset.ids=[3,7]", "epochs=2")
    python_agent = ("agent=python", "agent.function=plain:answer", "judge=[citation_audit]")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(place)
        _make_run(runs / "tasks", "experiment=deep_drb", "limit=1", *python_agent)
    cut = Path(shutil.copytree(runs / "questions", runs / "cut"))
    manifest = json.loads((cut / "manifest.json").read_text(encoding="utf-8"))
    (cut / "manifest.json").write_text(json.dumps({**manifest, "status": "running"}), encoding="utf-8")
    (cut / "samples.jsonl").write_text((cut / "samples.jsonl").read_text(encoding="utf-8")[:-9], encoding="utf-8")


def _first_question() -> str:
    return load(settings("dataset=freshqa_mini").dataset, seed=0, limit=1).samples[0].question.text


def _write_agents(place: Path) -> None:
    """The modules of docs/agents.md and docs/tools.md, and the config of the first agent."""
    page, tools = ((ROOT / f"docs/{name}.md").read_text(encoding="utf-8") for name in ("agents", "tools"))
    for code in blocks(page + tools, ("python",)):
        if header := re.match(r"# (\w+\.py)$", code, re.MULTILINE):
            (place / header[1]).write_text(code, encoding="utf-8")
    (place / "conf/agent").mkdir(parents=True)
    config = next(text for text in blocks(page, ("yaml",)) if text.startswith("# My agent"))
    (place / "conf/agent/mine.yaml").write_text(config, encoding="utf-8")


def _make_run(folder: Path, *overrides: str) -> None:
    common = (f"output_dir={folder.parent.parent}", "name=tried", "runner.progress=false")
    assert main(["run", *overrides, *common]) == 0
    max(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime_ns).rename(folder)


@pytest.mark.parametrize(("new", "carried_out"), [*pages()])
def test_every_command_of_a_page_works(
    new: list[str],
    carried_out: bool,
    tried: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = tmp_path / "tried"
    shutil.copytree(tried, place)
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setitem(os.environ, "PYTHONPATH", str(ROOT))
    for command in new:
        reason = next((reason for start, reason in NOT_RUN.items() if reason and re.match(start, command)), None)
        for word, replacement in MEANT.items():
            command = re.sub(word, replacement, command)
        if reason or not carried_out:
            _compose(command)
            continue
        code = _exit_code(command, monkeypatch)
        output = capsys.readouterr()
        assert code in ((0, 1) if " audit " in command else (0,)), f"{command}\n{output.err or output.out}"


def _compose(command: str) -> None:
    """Check the settings, if any, of a command that is not run; for a sweep, enough points to try every value."""
    overrides = [word for word in shlex.split(command) if re.match(r"(?!serve\.|[A-Z])[\w.]+=", word)]
    if not overrides:
        return
    if " -m " in command:
        choices = split(overrides).choices
        for number in range(max(map(len, choices))):
            settings(*(choice[min(number, len(choice) - 1)] for choice in choices))
    elif overrides not in [[f"experiment={name}"] for name in options("experiment")]:  # other tests compose these
        settings(*overrides)


def _exit_code(command: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command, with a single sample if it is a run, and return its exit code."""
    producer, _, command = command.rpartition(" | ")
    stdin = Path(shlex.split(producer)[1]).read_bytes() if producer else b""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    program, *words = shlex.split(command)
    if program == "python":
        return subprocess.run([sys.executable, *words], check=False, capture_output=True).returncode
    if words[0] == "run" and not {"--help", "--cfg"} & {*words}:
        words.append("runner.progress=false")
        if not any(word.startswith("resume=") for word in words):
            words = [*(word for word in words if not word.startswith(("limit=", "epochs="))), "limit=1"]
            words += [word for start, additions in SMALLER.items() if re.match(start, command) for word in additions]
    latest = LATEST.get("resume" if "resume=latest" in words else words[0])
    if latest is not None:
        os.utime(f"results/tried/{latest}/manifest.json")
    try:
        return main(words)
    except SystemExit as error:
        return int(str(error.code))
