"""What is missing between what a task wants and what the findings say, and the queries that would find it."""

import re
from collections import Counter
from collections.abc import Sequence

from aiq.core.base import Record
from aiq.offline.reading import facts, knowledge, outline, prose
from aiq.offline.reading.facts import Wanted
from aiq.offline.reading.findings import Finding
from aiq.offline.reading.knowledge import Knowledge, Thing
from aiq.offline.reading.tasks import Task
from aiq.offline.reading.text import names, words

ENOUGH = 8
"""Findings with which a section counts as supported."""

_TERM = re.compile(r"\b[a-z]{4,}(?:[- ][a-z]{4,})\b")


class Gap(Record):
    """`text` for people, `query` for a researcher."""

    text: str
    query: str


def query_about(name: str, part: knowledge.Part, wanted: Wanted, *, chinese: bool) -> str:
    """`Halden Works: headquarters, founder`: a thing and what the task wants of it."""
    nouns = [facts.noun(relation, chinese=chinese) for relation in knowledge.relations_of(part, wanted)]
    return f"{name}：{'、'.join(nouns)}" if chinese else f"{name}: {', '.join(nouns)}"


def of_things(known: Knowledge, wanted: Wanted, *, chinese: bool) -> list[Gap]:
    """Things that nobody looked up, then facts that stayed open about those that somebody did."""
    found = [_not_looked_up(thing, wanted, chinese=chinese) for thing in known.waiting]
    for thing in known.looked_up:
        open_ = [r for r in knowledge.relations_of(thing.part, wanted) if not thing.has(r)]
        # Only what other things of the same part have: a company has no year of publication.
        common = [r for r in open_ if sum(o.has(r) for o in known.looked_up if o.part == thing.part) > 1]
        for relation in common[:1]:
            noun = facts.noun(relation, chinese=chinese)
            text = f"{thing.name}：未找到{noun}" if chinese else f"{thing.name}: no findings on {noun}"
            found.append(Gap(text=text, query=f"{thing.name}：{noun}" if chinese else f"{thing.name}: {noun}"))
    return found


def _not_looked_up(thing: Thing, wanted: Wanted, *, chinese: bool) -> Gap:
    reason = f" ({thing.because})" if thing.because and not chinese else ""
    text = f"{thing.name}：尚未查找" if chinese else f"{thing.name}{reason}: not looked up yet"
    return Gap(text=text, query=query_about(thing.name, thing.part, wanted, chinese=chinese))


def of_sections(task: Task, titles: Sequence[str], found: Sequence[Finding], asked: Sequence[str]) -> list[Gap]:
    """Sections with few findings, then terms that the findings use often and no query named.

    A section that was searched for by its own words before is searched for beside such a term.
    """
    terms = _terms(task, found, asked)
    gaps = []
    for number, title in enumerate(title for title in titles if not outline.is_conclusion(title)):
        if sum(fits(f.text, title, task.subject) for f in found) >= ENOUGH:
            continue
        text = f"{title}：证据不足" if task.chinese else f"{title}: few findings"
        query = section_query(task, title)
        if query in asked and terms:
            query = f"{section_query(task, title, most=3)} {terms[number % len(terms)]}"
        gaps.append(Gap(text=text, query=query))
    for term in terms:
        text = f"{term}：值得进一步查找" if task.chinese else f"{term}: named by the findings, not looked up yet"
        gaps.append(Gap(text=text, query=f"{core(task, most=3)} {term}"))
    unique = {gap.query: gap for gap in gaps}
    return [gap for query, gap in unique.items() if query not in asked]


def fits(sentence: str, title: str, subject: str) -> bool:
    """Whether a sentence belongs to a section: it shares a word of the title's own, or shows the title's aspect."""
    if set(outline.own_words(title, subject)) & set(words(sentence)):
        return True
    aspect = outline.aspect_of(title)
    return aspect is not None and re.search(aspect.told, sentence, re.IGNORECASE) is not None


def core(task: Task, most: int = 7) -> str:
    """The subject in few words, for queries."""
    if task.chinese:
        return task.subject[:16]
    keys = set(task.keys)
    parts = [part for part in re.findall(r"[\w-]+", f"{task.context} {task.subject}") if set(words(part)) & keys]
    return " ".join(list(dict.fromkeys(parts))[:most])


def section_query(task: Task, title: str, most: int = 7) -> str:
    """The subject, in `most` words, and what the section's title adds to it.

    For a section that any report has, its aspect's search words.
    """
    aspect = outline.aspect_of(title)
    if aspect is not None and title in (aspect.en, aspect.zh):
        return f"{core(task, most)} {aspect.search_zh if task.chinese else aspect.search_en}"
    own = set(outline.own_words(title, task.subject)) - set(words(core(task, most)))
    plain = [part for part in re.findall(r"[\w-]+", title) if set(words(part)) & own]
    return f"{core(task, most)} {title if task.chinese else ' '.join(plain[:8])}".strip()


def _terms(task: Task, found: Sequence[Finding], asked: Sequence[str]) -> list[str]:
    """Names and two-word terms that several findings use and no query named, most frequent first."""
    known = {word for query in (*asked, task.text) for word in words(query)}
    counts: Counter[str] = Counter()
    for finding in found:
        terms = {*names(finding.text), *_TERM.findall(finding.text)} if not task.chinese else set()
        counts.update(sorted(t for t in terms if words(t) and not set(words(t)) <= known))
    common = [(count, term) for term, count in counts.items() if count > 1 and len(words(term)) > 1]
    chosen: list[str] = []
    for _, term in sorted(common, key=lambda item: (-item[0], item[1])):
        if not any(prose.alike(term, other) for other in chosen):
            chosen.append(term)
    return chosen[:6]
