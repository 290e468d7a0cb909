"""Estimates with intervals, and paired comparisons. Numbers in, numbers out: nothing here reads files."""
