"""Providers of web and paper search: a file each, found by its name in `search.provider` or `papers.provider`.

Each defines one child of `SearchProvider` or `PaperProvider`.
"""
