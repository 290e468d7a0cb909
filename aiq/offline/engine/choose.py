"""Choosing what to do next: which tool to call, and with which arguments.

While something is missing and calls are left, it calls the tool that could supply it; then the tools for notes or
files that the prompt wants; then, if one is offered, the tool that ends the work.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property

from aiq.offline.chat import ToolCall, call
from aiq.offline.engine import material, research
from aiq.offline.engine.answer import Answer, answer
from aiq.offline.engine.clauses import clauses
from aiq.offline.engine.collected import Collected
from aiq.offline.engine.fill import Unsupported, fill
from aiq.offline.engine.follow import ROUNDS, Orders
from aiq.offline.engine.lookup import SURE
from aiq.offline.engine.read import Situation
from aiq.offline.engine.schema import asked_schema
from aiq.offline.engine.source import URL
from aiq.offline.engine.text import names, stems, words
from aiq.offline.engine.tools import Tool, understand
from aiq.offline.engine.transcript import Step
from aiq.offline.engine.write import write

MOST_CALLS = 10
"""Calls that gather evidence, if the prompt states no limit."""
MOST_ROUNDS, AT_ONCE = 2, 3
"""Rounds of sub-agents, and calls in one reply, if the prompt states no limit."""
QUERIES_A_TASK = 3
"""The most queries given to one sub-agent."""
SHORT = 160
"""A result with fewer characters is a teaser, worth opening."""

_ROUND = re.compile(rf"(?i)(?<![a-z])(?:{ROUNDS})")
_PATH = re.compile(r"(?<![\w.:/<])/[\w./-]*\w")

Calls = tuple[ToolCall, ...]


def choose(situation: Situation, orders: Orders) -> Calls:
    """The next calls; none when it is time to reply.

    `tool_choice` is obeyed: `none` allows no calls, and a function or `required` forces one.
    """
    request = situation.request
    if not request.tools or request.tool_choice == "none":
        return ()
    chooser = _Chooser(situation, orders, [understand(spec) for spec in request.tools])
    if request.forced_tool:
        return (chooser.demanded(next(tool for tool in chooser.tools if tool.name == request.forced_tool)),)
    calls = chooser.next()
    if not calls and request.tool_choice == "required":
        calls = (chooser.demanded(chooser.first("search") or chooser.first("note") or chooser.tools[0]),)
    return calls if request.parallel_tool_calls else calls[:1]


def reply_text(situation: Situation, orders: Orders) -> str:
    """The text to reply with now: if a schema is requested, the JSON that fills it.

    Raises `Unsupported` if the request gives no basis for a value that the schema requires.
    """
    schema = asked_schema(situation)
    if schema is None:
        wants_step = orders.step and not (situation.request.tools or situation.steps)
        return _step(situation, orders) if wants_step else write(situation, orders)
    return json.dumps(fill(schema, situation, orders, choose), ensure_ascii=False)


def _step(situation: Situation, orders: Orders) -> str:
    """The next action in words: what to look up, or the prompt's own words for having nothing left to do."""
    phrases = {"zh": ("搜索：{}", "没有更多要查的了"), "en": ("Search for: {}", "Nothing is left to look up")}
    template, default = phrases[orders.language]
    query = next(iter(_Chooser(situation, orders, ()).queries()), None)
    return template.format(query) if query else orders.done or default


class _Chooser:
    """One decision: what was done, what was found, what remains to be done."""

    def __init__(self, situation: Situation, orders: Orders, tools: Sequence[Tool]) -> None:
        self.situation = situation
        self.orders = orders
        self.tools = tools
        self.task = situation.task

    def next(self) -> Calls:
        """The calls that the state of the work requires; none if there is nothing left to find, note or save."""
        delegate, finish = self.first("delegate"), self.first("finish")
        if research.is_small_talk(self.task):
            return (self.demanded(finish),) if finish else ()
        if self.collected.calls and not self._ask_fields():
            calls = self._collect()
        else:
            calls = self._ask_fields() or (self._delegate(delegate) if delegate else self._search())
        return calls or self._save() or ((self.demanded(finish),) if finish else ())

    def demanded(self, tool: Tool) -> ToolCall:
        """A call to a tool that must be called, whatever the state of the work. Its arguments are filled like a schema;
        if it takes one text, it gets the reply's; where nothing supports the arguments, what the task names."""
        if tool.kind == "search":
            return tool.call(query=(*self.found.missing, self.task)[0])
        if tool.kind in ("finish", "note", "ask") and tool.takes_one_text:
            return tool.call(text=write(self.situation, self.orders))
        try:
            return call(tool.name, **fill(tool.schema, self.situation, self.orders))
        except Unsupported:
            return tool.call(query=(*names(self.task), self.task)[0])

    # what was done and found

    def first(self, kind: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.kind == kind), None)

    def _steps(self, *kinds: str) -> list[Step]:
        names = [tool.name for tool in self.tools if tool.kind in kinds]
        return [step for step in self.situation.steps if step.tool in names]

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The queries sent so far, to tools and, as lists, to sub-agents."""
        values = [value for step in self._steps("search", "delegate") for value in step.arguments.values()]
        texts = [str(text) for value in values for text in (value if isinstance(value, list) else [value])]
        queries = (query for text in texts for query in re.findall(r"(?m)^\s*[-*•]\s+(.+?)\s*$", text) or [text])
        return (*self.situation.actions(next_one=False), *queries)

    @cached_property
    def found(self) -> Answer:
        situation = self.situation
        return answer(self.task, situation.sources, situation.now, asked=self.asked)

    @cached_property
    def _is_sure(self) -> bool:
        """Whether the answer is sure, and not from a truncated text while there is something to open."""
        truncated = any(_breaks_off(evidence.source.text) for evidence in self.found.evidence)
        return self.found.confidence >= SURE and not (truncated and self._unread)

    @cached_property
    def _unread(self) -> list[str]:
        """URLs worth opening: first those that the user gave, then those of short or truncated texts that share words
        with the task, best first."""
        opened = " ".join(str(step.arguments) for step in self._steps("fetch"))
        terms = stems(f"{self.task} {' '.join(self.asked[-1:])}")
        overlaps = dict.fromkeys(URL.findall(self.task), len(terms) + 1)
        for source in self.situation.sources:
            if "://" in source.key and (len(source.text) < SHORT or _breaks_off(source.text)):
                overlap = len(terms & stems(f"{source.title} {source.text}"))
                overlaps.setdefault(source.key, overlap)
        ranked = sorted(overlaps, key=lambda key: -overlaps[key]) if self.first("fetch") else []
        return [key for key in ranked if overlaps[key] >= 2 and key not in opened]

    def queries(self) -> list[str]:
        """What to look up next: queries that were handed over, then what the reader lacks; for an open task its subject
        and facets, then what the evidence leaves open (for a plan or a decision one look is enough)."""
        situation, orders = self.situation, self.orders
        pending = [q for q in (*situation.actions(next_one=True), *situation.queries) if q not in self.asked]
        if pending:
            return pending
        if research.is_question(self.task):
            due = len(self.asked) < (orders.least_calls or 0)
            missing = list(self.found.missing) if due or not self._is_sure else []
            return missing or [query for query in (self.task, *words(self.task)) if due and query not in self.asked]
        topic = research.topic(self.task)
        if not self.asked:
            return research.queries(topic)
        is_decision = not self.first("delegate") and (situation.queries or asked_schema(situation) is not None)
        return [] if is_decision else research.gaps(topic, situation.sources, self.asked)

    @cached_property
    def collected(self) -> Collected:
        return Collected(self.situation, self.tools)

    def _ask_fields(self) -> Calls:
        """Ask which fields a collection has, if the task may be about it, a tool can tell and was not asked yet."""
        tool = self.first("fields")
        relevant = any(store.fit(self.task) >= 1 for store in self.collected.tools)
        described = self._steps("fields") or any(self.collected.fields.values())
        return (tool.call(),) if tool and relevant and not described else ()

    def _collect(self) -> Calls:
        """What the task wants from collections, each call once."""
        past = [(step.tool, step.arguments) for step in self.situation.steps]
        calls = self.collected.calls if self._budget() > 0 else ()
        return tuple(call(tool.name, **args) for tool, args in calls if (tool.name, args) not in past)

    def _budget(self) -> int:
        """How many calls that gather evidence may be made in this reply."""
        orders = self.orders
        limit = MOST_CALLS if orders.most_calls is None else orders.most_calls
        return min(limit - len(self._steps("search", "fetch")), orders.most_at_once or AT_ONCE)

    def _search(self) -> Calls:
        """A search for what the last hop revealed, else a URL worth opening, else any other search; none if the
        prompt's limit on calls is reached."""
        situation, orders = self.situation, self.orders
        budget = self._budget()
        if budget <= 0:
            return ()
        fetch, searchers = self.first("fetch"), [tool for tool in self.tools if tool.kind == "search"]
        queries = self.queries() if searchers else []
        if research.is_question(self.task) and not situation.queries:
            queries = research.independent(queries) if orders.together else queries[:1]  # the others only reword it
        if orders.dated_queries:
            queries = [research.dated(query, self.task, situation.now) for query in queries]
        known_text = f"{self.task} {' '.join(self.asked)}"
        hop = any(name not in known_text for query in queries for name in research.names_in(query))
        if fetch and self._unread and not hop and not self._is_sure:
            return (fetch.call(url=self._unread[0]),)
        return self._search_calls(searchers, queries[:budget])

    def _search_calls(self, tools: Sequence[Tool], queries: Sequence[str]) -> Calls:
        """Calls to search tools. For each query, the tool that fits best is called, unless that call was already made;
        tools that returned nothing come last. Tools that fit equally well take turns, so that every store is searched
        once before any is searched twice."""
        past = [(step.tool, step.arguments) for step in self.situation.steps]
        empty_tools = {step.tool for step in self._steps("search") if not material.sources(step.result or "")}
        calls: list[ToolCall] = []
        for query in queries:
            options = [(tool, search) for tool in tools if (search := self._query_call(tool, query)) not in calls]
            options = [(tool, search) for tool, search in options if (tool.name, search.function.parsed) not in past]
            fits = [(tool.name not in empty_tools, tool.fit(f"{self.task} {query}")) for tool, _ in options]
            best = [search for fit, (_, search) in zip(fits, options, strict=True) if fit == max(fits)]
            calls += [best[(len(self._steps("search")) + len(calls)) % len(best)]] if best else []
        return tuple(calls)

    def _query_call(self, tool: Tool, query: str) -> ToolCall:
        """A query to a tool; a tool over a collection that takes no query is asked for everything."""
        takes_none = tool in self.collected.tools and not tool.means("query")
        return call(tool.name) if takes_none else tool.call(query=query)

    # delegation

    def _delegate(self, tool: Tool) -> Calls:
        """Calls to sub-agents: the planner first, then rounds of researchers with a few queries each. Between rounds
        come the file and the note on gaps, if the prompt wants them."""
        situation, orders, dispatches = self.situation, self.orders, self._steps("delegate")
        planner = tool.agent(r"plan|outline|decompos")
        if planner and not dispatches:
            step_tool = self._due_tool("steps")
            context = [block.text for block in situation.blocks if re.search(r"plan|outline|clarif", block.label)]
            plan_call = tool.call(text=self._brief("Plan a research report.", context), agent=planner)
            return (self.demanded(step_tool), plan_call) if step_tool else (plan_call,)
        rounds = {step.message for step in dispatches if planner not in step.arguments.values()}
        if len(rounds) >= (orders.most_rounds or MOST_ROUNDS):
            return ()
        queries, note_tool = [f"- {query}" for query in self.queries()], self._due_tool("note")
        if rounds:
            lines = [f"{len(situation.sources)} sources so far.", "Gaps:", *(queries[:12] or ["- none"])]
            note_calls = (note_tool.call(text="\n".join(lines)),) if note_tool else ()
            if saves := (*self._save(each_round=True), *note_calls):
                return saves
        worker = tool.agent(r"research|search|investigat|work|gather")
        sections = [f"Sections: {'; '.join(situation.sections)}"] if situation.sections else []
        groups = [queries[start : start + QUERIES_A_TASK] for start in range(0, len(queries), QUERIES_A_TASK)]
        return tuple(
            tool.call(text=self._brief("Research for a report.", [*sections, "Queries:", *group]), agent=worker)
            for group in groups[: orders.most_at_once or orders.most_calls or AT_ONCE]
        )

    def _brief(self, verb: str, lines: Sequence[str]) -> str:
        return "\n".join([verb, "<task>", self.task, "</task>", *lines])

    # notes, lists and files

    def _due_tool(self, kind: str) -> Tool | None:
        """The tool that the prompt names for this, unless it was called since the last dispatch."""
        since = max((step.message for step in self._steps("delegate")), default=-1)
        instructions, barred = self.situation.instructions, self.orders.barred
        tools = [t for t in self.tools if t.kind == kind and t.name in instructions and t.name not in barred]
        called = any(step.message > since for step in self._steps(kind))
        return None if called or not tools else tools[0]

    def _save(self, *, each_round: bool = False) -> Calls:
        """Write the file that the prompt wants written with a tool, at the end or in each round, with the text that the
        reply would have now."""
        tool = self._due_tool("save")
        if tool is None:
            return ()
        for clause in clauses(self.situation.instructions):
            start, context = clause.text.find(tool.name), f"{clause.before} {clause.text}"
            path, timely = _PATH.search(context), bool(_ROUND.search(context)) == each_round
            is_order = start >= 0 and not clause.negated(start) and (each_round or not clause.conditional(start))
            if path and timely and is_order:
                with suppress(Unsupported):
                    return (tool.call(path=path[0], text=reply_text(self.situation, self.orders)),)
        return ()


def _breaks_off(text: str) -> bool:
    return text.rstrip().endswith(("...", "…"))
