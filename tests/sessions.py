"""A session for tests, of which each test gives only the parts it needs."""

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
    """A session with the given fields; by default no models, tools or web, shipped settings and an approving user."""
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
