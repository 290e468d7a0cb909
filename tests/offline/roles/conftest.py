"""A question put to the shallow researcher's program as the agent puts it: real prompt, real searches, no server."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiq.agents.ai_q import shallow
from aiq.core.prompts import Prompts
from aiq.offline.chat import ChatMessage, ChatRequest, FunctionSpec, ToolSpec
from aiq.offline.roles.aiq import shallow_researcher
from aiq.tools.corpus import Corpus
from aiq.tools.documents import document

NOW = "2026-11-01T09:00:00+00:00"
TOOLS = tuple(ToolSpec(function=FunctionSpec(name=name)) for name in ("web_search_tool", "fetch_page"))


def prompt(without: str = "", **changes: Any) -> str:
    """The agent's prompt; `without="A...B"` takes out what stands from A to B."""
    values: dict[str, Any] = {
        "tools": [{"name": "web_search_tool", "description": "Searches the web."}],
        "web_search": True,
        "user_info": None,
        "current_datetime": NOW,
        "available_documents": None,
    }
    text = Prompts(Path(shallow.__file__).parent / "prompts").render(shallow.PROMPT, **{**values, **changes})
    if without:
        first, last = without.split("...")
        start = text.index(first)
        text = text[:start] + text[text.index(last, start) + len(last) :]
    return text


class Talk:
    """One question and what came of it. `calls`: the arguments of all tool calls; `seen`: the URLs they brought."""

    def __init__(
        self,
        corpus: Corpus,
        question: str,
        *,
        system: str = "",
        budget: int = 5,
        seed: int = 0,
        results: int = 3,
        parallel: bool = True,
        chars: int = 1000,
    ) -> None:
        self.corpus, self.results, self.chars = corpus, results, chars
        self.calls: list[str] = []
        self.seen: list[str] = []
        self.turns = 0
        messages = [ChatMessage(role="system", content=system or prompt()), ChatMessage(role="user", content=question)]
        for _ in range(12):
            spent = len(self.calls) >= budget
            anchor = [ChatMessage(role="user", content=shallow.SYNTHESIS_ANCHOR)] if spent else []
            request = ChatRequest(
                model="m",
                messages=(*messages, *anchor),
                tools=() if spent else TOOLS,
                seed=seed,
                parallel_tool_calls=parallel,
            )
            reply = shallow_researcher.reply(request)
            assert reply == shallow_researcher.reply(request)
            if not reply.tool_calls:
                self.answer = reply.text
                return
            self.turns += 1
            messages.append(ChatMessage(role="assistant", tool_calls=reply.tool_calls))
            for call in reply.tool_calls:
                brought = self._brought(call.function.arguments) if len(self.calls) < budget else "Error: over budget"
                messages.append(ChatMessage(role="tool", content=brought))
        raise AssertionError("the program never answered")

    @property
    def lead(self) -> str:
        """The answer's first sentence."""
        return self.answer.split(". ")[0]

    def _brought(self, arguments: str) -> str:
        given = json.loads(arguments)
        self.calls.append(next(iter(given.values())))
        if "url" in given:
            page = self.corpus.page(given["url"])
            assert page is not None
            self.seen.append(page.url)
            return document(page.url, page.title, page.text[:20_000], page.published)
        hits = self.corpus.search(given["query"], self.results, max_chars=self.chars)
        self.seen += [hit.url for hit in hits]
        return "\n\n---\n\n".join(document(h.url, h.title, h.text, h.published) for h in hits)


AskOf = Callable[..., Talk]


@pytest.fixture(scope="session")
def ask_of() -> AskOf:
    """`ask_of(corpus, question, budget=..., seed=...)`."""
    return Talk


@pytest.fixture(scope="session")
def shallow_prompt() -> Callable[..., str]:
    return prompt
