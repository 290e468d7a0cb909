"""The settings that all research agents share."""

import inspect
from pathlib import Path

from pydantic import Field

from aiq.core.files import resolve
from aiq.core.prompts import Prompts
from aiq.core.samples import DataSources
from aiq.core.settings import Settings


class ResearchSettings(Settings):
    """Base of an agent's settings; its prompts are `prompts/*.j2` beside the module of the subclass."""

    data_sources: DataSources = Field(description="ids such as [web], if a question names none; null: all, []: none")
    prompts_dir: str | None = Field(description="a folder of templates that replace shipped ones of the same name")

    def prompts(self) -> Prompts:
        """The templates in use. Raises ConfigError if `prompts_dir` does not fit."""
        variants = None if self.prompts_dir is None else resolve(self.prompts_dir)
        return Prompts(Path(inspect.getfile(type(self))).parent / "prompts", variants, "agent.prompts_dir")
