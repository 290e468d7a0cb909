"""An attempt's session without models or tools, which agents of finished reports must not need."""

from collections.abc import Callable
from typing import Any

import pytest

from aiq.core.samples import SampleKey
from aiq.core.session import Session
from tests.sessions import make_session


@pytest.fixture
def attempt() -> Callable[..., Session]:
    """`attempt(sample_id, web)`: a session of its first epoch."""

    def make(sample_id: str, web: Any = None) -> Session:
        return make_session(key=SampleKey(sample_id, 1), web=web)

    return make
