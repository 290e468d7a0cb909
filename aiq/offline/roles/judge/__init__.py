"""Programs of the judges."""
