"""Judges score reports: one file a judge, prompts beside them, arithmetic in files of its own.

Judges know nothing of agents; `base` is what they subclass, `structured` the strict way to a judge model.
"""
