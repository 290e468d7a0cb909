"""AI-Q, rebuilt from its specification: intent classifier, clarifier, shallow and deep researcher, escalation."""
