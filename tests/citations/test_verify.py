"""Verification beyond `reports.jsonl`: kinds of source, flags, edits in rounds, hostile nesting."""

import time

import pytest

from aiq.citations.repair import apply_edits
from aiq.citations.verify import verify
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source
from tests.settings import configured

ONE = (Source(url="https://v.com/1"),)


def test_sources_of_kinds_that_are_not_accepted_verify_nothing_and_are_named() -> None:
    sources = (
        Source(url="https://v.com/1", kind="mentioned"),
        Source(url="https://v.com/1", kind="echoed"),
        Source(url="https://v.com/2", kind="echoed"),
        Source(citation_key="report.pdf, p.15", kind="mentioned"),
    )
    text = "A [1][2][3][4].\n\n## References\n[1] https://v.com/1\n[2] https://v.com/2\n[3] https://v.com/3\n"
    text += "[4] report.pdf, p.15\n"
    removed = verify(text, sources, configured(CitationSettings)).audit.removed_citations
    assert [r.seen_as for r in removed] == ["mentioned", "echoed", None, "mentioned"]
    settings = configured(CitationSettings, accept=("retrieved", "mentioned"))
    valid = verify(text, sources, settings).audit.valid_citations
    assert [v.target for v in valid] == ["https://v.com/1", "report.pdf, p.15"]


def test_a_look_alike_host_is_flagged() -> None:
    text = "A [1].\n\n## References\n[1] https://\u0430pple.com/x\n"
    (removed,) = verify(text, [Source(url="https://apple.com/x")], configured(CitationSettings)).audit.removed_citations
    assert (removed.reason, removed.flags) == ("url_not_in_registry", ("homograph_host",))


def test_every_edit_says_why() -> None:
    text = "A [2] and [9], [1]. B [3].\n\n## References\n[1] https://nope.com\n[2] http://v.com/1/x/../\n[3] https://v.com/1\n"
    assert [edit.rule for edit in verify(text, ONE, configured(CitationSettings)).edits] == [
        *("renumbered", "dangling", "url_not_in_registry", "renumbered"),
        *("url_not_in_registry", "renumbered", "rewritten_url", "duplicate_of_citation_2"),
    ]


@pytest.mark.parametrize("depth", [3, 30, 3000])
def test_however_deep_marks_are_nested_the_rounds_end(depth: int) -> None:
    text = f"So {'[9 ' * depth}{']' * depth} it is [1].\n\n## References\n\n[1] https://v.com/1\n"
    start = time.perf_counter()
    verified = verify(text, ONE, configured(CitationSettings))
    assert time.perf_counter() - start < 10
    assert apply_edits(text, verified.edits) == verified.text
    assert verify(verified.text, ONE, configured(CitationSettings)).edits == ()
    assert verified.audit.dangling == (9,)
