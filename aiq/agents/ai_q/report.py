"""The final report of deep research: from the last message or from the file, and kept from when it is first written."""

from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from aiq.agents.langchain_tools import Execute
from aiq.core.errors import AgentError
from aiq.core.session import current

REPORT_FILE = "/report.md"

REPORT_CHARACTERS = 400
"""A last message at least this long, with a Markdown heading, is a report; a shorter one may announce the file's."""


class ReportDraft(AgentMiddleware[Any, Any, Any]):
    """Orchestrator only: a report written to the file is kept at once, so that no later failure loses it."""

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> "ToolMessage | Command[Any]":
        result = await handler(request)
        arguments = request.tool_call["args"]
        path = "/" + str(arguments.get("file_path", "")).lstrip("/")
        failed = isinstance(result, ToolMessage) and result.status == "error"
        if request.tool_call["name"] == "write_file" and path == REPORT_FILE and not failed:
            current().keep_draft(str(arguments.get("content", "")))
        return result


def final_report(last: str, file: str) -> str:
    """The report: the last message, or the file where the message is none. Raises AgentError when both are blank."""
    is_report = len(last.strip()) >= REPORT_CHARACTERS and any(line.startswith("#") for line in last.splitlines())
    chosen = last if is_report or not file.strip() else file
    if not chosen.strip():
        raise AgentError(
            f"the deep researcher wrote no report: its last message is empty and there is no {REPORT_FILE}"
        )
    return chosen.strip()
