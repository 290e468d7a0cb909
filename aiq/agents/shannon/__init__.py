"""Shannon, the staged research workflow. `workflow.py` has the order of its stages, each of which is one file."""
