"""What AI-Q takes from deepagents and what it leaves: small file and todo tools, no third subagent, no summariser.

`tests/agents/ai_q/test_deepagents_contract.py` fails first when a new version changes this.
"""

from functools import cache
from typing import Any

from deepagents import GeneralPurposeSubagentProfile, HarnessProfile, register_harness_profile
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain.agents.middleware import TodoListMiddleware

TASK_DESCRIPTION = """Gives a task to a subagent and returns its reply.

{available_agents}

A subagent sees nothing but the description. Calls in one reply run at the same time."""


@cache
def register_profile() -> None:
    """Take out what deepagents adds unasked, once per process: its registry is global and keyed by provider.

    A third subagent; and its SummarizationMiddleware, which makes model calls that nobody asked for or could
    compare. `ToolResultPruning` is what bounds the conversation instead, without a call.
    """
    register_harness_profile(
        "openai",
        HarnessProfile(
            general_purpose_subagent=GeneralPurposeSubagentProfile(enabled=False),
            excluded_middleware=frozenset({"SummarizationMiddleware"}),
            tool_description_overrides={"task": TASK_DESCRIPTION},
        ),
    )


def files() -> FilesystemMiddleware[Any, Any]:
    """The virtual file system, small: long results stay in the conversation, where the endpoint sees them."""
    return FilesystemMiddleware(
        tools=["ls", "read_file", "write_file"],
        tool_token_limit_before_evict=None,
        human_message_token_limit_before_evict=None,
        custom_tool_descriptions={
            "ls": "Lists the shared files below a path such as /shared.",
            "read_file": "Reads a shared file.",
            "write_file": "Writes a text to a shared file; a file of that name is replaced.",
        },
    )


def todos() -> TodoListMiddleware[Any]:
    """The list of steps; how to use it stands in our prompt, which takes the place of the middleware's."""
    return TodoListMiddleware(tool_description="Replaces your list of steps, each pending, in_progress or completed.")
