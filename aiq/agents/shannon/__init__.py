"""Shannon, the staged research workflow. `workflow.py` has the order of the stages; each stage is one file."""
