"""Plans: which of the tools and sub-agents described in a prompt to call next, if the calls are listed in a structured
reply."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from aiq.offline.chat import FunctionSpec, ToolCall, ToolSpec
from aiq.offline.engine import transcript
from aiq.offline.engine.collected import Collected
from aiq.offline.engine.collection import meanings
from aiq.offline.engine.fields import phrase
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Situation, ends
from aiq.offline.engine.schema import Schema, forms
from aiq.offline.engine.tools import TABLES, understand
from aiq.offline.engine.transcript import Step

Choose = Callable[[Situation, Orders], tuple[ToolCall, ...]]
"""The function that makes the next tool calls (`choose`)."""
Called = tuple[str, dict[str, Any], list[int]]
"""What is called, its arguments, and the positions of the calls that it waits for."""

_DUTIES = {duty: re.compile(signs, re.IGNORECASE) for duty, signs in TABLES["duties"].items()}
_COUNTS = re.compile(r"(?m)^\W*(?P<label>[A-Za-z][A-Za-z _-]{1,40}):[ \t]*(?P<number>\d+)\b")
_CHECKED = re.compile(r"(?im)^\W*[^\n:]*\b(?:gaps?|valid\w*)\b[^\n:]*:\s*(?!\S*(?:continue|needs|fail|insuffic))")
"""Where the state says that a check found nothing more to look for."""
_AGENT, _TOOL = re.compile(r"agent|worker|assistant|specialist"), re.compile(r"tool|function")


class Plan:
    """The next step of work whose state the prompt describes. `root`: the schema of the reply, whose lists of calls
    name what is called by an option. `choose`: if None, no tools are called."""

    def __init__(self, root: Schema, situation: Situation, orders: Orders, choose: Choose | None) -> None:
        self.situation, self.orders, self.choose = situation, orders, choose
        items = [forms(part.get("items"))[0].get("properties", {}) for part in root.get("properties", {}).values()]
        options = [(field, self._options(parts[field])) for parts in items for field in self.naming(parts)]
        self.tools = [name for field, names in options if not _AGENT.search(phrase(field)) for name in names]
        self.agents = [name for field, names in options if _AGENT.search(phrase(field)) for name in names]

    @cached_property
    def offered(self) -> dict[str, FunctionSpec]:
        """The tools and sub-agents that the prompt describes, by name."""
        texts = (m.text for m in self.situation.request.messages if m.role in ("system", "developer", "user"))
        return {spec.function.name: spec.function for spec in transcript.offered("\n\n".join(map(ends, texts)))}

    def _options(self, part: Schema) -> list[str]:
        return [option for option in forms(part)[0].get("enum", ()) if option in self.offered]

    def naming(self, parts: Mapping[str, Schema]) -> list[str]:
        """The fields of an object that name what it calls, from options that the prompt describes."""
        return [field for field in parts if self._options(parts[field])]

    def calls(self, field: str) -> list[Called]:
        """The calls to tools, or to sub-agents, that the field may name."""
        return self.of_agents if _AGENT.search(phrase(field)) else self.of_tools

    @cached_property
    def of_tools(self) -> list[Called]:
        """The tool calls that the state of the work requires. Calls that the prompt mentions count as made; reading
        their results is left to others."""
        state = self.situation
        past = [c for text in (*(b.text for b in state.blocks), state.instructions) for c in transcript.calls(text)]
        steps = [Step(name, args, None, 0) for name, args in past if name in self.tools]
        tools = tuple(ToolSpec(function=self.offered[name]) for name in self.tools)
        request = state.request.model_copy(update={"tools": tools, "response_format": None})
        state = replace(state, request=request, steps=(*state.steps, *steps))
        collected = Collected(state, map(understand, tools))
        if not (self.choose and tools) or (steps and not collected.calls):
            return []
        calls = [(call.function.name, call.function.parsed) for call in self.choose(state, self.orders)]
        if any(self._does(name, "read") for name in self.agents):  # a sub-agent that reads decides how much at once
            sizes = {
                tool.name: {n for n, meaning in meanings(tool).items() if meaning == "size"} for tool in collected.tools
            }
            calls = [(name, {n: v for n, v in args.items() if n not in sizes.get(name, ())}) for name, args in calls]
        return [(name, args, []) for name, args in calls if (name, args) not in past]

    @cached_property
    def of_agents(self) -> list[Called]:
        """The sub-agents to call: the planner if there is no plan yet; the reader if something is unread, followed by
        the checker; if nothing else is to be called, the checker, or the writer once the check found nothing missing.
        The caller fills in the arguments."""
        situation, planned, unread = self.situation, self._stated_count("planned"), self._stated_count("unread")
        duties = ["plan"] * (planned == 0 or (planned is None and not situation.sources)) + ["read"] * bool(unread)
        if duties == ["read"]:
            duties += [] if Collected(situation).applies else ["check"]
        elif not duties and not self.of_tools:
            duties = ["check"] if planned is not None and not _CHECKED.search(situation.instructions) else ["write"]
        agents = [next((name for name in self.agents if self._does(name, duty)), "") for duty in duties]
        writers = [name for name in self.agents if "check" in duties and self._does(name, "write")]
        agents = [name for name in agents if name] or writers
        return [(name, {}, [0] if duties == ["read", "check"] and index else []) for index, name in enumerate(agents)]

    def _does(self, name: str, duty: str) -> bool:
        return _DUTIES[duty].search(f"{phrase(name)}: {self.offered[name].description}") is not None

    def _stated_count(self, duty: str) -> int | None:
        """The number that the state in the prompt gives for what is planned or unread."""
        matches = _COUNTS.finditer(self.situation.instructions)
        return next((int(match["number"]) for match in matches if _DUTIES[duty].search(match["label"])), None)

    def action(self, options: Sequence[str]) -> str | None:
        """The option that describes the calls: the first that means writing if one writes, else that means calling."""
        if not (self.agents or self.tools) or not (self.of_agents or self.of_tools):
            return None
        writes = any(self._does(name, "write") for name, *_ in self.of_agents)
        sign = _DUTIES["write"] if writes else _AGENT if self.of_agents else _TOOL
        return next((option for option in options if sign.search(phrase(option))), None)
