"""Providers of paper search: one file each, found by its name in `papers.provider`; each defines a class `Provider`."""
