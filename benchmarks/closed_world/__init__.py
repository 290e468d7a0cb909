"""The generator of the closed world: invented entities, dated facts, pages, and datasets made from them.

One seed gives the same bytes on every machine. The wheel has what this makes, not the generator, and the offline model
sees only the pages.
"""
