"""The planner: eight sub-agents and the data tools of a run, over an exhaustive scan with honest coverage."""
