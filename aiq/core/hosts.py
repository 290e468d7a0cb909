"""The host names that belong to the offline stack, so that no URL depends on the port it listens on."""

OFFLINE_DOMAIN = "offline.example"
OFFLINE_SERVICES = frozenset({f"model.{OFFLINE_DOMAIN}", f"search.{OFFLINE_DOMAIN}"})
"""Hosts of the offline stack that are APIs; every other host below the domain is a website."""


def is_offline(host: str) -> bool:
    """Whether a host name is one of the offline stack's: `offline.example` or anything below it."""
    return host == OFFLINE_DOMAIN or host.endswith("." + OFFLINE_DOMAIN)


def is_offline_website(host: str) -> bool:
    """Whether a host of the offline stack has pages, and is no API."""
    return host.endswith("." + OFFLINE_DOMAIN) and host not in OFFLINE_SERVICES
