"""External agents: existing reports in files, an HTTP endpoint, or a Python function."""
