import json
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.tools.guard import check_address, check_url, is_public

INNER = [
    IPv4Network(text)
    for text in ("10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
]
inner_addresses = st.sampled_from(INNER).flatmap(
    lambda net: st.integers(int(net.network_address), int(net.broadcast_address)).map(IPv4Address)
)


def blocked(url: str, *allowed: str) -> bool:
    """Whether the URL is refused, as it must be: typed, in one line."""
    try:
        check_url(url, allowed)
    except ToolError as error:
        return (error.kind, len(str(error).splitlines())) == (ToolErrorKind.BLOCKED, 1)
    return False


ROWS = [json.loads(line) for line in Path(__file__).with_name("urls.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(("url", "refused"), [(row["url"], row["refused"]) for row in ROWS if "url" in row])
def test_which_urls_are_refused(url: str, refused: bool) -> None:
    assert blocked(url) is refused


@given(inner_addresses)
def test_no_spelling_of_an_inner_address_passes(ip: IPv4Address) -> None:
    number, octets = int(ip), ip.packed
    spellings = [
        str(ip),
        f"{ip}.",
        str(number),
        hex(number),
        oct(number).replace("0o", "0"),
        ".".join(hex(octet) for octet in octets),
        ".".join(f"0{octet:o}" for octet in octets),
        f"{octets[0]}.{int.from_bytes(octets[1:], 'big')}",
        f"[::ffff:{ip}]",
        f"[::{ip}]",
        f"[64:ff9b::{ip}]",
        f"[2002:{octets[0]:02x}{octets[1]:02x}:{octets[2]:02x}{octets[3]:02x}::1]",
    ]
    for spelling in spellings:
        assert blocked(f"http://{spelling}/"), spelling


@pytest.mark.parametrize(("address", "public"), [(row["address"], row["public"]) for row in ROWS if "public" in row])
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


@given(st.ip_addresses(v=4) | st.ip_addresses(v=6))
def test_what_python_calls_private_is_never_public(ip: IPv4Address | IPv6Address) -> None:
    if ip.is_loopback or ip.is_link_local or ip.is_multicast or ip.is_unspecified:
        assert not is_public(ip)
    if isinstance(ip, IPv4Address) and (ip.is_private or ip.is_reserved):
        assert not is_public(ip)


@given(st.text())
def test_any_text_is_refused_in_one_line_or_parsed(url: str) -> None:
    assert blocked(url) or check_url(url, ())
    assert blocked(f"file://{url}")


def test_listed_hosts_are_exempt_with_the_port_they_are_listed_with() -> None:
    allowed = ("127.0.0.1:8000", "Intranet.example", "[::1]:9")
    assert not blocked("http://127.0.0.1:8000/", *allowed)
    assert blocked("http://127.0.0.1:8001/", *allowed)
    assert blocked("http://127.0.0.1/", *allowed)
    assert not blocked("http://intranet.example:81/", *allowed)
    assert not blocked("http://[::1]:9/", *allowed)
    assert blocked("ftp://intranet.example/", *allowed)
    assert blocked("http://user@intranet.example/", *allowed)
    with pytest.raises(ToolError, match=r"list a\.example:8080 in web\.allow_hosts"):
        check_url("http://a.example:8080/", allowed)


@pytest.mark.parametrize("address", ["010.0.0.1", "1.2.3", "nonsense", ""])
def test_anything_but_an_address_is_refused(address: str) -> None:
    with pytest.raises(ToolError, match="unusual spelling"):
        check_address(address, "a.example")
