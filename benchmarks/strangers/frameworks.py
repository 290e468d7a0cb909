"""Agents of packages that this project does not depend on. Each package is imported when its agent runs."""

import asyncio
import os
from functools import partial
from typing import Any

from benchmarks.strangers.web import Web

_LOOP = asyncio.Runner()  # one for all questions: some packages keep their connections
TASK = "Find out the answer with your tools and state it briefly."


def _tools(web: Web) -> tuple[Any, Any]:
    def web_lookup(topics: list[str], max_hits: int = 3) -> str:
        """Look topics up on the web.

        Args:
            topics: What to look up, one phrase each.
            max_hits: How many hits to list for each topic.
        """
        hits = [hit for topic in topics for hit in web.search(topic, max_hits)]
        return "\n".join(f"* {h['title']} <{h['url']}> {h['content']}" for h in hits) or "nothing found"

    def get_document(location: str) -> str:
        """Get the full text of a hit.

        Args:
            location: The address of the hit.
        """
        return web.page(location)

    return web_lookup, get_document


def _finding() -> Any:
    from pydantic import BaseModel, Field

    class Finding(BaseModel):
        answer: str = Field(description="The answer to the question, in a sentence.")
        source_url: str | None = Field(description="The address of the page that says so.")
        certain: bool = Field(description="Whether a page states the answer directly.")

    return Finding


def pydantic_ai(question: str, web: Web, *, typed: bool = False) -> str:
    """Chat completions; typed: every turn must call a tool, and the last call is the output."""
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel(web.model, provider=OpenAIProvider(base_url=web.model_url, api_key=web.api_key))
    agent: Any = Agent(model, tools=_tools(web), output_type=_finding() if typed else str, instructions=TASK)
    output = agent.run_sync(question).output
    return str(output.answer if typed else output)


def openai_agents(question: str, web: Web, *, typed: bool = False, api: str = "OpenAIChatCompletionsModel") -> str:
    """Chat completions or responses API; typed: a strict JSON schema as response format."""
    import agents
    from openai import AsyncOpenAI

    agents.set_tracing_disabled(True)
    tools = [agents.function_tool(tool) for tool in _tools(web)]

    async def run() -> Any:
        async with AsyncOpenAI(base_url=web.model_url, api_key=web.api_key) as client:
            model = getattr(agents, api)(web.model, client)
            output = _finding() if typed else None
            agent = agents.Agent("Finder", instructions=TASK, model=model, tools=tools, output_type=output)
            return (await agents.Runner.run(agent, question, max_turns=12)).final_output

    output = asyncio.run(run())
    return str(output.answer if typed else output)


def smolagents(question: str, web: Web, *, kind: str = "ToolCallingAgent") -> str:
    """Function calls that end with the tool `final_answer`, or (CodeAgent) tools called from Python code."""
    import smolagents

    model = smolagents.OpenAIModel(web.model, api_base=web.model_url, api_key=web.api_key)
    tools = [smolagents.tool(tool) for tool in _tools(web)]
    agent = getattr(smolagents, kind)(tools=tools, model=model, max_steps=12, verbosity_level=-1)
    return str(agent.run(question))


def gpt_researcher(question: str, web: Web) -> str:
    """gpt-researcher as installed: its Tavily retriever and scraper, and embeddings from the same endpoint."""
    import requests
    import tiktoken

    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda _: _Bytes()  # the real one would be downloaded
    _environment(web, **dict.fromkeys(("FAST_LLM", "SMART_LLM", "STRATEGIC_LLM"), f"openai:{web.model}"))
    os.environ["COMPRESSION_THRESHOLD"] = "0"  # sources that are not compressed lose their URLs
    from gpt_researcher import GPTResearcher

    def to_stack(session: Any, method: str, url: str, **options: Any) -> Any:
        host, _, path = url.partition("://")[2].partition("/")
        options["headers"] = {**(options.get("headers") or {}), "host": host}
        return send(session, method, f"{web.web_url}/{path}", **options)

    send: Any = getattr(requests.Session.request, "__wrapped__", requests.Session.request)
    to_stack.__wrapped__ = send  # type: ignore[attr-defined]
    requests.Session.request = to_stack  # type: ignore[assignment, method-assign]
    researcher = GPTResearcher(query=question, verbose=False)

    async def run() -> str:
        await researcher.conduct_research()
        return str(await researcher.write_report())

    return _LOOP.run(run())


class _Bytes:
    """A text encoding whose tokens are bytes."""

    def encode_ordinary(self, text: str, **_: Any) -> list[int]:
        return list(text.encode())

    encode = encode_ordinary


def open_deep_research(question: str, web: Web) -> str:
    """open_deep_research as installed: a supervisor with researchers, Tavily, summaries, a final report."""
    _environment(web)
    from open_deep_research import deep_researcher, utils
    from tavily import AsyncTavilyClient

    utils.AsyncTavilyClient = partial(AsyncTavilyClient, api_base_url=web.web_url)
    models = ("summarization_model", "research_model", "compression_model", "final_report_model")
    config: Any = {"configurable": {**dict.fromkeys(models, f"openai:{web.model}"), "allow_clarification": False}}
    run = deep_researcher.deep_researcher.ainvoke({"messages": [("user", question)]}, config)
    return str(_LOOP.run(run)["final_report"])


def _environment(web: Web, **env: str) -> None:
    os.environ.update(env, OPENAI_BASE_URL=web.model_url, OPENAI_API_KEY=web.api_key, TAVILY_API_KEY=web.api_key)
