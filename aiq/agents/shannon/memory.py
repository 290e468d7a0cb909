"""Stage -1, memory: what was said earlier in the conversation, the latest of it and the most like the question."""

from typing import Any

from aiq.agents.shannon.settings import MemorySettings
from aiq.agents.shannon.state import ResearchState


class Remember:
    def __init__(self, settings: MemorySettings) -> None:
        self._settings = settings

    async def run(self, state: ResearchState) -> dict[str, Any]:
        return {}
