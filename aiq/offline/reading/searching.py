"""What to look up next: the heart of the offline researchers.

In order:

0. Listed things to compare: the next step of each, side by side.
1. No search yet and no query-rewriting instruction in the prompt: the raw question.
2. A question that takes something for granted, if it is to be checked: the claim's subject and relation.
3. The first hop without evidence, with the bridge found so far as its subject: up to three wordings, then the page
   that carries the subject's name, then nothing more.
   A bridge that may be stale is looked up again before a second try.
4. A changing fact whose evidence is old or undated, if the prompt states the date: once more, with the year.
5. Nothing: the evidence is as good as it gets.
"""

from aiq.offline.chat import ToolCall, call
from aiq.offline.reading import comparisons, evidence, premises, queries, questions
from aiq.offline.reading.assignment import Assignment
from aiq.offline.reading.chain import Progress, Step, follow
from aiq.offline.reading.comparisons import Comparison
from aiq.offline.reading.compose import happens
from aiq.offline.reading.evidence import Evidence
from aiq.offline.reading.premises import Contradiction
from aiq.offline.reading.questions import ParsedQuestion
from aiq.offline.reading.text import contains_name, same_name

CHECKS_PREMISE = 62
"""Percent of (seed, question) in which a researcher that is told to check the premise really does."""

LOOKS_AGAIN = 85
"""Percent of (seed, question, hop) in which it looks a second time for a fact that may be stale."""

SATISFIED = 2.9
"""Score of evidence from which no whole page need be read."""

MOST_TRIES = 3
"""Queries about one hop before it is given up."""


def progress(work: Assignment) -> Progress:
    """How far the documents at hand lead."""
    return follow(work.question, work.documents, now=work.instructions.now, seed=work.seed)


def checks_premise(work: Assignment) -> bool:
    """Whether this researcher, this time, checks what the question takes for granted."""
    wanted = work.question.claim is not None and work.instructions.checks_premise
    return wanted and happens(CHECKS_PREMISE, work.seed, "premise", work.question.text)


def contradicted(work: Assignment) -> Contradiction | None:
    """What speaks against the question's premise, if this researcher checks it and finds something."""
    claim = work.question.claim
    if claim is None or not checks_premise(work):
        return None
    return premises.contradiction(claim, work.documents, now=work.instructions.now, seed=work.seed)


def next_calls(work: Assignment) -> list[ToolCall]:
    """Tool calls to make now; none when it is time to answer."""
    if work.search_tool is None or work.instructions.exhausted:
        return []
    if not work.queries and not work.instructions.rewrites:
        return [work.search(work.question.entity, work.question.text[: queries.MOST])]
    if comparison := comparisons.listed(work.question.text):
        return _for_comparison(work, comparison)
    if premise := _premise_calls(work):
        return premise
    if contradicted(work) is not None:
        return []
    state = progress(work)
    if state.open is not None:
        doubted = _second_look(work, state) if work.queries_about(state.open.subject) else []
        return doubted or _for_open_step(work, state.open, work.question)
    if (page := _page_worth_reading(work, state)) and work.fetch_tool:
        return [call(work.fetch_tool, url=page)]
    return _second_look(work, state)


def _premise_calls(work: Assignment) -> list[ToolCall]:
    """What the claim's probe still needs; nothing once it is answered or given up."""
    claim = work.question.claim
    if claim is None or not checks_premise(work):
        return []
    tested = premises.probe(claim, work.documents, now=work.instructions.now, seed=work.seed)
    if tested is None or tested.open is None:
        return []
    return _for_open_step(work, tested.open, questions.parse(claim.probe))


def _for_open_step(work: Assignment, step: Step, question: ParsedQuestion) -> list[ToolCall]:
    """The next try for a hop without evidence."""
    assert work.search_tool is not None
    if not step.subject:
        query = queries.whole(work.question.text)
        return [] if work.searched(query) else [work.search("", query)]
    options = queries.for_hop(step.subject, step.hop, question, now=work.instructions.now, seed=work.seed)
    fresh = [query for query in options if not work.searched(query)]
    tries = len(options) - len(fresh)
    if fresh and tries < MOST_TRIES:
        return [work.search(step.subject, fresh[0])]
    page = _page_of(work, step.subject)
    if work.fetch_tool and page and page not in work.fetched:
        return [call(work.fetch_tool, url=page)]
    return []


def _for_comparison(work: Assignment, comparison: Comparison) -> list[ToolCall]:
    """The next search for each thing compared, side by side where the request allows parallel calls."""
    found = comparisons.follow(comparison, work.documents, now=work.instructions.now, seed=work.seed)
    calls: list[ToolCall] = []
    for part, state in zip(comparison.parts, found, strict=True):
        if state.open is not None:
            calls += _for_open_step(work, state.open, part)
    return calls if work.parallel else calls[:1]


def _page_of(work: Assignment, subject: str) -> str | None:
    """The retrieved document that is most plainly about the subject."""
    same = [d.key for d in work.documents if same_name(d.title, subject)]
    named = [d.key for d in work.documents if contains_name(d.title, subject)]
    found = [key for key in [*same, *named] if key.startswith("http")]
    return found[0] if found else None


def _page_worth_reading(work: Assignment, state: Progress) -> str | None:
    """The subject's own page, where a snippet answered only half and the whole page was not read yet."""
    last = state.steps[-1]
    if last.found is None or last.found.score >= SATISFIED or not last.subject:
        return None
    page = _page_of(work, last.subject)
    return page if page and page not in work.fetched else None


def _second_look(work: Assignment, state: Progress) -> list[ToolCall]:
    """For the first hop whose evidence may be stale: a dated search, then one for the subject's own page."""
    now = work.instructions.now
    if now is None or work.search_tool is None:
        return []
    for step in state.steps:
        careful = happens(LOOKS_AGAIN, work.seed, "again", work.question.text, step.hop.phrase)
        if not step.stale(now) or not careful:
            continue
        for query in (queries.dated(step.subject, step.hop, now), *_own_page_missing(work, step.subject)):
            if not work.searched(query):
                return [call(work.search_tool, query=query)]
    return []


def _own_page_missing(work: Assignment, subject: str) -> list[str]:
    """A search for the subject alone, where its own page has not been seen: that is where its state of today stands."""
    seen = any(same_name(document.title, subject) for document in work.documents)
    return [] if seen else [subject]


def guess(work: Assignment, step: Step) -> Evidence | None:
    """The best phrase of the wanted type said of the subject, however weak.

    Where the prompt gives no words for a lack of evidence, of anything at hand: somebody who must say something.
    """
    now, avoid = work.instructions.now, work.question.names
    ranked = evidence.search(work.documents, step.subject, step.hop, now=now, avoid=avoid)
    if not ranked and not work.instructions.admits:
        ranked = evidence.search(work.documents, "", step.hop, now=now, avoid=avoid)
    return ranked[0] if ranked else None
