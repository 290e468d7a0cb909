"""Agents that are anything else: here, reports that already exist."""
