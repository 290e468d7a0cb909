"""What research agents share: structured answers, tools, budgets, summaries, subagents, conversations, reports."""
