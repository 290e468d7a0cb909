"""The sub-agents, one a file; `base.Registry` finds them."""
