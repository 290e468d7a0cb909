"""Which URLs and addresses the live web may touch: public HTTP(S) and nothing inside a private network.

`check_url` reads the URL as written and gives an early, clear refusal. The protection is `check_address`,
applied to the resolved addresses when a connection is made (`live.py`), whatever the URL looked like.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.llm.http import URL, InvalidURL
from aiq.tools.blocks import safe_url

PORTS = {"http": 80, "https": 443}
"""The only schemes, each with its port; both ports are allowed under both."""

_REFUSED = tuple(
    ip_network(text)
    for text in (
        "100.64.0.0/10",  # carrier-grade NAT (RFC 6598)
        "168.63.129.16/32",  # a cloud's metadata service at a public address
        "192.0.0.0/24",  # IETF protocol assignments
        "192.88.99.0/24",  # 6to4 relays
        "198.18.0.0/15",  # benchmarking networks
        "2001::/23",  # IETF protocol assignments, Teredo among them
        "64:ff9b:1::/48",  # NAT64 of a local network (RFC 8215)
        "3fff::/20",  # documentation (RFC 9637)
        "5f00::/16",  # segment routing (RFC 9602)
        "fec0::/10",  # site-local
    )
)
"""Not global, or not recognised by `is_global` in every Python that we support."""

_NAT64 = IPv6Network("64:ff9b::/96")
_COMPATIBLE = IPv6Network("::/96")


def is_listed(host: str, port: int, hosts: Sequence[str]) -> bool:
    """Whether `web.allow_hosts` exempts host and port: it lists hosts (any port) or `host:port`, ignoring case."""
    literal = f"[{host}]" if ":" in host else host
    return any(entry.lower() in (host, literal, f"{literal}:{port}") for entry in hosts)


def check_url(url: str, allowed: Sequence[str]) -> URL:
    """The URL, parsed by the library that will connect; raises ToolError (`blocked`) saying why not."""
    try:
        parsed = URL(url)
    except (InvalidURL, ValueError) as error:
        raise _blocked(url, f"it is no URL ({error})") from None
    if parsed.scheme not in PORTS:
        raise _blocked(url, "only http and https are fetched")
    if not parsed.host:
        raise _blocked(url, "it names no host")
    if parsed.userinfo:
        raise _blocked(url, "it carries a user name or password")
    port = PORTS[parsed.scheme] if parsed.port is None else parsed.port
    if is_listed(parsed.host, port, allowed):
        return parsed
    if port not in PORTS.values():
        raise _blocked(url, f"port {port} is not allowed; list {parsed.host}:{port} in web.allow_hosts if you trust it")
    if _is_number(parsed.host):
        check_address(parsed.host, url)
    return parsed


def check_address(address: str, subject: str) -> None:
    """Raises ToolError (`blocked`) unless `address` is a public one, written the usual way; `subject` names it."""
    try:
        ip = ip_address(address)
    except ValueError:
        raise _blocked(subject, f"{address} is an address in an unusual spelling") from None
    if not is_public(ip):
        raise _blocked(subject, "it leads to a private, loopback, link-local or reserved address")


def is_public(ip: IPv4Address | IPv6Address) -> bool:
    """Whether an address belongs to the public internet.

    An IPv6 address that leads to an IPv4 one (mapped, compatible, NAT64 or 6to4) is judged by that one.
    """
    if isinstance(ip, IPv6Address):
        by_prefix = IPv4Address(int(ip) & 0xFFFF_FFFF) if ip in _NAT64 or ip in _COMPATIBLE else None
        embedded = by_prefix or ip.ipv4_mapped or ip.sixtofour
        if embedded is not None:
            return is_public(embedded)
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in _REFUSED)


def _is_number(host: str) -> bool:
    """Whether resolvers would read the host as an address: IPv6, or a last label that is a number (WHATWG URL 3.5)."""
    last = host.rstrip(".").rpartition(".")[2].lower()
    return ":" in host or last.isdigit() or (last.startswith("0x") and all(c in "0123456789abcdef" for c in last[2:]))


def _blocked(subject: str, reason: str) -> ToolError:
    return ToolError(ToolErrorKind.BLOCKED, f"{safe_url(subject)[:300]} is not fetched: {reason}")
