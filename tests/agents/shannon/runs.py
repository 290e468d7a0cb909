"""Runs Shannon against an endpoint with replies scripted by the test, separately for each part of the workflow."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiq.agents.shannon.agent import ShannonAgent
from aiq.agents.shannon.settings import ShannonSettings
from aiq.core.events import Decision, Recovery, StageChanged
from aiq.core.reports import Report
from aiq.core.run_settings import CheckpointerSettings
from aiq.core.samples import Question
from aiq.experiment.memory_store import lazy_store
from aiq.llm.http import Request, Response
from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.protocol.validation import read_json
from tests.agents.conftest import Bench, Endpoint, Script, WebSearch, fenced, on_bench, shared
from tests.agents.replies import results, search
from tests.settings import configured

Said = str | int | Mapping[str, Any] | ChatReply | Callable[[ChatRequest], Any]
"""What a part says: a text, an HTTP status, an object as JSON, a reply, or one of them by request."""

QUESTION = "Describe Orlune"
AREAS = ("Origins", "Trade")
REFINED = {"refined_query": "Describe the town of Orlune", "research_areas": AREAS}
CALL = '<tool_call>{"name": "web_search_tool", "arguments": {"query": "x"}}</tool_call>'
"""A tool call as written by a model that cannot call tools."""
QUICK: Mapping[str, Any] = {"enable_verification": False, "gap_filling_enabled": False}
"""Settings without what follows the first report."""


def subtask(name: str, *needs: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "description": f"find out {name}", "dependencies": list(needs), **fields}


def plan(*subtasks: dict[str, Any], complexity: float = 0.6, **fields: Any) -> dict[str, Any]:
    return {"complexity_score": complexity, "subtasks": list(subtasks), **fields}


def section(area: str, *, characters: int = 600, citations: str = "[1], [2]") -> str:
    """A section that covers its area unless made shorter or with fewer citations."""
    ending = f" So it is {citations}."
    return f"### {area}\n\n{'Orlune lies on a river. ' * 99}"[: len(area) + 6 + characters - len(ending)] + ending


def report(*areas: str, **form: Any) -> str:
    sections = "\n\n".join(section(area, **form) for area in areas)
    return f"## Executive Summary\n\nOrlune is a town [1].\n\n## Detailed Findings\n\n{sections}"


def completion(text: str, *, reason: str = "stop", tokens: int = 10) -> dict[str, Any]:
    """A whole completion with the test's finish reason and usage."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
    usage = {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens}
    return {"id": "x", "object": "chat.completion", "created": 0, "model": "test", "choices": [choice], "usage": usage}


def part_of(request: ChatRequest) -> str:
    return request.role.rpartition(".")[2]


def task_of(request: ChatRequest) -> str:
    return fenced(request, "task") or ""


def researches(request: ChatRequest) -> ChatReply:
    """One search for the task, and then what it found."""
    task = task_of(request).splitlines()[0]
    return ChatReply(text=f"{task}: {results(request)[0]}") if results(request) else search(task)


def in_order(*said: Said) -> Callable[[ChatRequest], Said]:
    """One reply after the other; the last one repeats."""
    replies = list(said)
    return lambda request: replies.pop(0) if len(replies) > 1 else replies[0]


def script(**parts: Said) -> Script:
    """Each part says what is given here, by default the simplest thing that leads to a report."""
    defaults: dict[str, Said] = {
        "refiner": REFINED,
        "decomposer": plan(subtask("one"), subtask("two")),
        "researcher": researches,
        "reasoner": lambda request: "Task complete" if fenced(request, "observation") else "Search for Orlune.",
        "summarizer": lambda request: f"In short: {task_of(request)}",
        "synthesizer": report(*AREAS),
        "claims": "1. Orlune is a town\n2. It lies on a river",
        "verifier": {"supporting": [1], "conflicting": [], "confidence": 1},
        "compressor": "They spoke about rivers.",
    }

    def answer(request: ChatRequest) -> ChatReply | int:
        reply: Any = {**defaults, **parts}[part_of(request)]
        reply = reply(request) if callable(reply) else reply
        if isinstance(reply, Mapping) and "choices" not in reply:
            reply = json.dumps(reply)
        return ChatReply(text=reply) if isinstance(reply, str) else reply

    return answer


class Shuffled(Endpoint):
    """Answers after a number of turns of the event loop that the request decides, other for each `order`."""

    def __init__(self, script: Script, order: int = 0) -> None:
        super().__init__(script)
        self.order, self.embedded, self.bodies = order, list[str](), list[dict[str, Any]]()
        self.running = self.most = 0

    async def handle_async_request(self, request: Request) -> Response:
        body = read_json(await request.aread())
        if str(request.url).endswith("/embeddings"):
            if body["model"].isdigit():
                return Response(int(body["model"]), json={"error": {"message": "no"}}, request=request)
            self.embedded += body["input"]
            data = [{"index": n, "embedding": [1.0, float("river" in text)]} for n, text in enumerate(body["input"])]
            return Response(200, json={"data": data, "usage": {"prompt_tokens": 3, "total_tokens": 3}}, request=request)
        self.bodies.append(body)
        self.running += 1
        self.most = max(self.most, self.running)
        for _ in range(sum(json.dumps(body).encode()) * self.order % 23):
            await asyncio.sleep(0)
        self.running -= 1
        return await super().handle_async_request(request)


@dataclass
class Ran:
    """A finished research."""

    report: Report
    bench: Bench

    def asked(self, part: str) -> list[ChatRequest]:
        return [request for request in self.bench.endpoint.requests if part_of(request) == part]

    def prompt(self, part: str, number: int = -1) -> str:
        return "\n".join(message.text for message in self.asked(part)[number].messages)

    @property
    def stages(self) -> list[str]:
        return [event.stage for event in self.bench.logged(StageChanged)]

    def decided(self, name: str) -> list[Decision]:
        return [event for event in self.bench.logged(Decision) if event.name == name]

    @property
    def recovered(self) -> list[str]:
        return [event.what for event in self.bench.logged(Recovery) if event.what != "retry"]

    @property
    def extras(self) -> Any:
        """What the row keeps beside the report."""
        return self.report.extras

    @property
    def records(self) -> list[dict[str, Any]]:
        return list(self.extras["usage"]["records"])


async def research(
    parts: Mapping[str, Said] | None = None,
    settings: Mapping[str, Any] | None = None,
    question: Mapping[str, Any] | None = None,
    *,
    before: tuple[str, ...] = (),
    order: int = 0,
    llm: Mapping[str, Any] | None = None,
    found: str = "{query} is well described.",
    **given: Any,
) -> Ran:
    """One research, after those of `before` on the same thread; `found`: the text of every page that a search finds."""
    agent = shared(ShannonAgent, configured(ShannonSettings, **settings or {}))
    endpoint = Shuffled(script(**parts or {}), order)
    async with lazy_store(configured(CheckpointerSettings)) as store:
        args = {"store": store, **given}
        async with on_bench(endpoint.script, search=WebSearch(text=found), endpoint=endpoint, llm=llm, **args) as bench:
            for text in (*before, (question or {}).get("text", QUESTION)):
                fields = {"thread_id": "t" if before else None, **(question or {}), "text": text}
                endpoint.requests.clear()
                bench.events.clear()
                result = await agent.research(Question(**fields), bench.session)
            return Ran(result, bench)
