"""Planted claims: statements and pages of the closed world with a known verdict, to choose thresholds by."""
