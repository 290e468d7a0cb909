"""Judges score reports: one file a judge, prompts beside them, pure arithmetic in files of its own.

Judges know nothing of agents; `base` is their contract, `asking` the strict way to a judge model.
"""
