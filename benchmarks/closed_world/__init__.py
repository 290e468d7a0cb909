"""The generator of the closed world: invented entities, dated facts, pages, and datasets made from them.

A seed gives the same bytes on every machine. The wheel contains the output, not the generator, and the offline model
sees only the pages.
"""
