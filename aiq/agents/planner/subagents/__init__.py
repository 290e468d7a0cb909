"""The sub-agents, one per file; `base.Registry` finds them."""
