"""`python -m benchmarks.strangers AGENT ...`: compares other agents with the shallow researcher.

Starts the offline stack (or uses --base-url), lets each agent answer the first questions of freshqa_mini, has
FreshEval score its reports through `agent=reports`, and prints its accuracy and the ratio to that of the shallow
researcher on the same questions. The exit code is 1 if a ratio is below 0.8.
"""

import argparse
import asyncio
import csv
import json
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from aiq.core.errors import UserError
from benchmarks.strangers.web import Web

QUESTIONS = Path("benchmarks/freshqa_mini/freshqa_mini.csv")
METRIC = "fresheval.relaxed"
ENOUGH = 0.8
Agent = Callable[[str, Web], str]
AGENTS: dict[str, tuple[str, dict[str, Any], str]] = {
    **{name: (f"agents:{name}", {}, "aiq-bench") for name in ("react", "create_agent", "mcp", "text_react")},
    "mcp_teasers": ("agents:mcp", {"cut": 160}, "aiq-bench"),
    "pydantic_ai": ("frameworks:pydantic_ai", {}, "pydantic-ai-slim[openai]"),
    "pydantic_ai_typed": ("frameworks:pydantic_ai", {"typed": True}, "pydantic-ai-slim[openai]"),
    "openai_agents": ("frameworks:openai_agents", {}, "openai-agents"),
    "openai_agents_typed": ("frameworks:openai_agents", {"typed": True}, "openai-agents"),
    "openai_agents_responses": ("frameworks:openai_agents", {"api": "OpenAIResponsesModel"}, "openai-agents"),
    "smolagents": ("frameworks:smolagents", {}, "smolagents[openai]"),
    "smolagents_code": ("frameworks:smolagents", {"kind": "CodeAgent"}, "smolagents[openai]"),
    "gpt_researcher": ("frameworks:gpt_researcher", {}, "gpt-researcher"),
    "open_deep_research": ("frameworks:open_deep_research", {}, "open-deep-research"),
}
"""By name: the function, its arguments, and the package to install."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strangers", description=__doc__)
    parser.add_argument("agents", choices=AGENTS, nargs="+", metavar="AGENT", help=", ".join(AGENTS))
    parser.add_argument("--limit", type=_count, default=60, help="questions, 1 or more (default: %(default)s)")
    parser.add_argument("--base-url", help="URL of a running offline stack, e.g. http://127.0.0.1:8808")
    parser.add_argument("--model-url", help="URL of the model, if a proxy is in front of the stack's")
    parser.add_argument("--api-key", default="none", help="API key of that proxy")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has the agents' packages")
    parser.add_argument("--out", type=Path, default=Path("results/strangers"), help="folder for reports and runs")
    parser.add_argument("--only-answer", action="store_true", help="only write the reports; does not need aiq")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.only_answer:
        return _answer_all(options)
    if not shutil.which(options.python):
        parser.error(f"--python {options.python}: this interpreter does not exist")
    if options.base_url:
        _paths(options.base_url)  # fails early, before anything runs for minutes
        return _compare(options)
    import aiq
    from aiq.offline.launch import OfflineStack

    with asyncio.Runner() as runner:
        stack = OfflineStack(aiq.settings().offline, seed=0)
        options.base_url = f"http://127.0.0.1:{runner.run(stack.start())}"
        try:
            return _compare(options)
        finally:
            runner.run(stack.stop())


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number of questions; write 1 or more")
    return int(text)


def _answer_all(options: argparse.Namespace) -> int:
    """Write each agent's reports; runs in the environment that has its packages."""
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        questions = list(csv.DictReader(file))[: options.limit]
    for name in options.agents:
        target, settings, package = AGENTS[name]
        module, _, function = target.partition(":")
        agent = partial(getattr(import_module(f"benchmarks.strangers.{module}"), function), **settings)

        def answer(row: dict[str, str], agent: Agent = agent, package: str = package) -> dict[str, Any]:
            web = Web(options.model_url or f"{options.base_url}/v1", options.base_url, options.api_key)
            try:
                article = agent(row["question"], web).strip() or "The agent failed: no answer"
            except ImportError as error:
                sys.exit(f"{error}; pip install {package}")
            except Exception as error:  # whatever an agent raises is its result
                article = f"The agent failed: {type(error).__name__}: {error}"
            return {"id": row["id"], "prompt": row["question"], "article": article}

        with ThreadPoolExecutor(1 if "researc" in name else 2) as pool:  # their questions share one event loop
            rows = [json.dumps(row, ensure_ascii=False) + "\n" for row in pool.map(answer, questions)]
        (options.out / f"{name}.jsonl").write_text("".join(rows), encoding="utf-8")
    return 0


def _compare(options: argparse.Namespace) -> int:
    shallow = _score(options, [])
    print(f"shallow researcher: {shallow:.3f}, {options.limit} questions")
    print("agent                    accuracy  ratio  model calls, searches, pages a question", flush=True)
    ratios = []
    for name in options.agents:
        before = _paths(options.base_url)
        command = [options.python, "-m", "benchmarks.strangers", name, "--only-answer", "--base-url", options.base_url]
        command += ["--limit", str(options.limit), "--out", str(options.out), "--api-key", options.api_key]
        command += ["--model-url", options.model_url] if options.model_url else []
        if subprocess.run(command, stdout=subprocess.DEVNULL).returncode:
            sys.exit(f"{name} did not run")
        requests = [(path, count - before.get(path, 0)) for path, count in _paths(options.base_url).items()]
        calls = [sum(n for path, n in requests if path.startswith(kind)) for kind in ("/v1/", "/search", "page")]
        file = options.out / f"{name}.jsonl"
        failed = file.read_text(encoding="utf-8").count('"The agent failed: ')
        accuracy = _score(options, ["agent=reports", f"agent.path={file.resolve()}"])
        ratios.append(accuracy / shallow)
        means = ", ".join(f"{count / options.limit:.1f}" for count in calls)
        print(f"{name:24} {accuracy:8.3f}  {ratios[-1]:5.2f}  {means}; {failed} failed", flush=True)
    return int(min(ratios) < ENOUGH)


def _score(options: argparse.Namespace, overrides: list[str]) -> float:
    """FreshEval's accuracy of a run with these settings."""
    command = [sys.executable, "-m", "aiq.run", "experiment=shallow_freshqa", "judge=[fresheval]", "name=scored"]
    command += [*overrides, f"limit={options.limit}", f"output_dir={options.out}"]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        sys.exit((process.stderr.strip() or f"aiq run ended with {process.returncode}").splitlines()[-1])
    newest = max((options.out / "scored").glob("*/summary.json"), key=lambda file: file.stat().st_mtime)
    return float(json.loads(newest.read_text(encoding="utf-8"))["metrics"][METRIC]["mean"])


def _paths(url: str) -> dict[str, int]:
    """The number of requests for each path of the stack. Exits if no stack answers."""
    try:
        with urllib.request.urlopen(f"{url}/stats", timeout=60) as reply:  # noqa: S310  the stack's own address
            counts: dict[str, int] = json.load(reply)["paths"]
    except (OSError, ValueError, LookupError) as error:
        sys.exit(f"--base-url {url}: no offline stack answers there ({error}); start one with .venv/bin/aiq offline")
    return counts


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ImportError, UserError) as mistake:
        sys.exit(f"{mistake}; if a package is missing, use .venv/bin/python")
