"""A report on a question with a short answer: the answer first, then the evidence that leads to it."""

from collections.abc import Sequence

from aiq.core.seeds import derive
from aiq.offline.reading import findings
from aiq.offline.reading.evidence import Evidence
from aiq.offline.reading.findings import Finding, Reference
from aiq.offline.reading.inquiry import Answer
from aiq.offline.reading.tasks import heading

_LEADS = ("The answer is {answer}", "According to the sources, the answer is {answer}", "In short: {answer}")


def write(question: str, found: Answer, seed: int | None, *, references: bool) -> str:
    """Markdown; where there is no answer it says what is missing."""
    path = list({e.sentence: _of(e) for e in found.path}.values())
    lead = [_of(found.best)] if found.best is not None and found.text else []
    numbers = findings.numbered([*lead, *path])
    blocks = [f"# {heading(question)}", _lead(found, lead, numbers, seed)]
    if path:
        blocks += ["## Evidence", " ".join(findings.cite(finding, numbers) for finding in path)]
    if references and numbers:
        blocks += ["## References", "\n".join(findings.source_lines(numbers))]
    return "\n\n".join(blocks)


def _lead(found: Answer, carried_by: Sequence[Finding], numbers: findings.Numbers, seed: int | None) -> str:
    if not found.text:
        return f"The sources found do not give {found.missing or 'what the question asks'}."
    lead = found.text
    if not found.corrects:
        lead = _LEADS[derive(seed, "short", found.text) % len(_LEADS)].format(answer=found.text)
    return findings.cite(Finding(text=f"{lead}.", sources=carried_by[0].sources), numbers) if carried_by else f"{lead}."


def _of(evidence: Evidence) -> Finding:
    document = evidence.document
    return Finding(text=evidence.sentence, sources=(Reference(key=document.key, title=document.title or document.key),))
