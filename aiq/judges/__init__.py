"""Judges score reports: one file per judge, with prompts in `prompts/` and arithmetic in separate files.

Judges know nothing about agents. `base` has the base class; `structured` asks judge models and parses their answers.
"""
