"""What the harness costs beyond bare libraries and Inspect AI: python -m benchmarks.performance.overhead [--quick].

Every client calls the same stub endpoint, in a separate, warmed-up process. Two that are compared by processor seconds
run in turns, one halted while the other works, so that both meet the same load; a promise is about the median over
rounds of one round's ratio. Processor seconds are those of the client only, from opening the run to the last sample in
the journal, without composing settings or writing the page. The exit code is 1 if a promise is broken.
`--inspect PYTHON`: an interpreter that has Inspect AI; without one its rows are left out.
"""

import argparse
import asyncio
import json
import statistics
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from benchmarks.performance.stub import SUBAGENTS, running
from benchmarks.performance.turns import Cost, begun, cost_of, in_turns, ready, told_to_begin

ROOT: Final = Path(__file__).resolve().parents[2]
HERE: Final = "benchmarks.performance.overhead"

INSTRUCTIONS = "You are a research assistant. Search before you answer."
QUESTION = "Which river flows through the town of number {}?"
FOUND = "The river that flows through the town rises in the hills and reaches the sea after 88 km. " * 4


Work = Callable[[], object]


class Setting(NamedTuple):
    """What a client does: ask the model at `base_url` for this many samples, this many at once."""

    base_url: str
    samples: int
    at_once: int

    def asking_all(self, ask: Callable[[str], Awaitable[object]], close: Callable[[], Awaitable[None]]) -> Work:
        """The work of asking every question, in the plainest way, and closing the client."""

        async def ask_all() -> None:
            semaphore = asyncio.Semaphore(self.at_once)

            async def ask_one(question: str) -> None:
                async with semaphore:
                    await ask(question)

            await asyncio.gather(*(ask_one(QUESTION.format(number)) for number in range(self.samples)))
            await close()

        return lambda: asyncio.run(ask_all())


Client = Callable[[Setting], Work]
"""Prepares, and returns the work to measure."""


# Bare libraries


def loop(setting: Setting) -> Work:
    """One-turn samples by `AsyncOpenAI.create`."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=setting.base_url, api_key="no-key")

    async def ask(question: str) -> str:
        messages: list[Any] = [{"role": "user", "content": question}]
        answer = await client.chat.completions.create(model="m", messages=messages)
        return answer.choices[0].message.content or ""

    return setting.asking_all(ask, client.close)


def search(query: str) -> str:
    """Search the web for one fact."""
    return f"{query}: {FOUND}"


def chat_model(setting: Setting) -> tuple[Any, Callable[[], Awaitable[None]]]:
    """LangChain's chat model, and how to close its client: its shared one would stay bound to the warm-up's loop."""
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient
    from pydantic import SecretStr

    client = DefaultAsyncHttpxClient()
    key = SecretStr("no-key")
    model = ChatOpenAI(model="m", base_url=setting.base_url, api_key=key, http_async_client=client)
    return model, client.aclose


def langgraph(setting: Setting) -> Work:
    """The shallow researcher's two nodes, with stock libraries."""
    from langchain_core.messages import HumanMessage, SystemMessage
    from langchain_core.tools import tool
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    tools = [tool(search)]
    stock, close = chat_model(setting)
    model = stock.bind_tools(tools)

    async def agent(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke([SystemMessage(INSTRUCTIONS), *state["messages"]])]}

    builder = StateGraph(MessagesState)
    builder.add_node("agent", agent)
    builder.add_node("tools", ToolNode(tools))
    builder.add_edge(START, "agent")
    builder.add_conditional_edges("agent", tools_condition)
    builder.add_edge("tools", "agent")
    graph = builder.compile()
    return setting.asking_all(lambda question: graph.ainvoke({"messages": [HumanMessage(question)]}), close)


def deepagents(setting: Setting) -> Work:
    """An orchestrator with a planner and a researcher, with stock libraries."""
    from deepagents import create_deep_agent
    from langchain_core.messages import HumanMessage
    from langchain_core.tools import tool

    common: dict[str, Any] = {"description": "Searches.", "system_prompt": INSTRUCTIONS, "tools": [tool(search)]}
    subagents: list[Any] = [{"name": name, **common} for name in SUBAGENTS]
    model, close = chat_model(setting)
    graph = create_deep_agent(model, [], system_prompt=INSTRUCTIONS, subagents=subagents)
    return setting.asking_all(lambda question: graph.ainvoke({"messages": [HumanMessage(question)]}), close)


# Inspect AI


def inspect(setting: Setting, solver: Any = None) -> Work:
    """Samples run by Inspect AI, with one turn or with this solver."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate

    samples = [Sample(QUESTION.format(number), target="river") for number in range(setting.samples)]
    connection = {"model": "openai/m", "model_base_url": setting.base_url, "model_args": {"responses_api": False}}
    bounds = {"max_connections": setting.at_once, "max_samples": setting.at_once}

    def work() -> None:
        with TemporaryDirectory() as folder:
            task = Task(samples, solver=solver or generate(), scorer=includes())
            [log] = evaluate(task, **connection, **bounds, log_dir=folder, display="none")
        assert log.status == "success", log.error

    return work


def inspect_agent(setting: Setting) -> Work:
    """Inspect AI's agent with the tool."""
    from inspect_ai.agent import react
    from inspect_ai.tool import tool

    def searching() -> Any:
        async def execute(query: str) -> str:
            """Search the web for one fact.

            Args:
                query: What to look for.
            """
            return search(query)

        return execute

    return inspect(setting, react(prompt=INSTRUCTIONS, tools=[tool(name="search")(searching)()], submit=False))


# Ours


async def one_turn(question: str, session: Any) -> str:
    """An agent that asks the model once, through the harness."""
    from aiq.core.models import Message

    return str((await session.models.complete("agent", [Message(role="user", content=question)])).text)


async def of_a_user(question: str, session: Any) -> str:
    """A user's agent, which uses the stock client."""
    messages: list[Any] = [{"role": "user", "content": question}]
    answer = await session.openai("agent").chat.completions.create(model="m", messages=messages)
    return answer.choices[0].message.content or ""


def aiq(*overrides: str) -> Client:
    """A client that is a run with these settings, journal included."""

    def client(setting: Setting) -> Work:
        from aiq.core.concurrency import completed
        from aiq.experiment.runner import execute
        from aiq.run import new_plan
        from aiq.site.progress import Progress

        directory = TemporaryDirectory()
        questions, corpus = Path(directory.name) / "questions.jsonl", Path(directory.name) / "corpus.jsonl"
        rows = ({"id": str(number), "question": QUESTION.format(number)} for number in range(setting.samples))
        questions.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        corpus.write_text(json.dumps({"url": "https://a.example/", "title": "A", "text": FOUND}), encoding="utf-8")
        paths = [f"dataset.path={questions}", f"search.corpus={corpus}", f"output_dir={directory.name}"]
        bounds = [f"runner.concurrency={setting.at_once}", f"llm.max_connections={setting.at_once}"]
        model = [f"llm.base_url={setting.base_url}", "llm.model=m"]
        plan, folder, _ = new_plan([*_AIQ, *paths, *bounds, *model, *overrides])

        def work() -> None:
            with directory:
                outcome = completed(execute(plan, folder, Progress("overhead", shown=False)))
            assert dict(outcome.summary.statuses) == {"completed": setting.samples}, outcome.summary.statuses

        return work

    return client


_AIQ = [
    *("name=overhead", "dataset=questions", "llm=vllm", "search=corpus", "web=corpus", "runner.progress=false"),
    *("judge=[]", f"+tool.search.target={HERE}:search"),
]
_OWN = f"agent.function={HERE}:"

CLIENTS: Final[dict[str, Client]] = {
    "loop": loop,
    "langgraph": langgraph,
    "deepagents": deepagents,
    "inspect": inspect,
    "inspect_agent": inspect_agent,
    "aiq": aiq("agent=python", f"{_OWN}one_turn"),
    "aiq_user": aiq("agent=python", f"{_OWN}of_a_user"),
    "aiq_shallow": aiq("agent=ai_q_shallow", "agent.shallow.tools=[search]"),
    "aiq_deep": aiq("agent=ai_q_deep", "agent.deep.tools=[search]"),
}


# Starts: Python code, in a separate process

_RUN = ["run", "experiment=shallow_freshqa", "limit=1", "runner.progress=false"]
STARTS: Final[dict[str, str]] = {
    "import hydra": "import hydra",
    "aiq --help": "from aiq.__main__ import main; main(['--help'])",
    "aiq run": f"from aiq.__main__ import main; main([*{_RUN}, 'output_dir=' + FOLDER])",
    "bare graph": f"from {HERE} import Setting, langgraph; langgraph(Setting(URL, 1, 1))()",
}


class Row(NamedTuple):
    """A promise: the median of `ours` / `bare` is at most `most`, in processor or (`clock`) wall-clock seconds."""

    what: str
    ours: str
    bare: str
    most: float
    samples: int = 0
    calls: int = 0
    at_once: int = 50
    milliseconds: int = 0
    clock: bool = False


ROWS: Final = [
    Row("one turn", "aiq", "loop", 0.75, 1000),
    Row("one turn", "aiq", "inspect", 1 / 8, 1000),
    Row("a user's agent", "aiq_user", "loop", 1.15, 1000),
    Row("shallow, five tool calls", "aiq_shallow", "langgraph", 0.75, 200, 5),
    Row("shallow, five tool calls", "aiq_shallow", "inspect_agent", 1 / 3, 200, 5),
    Row("deep", "aiq_deep", "deepagents", 1.0, 100, 2),
    Row("50 ms, on the clock", "aiq", "loop", 1 / 0.85, 1000, 0, 200, 50, clock=True),
    Row("start", "aiq --help", "import hydra", 1.3),
    Row("start, one sample", "aiq run", "bare graph", 1.3, calls=2),
]


def measured(client: str, setting: Setting) -> None:
    """Print what a client costs in this process, once it is warmed up and told to begin."""
    CLIENTS[client](setting._replace(samples=min(20, setting.samples)))()
    told_to_begin(CLIENTS[client](setting))


def start(client: str, base_url: str) -> Cost:
    """What a start costs, including imports."""
    with TemporaryDirectory() as folder:
        begin = f"import sys, json; sys.path[:0] = [{str(ROOT)!r}]; FOLDER, URL = {folder!r}, {base_url!r}"
        end = "import resource; used = resource.getrusage(resource.RUSAGE_SELF)"
        report = "print(); print(json.dumps([used.ru_utime + used.ru_stime, 0]))"
        return cost_of(begun(sys.executable, "\n".join([begin, STARTS[client], end, report]), ROOT))


def costs(row: Row, setting: Setting, inspect_python: str | None) -> list[Cost]:
    """The costs of both clients of a row: in turns, or one after the other if compared by wall-clock time."""
    pair = row.ours, row.bare
    if row.ours in STARTS:
        return [start(client, setting.base_url) for client in pair]
    processes = []
    for client in pair:
        code = f"import sys; sys.path[:0] = [{str(ROOT)!r}]; from {HERE} import Setting, measured"
        code += f"; measured({client!r}, Setting(*{tuple(setting)!r}))"
        python = str(inspect_python) if client.startswith("inspect") else sys.executable
        processes.append(ready(begun(python, code, ROOT)))
    return [in_turns([process])[0] for process in processes] if row.clock else in_turns(processes)


def compared(
    rows: Sequence[Row], port: int, rounds: int, share: float, inspect_python: str | None
) -> list[list[float]]:
    """For each row, the ratios of all rounds."""
    ratios: list[list[float]] = [[] for _ in rows]
    for _ in range(rounds):
        for row, row_ratios in zip(rows, ratios, strict=True):
            base_url = f"http://127.0.0.1:{port}/{row.calls}/{row.milliseconds}/v1"
            setting = Setting(base_url, max(1, int(row.samples * share)), row.at_once)
            ours, bare = costs(row, setting, inspect_python)
            row_ratios.append(ours.clock / bare.clock if row.clock else ours.processor / bare.processor)
            cells = f"{ours[row.clock] / setting.samples * 1000:9.2f} {bare[row.clock] / setting.samples * 1000:9.2f}"
            print(f"{row.what:<26}{row.ours:<13}{row.bare:<15}{cells} {row_ratios[-1]:7.3f}", flush=True)
    return ratios


def main() -> int:
    parser = argparse.ArgumentParser(prog=f"python -m {HERE}", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="does it run? small sizes, no promises")
    parser.add_argument("--inspect", metavar="PYTHON", help="an interpreter that has Inspect AI")
    parser.add_argument("--only", metavar="CLIENT", help="only the rows of this client of ours")
    options = parser.parse_args()
    rows = [row for row in ROWS if options.only in (None, row.ours)]
    if options.inspect is None and any(row.bare.startswith("inspect") for row in rows):
        print("without --inspect PYTHON there is no comparison with Inspect AI")
        rows = [row for row in rows if not row.bare.startswith("inspect")]
    print(f"{'ms a sample':<26}{'ours':<13}{'beside':<15}{'ours':>9} {'beside':>9} {'ratio':>7}")
    with running() as port:
        ratios = compared(rows, port, *((1, 0.02) if options.quick else (5, 1.0)), options.inspect)
    kept = True
    for row, values in zip(rows, ratios, strict=True):
        ratio = statistics.median(values)
        kept &= ratio <= row.most
        verdict = "kept  " if ratio <= row.most else "BROKEN"
        print(f"{verdict} {row.what}: {row.ours} is {ratio:.3f} times {row.bare}, at most {row.most:.3f}")
    return 0 if options.quick or kept else 1


if __name__ == "__main__":
    sys.exit(main())
