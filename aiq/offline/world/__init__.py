"""The generator of the closed world: invented entities, dated facts, pages, and datasets made from them.

One seed gives the same bytes on every machine. Nothing but `aiq offline world` and tests imports it:
the offline model never sees what is known here, only the pages.
"""
