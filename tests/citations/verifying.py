"""What tests of verified reports share: the sources, and a verification that must change nothing when repeated."""

from aiq.citations.verify import Verified, verify
from aiq.core.sources import Source

SOURCES = (
    Source(url="https://v.com/1", title="One"),
    Source(url="https://v.com/2/", title="Two"),
    Source(url="https://v.com/3", title="Three"),
    Source(citation_key="report.pdf, p.15"),
)


def check(body: str, entries: str, expected: str, sources: tuple[Source, ...] = SOURCES) -> Verified:
    """Verify a report with a list, compare, and verify again, which must change nothing."""
    verified = verify(f"{body}\n\n## References\n\n{entries}\n", sources)
    assert verified.text == expected
    again = verify(verified.text, sources)
    assert again.text == verified.text
    assert (again.edits, again.audit.removed_citations, again.audit.dangling) == ((), (), ())
    return verified


def reasons(verified: Verified) -> list[tuple[int | None, str]]:
    return [(removed.number, removed.reason) for removed in verified.audit.removed_citations]
