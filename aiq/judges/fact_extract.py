"""FACT's first step: extracts statements and the URLs cited for them, by a model, by rules, or by both to compare."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from aiq.citations import passages
from aiq.citations.links import UrlUse
from aiq.citations.marks import Mark
from aiq.citations.parse import parse_report, split_references
from aiq.core.concurrency import gather_bounded
from aiq.core.session import Session
from aiq.judges.fact_questions import FactCitation, FactQuestions, canonical

MIN_SHARED_WORDS: Final = 0.6
"""The least share of common words at which two sentences count as the same statement; see `is_restatement`."""

_WORD: Final = re.compile(r"[^\W_\u3040-\u9fff]+|[\u3040-\u9fff]")


async def extract_by_model(
    questions: FactQuestions, report: str, language: str, session: Session, *, max_chars: int, at_once: int
) -> tuple[list[FactCitation], int]:
    """The citations that a model finds, in order, of URLs in the report; and how many cite other URLs.

    The report is read in pieces of `max_chars`. Raises JudgeError if no answer on a piece is usable.
    """
    known = {url.rstrip("/"): url for url in urls(report)}
    if not known:
        return [], 0
    body, references = split_references(report)
    pieces = await gather_bounded(
        chunks(body, max_chars), lambda piece: questions.citations(session, language, piece, references), at_once
    )
    pairs = [pair for piece in pieces for pair in piece]
    valid = [pair.model_copy(update={"url": known[key]}) for pair in pairs if (key := pair.url.rstrip("/")) in known]
    return valid, len(pairs) - len(valid)


def urls(report: str) -> list[str]:
    """The http(s) URLs that a report cites, in its text or its lists, each once."""
    parsed = parse_report(report)
    listed = (use.url for entry in parsed.entries for use in entry.urls)
    marked = (parsed.text[slice(*mark.url)] for mark in parsed.marks if mark.url is not None)
    cited = [*listed, *marked, *(use.url for use in parsed.body_urls)]
    return list(dict.fromkeys(canonical(url) for url in cited if _is_web(url)))


def _is_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def cited_statements(report: str) -> list[FactCitation]:
    """By rules, every distinct (sentence, URL) pair of the report in order; sentences are without their marks."""
    parsed = parse_report(report)
    entry_urls = {entry.number: entry.urls[0].url for entry in reversed(parsed.entries) if entry.urls}
    citations: dict[FactCitation, None] = {}
    for statement in passages.cited_statements(parsed):
        marks = [parsed.marks[number] for number in statement.marks]
        uses: list[Mark | UrlUse] = [*marks, *(parsed.body_urls[number] for number in statement.body_urls)]
        for use in sorted(uses, key=lambda use: use.start):
            targets: list[tuple[int | None, str]]
            if isinstance(use, UrlUse):
                targets = [(None, use.url)]
            elif use.url is not None:
                targets = [(use.numbers[0], parsed.text[slice(*use.url)])]
            else:
                targets = [(number, entry_urls[number]) for number in use.numbers if number in entry_urls]
            for number, url in targets:
                if _is_web(url):
                    citations[FactCitation(statement=statement.text, reference=number, url=url)] = None
    return list(citations)


def chunks(text: str, max_chars: int) -> list[str]:
    """The text in pieces of at most `max_chars`, cut at paragraphs, else lines or sentences, else anywhere."""
    pieces: list[str] = []
    for paragraph in re.split(r"(?<=\n)\n+", text):
        for piece in _cut(paragraph, max_chars):
            if pieces and len(pieces[-1]) + len(piece) + 1 <= max_chars:
                pieces[-1] += "\n" + piece
            elif piece.strip():
                pieces.append(piece)
    return pieces


def _cut(text: str, max_chars: int) -> Iterator[str]:
    while len(text) > max_chars:
        at = max(text.rfind("\n", 0, max_chars), text.rfind(". ", 0, max_chars) + 1, text.rfind("。", 0, max_chars) + 1)
        at = at if at > max_chars // 2 else max_chars
        yield text[:at]
        text = text[at:]
    yield text


def agreement(model: Sequence[FactCitation], rules: Sequence[FactCitation]) -> dict[str, int]:
    """How many citations each way of extraction found, and how many of them the other found too.

    Two citations are the same if their URLs are equal and their statements `is_restatement`.
    """

    def shared(citations: Sequence[FactCitation], others: Sequence[FactCitation]) -> int:
        return sum(
            any(citation.url == other.url and is_restatement(citation.statement, other.statement) for other in others)
            for citation in citations
        )

    return {
        "model": len(model),
        "rules": len(rules),
        "model_in_rules": shared(model, rules),
        "rules_in_model": shared(rules, model),
    }


def is_restatement(first: str, second: str) -> bool:
    """Whether two statements say the same in other words: they share MIN_SHARED_WORDS of the shorter one's words.

    The shorter one counts because a model completes what rules leave unchanged ("It grew." becomes "The
    port of Tessmark grew."). Case is ignored; each Chinese character is a word.
    """
    words, other_words = (set(_WORD.findall(statement.casefold())) for statement in (first, second))
    return len(words & other_words) >= MIN_SHARED_WORDS * max(1, min(len(words), len(other_words)))
