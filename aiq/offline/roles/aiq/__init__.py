"""Programs of the AI-Q roles."""
