"""A run on disk: its rows, manifest, folder and journal, and its summary. Nothing here makes a run."""
