"""What a run is: its folder and journal, its runner, resuming, limits, progress, manifest and summary."""
