"""A report as a sample's page shows it: its citations marked with what their audit found, and with their passages."""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import chain, pairwise
from typing import Final

from aiq.citations.files import AuditCase, audited
from aiq.citations.passages import Passage
from aiq.core.errors import UserError
from aiq.core.run_settings import CitationSettings
from aiq.runs.manifest import Manifest
from aiq.runs.rows import SampleRow
from aiq.site.audit_page import EXPLAINED, Citation, ListedEntry, annotated_report, cause, citations_of, explanation
from aiq.site.markdown import Json, render

_CONTEXT: Final = 240
"""Characters before and after a passage."""
_ALIGNED: Final = re.compile(r' style="text-align:(\w+)"')


def safe_html(text: str) -> str:
    """Markdown as HTML without inline styles, which the site's policy forbids."""
    return _aligned(render(text))


def _aligned(html: str) -> str:
    return _ALIGNED.sub(r' class="\1"', html)


def marked_report(row: SampleRow, places: Mapping[str, int], manifest: Manifest) -> Json:
    """The report as it was written, its citations marked; and as it was delivered, if that is a different text."""
    text = row.raw_report or row.report
    if text is None:
        return {"report": None, "delivered": None, "cited": []}
    delivered = safe_html(row.report) if row.report is not None and row.report != text else None
    try:
        settings = manifest.section("citations", CitationSettings)
    except UserError:  # a run of another version, whose settings are no longer known
        return {"report": safe_html(text), "delivered": delivered, "cited": []}
    audit = audited(AuditCase(text, row.known_sources, settings, row.sample_id, row.epoch))
    citations = citations_of(audit)
    numbers = {citation.id: number for number, citation in enumerate(citations)}

    def open_tag(citation: Citation) -> str:
        removed = " gone" if citation.removed else ""
        return f'<a class="cite {citation.outcome or "unchecked"}{removed}" href="#c{numbers[citation.id]}">'

    def entry_list(entries: Sequence[ListedEntry]) -> str:
        return f'<div class="entries">{"".join(part for entry in entries for part in _entry(entry, numbers))}</div>'

    uncited = '<span class="uncited">uncited</span>'
    return {
        "report": _aligned(annotated_report(audit, citations, open_tag, lambda _: "</a>", entry_list, uncited)),
        "delivered": delivered,
        "cited": [_citation(citation, places) for citation in citations],
    }


def _entry(entry: ListedEntry, numbers: Mapping[str, int]) -> Iterator[str]:
    """An entry of a reference list, and the heading above it."""
    finding = entry.found
    if entry.before:
        yield f"<h3>{escape(entry.before)}</h3>"
    outcome = finding.outcome or "unchecked"
    verdict = outcome if cause(finding) == outcome else f"{outcome}: {cause(finding)}"
    times = f"cited {len(entry.cited)}x" if entry.cited else "never cited"
    link = f'<a class="inner" href="#c{numbers[entry.cited[0]]}">{times}</a>' if entry.cited else times
    yield f'<p class="entry {outcome}"><b>[{finding.entry.number}]</b> {escape(finding.entry.text)}'
    yield f'<span class="said"><b>{escape(verdict)}</b> {link}</span></p>'


def _words_before(text: str, end: int) -> str:
    """Some words before a place in a text, the first one whole."""
    words = text[max(0, end - _CONTEXT) : end]
    return words if end <= _CONTEXT else words[words.find(" ") + 1 :]


def _parts(passage: Passage) -> list[str]:
    """The passage's text in parts, every second of which shares words with the statement."""
    ends = [0, *chain.from_iterable(passage.shared), len(passage.text)]
    return [passage.text[start:end] for start, end in pairwise(ends)]


def _citation(citation: Citation, places: Mapping[str, int]) -> Json:
    targets = []
    for label, finding in citation.targets:
        source = finding.match.source.address if finding.match else ""
        flags = [f"{note}: {EXPLAINED[note]}" for note in (*finding.flags, finding.seen_as) if note]
        why = {"outcome": finding.outcome or "unchecked", "cause": cause(finding), "why": explanation(finding)}
        targets.append({"label": label, "target": finding.target, "source": places.get(source), "flags": flags, **why})
    passages = []
    for label, cited in citation.passages:
        closest, text = cited.passage, cited.source.text
        record = closest and {
            "before": _words_before(text, closest.start),
            "parts": _parts(closest),
            "after": text[closest.end : closest.end + _CONTEXT],
        }
        passages.append(
            {"label": label, "source": places.get(cited.source.address), "said": cited.statement.text, "found": record}
        )
    outcome = citation.outcome or "unchecked"
    return {"shown": citation.shown, "outcome": outcome, "targets": targets, "passages": passages}
