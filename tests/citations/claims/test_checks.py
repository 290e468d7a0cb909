"""The claims of an audited report: which statement is checked against which source."""

from aiq.citations.audit import audit_report
from aiq.citations.claims.checks import check_claims
from aiq.citations.matching import SourceIndex
from aiq.citations.parsing import parse_report
from aiq.core.sources import Source

SOURCES = [
    Source(url="https://a.example/x", text="Halden Works was founded in 1912 by Ilan Corvey, an engineer from Orm."),
    Source(url="https://b.example/y", text="The harbour festival draws visitors from the whole coast every summer."),
    Source(url="https://c.example/z"),
]
REPORT = """# Halden

Halden Works was founded in 1912 [1][2]. It was founded in 1915 [1]. See [the page](https://a.example/x) of Halden.
Nobody knows [3]. Invented [4].

## References
[1] https://a.example/x
[2] https://b.example/y
[3] https://c.example/z
[4] https://nowhere.example/q
"""


def test_every_statement_meets_every_source_that_it_validly_cites() -> None:
    audit = audit_report(parse_report(REPORT), SourceIndex(SOURCES))
    checks = check_claims(audit)
    assert [(c.statement.text, c.source.url, c.entry, c.support.verdict) for c in checks] == [
        ("Halden Works was founded in 1912.", "https://a.example/x", 0, "supported"),
        ("Halden Works was founded in 1912.", "https://b.example/y", 1, "unsupported"),
        ("It was founded in 1915.", "https://a.example/x", 0, "unsupported"),
        ("See the page of Halden.", "https://a.example/x", None, checks[3].support.verdict),
        ("Nobody knows.", "https://c.example/z", 2, "unknown"),
    ]
    assert checks[3].body_url == 0
    assert checks[4].support.reasons == ("the source has no text",)
