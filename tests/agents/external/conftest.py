"""An attempt's session without models or tools, which agents of finished reports must not need."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from aiq.citations.registry import SourceRegistry
from aiq.core.events import EventLog
from aiq.core.samples import SampleKey
from aiq.core.session import ApprovingUser, Session
from aiq.core.settings import CitationSettings
from aiq.core.usage import Limits
from tests.settings import configured


@pytest.fixture
def attempt() -> Callable[..., Session]:
    """`attempt(sample_id, web)`: a session of its first epoch."""

    def make(sample_id: str, web: Any = None) -> Session:
        nothing: Any = None
        return Session(
            key=SampleKey(sample_id, 1),
            run_seed=0,
            now=datetime(2026, 11, 1, tzinfo=UTC),
            models=nothing,
            tools=nothing,
            web=web,
            user=ApprovingUser(),
            citations=configured(CitationSettings),
            limits=configured(Limits),
            events=EventLog(lambda event: None),
            sources=SourceRegistry(),
        )

    return make
