"""A report taken apart for judging: its prose without any trace of citations.

Judges of content must not be swayed by how much is cited (the official RACE lets a model take
citations out). What is a mark, a list or a URL is decided by `aiq.citations`; the report itself is
never changed.
"""

from aiq.citations.body import cut, trimmed
from aiq.citations.parsing import parse_report
from aiq.citations.statements import PRIVATE, VOID, hidden, without_pins


def without_citations(text: str) -> str:
    """The report without reference lists, citation marks and link targets; code stays as it is."""
    parsed = parse_report(text.translate(PRIVATE))
    edits = [(found.start, found.end, "") for found in parsed.lists]
    edits += [(start, end, sign) for start, end, sign in hidden(parsed) if start < end or sign == VOID]
    return trimmed(without_pins(cut(parsed.text, edits)))
