"""Plans a report: one look at what the web says, an outline from the task, and queries mapped to its sections.

1. Searches for the subject, and for the subject with the task's first facet.
2. Outline: the one that the task description brings, else the task's facets (`reading.outline`).
3. Queries, as many as the prompt asks for: where the pages found list things (companies, novels) and the task wants
   facts about them, an overview and then one query a thing; else one query a section.
   A question with a short answer gets the steps towards it (`reading.inquiry`) and one section.
4. Writes the plan to the file that the prompt names, where it names one, and replies with it.
"""

import json
import re
from collections.abc import Sequence

from aiq.offline.chat import ChatReply, ChatRequest, call
from aiq.offline.reading import documents, facts, gaps, inquiry, outline, tasks
from aiq.offline.reading.facts import Wanted
from aiq.offline.reading.tasks import Task
from aiq.offline.reading.text import words

_GIVEN = re.compile(r"^\s*\d{1,2}[.)、]\s*(?P<title>\S.*?)\s*$", re.MULTILINE)
_FILE = re.compile(r"`(/[\w/.-]+\.json)` with `write_file`")
_AT_MOST_SECTIONS = re.compile(r"at most (\d+) sections")


def reply(request: ChatRequest) -> ChatReply:
    description = next((m.text for m in request.messages if m.role == "user"), "")
    task = tasks.parse(request.fenced("task") or description)
    turn = sum(message.role == "assistant" for message in request.messages)
    search = next(
        (t.function.name for t in request.tools if "query" in t.function.parameters.get("properties", {})), None
    )
    if search is not None and turn == 0:
        return ChatReply(tool_calls=tuple(call(search, query=query) for query in _first_searches(task)))
    plan = json.dumps(_plan(request, task, description), ensure_ascii=False, indent=2)
    file = _FILE.search(request.system)
    written = any(c.function.name == "write_file" for message in request.messages for c in message.tool_calls)
    if file is not None and "write_file" in request.tool_names and not written:
        return ChatReply(tool_calls=(call("write_file", file_path=file.group(1), content=plan),))
    return ChatReply(text=plan)


def _first_searches(task: Task) -> list[str]:
    """The subject; and with its first facet, where there is one."""
    facet = [gaps.section_query(task, task.facets[0].title)] if task.facets else []
    return [gaps.core(task), *facet]


def _plan(request: ChatRequest, task: Task, description: str) -> dict[str, object]:
    if inquiry.is_question(task.text):
        return _question_plan(request, task)
    titles = _titles(request, task, description)
    least, most = outline.number_range(request.system, "(?:strategic )?queries") or (4, 4)
    queries = _queries(request, task, titles)
    for title in titles:
        if len(queries) < least and not outline.is_conclusion(title):
            queries.setdefault(gaps.section_query(task, title), [title])
    return {
        "title": task.title,
        "language": "zh" if task.chinese else "en",
        "sections": [{"title": title, "questions": _questions(title, task)} for title in titles],
        "constraints": ["Compare the things that the task names."] if task.compare else [],
        "queries": [
            {"query": query, "sections": sections, "rationale": "; ".join(sections)}
            for query, sections in list(queries.items())[:most]
        ],
    }


def _question_plan(request: ChatRequest, task: Task) -> dict[str, object]:
    """For a question with a short answer: its first steps as queries, all for one section."""
    _, most = outline.number_range(request.system, "(?:strategic )?queries") or (4, 4)
    return {
        "title": tasks.heading(task.text),
        "language": "en",
        "sections": [{"title": "Evidence", "questions": [task.text]}],
        "constraints": ["Answer the question first."],
        "queries": [
            {"query": query, "sections": ["Evidence"], "rationale": "A step towards the answer."}
            for query in inquiry.first_queries(task.text)[:most]
        ],
    }


def _titles(request: ChatRequest, task: Task, description: str) -> list[str]:
    """The outline of a plan that the user has seen; otherwise one of the task's own."""
    outside = description.partition("</task>")[2] or ""
    given = [match.group("title") for match in _GIVEN.finditer(outside)]
    if len(given) > 2:
        return given
    stated = _AT_MOST_SECTIONS.search(request.system)
    return outline.sections(task, 5, int(stated.group(1)) if stated else 6)


def _questions(title: str, task: Task) -> list[str]:
    """What a section answers, as its own words of the task."""
    return [facet.title for facet in task.facets if set(facet.words) & set(words(title))] or [title]


def _queries(request: ChatRequest, task: Task, titles: Sequence[str]) -> dict[str, list[str]]:
    """Queries with the sections they serve, best first."""
    wanted = facts.wanted(task.text)
    things = _listed_things(request, task) if wanted.relations else []
    body = [title for title in titles if not outline.is_conclusion(title)]
    if not things:
        return {gaps.section_query(task, title): [title] for title in (task.title, *body)}
    overview = (
        f"{task.subject}的历史、变化与从业人数"
        if task.chinese
        else f"{task.subject} history, changes and people at work"
    )
    general = [title for title in body if outline.aspect_of(title) or not facts.wanted(title).relations]
    found = {overview: general or body[:1]}
    for thing in things:
        query = gaps.query_about(thing, "member", wanted, chinese=task.chinese)
        found[query] = _serving(body, wanted) or body
    return found


def _serving(titles: Sequence[str], wanted: Wanted) -> list[str]:
    """Sections that ask for what the task wants of the things themselves."""
    return [title for title in titles if set(facts.wanted(title).relations) & set(wanted.of_members)]


def _listed_things(request: ChatRequest, task: Task) -> list[str]:
    """What pages about the subject list."""
    found: dict[str, None] = {}
    for document in documents.read(request):
        if facts.is_page_about(document.title, task.subject):
            for sentence in document.sentences:
                found.update(dict.fromkeys(facts.listed(sentence.text)))
    return list(found)
