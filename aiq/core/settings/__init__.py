"""The settings of a run: what Hydra composes, validated. One class a config group.

Agents, judges and datasets validate their own settings (`Settings` on the class that `target`
names); here they are carried as they came.
"""

from aiq.core.settings.base import Endpoint, Plugin, Settings
from aiq.core.settings.llm import LlmSettings, Price, RetrySettings, RoleSettings
from aiq.core.settings.run import (
    CassetteSettings,
    CheckpointerSettings,
    DatasetSettings,
    OfflineSettings,
    RunnerSettings,
    RunSettings,
    UserSettings,
)
from aiq.core.settings.world import CitationSettings, KnowledgeSettings, PapersSettings, SearchSettings, WebSettings

__all__ = [
    "CassetteSettings",
    "CheckpointerSettings",
    "CitationSettings",
    "DatasetSettings",
    "Endpoint",
    "KnowledgeSettings",
    "LlmSettings",
    "OfflineSettings",
    "PapersSettings",
    "Plugin",
    "Price",
    "RetrySettings",
    "RoleSettings",
    "RunSettings",
    "RunnerSettings",
    "SearchSettings",
    "Settings",
    "UserSettings",
    "WebSettings",
]
