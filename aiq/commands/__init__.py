"""One thin file a command: `add_arguments(parser)` and `run(args) -> int`; the first docstring line is its help."""
