"""Search providers: one file each, found by its name in `search.provider`; each defines a class `Provider`."""
