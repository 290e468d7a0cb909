"""The entry point for requests for a judgement: what is to be judged, and the reply in the requested form."""

import json
import re
from collections.abc import Callable
from typing import Final

from aiq.citations.parse import parse_report
from aiq.citations.passages import cited_statements, without_citations
from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.engine.text import name_spans
from aiq.offline.judging.credit import credit
from aiq.offline.judging.facts import DATA
from aiq.offline.judging.quality import DIMENSIONS, dimension_of, quality
from aiq.offline.judging.request import Case, read_case
from aiq.offline.judging.support import same_statement, support

IN_FRONT: Final = 0.1
"""Points out of ten that the first article gains from its position: a bias planted so that calibration can find it."""
NOISE: Final = 0.2
"""Points out of ten by which a score varies either way with the judge's mood; doubled for a single article."""

_MAX_LENGTH: Final = 3_000_000
_LETTER = re.compile(r"\b([A-Z])(?:[:.)]|[\"'] for)\s*[\"']?(correct|incorrect|not_attempted)", re.IGNORECASE)
_OPTION_PAIRS = (("yes", "no"), ("true", "false"))
_NUMBERED_LINE = re.compile(r"^\s*(\d+)[.)、:]\s*(.+)$", re.MULTILINE)
_PRONOUN = re.compile(r"^(?:It|He|She|They)\b")


def judge(request: ChatRequest) -> ChatReply | None:
    """The judgement that a request asks for; None if it asks for none, or its form is not recognised."""
    agentic = request.tools or any(message.role == "tool" for message in request.messages)
    if agentic or sum(len(message.text) for message in request.messages) > _MAX_LENGTH:
        return None
    case = read_case(request)
    instructions = " ".join([*case.keys, case.wanted])
    texts = (
        attempt(case)
        for roles, pattern, attempt in _JUDGEMENTS
        if case.material.keys() >= {*roles.split()} and re.search(pattern, instructions, re.IGNORECASE)
    )
    return next((ChatReply(text=text) for text in texts if text is not None), None)


def _criteria_scores(case: Case) -> str | None:
    """A score on every criterion for one article, or for two that are compared."""
    try:
        criteria = json.loads(case.last("criteria"))
    except (ValueError, RecursionError):
        return None
    well_formed = isinstance(criteria, dict) and all(isinstance(items, list) for items in criteria.values())
    if not well_formed or "criterion" not in case.keys:
        return None
    card: dict[str, list[object]] = {dimension: [] for dimension in criteria}
    for dimension, number, item in ((name, *row) for name, items in criteria.items() for row in enumerate(items)):
        fields = [*map(str, item.values())] if item and isinstance(item, dict) else [str(item)]
        scores = _scores(case, ". ".join(fields), dimension, number)
        entry = case.entry(reason=f"{fields[0]}: {' : '.join(map(str, scores))}.", other=fields[0])
        card[dimension].append(entry | dict(zip((key for key in case.keys if "score" in key), scores, strict=False)))
    return json.dumps(card, ensure_ascii=False)


def _scores(case: Case, criterion: str, dimension: str, number: int) -> list[float]:
    """The scores of all articles on one criterion, on the requested scale, with noise and position bias."""
    articles, (low, high) = case.material["article"][-2:], case.scale
    rng, noise = case.rng("judging", dimension, number), NOISE * (3 - len(articles))
    scores = []
    for position, article in enumerate(articles):
        rival = articles[1 - position] if len(articles) > 1 else ""
        merit = quality(article, criterion, case.last("task"), rival, dimension)
        bias = rng.uniform(-noise, noise) + IN_FRONT * (position < len(articles) - 1)
        score = low + (high - low) * (merit + bias / 10 if merit else 0.0)
        scores.append(round(min(high, max(low, score)), 1 if high - low >= 5 else 2))
    return scores


def _verdicts(case: Case) -> str:
    """Whether each numbered statement about a page is supported."""
    in_part = case.asks(r"some or all|(?:entirely|fully|wholly) or part|部分|in part")
    entries = []
    for number, statement in _NUMBERED_LINE.findall(case.last("statements")) or [("1", case.last("statements"))]:
        verdict = support(statement, case.last("page"), in_part=in_part)
        label = verdict if case.asks(rf"\b{verdict}\b") else "unsupported"
        entries.append(case.entry(verdict=label, reason=f"By the page it is {verdict}.", other=int(number)))
    return case.as_list(entries)


def _duplicates(case: Case) -> str:
    """Which numbered statements say the same: as groups, or as the numbers of those to keep."""
    groups: dict[str, list[int]] = {}
    for number, statement in _NUMBERED_LINE.findall(case.last("statements")):
        first = next((earlier for earlier in groups if same_statement(earlier, statement)), statement)
        groups.setdefault(first, []).append(int(number))
    return case.as_list([members if case.outer else members[0] for members in groups.values()])


def _grading(case: Case) -> str:
    """Whether a response gives an accepted answer, in the words, letters or lines that the prompt asks for."""
    forms = re.split(r"\s+\|\s+|\n(?:[-*]\s*)?", case.last("accepted"))
    finding = credit(case.last("task"), case.last("response"), forms, case.asks(DATA["patterns"]["strict"]))
    verdict = _grade(case, finding.agrees if finding.answers else None)
    boolean = re.search(r":\s*(?:true|false)", case.example) is not None
    bare = f"GRADE: {verdict}" if case.asks("GRADE:") else verdict
    reason, other = " ".join(finding.reason.split()), case.last("response")[:200]
    return case.as_entry(bare, reason=reason, verdict=finding.agrees if boolean else verdict, other=other)


def _grade(case: Case, correct: bool | None) -> str:
    """The verdict as the option that the prompt offers for right, wrong or (None) no answer: a letter or a word."""
    letters = {name.lower(): str(letter) for letter, name in _LETTER.findall(case.wanted)}
    pairs = (pair for pair in _OPTION_PAIRS if case.asks(rf"\b{pair[0]}\b.{{1,60}}\b{pair[1]}\b"))
    state = "not_attempted" if correct is None else "correct" if correct else "incorrect"
    return letters.get(state) or letters.get("incorrect") or next(pairs, ("correct", "incorrect"))[not correct]


def _citations(case: Case) -> str:
    """Every statement of a report that cites a URL, under the key names of the form."""
    blank = None if re.search(r'"ref\w*":\s*\d', case.example) else 0
    rows = _citation_rows(case.last("article"), case.last("listed"))
    return case.as_list([case.entry(url=url, statement=text, other=blank if n is None else n) for text, n, url in rows])


def _citation_rows(text: str, references: str) -> list[tuple[str, int | None, str]]:
    """Every (statement, reference, URL) of a report, or of a part with the reference list `references`, in order.

    A pronoun at the start of a statement is replaced by the last thing named; the reference is None for inline links.
    """
    report = parse_report(f"{text}\n\n## References\n\n{references}" if references else text)
    urls = {entry.number: entry.urls[-1].url for entry in report.entries if entry.urls}
    citations: list[tuple[str, int | None, str]] = []
    subject = ""
    for statement in cited_statements(report):
        sentence = _PRONOUN.sub(subject or r"\g<0>", statement.text)
        subject = next((span.text for span in name_spans(sentence)), subject)
        for mark in (report.marks[at] for at in statement.marks):
            link = report.text[slice(*mark.url)] if mark.url else ""
            citations += [(sentence, n, link or urls[n]) for n in mark.numbers if link or n in urls]
        citations += [(sentence, None, report.body_urls[at].url) for at in statement.body_urls]
    return list(dict.fromkeys(citations))


def _weights(case: Case) -> str | None:
    """Weights of the four dimensions for a task: nearly equal, but more for those that its wording asks for."""
    rng, dimensions = case.rng("weighing"), {key: dimension_of(key) for key in case.keys}
    boosts = [bool(re.search(DIMENSIONS[d]["asked"], case.last("task"), re.IGNORECASE)) for d in dimensions.values()]
    raw = [rng.uniform(0.9, 1.1) + 0.3 * boost for boost in boosts]
    shares = {key: round(weight / sum(raw), 4) for key, weight in zip(dimensions, raw, strict=True)}
    return json.dumps(shares) if {*dimensions.values()} == {*DIMENSIONS} else None


def _new_criteria(case: Case) -> str:
    """Criteria of a dimension for a task, one for each of its first parts, with their weights."""
    parts = re.findall(r"\w[\w -]{3,60}", case.last("task"))[:4]
    label = case.last("dimension") or re.sub(r"\*\*\w[\w -]*:\*\*", "", case.wanted)  # not the list that defines all
    dimension = dimension_of(label).replace("_", " ").capitalize()
    entries = [case.entry(weight=round(1 / len(parts), 4), other=f"{dimension}: {part}") for part in parts]
    return json.dumps(entries, ensure_ascii=False)


def _clean_article(case: Case) -> str | None:
    """The article without its citations, if the prompt asks for the article back."""
    return None if case.example else without_citations(case.last("article"))


_DUPLICATION = r"duplicat|repetition|identical|equivalent|\bthe same\b|去重|重复|相同"
_CLEANING = (
    r"(?s)^(?=.*(?:\b(?:answer with|clean|copy|give|hand|output|repeat|reproduce|return) (?:(?!of|on|about)\w+ ){0,4}?"
    r"(?:article|report|essay|text|it)\b|原样|(?:返回|输出|给出).{0,12}(?:全文|文章|报告|正文)(?!的)))"
    r".*(?:(?:remov|delet|strip|clean|without|minus|leave out|take out).{0,200}(?:citation|sources|references)"
    r"|去[除掉].{0,99}引用)"
)
"""Asks for the article back without its citations."""
_JUDGEMENTS: tuple[tuple[str, str, Callable[[Case], str | None]], ...] = (
    ("task criteria article", r"scor|评分|打分", _criteria_scores),
    ("statements page", "support", _verdicts),
    ("statements", _DUPLICATION, _duplicates),
    ("task response accepted", "", _grading),
    ("article", r"^(?=.*\burl\b)(?=.*\b(?:statement|fact|claim)\b)", _citations),
    ("article", _CLEANING, _clean_article),
    ("task", "weight|权重", _weights),
    ("task", r"^(?=.*\bcriterion\b)(?=.*\bweight\b)", _new_criteria),
)
"""What a request must contain, what its form or instructions must match, and who then judges; the first match wins."""
