"""Choosing tools: which of those offered to call next, and with which arguments.

A tool is known by what its name, description and parameters say it does, never by its name alone. While something is
missing and calls are left, the tool that could bring it is called; then, where one is offered, the tool that ends.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

from aiq.offline.chat import ToolCall, ToolSpec, call
from aiq.offline.engine import research
from aiq.offline.engine.answer import Answer, answer
from aiq.offline.engine.fill import Unsupported, asked_schema, fill, needs_evidence
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Situation, Source, Step
from aiq.offline.engine.text import stems
from aiq.offline.engine.write import write

Kind = Literal["search", "fetch", "delegate", "note", "ask", "finish", "save", "load", "steps", "other"]

ENOUGH = 0.6
"""The reader's confidence from which nothing more is looked up."""
MOST_CALLS = 10
"""Calls that bring evidence where the prompt states no limit."""
AT_ONCE = 3
"""Calls in one reply where the prompt states no limit."""
QUERIES_A_TASK = 3
"""Queries that are handed to one sub-agent."""
SHORT = 160
"""Characters below which a result is a teaser, worth opening."""

_SIGNS: Mapping[Kind, str] = {
    "search": r"search|find|look ?up|quer(?:y|ies)|google|bing|retriev\w*|discover|wiki\w*|keywords?|搜索|检索|查询",
    "fetch": r"fetch|open|visit|brows\w*|scrape|crawl|urls?|link|href|web ?page|read (?:a|the) page|打开|网址|网页",
    "delegate": r"delegat\w*|dispatch|sub-?agents?|agents?|assign|hand ?off|transfer|conduct\w*|委派",
    "note": r"think|thoughts?|reflect\w*|reasoning|scratch ?pad|notes?|思考|笔记",
    "ask": r"ask|clarif\w*|human|user(?:'s)? (?:input|feedback)|询问|澄清",
    "finish": r"final|finish\w*|submit|complete|done|end|conclude|answer|respond|reply|结束|完成|最终",
    "save": r"write|save|store|creat\w* (?:a )?file|写入|保存",
    "load": r"read|load|lists?|ls|cat|director(?:y|ies)|读取",
    "steps": r"todos?|plan|steps|checklist|待办",
}
_PATTERNS = {kind: re.compile(rf"(?<![a-z])(?:{signs})(?![a-z])") for kind, signs in _SIGNS.items()}
_NAME, _PARAMETER, _FIRST_SENTENCE = 4, 3, 2
"""What a sign is worth in a tool's name, in its required parameters, at the start of its description."""
_QUERY = re.compile(r"quer|search|question|keyword|term|topic|text|input|prompt|what|q$|查询|关键词|问题")
_URL = re.compile(r"url|link|href|address|uri|网址")
_LOCAL = re.compile(r"files?|path|director")


@dataclass(frozen=True)
class Tool:
    """A tool as offered, and what it is for."""

    spec: ToolSpec
    kind: Kind

    @property
    def name(self) -> str:
        return self.spec.function.name

    @property
    def properties(self) -> Mapping[str, Mapping[str, Any]]:
        return self.spec.function.parameters.get("properties") or {}

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(self.spec.function.parameters.get("required") or ())


def understand(spec: ToolSpec) -> Tool:
    """What a tool is for: the kind whose signs weigh most in its name, its parameters and its description."""
    return Tool(spec, _kind(spec.function.name, spec.function.description, _shape(spec)))


def _shape(spec: ToolSpec) -> tuple[str, ...]:
    parameters = spec.function.parameters
    return tuple(parameters.get("required") or parameters.get("properties") or ())


@lru_cache(maxsize=1024)
def _kind(name: str, description: str, parameters: tuple[str, ...]) -> Kind:
    spoken = re.sub(r"(?<=[a-z])(?=[A-Z])|[_\-.]+", " ", name).casefold()
    given = " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|[_\-.]+", " ", p) for p in parameters).casefold()
    first = re.split(r"(?<=[.!?。])\s|\n", description.strip(), maxsplit=1)[0].casefold()
    weights: dict[Kind, int] = {}
    for kind, pattern in _PATTERNS.items():
        weights[kind] = (
            _NAME * bool(pattern.search(spoken))
            + _PARAMETER * bool(pattern.search(given))
            + _FIRST_SENTENCE * bool(pattern.search(first))
        )
    weights["search"] += _PARAMETER * any(_QUERY.search(p.casefold()) for p in parameters)
    if _LOCAL.search(given):  # what takes a path works on files, whatever its verb
        weights["search"] = weights["fetch"] = 0
    if "delegate" in weights and re.search(r"(?:^|\W)(?:sub-?)?agents?(?:\W|$)", given):
        weights["delegate"] += _NAME
    if re.search(r"complete|finish|final|done", spoken):
        weights["finish"] += _NAME
    best = max(weights, key=lambda kind: weights[kind])
    return best if weights[best] >= _PARAMETER else "other"


def choose(situation: Situation, orders: Orders) -> tuple[ToolCall, ...]:
    """The next calls; none where it is time to reply.

    `tool_choice` is obeyed: nothing is called where it is `none`; the named tool, or any, where it demands one.
    """
    request = situation.request
    if not request.tools or request.tool_choice == "none":
        return ()
    chooser = _Chooser(situation, orders, [understand(spec) for spec in request.tools])
    forced = request.tool_choice.get("function", {}).get("name") if isinstance(request.tool_choice, dict) else None
    if forced:
        return chooser.forced(next(tool for tool in chooser.tools if tool.name == forced))
    calls = chooser.next()
    if not calls and request.tool_choice == "required":
        calls = chooser.end() or chooser.anything()
    return calls if request.parallel_tool_calls else calls[:1]


class _Chooser:
    """One decision: what was done, what was found, what is left to do."""

    def __init__(self, situation: Situation, orders: Orders, tools: Sequence[Tool]) -> None:
        self.situation = situation
        self.orders = orders
        self.tools = tools
        self._kind_of = {tool.name: tool.kind for tool in tools}

    def next(self) -> tuple[ToolCall, ...]:
        """The calls that the state of the work asks for; none where there is nothing left to find, note or save."""
        if delegate := self._first("delegate"):
            return self._lead(delegate) or self._note() or self._save() or self.end()
        if not self._seeks():
            return self._save() or self.end()
        return self._search() or self._save() or self.end()

    def forced(self, tool: Tool) -> tuple[ToolCall, ...]:
        """A call of the tool that the request names, whatever the state of the work."""
        if tool.kind == "search":
            fresh = self.found.missing or (self.situation.task,)
            return (self._call(tool, query=fresh[0]),)
        if tool.kind == "fetch" and (urls := self._unopened()):
            return (self._call(tool, url=urls[0]),)
        return (self._filled(tool),)

    def end(self) -> tuple[ToolCall, ...]:
        """A call of the tool that ends the work, where one is offered: with the answer, if it takes one."""
        tool = self._first("finish")
        if tool is None or (self._first("search") and not self.situation.steps and self._seeks()):
            return ()
        return (self._filled(tool),)

    def anything(self) -> tuple[ToolCall, ...]:
        """A call where one is demanded and nothing is left to do."""
        tool = self._first("search") or self._first("note") or self.tools[0]
        return self.forced(tool)

    # what was done

    def _first(self, kind: Kind) -> Tool | None:
        return next((tool for tool in self.tools if tool.kind == kind), None)

    def _steps(self, *kinds: Kind) -> list[Step]:
        return [step for step in self.situation.steps if self._kind_of.get(step.tool) in kinds]

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The queries sent so far, to tools and to sub-agents."""
        sent: list[str] = []
        for step in self._steps("search", "delegate"):
            for value in step.arguments.values():
                texts = value if isinstance(value, list) else [value]
                for text in map(str, texts):
                    sent += re.findall(r"^\s*[-*•]\s+(.+?)\s*$", text, re.MULTILINE) or [text]
        return tuple(dict.fromkeys(sent))

    @cached_property
    def found(self) -> Answer:
        history = "\n".join(text for _, text in self.situation.history)
        return answer(
            self.situation.task, self.situation.sources, self.situation.now, asked=self.asked, context=history
        )

    def _seeks(self) -> bool:
        """Whether this reply needs evidence at all: not where the prompt forbids it, or where a decision about the
        request itself is asked for."""
        if self.orders.most_calls == 0:
            return False
        schema = asked_schema(self.situation)
        return schema is None or self.orders.search_first or needs_evidence(schema, self.situation)

    def _left(self) -> int:
        """How many more calls for evidence the prompt allows."""
        made = len(self._steps("search", "fetch"))
        return (self.orders.most_calls if self.orders.most_calls is not None else MOST_CALLS) - made

    def _at_once(self) -> int:
        return self.orders.most_at_once or AT_ONCE

    # looking for evidence

    def _search(self) -> tuple[ToolCall, ...]:
        """Addresses that the person gave, a search that a found hop makes possible, a teaser, any other search."""
        left = min(self._left(), self._at_once())
        tools = [tool for tool in self.tools if tool.kind == "search"]
        fetch = self._first("fetch")
        if left <= 0:
            return ()
        if fetch and (given := self._given_addresses()):
            return tuple(self._call(fetch, url=url) for url in given[:left])
        queries = self._queries()[:left] if tools else ()
        known = f"{self.situation.task} {' '.join(self.asked)}"
        hop = any(name not in known for query in queries for name in research.things(query))
        if fetch and not hop and not self._suffices() and (teasers := self._unopened()):
            return (self._call(fetch, url=teasers[0]),)
        return tuple(self._call(self._best(tools, query), query=query) for query in queries)

    def _suffices(self) -> bool:
        """Whether the answer is sure, and does not rest on a text that breaks off while it could be opened."""
        cut = any(e.source.text.rstrip().endswith(("...", "…")) for e in self.found.evidence)
        return self.found.confidence >= ENOUGH and not (cut and self._first("fetch") and self._unopened())

    def _given_addresses(self) -> list[str]:
        opened = " ".join(str(step.arguments) for step in self._steps("fetch"))
        return [url for url in re.findall(r"https?://[^\s<>\"'）)]+", self.situation.task) if url not in opened]

    def _queries(self) -> Sequence[str]:
        """What to ask next: the queries that were handed over, then what the reader misses; for an open task its
        subject and facets, then its gaps."""
        handed = [query for query in self.situation.queries if query not in self.asked]
        if handed:
            return handed
        least = self.orders.least_calls or 0
        if research.is_question(self.situation.task):
            if self._suffices() and len(self.asked) >= least:
                return ()
            return self.found.missing[:1]
        if self.situation.queries and self.asked:
            return ()
        topic = research.topic(self.situation.task)
        if not self.asked:
            return research.queries(topic)
        if asked_schema(self.situation) is not None:  # a plan or a decision: one look is enough
            return ()
        return [gap.query for gap in research.gaps(topic, self.situation.sources, self.asked, self.situation.now)]

    def _best(self, tools: Sequence[Tool], query: str) -> Tool:
        """The search tool to ask: by turns, so that each store is asked before one is asked twice."""
        if len(tools) == 1:
            return tools[0]
        used = [step.tool for step in self._steps("search")]
        return min(tools, key=lambda tool: (used.count(tool.name), self.tools.index(tool)))

    def _unopened(self) -> list[str]:
        """Addresses of teasers whose title or text shares most with the task, none that was opened."""
        opened = " ".join(str(step.arguments) for step in self._steps("fetch"))
        wanted = stems(f"{self.situation.task} {' '.join(self.asked[-1:])}")
        teasers = [s for s in self.situation.sources if "://" in s.key and s.key not in opened and _is_teaser(s)]
        near = [(len(wanted & stems(f"{s.title} {s.text}")), s.key) for s in teasers]
        return [key for shared, key in sorted(near, key=lambda item: -item[0]) if shared >= 2]

    # leading others

    def _lead(self, tool: Tool) -> tuple[ToolCall, ...]:
        """Sub-agents: one that plans first, then rounds of those that research, each with a few queries."""
        agents = _agents(tool, self.situation)
        planner = next((a for a in agents if re.search(r"plan|outline|decompos", a.casefold())), None)
        worker = next((a for a in agents if re.search(r"research|search|investigat|work|gather", a.casefold())), None)
        sent = [step.arguments for step in self._steps("delegate")]
        rounds = [
            step.message for step in self._steps("delegate") if planner is None or planner not in str(step.arguments)
        ]
        if planner and not sent:
            return (*self._list_steps(), self._dispatch(tool, planner, "Plan a research report.", (), ()))
        if len(set(rounds)) >= (self.orders.most_rounds or 2):
            return ()
        if rounds and (note := self._note()):
            return note
        queries = self._open_queries(bool(rounds))
        groups = [queries[at : at + QUERIES_A_TASK] for at in range(0, len(queries), QUERIES_A_TASK)]
        sections = self.situation.sections
        return tuple(
            self._dispatch(tool, worker, "Research for a report.", sections, group)
            for group in groups[: self._at_once()]
        )

    def _open_queries(self, begun: bool) -> list[str]:
        if not begun and self.situation.queries:
            return list(self.situation.queries)
        return [gap.query for gap in self._gaps()] if begun else self._first_queries()

    def _first_queries(self) -> list[str]:
        task = self.situation.task
        return list(self.found.missing) if research.is_question(task) else research.queries(research.topic(task))

    def _gaps(self) -> list[research.Gap]:
        """What is still open; for a question with one answer, the searches that would bring it."""
        task = self.situation.task
        if research.is_question(task):
            missing = self.found.missing if self.found.confidence < ENOUGH else ()
            return [research.Gap(f"{query}: not answered yet", query) for query in missing]
        return research.gaps(research.topic(task), self.situation.sources, self.asked, self.situation.now)

    def _dispatch(
        self, tool: Tool, agent: str | None, verb: str, sections: Sequence[str], queries: Sequence[str]
    ) -> ToolCall:
        lines = [verb, "<task>", self.situation.task, "</task>"]
        seen = [block.text for block in self.situation.blocks if re.search(r"plan|outline|clarif", block.label)]
        lines += ["What the user has seen and said:", *seen] if seen and not queries else []
        lines += [f"Sections: {'; '.join(sections)}"] if sections else []
        lines += ["Queries:", *(f"- {query}" for query in queries)] if queries else []
        return self._call(tool, text="\n".join(lines), agent=agent)

    # notes, lists and files

    def _note(self) -> tuple[ToolCall, ...]:
        """A note on what is supported and what is missing, once after each batch of results, where the prompt or the
        tool asks for notes."""
        tool = self._first("note")
        worked = self._steps("delegate", "search", "fetch")
        noted = self._steps("note")
        if tool is None or not worked or tool.name not in self.situation.instructions:
            return ()
        if noted and noted[-1].message > worked[-1].message:
            return ()
        gaps = self._gaps()
        counted = f"{len(self.situation.sources)} sources so far."
        return (
            self._call(tool, text="\n".join([counted, "Gaps:", *([f"- {g.text}" for g in gaps[:12]] or ["- none"])])),
        )

    def _list_steps(self) -> tuple[ToolCall, ...]:
        tool = self._first("steps")
        if tool is None or tool.name not in self.situation.instructions or self._steps("steps"):
            return ()
        return (self._filled(tool),)

    def _save(self) -> tuple[ToolCall, ...]:
        """The file that the prompt orders to be written with a tool, once, with what the reply will say."""
        tool = self._first("save")
        if tool is None or self._steps("save"):
            return ()
        ordered = re.search(rf"`(/[\w./-]+)`[^.\n]*`{re.escape(tool.name)}`", self.situation.instructions)
        return (self._call(tool, path=ordered[1], text=self._reply()),) if ordered else ()

    def _reply(self) -> str:
        """What the reply would say now."""
        import json

        schema = asked_schema(self.situation)
        if schema is None:
            return write(self.situation, self.orders)
        try:
            return json.dumps(fill(schema, self.situation, self.orders), ensure_ascii=False, indent=2)
        except Unsupported as error:
            return str(error)

    # arguments

    def _filled(self, tool: Tool) -> ToolCall:
        """A call whose arguments are a filled schema; an answer's text where a single text is wanted."""
        texts = [name for name in tool.required or tuple(tool.properties) if _type(tool.properties[name]) == "string"]
        if tool.kind in ("finish", "note", "ask") and len(texts) == 1 and len(tool.required) <= 1:
            return call(tool.name, **{texts[0]: write(self.situation, self.orders)})
        try:
            value = fill(tool.spec.function.parameters, self.situation, self.orders)
        except Unsupported:
            value = {}
        return call(tool.name, **value)

    def _call(self, tool: Tool, **given: str | None) -> ToolCall:
        """A call with what is given, each value under the parameter that its name and type mean; required parameters
        that nothing is given for get their default, least or first allowed value."""
        arguments: dict[str, Any] = {}
        main = given.get("query") or given.get("url") or given.get("text")
        for name in sorted(tool.properties, key=lambda name: name not in tool.required):
            schema = tool.properties[name]
            value = _given(name, schema, given)
            if value is None and name in tool.required:
                value = _plain(schema, main if main not in arguments.values() else None)
            if value is not None:
                arguments[name] = [value] if _type(schema) == "array" and isinstance(value, str) else value
        if main is not None and not any(main in (v, *(v if isinstance(v, list) else ())) for v in arguments.values()):
            holder = next((n for n in tool.properties if _type(tool.properties[n]) in ("string", "array")), None)
            if holder is not None:
                arguments[holder] = [main] if _type(tool.properties[holder]) == "array" else main
        return call(tool.name, **arguments)


_MEANT: Mapping[str, Callable[[str], object]] = {
    "query": _QUERY.search,
    "url": _URL.search,
    "agent": re.compile(r"agent|assignee|worker|role|type").search,
    "path": _LOCAL.search,
    "text": re.compile(
        r"description|instruction|task|content|text|thought|note|reflection|reason|topic|body|input|message"
    ).search,
}


def _given(name: str, schema: Mapping[str, Any], given: Mapping[str, str | None]) -> str | None:
    """The given value that a parameter means, by its name; an enum takes only one of its options."""
    for meaning, value in given.items():
        if value is not None and _MEANT[meaning](name.casefold()):
            options = schema.get("enum")
            if options is None and _type(schema) in ("string", "array"):
                return value
            if options and value in options:
                return value
    return None


def _plain(schema: Mapping[str, Any], text: str | None) -> Any:
    """A value for a required parameter that nothing speaks of: its default, its first option, its least value."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    return {
        "integer": schema.get("minimum", 1),
        "number": schema.get("minimum", 1),
        "boolean": False,
        "array": [text] if text else [],
    }.get(_type(schema), text or "")


def _type(schema: Mapping[str, Any]) -> str:
    """A parameter's type; of several the first that is not null."""
    kind = schema.get("type")
    if kind is None:
        options = [_type(option) for option in schema.get("anyOf") or schema.get("oneOf") or ()]
        return next((option for option in options if option != "null"), "string")
    return next((k for k in kind if k != "null"), "null") if isinstance(kind, list) else str(kind)


def _is_teaser(source: Source) -> bool:
    text = source.text.rstrip()
    return len(text) < SHORT or text.endswith(("...", "…"))


def _agents(tool: Tool, situation: Situation) -> list[str]:
    """The sub-agents that a delegating tool offers: options of its schema, or names that its description lists."""
    for schema in tool.properties.values():
        if schema.get("enum"):
            return [str(option) for option in schema["enum"]]
    described = tool.spec.function.description
    return re.findall(r"^\s*[-*•]\s*[`\"']?([\w-]+)[`\"']?\s*[:：-]", described, re.MULTILINE)
