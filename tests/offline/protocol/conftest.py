"""Clients of the offline stack that all tests share."""

from collections.abc import Iterator

import pytest
from openai import OpenAI

from aiq.core.llm_settings import LlmSettings
from aiq.llm.http import AsyncClient
from aiq.llm.transport import open_client
from tests.settings import configured


def plain(port: int) -> AsyncClient:
    """A client for requests that need no session."""
    llm = {"base_url": "http://model.offline.example/v1", "model": "offline-1", "retry": {"attempts": 1}}
    return open_client(configured(LlmSettings, **llm), offline_port=port)


@pytest.fixture(scope="session")
def client(offline_port: int) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"http://127.0.0.1:{offline_port}/v1", api_key="none", max_retries=0) as openai_client:
        yield openai_client
