"""Shannon, rebuilt from its specification: a staged research workflow from memory to verification."""
