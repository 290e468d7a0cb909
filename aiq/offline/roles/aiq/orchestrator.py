"""Leads deep research: planner first, then rounds of researchers, a statement of gaps after each, then the report.

What it does next follows from the conversation alone:

1. No plan yet: a list of steps (where the tool is offered), and `planner-agent` with the task word for word.
2. A plan, no findings: the plan's queries, two or three to a researcher.
3. Findings just came: where the prompt asks for it, a thought that states the gaps.
4. Gaps and a round left, and `task` still offered: queries for the gaps.
5. Otherwise the report, from nothing but the findings (`writing.report`).

A question with a short answer is followed step by step (`reading.inquiry`), and answered first (`writing.short`).
"""

import json
import re
from collections.abc import Sequence

from aiq.core.base import Record
from aiq.offline.chat import ChatMessage, ChatReply, ChatRequest, ToolCall, call
from aiq.offline.reading import facts, findings, gaps, inquiry, knowledge, outline, tasks
from aiq.offline.reading.findings import Finding
from aiq.offline.reading.gaps import Gap
from aiq.offline.writing import report, short
from aiq.offline.writing.order import Order

_ROUNDS = re.compile(r"in rounds, at most (\d+)")
_DISPATCHES = re.compile(r"`researcher-agent` at least once, at most (\d+) times")
_PER_DISPATCH = 3
_QUERY = re.compile(r"^\s*[-*•]\s+(.*\S)\s*$", re.MULTILINE)
_SHOWN_GAPS = 12
_ORDER = "The research rounds are over"
"""How the order to write begins; it is no task."""


class _Plan(Record):
    """What the planner returned, or what stands in for it."""

    title: str
    titles: tuple[str, ...]
    queries: tuple[tuple[str, tuple[str, ...]], ...]  # with the sections they serve


def reply(request: ChatRequest) -> ChatReply:
    desk = _Desk(request)
    if desk.may_dispatch("planner-agent") and not desk.planned and not desk.rounds:
        return ChatReply(tool_calls=(*desk.todos(), desk.planner()))
    if desk.may_dispatch("researcher-agent") and desk.rounds < desk.most_rounds:
        open_ = desk.gaps()
        if desk.rounds == 0:
            return ChatReply(tool_calls=desk.dispatch(list(desk.plan.queries)))
        if desk.must_think():
            return ChatReply(tool_calls=(desk.thought(open_),))
        if open_:
            return ChatReply(tool_calls=desk.dispatch([(gap.query, ()) for gap in open_]))
    return ChatReply(text=desk.report())


class _Desk:
    """The conversation so far, as the orchestrator sees it."""

    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        turn = _this_turn(request.messages)
        self._task_text = turn[0].text if turn else ""
        self.task = tasks.parse(self._task_text)
        self._calls = [c for m in turn for c in m.tool_calls if c.function.name == "task"]
        self._answers = {m.tool_call_id: m for m in turn if m.role == "tool"}
        self.planned = any(_agent(c) == "planner-agent" for c in self._calls)
        self.plan = self._read_plan()
        self._replies = [m for m in turn if m.role == "assistant"]
        self.rounds = sum(any(_agent(c) == "researcher-agent" for c in m.tool_calls) for m in self._replies)
        stated = _ROUNDS.search(request.system)
        self.most_rounds = int(stated.group(1)) if stated else 1
        self._wanted = facts.wanted(self._task_text)
        self._is_question = inquiry.is_question(self.task.text)

    def may_dispatch(self, agent: str) -> bool:
        """Whether the tool is offered and the prompt speaks of this agent."""
        return "task" in self._request.tool_names and agent in self._request.system

    def todos(self) -> tuple[ToolCall, ...]:
        if "write_todos" not in self._request.tool_names or "write_todos" not in self._request.system:
            return ()
        steps = ("Plan the report", "Research in rounds", "Write the report")
        listed = [{"content": s, "status": "in_progress" if s == steps[0] else "pending"} for s in steps]
        return (call("write_todos", todos=listed),)

    def planner(self) -> ToolCall:
        lines = ["Plan a research report.", "<task>", self._task_text, "</task>"]
        seen = self._request.fenced("clarifier_result")
        if seen:
            lines += ["The user has seen this:", seen]
        return call("task", subagent_type="planner-agent", description="\n".join(lines))

    def dispatch(self, queries: Sequence[tuple[str, Sequence[str]]]) -> tuple[ToolCall, ...]:
        """Researchers with two or three queries each, as many as the prompt allows in one reply."""
        stated = _DISPATCHES.search(self._request.system)
        most = int(stated.group(1)) if stated else 1
        fresh = [(q, sections) for q, sections in queries if q not in self._asked_queries()]
        taken = fresh[: most * _PER_DISPATCH] or list(queries)[:1]
        count = -(-len(taken) // _PER_DISPATCH)
        size = -(-len(taken) // count)
        groups = [taken[i : i + size] for i in range(0, len(taken), size)]
        return tuple(self._researcher(group) for group in groups)

    def _researcher(self, group: Sequence[tuple[str, Sequence[str]]]) -> ToolCall:
        sections = list(dict.fromkeys(title for _, titles in group for title in titles)) or self._body()
        lines = ["Research for a report.", "<task>", self._task_text, "</task>", f"Sections: {'; '.join(sections)}"]
        lines += ["Queries:", *(f"- {query}" for query, _ in group)]
        return call("task", subagent_type="researcher-agent", description="\n".join(lines))

    def must_think(self) -> bool:
        """Whether the prompt wants the gaps stated, and this round's are not yet."""
        last = self._replies[-1]
        thought = any(c.function.name == "think" for c in last.tool_calls)
        return "Gaps:" in self._request.system and "think" in self._request.tool_names and not thought

    def thought(self, open_: Sequence[Gap]) -> ToolCall:
        found = self.found()
        supported = [t for t in self._body() if sum(gaps.fits(f.text, t, self.task.subject) for f in found) >= 2]
        lines = [f"{len(found)} findings; supported so far: {'; '.join(supported) or 'no section'}.", "Gaps:"]
        lines += [f"- {gap.text}" for gap in open_[:_SHOWN_GAPS]] or ["- none"]
        return call("think", thought="\n".join(lines))

    def gaps(self) -> list[Gap]:
        """What the findings leave open, most important first; without queries that were made."""
        asked = self._asked_queries()
        if self._is_question:
            now, seed = self._request.now, self._request.seed or 0
            steps = inquiry.queries(self.task.text, findings.as_documents(self.found()), now=now, seed=seed)
            return [Gap(text=f"{query}: not answered yet", query=query) for query in steps if query not in asked]
        known = self.known()
        if self._wanted.relations and (known.waiting or any(t.known for t in known.looked_up)):
            open_ = gaps.of_things(known, self._wanted, chinese=self.task.chinese)
        else:
            open_ = gaps.of_sections(self.task, self._body(), self.found(), asked)
        return [gap for gap in open_ if gap.query not in asked]

    def known(self) -> knowledge.Knowledge:
        return knowledge.gather(self.found(), self.task.subject, self._wanted, self._asked_things(), self._request.now)

    def found(self) -> list[Finding]:
        """All findings, in the order of the researchers' calls; repeated sentences once."""
        answers = [self._answers.get(c.id) for c in self._calls if _agent(c) == "researcher-agent"]
        unique: dict[str, Finding] = {}
        for answer in answers:
            for finding in findings.parse(answer.text) if answer else ():
                unique.setdefault(finding.text, finding)
        return list(unique.values())

    def report(self) -> str:
        found = self.found()
        references = "## References" in self._request.system or "## References" in self._request.last_user
        if self._is_question:
            now, seed = self._request.now, self._request.seed
            reached = inquiry.answer(self.task.text, findings.as_documents(found), now=now, seed=seed)
            return short.write(self.task.text, reached, seed, references=references)
        return report.write(
            Order(
                task=self.task,
                title=self.plan.title,
                titles=self.plan.titles,
                found=tuple(found),
                known=self.known(),
                seed=self._request.seed,
                references=references,
            )
        )

    def _body(self) -> list[str]:
        return [title for title in self.plan.titles if not outline.is_conclusion(title)]

    def _asked_queries(self) -> list[str]:
        described = [str(c.function.parsed.get("description", "")) for c in self._calls]
        return [q for text in described for q in _QUERY.findall(text.partition("Queries:")[2])]

    def _asked_things(self) -> list[str]:
        """The things that queries of the form `thing: relations` were about."""
        things = [re.split(r"：|: ", query, maxsplit=1) for query in self._asked_queries()]
        return [parts[0].strip() for parts in things if len(parts) > 1]

    def _read_plan(self) -> _Plan:
        answers = [self._answers.get(c.id) for c in self._calls if _agent(c) == "planner-agent"]
        read = [plan for answer in answers if answer is not None and (plan := _parse_plan(answer)) is not None]
        if read:
            return read[0]
        titles = tuple(outline.sections(self.task, 4, 6))
        body = [title for title in titles if not outline.is_conclusion(title)]
        queries = tuple((gaps.section_query(self.task, title), (title,)) for title in body)
        return _Plan(title=self.task.title, titles=titles, queries=queries)


def _this_turn(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """From the task on: the last user message before any work on it. What stands before it is earlier conversation."""
    begun = next((n for n, m in enumerate(messages) if m.tool_calls), len(messages))
    tasks_at = [n for n in range(begun) if messages[n].role == "user" and not messages[n].text.startswith(_ORDER)]
    return messages[tasks_at[-1] :] if tasks_at else ()


def _agent(tool_call: ToolCall) -> str:
    return str(tool_call.function.parsed.get("subagent_type", ""))


def _parse_plan(answer: ChatMessage) -> _Plan | None:
    """The planner's JSON; None where it is none or lacks sections or queries."""
    start = answer.text.find("{")
    try:
        value = json.loads(answer.text[start : answer.text.rfind("}") + 1])
        return _Plan(
            title=str(value["title"]),
            titles=tuple(str(section["title"]) for section in value["sections"]),
            queries=tuple((str(q["query"]), tuple(q.get("sections", ()))) for q in value["queries"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
