"""The think tool: a place for an agent to write down its reasoning. It does nothing and is never a source."""

from pydantic import BaseModel, Field

from aiq.core.tools import ToolResult


class ThinkArguments(BaseModel):
    """Arguments of `think`."""

    thought: str = Field(description="What you found, what is missing, what you will do next.")


class Think:
    """`think`: gives the thought back, so that it is in the conversation and in the event log."""

    name = "think"
    description = (
        "Write down your reasoning: take stock of what was found, check it against the task, decide on the next step. "
        "Retrieves nothing and changes nothing."
    )
    parameters: type[BaseModel] = ThinkArguments
    data_source: str | None = None

    async def run(self, arguments: ThinkArguments) -> ToolResult:
        return ToolResult(content=f"Thought recorded: {arguments.thought}")
