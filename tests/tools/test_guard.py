from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.tools.guard import AllowList, check_address, check_url, is_public

NOBODY = AllowList([])

INNER = [
    IPv4Network(text)
    for text in ("10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
]
inner_addresses = st.sampled_from(INNER).flatmap(
    lambda net: st.integers(int(net.network_address), int(net.broadcast_address)).map(IPv4Address)
)


def blocked(url: str, allowed: AllowList = NOBODY) -> bool:
    """Whether the URL is refused, as it must be: typed, in one line."""
    refusal = None
    try:
        check_url(url, allowed)
    except ToolError as error:
        refusal = error
    assert refusal is None or (refusal.kind is ToolErrorKind.BLOCKED and len(str(refusal).splitlines()) == 1)
    return refusal is not None


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/path?q=1#x",
        "http://a.example:80/",
        "http://a.example:443/",
        "HTTPS://A.EXAMPLE",
        "http://8.8.8.8/",
        "http://[2606:4700::1111]/",
        "http://维尔.example/",
        "http://3com.example/",
    ],
)
def test_public_urls_pass(url: str) -> None:
    assert not blocked(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a.example",
        "//a.example/",
        "http://",
        "http:///path",
        "file:///etc/passwd",
        "ftp://a.example/",
        "javascript:alert(1)",
        "data:text/html,x",
        "gopher://a.example/",
        "http://user@a.example/",
        "http://user:pw@a.example/",
        "http://a.example\\@127.0.0.1/",
        "http://a.example:22/",
        "http://a.example:8080/",
        "http://a.example:0/",
        "http://a.example:99999/",
        "http://a\n.example/",
        "http://127.0.0.1/",
        "http://127.0.0.1./",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://１２７.0.0.1/",
        "http://0/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[fe80::1%25eth0]/",
        "http://[fd00:ec2::254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:7f00:1::]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://168.63.129.16/",
        "http://100.100.100.200/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
    ],
)
def test_other_urls_are_refused(url: str) -> None:
    assert blocked(url)


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


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True),
        ("2606:4700::1111", True),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::808:808", True),
        ("64:ff9b:1::808:808", False),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),
        ("192.0.0.192", False),
        ("198.18.0.1", False),
        ("203.0.113.7", False),
        ("2001:db8::1", False),
        ("3fff::1", False),
        ("fec0::1", False),
        ("ff02::1", False),
        ("240.0.0.1", False),
        ("0.0.0.0", False),
    ],
)
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


@given(st.ip_addresses(v=4) | st.ip_addresses(v=6))
def test_what_python_calls_private_is_never_public(ip: IPv4Address | IPv6Address) -> None:
    if ip.is_loopback or ip.is_link_local or ip.is_multicast or ip.is_unspecified:
        assert not is_public(ip)
    if isinstance(ip, IPv4Address) and (ip.is_private or ip.is_reserved):
        assert not is_public(ip)


@given(st.text())
def test_any_text_is_refused_or_parsed(url: str) -> None:
    assert isinstance(blocked(url), bool)  # `blocked` looks whether the reason is typed and one line
    assert blocked(f"file://{url}")


def test_listed_hosts_are_exempt_with_the_port_they_are_listed_with() -> None:
    allowed = AllowList(["127.0.0.1:8000", "Intranet.example", "[::1]:9"])
    assert not blocked("http://127.0.0.1:8000/", allowed)
    assert blocked("http://127.0.0.1:8001/", allowed)
    assert blocked("http://127.0.0.1/", allowed)
    assert not blocked("http://intranet.example:81/", allowed)
    assert not blocked("http://[::1]:9/", allowed)
    assert blocked("ftp://intranet.example/", allowed)
    assert blocked("http://user@intranet.example/", allowed)
    with pytest.raises(ToolError, match=r"list a\.example:8080 in web\.allow_hosts"):
        check_url("http://a.example:8080/", allowed)


@pytest.mark.parametrize("address", ["010.0.0.1", "1.2.3", "nonsense", ""])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ToolError, match="unusual spelling"):
        check_address(address, "a.example")
