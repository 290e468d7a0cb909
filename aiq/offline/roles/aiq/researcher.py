"""Runs the queries it was given, follows up on what is old or cut off, and returns cited findings.

1. All given queries at once, as many as the stated budget allows; in the user's documents too, where the prompt lists
   one that names a thing of the query.
2. Follow-ups, once, as the budget allows: a thing whose own page did not come up, by its name alone; where the prompt
   asks for the current year, a dated search for changing facts whose evidence is older than some months (each seed
   starts with another one); where it allows fetching, the page behind the best result that breaks off.
   In research on one question with a short answer: the next steps towards it, up to three times.
3. Findings: for a query about one thing ("Halden Works: headquarters, founder") the best sentence for each relation;
   for any other query the sentences that suit it best, and every list of things on a page about the task's subject.

It reads dates only where the prompt states one, and writes a list of sources only where the prompt asks for it.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from aiq.core.seeds import derive
from aiq.offline.chat import ChatReply, ChatRequest, FunctionSpec, ToolCall, call
from aiq.offline.reading import documents, facts, findings, inquiry, outline, prose, tasks, uploads
from aiq.offline.reading.documents import Document
from aiq.offline.reading.findings import Finding
from aiq.offline.reading.relation_table import RELATIONS
from aiq.offline.reading.text import names, same_name, words

_QUERIES = re.compile(r"^\W*queries\W*:\s*$", re.IGNORECASE | re.MULTILINE)
_SECTIONS = re.compile(r"^\W*sections\W*:\s*(?P<titles>.+)$", re.IGNORECASE | re.MULTILINE)
_ITEM = re.compile(r"^\s*[-*•]\s+(.*\S)\s*$", re.MULTILINE)
_BUDGET = re.compile(r"[Aa]t most (\d+) calls of research tools")
_FRESH_DAYS = 150
"""Evidence for a changing fact that is older than this is worth a dated search."""
_PER_QUERY = 9
"""Sentences for a query that is not about one thing."""
_FETCHES = 2
_CHANGING = frozenset(relation.name for relation in RELATIONS if relation.changing)


def reply(request: ChatRequest) -> ChatReply:
    work = _Work(request)
    if work.searching and work.turn == 0:
        searches = [one for query in work.queries for one in work.searches(query)]
        return ChatReply(tool_calls=tuple(searches[: work.budget]))
    if work.searching and 1 <= work.turn <= work.followup_turns:
        more = tuple(work.followups())[: work.budget]
        if more:
            return ChatReply(tool_calls=more)
    return ChatReply(text=work.report())


class _Work:
    """One request: what it asks for and what came back so far."""

    def __init__(self, request: ChatRequest) -> None:
        description = next((m.text for m in request.messages if m.role == "user"), "")
        self._request = request
        self._task = request.fenced("task") or description
        sections = _SECTIONS.search(description)
        self._sections = sections.group("titles").split(";") if sections else []
        self.queries = _listed_queries(description)
        self.documents = documents.read(request)
        self.turn = sum(message.role == "assistant" for message in request.messages)
        made = sum(len(message.tool_calls) for message in request.messages)
        stated = _BUDGET.search(request.system)
        self.budget = max(0, (int(stated.group(1)) if stated else 5) - made)
        self.searching = self._tool("query") is not None
        self._is_question = inquiry.is_question(self._task)
        self._made = {str(c.function.parsed.get("query", "")) for m in request.messages for c in m.tool_calls}
        self.followup_turns = 3 if self._is_question else 1

    def search(self, query: str) -> ToolCall:
        tool = self._tool("query")
        assert tool is not None
        return call(tool.name, query=query)

    def searches(self, query: str) -> Iterator[ToolCall]:
        """In the user's documents, where their list names a thing of the query, and in whatever is searched first."""
        tool = uploads.tool(self._request)
        if tool is not None and any(uploads.names(self._request, name) for name in names(query)):
            yield call(tool, query=query)
        if tool is None or tool != self.search(query).function.name:
            yield self.search(query)

    def followups(self) -> Iterator[ToolCall]:
        """Things whose own page did not come up by their name alone, then dated searches, then pages to fetch."""
        now = self._request.now
        if self._is_question:
            steps = inquiry.queries(self._task, self.documents, now=now, seed=self._request.seed or 0)
            yield from (one for query in steps if query not in self._made for one in self.searches(query))
            return
        things = [thing for query in self.queries if (thing := _parted(query)[0])]
        yield from (self.search(thing) for thing in things if not self._has_page(thing))
        if now is not None and "current year" in self._request.system:
            dated = [text for query in self.queries for text in self._dated(query, now)]
            start = derive(self._request.seed, "researcher", "first") % max(1, len(dated))
            yield from (self.search(text) for text in [*dated[start:], *dated[:start]])
            loose = [query for query in self.queries if not _parted(query)[0]]
            yield from (self.search(f"{query} {now.year}") for query in loose[:1])
        fetch = self._tool("url")
        if fetch is not None and "Fetch a page" in self._request.system:
            for document in self._broken_off()[:_FETCHES]:
                yield call(fetch.name, url=document.key)

    def report(self) -> str:
        """Findings grouped under their queries, and the sources where the prompt wants them listed."""
        groups = self._steps()
        for query in self.queries:
            groups.append((query, self._findings(query, [f.text for _, group in groups for f in group])))
        numbers = findings.numbered(finding for _, group in groups for finding in group)
        lines: list[str] = []
        for query, group in groups:
            body = [findings.cite(finding, numbers) for finding in group]
            lines += [f"**{query}**", *(body or ["Nothing was found for this query."]), ""]
        if "**Sources**" in self._request.system and numbers:
            lines += ["**Sources**", *findings.source_lines(numbers)]
        return "\n".join(lines).strip()

    def _steps(self) -> list[tuple[str, list[Finding]]]:
        """For a question with a short answer: the evidence that leads towards it."""
        if not self._is_question:
            return []
        now, seed = self._request.now, self._request.seed
        path = inquiry.answer(self._task, self.documents, now=now, seed=seed).path
        found = {e.sentence: findings.of(e.sentence, e.document) for e in path}
        return [(self._task, list(found.values()))] if found else []

    def _findings(self, query: str, known: Sequence[str]) -> list[Finding]:
        """Facts about the query's thing; without a thing, or without facts, the sentences that suit the query.

        `known` are sentences that other queries brought already.
        """
        thing, _, _ = _parted(query)
        about = self._about(thing, query) if thing else []
        if about:
            return about
        lists = [finding for finding in self._lists() if finding.text not in known]
        aspect = next((a for title in self._sections if (a := outline.aspect_of(title))), None)
        picked = prose.choose(
            self.documents,
            query,
            most=_PER_QUERY,
            names=(thing,) if thing else (),
            aspect=aspect,
            taken=[*known, *(finding.text for finding in lists)],
            task=tasks.parse(self._task),
        )
        kept = [p for rank, p in enumerate(picked) if rank < 3 or not self._left_out(p.text)]
        return [*lists, *(findings.of(p.text, p.document) for p in kept)]

    def _about(self, thing: str, query: str) -> list[Finding]:
        """The best sentence for each relation that the query wants of the thing."""
        found: dict[str, Finding] = {}
        for relation in _parted(query)[1]:
            evidence = facts.about(self.documents, thing, relation, self._request.now)
            if evidence:
                best = evidence[0]
                found.setdefault(best.sentence, findings.of(best.sentence, best.document))
        return list(found.values())

    def _lists(self) -> list[Finding]:
        """Sentences that list things, on pages whose title speaks of the task's subject."""
        subject = tasks.parse(self._task).subject
        return [
            findings.of(sentence.text, document)
            for document in self.documents
            if facts.is_page_about(document.title, subject)
            for sentence in document.sentences
            if facts.listed(sentence.text)
        ]

    def _dated(self, query: str, now: datetime) -> list[str]:
        """Searches for the current state of the changing facts of a query about one thing."""
        thing, relations, chinese = _parted(query)
        changing = [relation for relation in relations if relation in _CHANGING]
        found = []
        for relation in changing:
            evidence = facts.about(self.documents, thing, relation, now)
            if not evidence and len(changing) > 1:
                continue  # most likely nothing that this thing has: a club has no mayor
            when = evidence[0].when if evidence else None
            if when is None or (now.date() - when).days > _FRESH_DAYS:
                found.append(f"{thing} {facts.noun(relation, chinese=chinese)} {now.year}")
        return found

    def _has_page(self, thing: str) -> bool:
        return any(same_name(document.title.strip("《》"), thing) for document in self.documents)

    def _broken_off(self) -> list[Document]:
        """Documents that suit the queries without a thing of their own and end in the middle, best first."""
        loose = [query for query in self.queries if not _parted(query)[0]]
        if not loose:
            return []
        telling = prose.rarity([document.text for document in self.documents])
        wanted = {word for query in loose for word in words(query)}
        cut = [
            d for d in self.documents if len(d.text) > 600 and not d.text.rstrip().endswith((".", "。", "!", "”", '"'))
        ]
        cut = cut or [d for d in self.documents if len(d.text) > 1200]

        def worth(document: Document) -> float:
            said = set(words(f"{document.title} {document.text}"))
            return -sum(telling.get(word, 0.0) for word in wanted if word in said)

        return sorted(cut, key=lambda document: (worth(document), document.rank))

    def _left_out(self, sentence: str) -> bool:
        """Of the less fitting sentences another few stay away with each seed: a reader's choice."""
        return derive(self._request.seed, "researcher", sentence) % 6 == 0

    def _tool(self, argument: str) -> FunctionSpec | None:
        """The first tool that takes this argument."""
        return next(
            (t.function for t in self._request.tools if argument in t.function.parameters.get("properties", {})), None
        )


def _listed_queries(description: str) -> list[str]:
    """The list below `Queries:`; without one the whole description is the query."""
    heading = _QUERIES.search(description)
    listed = _ITEM.findall(description[heading.end() :]) if heading else []
    return listed or [" ".join(description.split())[:300]]


def _parted(query: str) -> tuple[str, Sequence[str], bool]:
    """A query such as `Halden Works: founder` as (thing, relations, whether in Chinese); no thing otherwise."""
    thing, mark, rest = query.partition("：") if "：" in query else query.partition(": ")
    if not mark or len(thing.split()) > 6:
        return "", (), False
    relations = facts.named(rest)
    return (thing.strip(), relations, "：" in query) if relations else ("", (), False)
