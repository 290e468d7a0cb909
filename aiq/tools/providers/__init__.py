"""Providers of web and paper search: one file each, which `search.provider` or `papers.provider` names.

Each defines one subclass of `SearchProvider` or `PaperProvider`.
"""
