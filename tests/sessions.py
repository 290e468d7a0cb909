"""A session for tests: the world of one attempt, of which a test gives the parts that it needs."""

from datetime import UTC, datetime
from typing import Any

from aiq.citations.registry import SourceRegistry
from aiq.core.events import EventLog
from aiq.core.run_settings import CitationSettings
from aiq.core.samples import SampleKey
from aiq.core.session import ApprovingUser, Session
from aiq.core.usage import Limits
from tests.settings import configured

NOW = datetime(2026, 11, 1, 9, tzinfo=UTC)


def make_session(**given: Any) -> Session:
    """A session with the fields that are given; else no model, tool or web, shipped settings, an approving user."""
    fields: dict[str, Any] = {
        "key": SampleKey("s1", 1),
        "run_seed": 7,
        "now": NOW,
        "models": None,
        "tools": None,
        "web": None,
        "user": ApprovingUser(),
        "citations": configured(CitationSettings),
        "limits": configured(Limits),
        "events": EventLog(lambda event: None),
        "sources": SourceRegistry(),
    }
    return Session(**{**fields, **given})
