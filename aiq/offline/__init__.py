"""The offline stack: a model endpoint, a search API and a small web on this machine, no key, no network.

Nothing outside imports this package but its command, the config that names it, and tests.
"""
