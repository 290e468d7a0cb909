"""What holds for the files that an audit writes, whatever the report: the record, and the page for people."""

import json
import re
from html.parser import HTMLParser

from aiq.citations.files import AuditedReport, AuditRecord
from aiq.site.audit_page import audit_page

_ACTIVE = frozenset(
    ("script", "iframe", "object", "embed", "form", "img", "svg", "math", "base", "link", "input", "video", "audio")
)
"""Elements that run, load or send something; the page has none of its own, so a report brought them in."""


def record_can_be_written(record: AuditRecord, length: int) -> None:
    """The audit as JSON holds places of the report, outcomes with their reasons, and metrics that are shares."""
    row = json.loads(json.dumps(record.model_dump(mode="json")))
    for place in (*row["citations"], *row["entries"], *row["edits"], *row["passages"]):
        assert 0 <= place["start"] <= place["end"] <= length, f"out of the report: {place}"
    for entry in row["entries"]:
        assert (entry["outcome"] == "valid") == (entry["reason"] is None), f"outcome and reason differ: {entry}"
        assert (entry["outcome"] == "valid") == (entry["level"] is not None), f"outcome and level differ: {entry}"
    for name, value in row["metrics"].items():
        assert value is None or value >= 0, f"{name} is {value}"
        assert not (name.endswith("_rate") and value is not None and value > 1), f"{name} is {value}"


def page_is_safe(audit: AuditedReport) -> None:
    """Nothing of the report runs, loads or styles anything in the page, and its links lead to the web."""
    reader = _PageReader()
    reader.feed(audit_page(audit))
    reader.close()


class _PageReader(HTMLParser):
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in _ACTIVE, f"the page has <{tag}>"
        for name, value in attrs:
            assert not name.startswith("on"), f"<{tag}> runs {name}={value!r}"
            assert name != "style" or re.fullmatch(r"text-align: ?\w+", value or ""), f"<{tag}> has style={value!r}"
            assert name not in ("srcdoc", "src", "action", "formaction"), f"<{tag}> has {name}={value!r}"
            if name == "href":
                assert (value or "").lower().startswith(("#", "https://", "http://")), f"the page leads to {value!r}"
