"""The HTTP API over agents: tasks, their events as they happen, approvals, keys and limits (extra `serve`)."""
