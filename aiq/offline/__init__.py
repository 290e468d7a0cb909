"""The offline stack: a model endpoint, a search API and a small web on this machine, with no key and no network.

Outside this package, only its command, the config that names it, and tests import it.
"""
