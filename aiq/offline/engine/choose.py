"""Choosing what to do next: which tool to call, and with which arguments.

While something is missing and calls are left, the tool that could bring it is called; then what the prompt wants noted
or saved; then, where one is offered, the tool that ends.
"""

import json
import re
from collections.abc import Sequence
from functools import cached_property

from aiq.offline.chat import ToolCall, call
from aiq.offline.engine import research
from aiq.offline.engine.answer import Answer, answer
from aiq.offline.engine.fill import Unsupported, fill, needs_evidence
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Situation, Step
from aiq.offline.engine.research import Gap
from aiq.offline.engine.schema import asked_schema
from aiq.offline.engine.text import stems, words
from aiq.offline.engine.tools import Kind, Tool, understand
from aiq.offline.engine.write import write

ENOUGH = 0.6
"""The reader's confidence from which nothing more is looked up."""
MOST_CALLS = 10
"""Calls that bring evidence where the prompt states no limit."""
MOST_ROUNDS, AT_ONCE = 2, 3
"""Rounds of sub-agents, and calls in one reply, where the prompt states no limit."""
QUERIES_A_TASK = 3
"""Queries that are handed to one sub-agent."""
SHORT = 160
"""Characters below which a result is a teaser, worth opening."""
_URL = re.compile(r"https?://[^\s<>\"'）)]+")
_ITEM = re.compile(r"^\s*[-*•]\s+(.+?)\s*$", re.MULTILINE)

Calls = tuple[ToolCall, ...]


def choose(situation: Situation, orders: Orders) -> Calls:
    """The next calls; none where it is time to reply.

    `tool_choice` is obeyed: nothing is called where it is `none`; the named tool, or any, where it demands one.
    """
    request = situation.request
    if not request.tools or request.tool_choice == "none":
        return ()
    chooser = _Chooser(situation, orders, [understand(spec) for spec in request.tools])
    named = request.tool_choice.get("function", {}).get("name") if isinstance(request.tool_choice, dict) else None
    if named:
        return chooser.demanded(next(tool for tool in chooser.tools if tool.name == named))
    calls = chooser.next()
    if not calls and request.tool_choice == "required":
        calls = chooser.end() or chooser.demanded(chooser.first("search") or chooser.first("note") or chooser.tools[0])
    return calls if request.parallel_tool_calls else calls[:1]


class _Chooser:
    """One decision: what was done, what was found, what is left to do."""

    def __init__(self, situation: Situation, orders: Orders, tools: Sequence[Tool]) -> None:
        self.situation = situation
        self.orders = orders
        self.tools = tools
        self._kind_of = {tool.name: tool.kind for tool in tools}
        self._schema = asked_schema(situation)

    def next(self) -> Calls:
        """The calls that the state of the work asks for; none where there is nothing left to find, note or save."""
        if delegate := self.first("delegate"):
            return self._lead(delegate) or self._save() or self.end()
        return (self._search() if self._seeks() else ()) or self._save() or self.end()

    def demanded(self, tool: Tool) -> Calls:
        """A call of a tool that must be called, whatever the state of the work."""
        if tool.kind == "search":
            return (tool.call(query=(*self.found.missing, self.situation.task)[0]),)
        if tool.kind == "fetch" and (teasers := self._teasers()):
            return (tool.call(url=teasers[0]),)
        return (self._filled(tool),)

    def end(self) -> Calls:
        """A call of the tool that ends the work, where one is offered: with the answer, if it takes one."""
        tool = self.first("finish")
        unbegun = self.first("search") and not self.situation.steps and self._seeks()
        return () if tool is None or unbegun else (self._filled(tool),)

    # what was done and found

    def first(self, kind: Kind) -> Tool | None:
        return next((tool for tool in self.tools if tool.kind == kind), None)

    def _steps(self, *kinds: Kind) -> list[Step]:
        return [step for step in self.situation.steps if self._kind_of.get(step.tool) in kinds]

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The queries sent so far, to tools and to sub-agents."""
        values = [value for step in self._steps("search", "delegate") for value in step.arguments.values()]
        texts = [str(text) for value in values for text in (value if isinstance(value, list) else [value])]
        return tuple(dict.fromkeys(query for text in texts for query in _ITEM.findall(text) or [text]))

    @cached_property
    def found(self) -> Answer:
        context = "\n".join(text for _, text in self.situation.history)
        here = self.situation
        return answer(here.task, here.sources, here.now, asked=self.asked, context=context)

    def _seeks(self) -> bool:
        """Whether this reply needs evidence at all: not where the prompt forbids it, or where a decision about the
        request itself is asked for."""
        if self.orders.most_calls == 0:
            return False
        return self._schema is None or self.orders.search_first or needs_evidence(self._schema, self.situation)

    def _suffices(self) -> bool:
        """Whether the answer is sure, and does not rest on a text that breaks off while it could be opened."""
        cut = any(_breaks_off(evidence.source.text) for evidence in self.found.evidence)
        return self.found.confidence >= ENOUGH and not (cut and self.first("fetch") and self._teasers())

    def _gaps(self) -> list[Gap]:
        """What to look up next: queries that were handed over, then what the reader misses; for an open task its
        subject and facets, then what the evidence leaves open (for a plan or a decision one look is enough)."""
        here = self.situation
        if handed := [Gap(query, query) for query in here.queries if query not in self.asked]:
            return handed
        if research.is_question(here.task):
            more = len(self.asked) < (self.orders.least_calls or 0)
            missing = list(self.found.missing) if more or not self._suffices() else []
            missing = missing or [q for q in (here.task, *words(here.task)) if more and q not in self.asked]
            return [Gap(f"{query}: not answered yet", query) for query in missing]
        topic = research.topic(here.task)
        if not self.asked:
            return [Gap(query, query) for query in research.queries(topic)]
        if not self.first("delegate") and (here.queries or self._schema is not None):
            return []
        return research.gaps(topic, here.sources, self.asked)

    # looking for evidence

    def _search(self) -> Calls:
        """Addresses that the person gave, a search that a found hop makes possible, a teaser, any other search."""
        most = MOST_CALLS if self.orders.most_calls is None else self.orders.most_calls
        left = min(most - len(self._steps("search", "fetch")), self.orders.most_at_once or AT_ONCE)
        if left <= 0:
            return ()
        fetch = self.first("fetch")
        if fetch and (given := [url for url in _URL.findall(self.situation.task) if url not in self._opened]):
            return tuple(fetch.call(url=url) for url in given[:left])
        queries = [gap.query for gap in self._gaps()] if self.first("search") else []
        if research.is_question(self.situation.task) and not self.situation.queries:
            queries = research.independent(queries) if self.orders.together else queries[:1]  # others say the same
        if self.orders.dated_queries:
            queries = [research.dated(query, self.situation.task, self.situation.now) for query in queries]
        known = f"{self.situation.task} {' '.join(self.asked)}"
        hop = any(name not in known for query in queries for name in research.things(query))
        if fetch and not hop and not self._suffices() and (teasers := self._teasers()):
            return (fetch.call(url=teasers[0]),)
        return tuple(self._searcher(number).call(query=query) for number, query in enumerate(queries[:left]))

    def _searcher(self, number: int) -> Tool:
        """The search tool to ask: by turns, so that each store is asked before one is asked twice."""
        tools = [tool for tool in self.tools if tool.kind == "search"]
        return tools[(len(self._steps("search")) + number) % len(tools)]

    @cached_property
    def _opened(self) -> str:
        return " ".join(str(step.arguments) for step in self._steps("fetch"))

    def _teasers(self) -> list[str]:
        """Addresses of short or broken texts that share words with the task, best first, none that was opened."""
        wanted = stems(f"{self.situation.task} {' '.join(self.asked[-1:])}")
        shared = {
            source.key: len(wanted & stems(f"{source.title} {source.text}"))
            for source in self.situation.sources
            if "://" in source.key and source.key not in self._opened
            if len(source.text) < SHORT or _breaks_off(source.text)
        }
        return [key for key in sorted(shared, key=lambda key: -shared[key]) if shared[key] >= 2]

    # leading others

    def _lead(self, tool: Tool) -> Calls:
        """Sub-agents: one that plans first, then rounds of those that research, each with a few queries; after each
        round a note on what is missing, where notes are wanted."""
        agents = tool.agents()
        planner = next((a for a in agents if re.search(r"plan|outline|decompos", a.casefold())), None)
        worker = next((a for a in agents if re.search(r"research|search|investigat|work|gather", a.casefold())), None)
        sent = self._steps("delegate")
        if planner and not sent:
            return (*self._list_steps(), self._dispatch(tool, planner, "Plan a research report.", ()))
        rounds = {step.message for step in sent if planner not in step.arguments.values()}
        if len(rounds) >= (self.orders.most_rounds or MOST_ROUNDS):
            return ()
        queries = [gap.query for gap in self._gaps()]
        groups = [queries[at : at + QUERIES_A_TASK] for at in range(0, len(queries), QUERIES_A_TASK)]
        return (self._note() if rounds else ()) or tuple(
            self._dispatch(tool, worker, "Research for a report.", group)
            for group in groups[: self.orders.most_at_once or self.orders.most_calls or AT_ONCE]
        )

    def _dispatch(self, tool: Tool, agent: str | None, verb: str, queries: Sequence[str]) -> ToolCall:
        lines = [verb, "<task>", self.situation.task, "</task>"]
        if queries:
            lines += [f"Sections: {'; '.join(self.situation.sections)}"] if self.situation.sections else []
            lines += ["Queries:", *(f"- {query}" for query in queries)]
        else:
            lines += [b.text for b in self.situation.blocks if re.search(r"plan|outline|clarif", b.label)]
        return tool.call(text="\n".join(lines), agent=agent)

    # notes, lists and files, where the prompt names the tool for them

    def _wanted(self, kind: Kind) -> Tool | None:
        tool = self.first(kind)
        wanted = tool and tool.name in self.situation.instructions and tool.name not in self.orders.barred
        return tool if wanted else None

    def _note(self) -> Calls:
        """What is missing, once after each batch of results."""
        tool, noted = self._wanted("note"), self._steps("note")
        if tool is None or (noted and noted[-1].message > self._steps("delegate")[-1].message):
            return ()
        gaps = [f"- {gap.text}" for gap in self._gaps()[:12]] or ["- none"]
        return (tool.call(text="\n".join([f"{len(self.situation.sources)} sources so far.", "Gaps:", *gaps])),)

    def _list_steps(self) -> Calls:
        tool = self._wanted("steps")
        return (self._filled(tool),) if tool and not self._steps("steps") else ()

    def _save(self) -> Calls:
        """The file that the prompt orders to be written with a tool, once, with what the reply will say."""
        tool = self._wanted("save")
        if tool is None or self._steps("save"):
            return ()
        ordered = re.search(rf"`(/[\w./-]+)`[^.\n]*`{re.escape(tool.name)}`", self.situation.instructions)
        return (tool.call(path=ordered[1], text=self._reply()),) if ordered else ()

    def _reply(self) -> str:
        """What the reply would say now."""
        if self._schema is None:
            return write(self.situation, self.orders)
        try:
            return json.dumps(fill(self._schema, self.situation, self.orders), ensure_ascii=False, indent=2)
        except Unsupported as error:
            return str(error)

    def _filled(self, tool: Tool) -> ToolCall:
        """A call whose arguments are a filled schema; the reply's text where one text is wanted."""
        if tool.kind in ("finish", "note", "ask") and (name := tool.text_parameter):
            return call(tool.name, **{name: write(self.situation, self.orders)})
        try:
            return call(tool.name, **fill(tool.spec.function.parameters, self.situation, self.orders))
        except Unsupported:
            return call(tool.name)


def _breaks_off(text: str) -> bool:
    return text.rstrip().endswith(("...", "…"))
