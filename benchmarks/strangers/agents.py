"""Agents that need only `openai` and `langchain`, each with its own tools, formats and prompts."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.strangers.web import Web

MOST_TURNS = 12


def react(question: str, web: Web) -> str:
    """A loop of function calls; results as a JSON list, pages as plain text."""

    def lookup(q: str) -> str:
        rows = [{"link": r["url"], "headline": r["title"], "body": r["content"]} for r in web.search(q)]
        return json.dumps(rows, ensure_ascii=False)

    def open_link(href: str) -> str:
        return web.page(href)

    system = (
        "You are a fact-finder for a busy editor. It is 1 November 2026. Look things up before you reply, as often as "
        "it takes, and open a link where its body is not enough. Reply in one or two sentences, then give the link "
        "that the fact comes from in brackets."
    )
    specs = [
        _spec("lookup", "Looks something up.", q="what to look up"),
        _spec("open_link", "Shows the text behind a link.", href="the link"),
    ]
    return _loop(question, web, system, specs, {"lookup": lookup, "open_link": open_link})


def mcp(question: str, web: Web, *, cut: int | None = None) -> str:
    """The same loop with the results of an MCP server: lists of content parts, or the same as JSON.

    `cut`: number of characters to which search results are cut, so that pages must be opened.
    """

    def google(query: str) -> list[dict[str, str]]:
        texts = [f"Title: {r['title']}\nURL: {r['url']}\n\n{_cut(r['content'], cut)}" for r in web.search(query)]
        return [{"type": "text", "text": text} for text in texts or ["No results."]]

    def visit_page(url: str) -> str:
        return json.dumps([{"type": "text", "text": web.page(url), "annotations": None}], ensure_ascii=False)

    system = "Answer the user's question with the help of the tools. Be brief. Mention where you found it (the URL)."
    specs = [
        _spec("google", "Google web search. Returns titles, URLs and snippets.", query="the search query"),
        _spec("visit_page", "Visits a web page and returns its text.", url="the page's URL"),
    ]
    return _loop(question, web, system, specs, {"google": google, "visit_page": visit_page})


def _cut(text: str, size: int | None) -> str:
    return text if size is None or len(text) <= size else f"{text[:size]}..."


def _spec(name: str, description: str, **parameters: str) -> dict[str, Any]:
    properties = {key: {"type": "string", "description": text} for key, text in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def _loop(question: str, web: Web, system: str, specs: list[Any], tools: Mapping[str, Callable[..., Any]]) -> str:
    import openai

    client = openai.OpenAI(base_url=web.model_url, api_key=web.api_key)
    messages: list[Any] = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    for turn in range(MOST_TURNS):
        options: Any = {"tools": specs} if turn < MOST_TURNS - 1 else {}
        reply = client.chat.completions.create(model=web.model, messages=messages, **options).choices[0].message
        if not reply.tool_calls:
            return reply.content or ""
        messages.append(reply.model_dump(exclude_none=True))
        for call in reply.tool_calls:
            assert call.type == "function"
            result = tools[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return ""


def create_agent(question: str, web: Web) -> str:
    """LangChain's agent on LangGraph; several search terms per call, results as Markdown."""
    from langchain import agents
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    def find_pages(search_terms: list[str]) -> str:
        """Find web pages for each of the search terms."""
        pages = {r["url"]: r for term in search_terms for r in web.search(term)}
        return "\n\n".join(f"### [{r['title']}]({url})\n\n{r['content']}" for url, r in pages.items()) or "_nothing_"

    def read(address: str) -> str:
        """Read the page at an address that find_pages gave."""
        return f"# {address}\n\n{web.page(address)}"

    prompt = "You answer questions of fact. Never answer from memory: find pages first. Link the page you rely on."
    model = ChatOpenAI(model=web.model, base_url=web.model_url, api_key=SecretStr(web.api_key))
    agent: Any = agents.create_agent(model, [find_pages, read], system_prompt=prompt)
    result = agent.invoke({"messages": [("user", question)]}, {"recursion_limit": 2 * MOST_TURNS + 1})
    return str(result["messages"][-1].text)


_PROMPT = """Answer the following question as best you can. You have access to the following tools:

search_engine: useful for when you need facts or current events. Input: a search query.
browser: opens a web page. Input: the URL.

Use the following format:

Question: the input question you must answer
Thought: you should always think about what to do
Action: the action to take, one of [search_engine, browser]
Action Input: the input to the action
Observation: the result of the action
... (this Thought/Action/Action Input/Observation can repeat N times)
Thought: I now know the final answer
Final Answer: the final answer to the original input question

Begin!

Question: {question}"""
_ACTION = re.compile(r"Action\s*:\s*(.+?)\s*\n\s*Action Input\s*:\s*(.+)")


def text_react(question: str, web: Web) -> str:
    """No function calling: actions as text, observations as plain text in user messages."""
    import openai

    client = openai.OpenAI(base_url=web.model_url, api_key=web.api_key)
    messages: list[Any] = [{"role": "user", "content": _PROMPT.format(question=question)}]
    for _ in range(MOST_TURNS):
        reply = client.chat.completions.create(model=web.model, messages=messages, stop=["\nObservation"])
        text = reply.choices[0].message.content or ""
        action = _ACTION.search(text)
        if "Final Answer:" in text or action is None:
            return text.rpartition("Final Answer:")[2].strip()
        argument = action[2].strip("\"'` ")
        result = web.page(argument) if "browser" in action[1] else _plain(web.search(argument))
        messages.append({"role": "assistant", "content": text})
        messages.append({"role": "user", "content": f"Observation: {result}"})
    return ""


def _plain(results: list[dict[str, Any]]) -> str:
    return "\n\n".join(f"{r['title']} ({r['url']})\n{r['content']}" for r in results) or "no results"
