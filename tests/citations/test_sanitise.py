"""Unsafe URLs in every spelling, and hosts that pass for others."""

import pytest

from aiq.citations.match import SourceIndex
from aiq.citations.sanitise import KnownHosts, broken_rule, mixes_scripts, skeleton
from aiq.citations.urls import canonical_host, rules
from aiq.citations.verify import verify
from aiq.core.settings import CitationSettings
from aiq.core.sources import Source
from tests.settings import configured

KNOWN = KnownHosts(["nvidia.com", "paypal.com", "e.com", "xn--mller-kva.de"])

FLAGGED = ("homograph_host",)


@pytest.mark.parametrize(
    "url",
    [
        "https://nvidiа.com/a",  # a Cyrillic letter among Latin ones
        "https://www.pаypal.com/",
        "https://xn--pypal-4ve.com/",  # the same, as it travels
        "https://раураl.com/",
        "https://sub.gооgle.com/",
        "https://аррӏе.com/",  # Cyrillic throughout, and all of it passes for Latin
        "https://nvldia.com/",
        "https://nv1dia.com/",
        "https://paypa1.com/",
        "https://nvídia.com/",
        "https://εxample.com/",
    ],
)
def test_look_alikes_are_flagged(url: str) -> None:
    expected = () if "nvldia" in url or "nv1dia" in url else FLAGGED  # l and i are told apart
    assert KNOWN.flags(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "https://nvidia.com/a",
        "https://пример.рф/",
        "https://новости.com/",
        "https://müller.de/",
        "https://bücher.de/",
        "https://日本語テスト.jp/",
        "https://news日本.jp/",
        "https://한국abc.kr/",
        "https://other.com/",
        "https://rnedia.org/",
        "http://[::1]/",
        "not a url",
    ],
)
def test_others_are_not(url: str) -> None:
    assert KNOWN.flags(url) == ()


@pytest.mark.parametrize(
    ("latin", "letter"),
    [(latin, letter) for latin, letters in sorted(rules().confusables.items()) for letter in letters],
)
def test_every_confusable_of_the_table(latin: str, letter: str) -> None:
    host = canonical_host(f"x{letter}z.com")
    assert host is not None
    assert skeleton(host) == skeleton(f"x{latin}z.com")


def test_pairs_that_pass_for_one_letter() -> None:
    assert KnownHosts(["modern.com"]).flags("https://modem.com") == FLAGGED
    assert KnownHosts(["wired.com"]).flags("https://vvired.com") == FLAGGED


def test_scripts_within_one_label_only() -> None:
    assert not mixes_scripts(canonical_host("новости.example.com") or "")
    assert mixes_scripts(canonical_host("ноvости.example.com") or "")


def test_the_index_knows_its_hosts() -> None:
    index = SourceIndex([Source(url="https://nvidia.com/a")])
    assert index.hosts.flags("https://nvidiа.com/a") == FLAGGED
    assert index.hosts.flags("https://nvidia.com/b") == ()
    assert index.match_url("https://nvidiа.com/a") is None


SPECIFIED = (
    "bit.ly tinyurl.com t.co goo.gl ow.ly is.gd buff.ly short.io rb.gy cutt.ly lnkd.in soo.gd s.coop cli.gs"
    " budurl.com yourls.org"
)

BROKEN = [
    *((f"https://{host}/x", "shortened_url") for host in SPECIFIED.split()),
    # S3
    ("HTTP://bit.ly/x", "shortened_url"),
    ("https://user@bit.ly/x", "shortened_url"),
    ("https://foo.bit.ly/x", "shortened_url"),
    ("https://www.bit.ly/x", "shortened_url"),
    ("https://bit.ly./x", "shortened_url"),
    ("https://bit.ly:443/x", "shortened_url"),
    ("https://%62it.ly/x", "shortened_url"),
    *((f"https://{host}/x", "shortened_url") for host in ("t.ly", "tiny.cc", "rebrand.ly", "shorturl.at", "t.cn")),
    ("https://bit。ly/x", "shortened_url"),
    ("https://ｂｉｔ.ly/x", "shortened_url"),
    ("https://b\u00adit.ly/x", "shortened_url"),
    ("https://bit&#46;ly/x", "shortened_url"),
    ("https%3A%2F%2Fbit.ly/x", "shortened_url"),
    ("https://e.com@bit.ly/x", "shortened_url"),
    *((f"https://{host}/x", "shortened_url") for host in ("b23.tv", "m.tb.cn", "ppt.cc", "v.douyin.com", "git.io")),
    # garbled in the host
    ("https://nvidia...", "truncated_url"),
    ("https://e...com/a", "truncated_url"),
    ("https://e…", "truncated_url"),
    ("https://bit.ly\\@e.com/x", "shortened_url"),
    ("https:\\\\bit.ly/x", "shortened_url"),
    ("//bit.ly/x", "shortened_url"),
    ("https:bit.ly/x", "shortened_url"),
    ("https:////bit.ly/x", "shortened_url"),
    ("https://bit.ly../x", "shortened_url"),
    # S2
    ("http://192.168.0.1/a", "ip_address_url"),
    ("HTTPS://192.168.0.1", "ip_address_url"),
    ("http://8.8.8.8:8080/", "ip_address_url"),
    ("http://user@10.0.0.1", "ip_address_url"),
    ("http://2130706433/", "ip_address_url"),
    ("http://0x7f000001/", "ip_address_url"),
    ("http://0x7f.0x0.0x0.0x1/", "ip_address_url"),
    ("http://0177.0.0.1/", "ip_address_url"),
    ("http://127.1/", "ip_address_url"),
    ("http://127.0.0.1./", "ip_address_url"),
    ("http://１２７.０.０.１/", "ip_address_url"),
    ("http://%31%32%37.0.0.1/", "ip_address_url"),
    ("http://[::1]/", "ip_address_url"),
    ("http://[::ffff:10.0.0.1]/", "ip_address_url"),
    ("http://[2001:db8::1]:80/", "ip_address_url"),
    ("ftp://10.0.0.1/", "ip_address_url"),
    ("http://0300.0250.0.1/", "ip_address_url"),
    ("http://0xC0.0250.1/", "ip_address_url"),
    ("http://0x/", "ip_address_url"),
    ("http://192.168.1/", "ip_address_url"),
    ("http://017700000001/", "ip_address_url"),
    ("http://①②⑦.⓪.⓪.①/", "ip_address_url"),
    ("http://127。0。0。1/", "ip_address_url"),
    ("http://0x7F000001:80/", "ip_address_url"),
    ("http://[fe80::1%25eth0]/", "ip_address_url"),
    ("http://[::ffff:7f00:1]/", "ip_address_url"),
    ("http://[0:0:0:0:0:ffff:127.0.0.1]/", "ip_address_url"),
    ("http://user:pw@[::1]:8080/", "ip_address_url"),
    ("http://e.com@10.0.0.1/", "ip_address_url"),
    ("http:10.0.0.1/", "ip_address_url"),
    ("http:/\\10.0.0.1/", "ip_address_url"),
    ("//10.0.0.1/x", "ip_address_url"),
    ("http://10.0.0.1#@e.com/", "ip_address_url"),
    ("http://foo.0x7f.1/", "ip_address_url"),
    # private and local names
    ("http://localhost/a", "private_host"),
    ("http://LOCALHOST:8000/a", "private_host"),
    ("http://app.localhost/", "private_host"),
    ("http://intranet/", "private_host"),
    ("http://printer.local/", "private_host"),
    ("http://db.internal/", "private_host"),
    ("http://router.home.arpa/", "private_host"),
    ("http://localhost./", "private_host"),
    ("http://user@localhost/", "private_host"),
    ("http://localhost%2E/", "private_host"),
    ("http://metadata.google.internal/", "private_host"),
    ("http://10.0.0.1.nip.io/", "private_host"),
    # S1
    ("javascript:alert(1)", "unsafe_scheme"),
    ("java\nscript:alert(1)", "unsafe_scheme"),
    ("java\r\n\tscript:alert(1)", "unsafe_scheme"),
    (" \x00\x1fjavascript:alert(1)", "unsafe_scheme"),
    ("java" + "\t" * 5000 + "script:alert(1)", "unsafe_scheme"),
    ("java\u200bscript:alert(1)", "unsafe_scheme"),
    ("java\u00adscript:alert(1)", "unsafe_scheme"),
    ("ｊａｖａｓｃｒｉｐｔ:alert(1)", "unsafe_scheme"),
    ("java%0Ascript:alert(1)", "unsafe_scheme"),
    ("%6A%61%76%61script%3aalert(1)", "unsafe_scheme"),
    ("javascript%253Aalert(1)", "unsafe_scheme"),
    ("java&Tab;script&colon;alert(1)", "unsafe_scheme"),
    ("java&NewLine;script:alert(1)", "unsafe_scheme"),
    ("&#x6A;avascript:alert(1)", "unsafe_scheme"),
    ("&#106avascript:alert(1)", "unsafe_scheme"),
    ("&#" + "0" * 3000 + "106;avascript:alert(1)", "unsafe_scheme"),
    ("&amp;#106;avascript:alert(1)", "unsafe_scheme"),
    ("JaVaScRiPt:alert(1)", "unsafe_scheme"),
    ("java\tscript:alert(1)", "unsafe_scheme"),
    ("\x01javascript:alert(1)", "unsafe_scheme"),
    ("java%73cript:alert(1)", "unsafe_scheme"),
    ("javascript%3Aalert(1)", "unsafe_scheme"),
    ("&#106;avascript:alert(1)", "unsafe_scheme"),
    ("javascript&colon;alert(1)", "unsafe_scheme"),
    ("data:text/html,<b>", "unsafe_scheme"),
    ("vbscript:x", "unsafe_scheme"),
    ("file:///etc/passwd", "unsafe_scheme"),
    ("blob:https://e.com/1", "unsafe_scheme"),
    ("view-source:https://e.com", "unsafe_scheme"),
    # S4
    ("https://e.com/a...", "truncated_url"),
    ("https://e.com/a...)", "truncated_url"),
    ("https://e.com/a…", "truncated_url"),
    ("https://e.com/a…/b", "truncated_url"),
    ("https://e.com/.../b", "truncated_url"),
    ("https://e.com/[...]", "truncated_url"),
    ("https://e.com/%E2%80%A6", "truncated_url"),
    ("https://e.com/\ufffd", "truncated_url"),
    ("https://e.com/%ef%bf%bd", "truncated_url"),
    ("https://e.com/a/...?x=1", "truncated_url"),
    ("https://e.com/lo⋯", "truncated_url"),
    ("https://e.com/…?x=1", "truncated_url"),
]

FINE = [
    "https://e.com",
    "https://e.com/",
    "http://1.2.3.4.example.com/",
    "https://1.1.1.1.sslip.example.org/",
    "https://mybit.ly/x",
    "https://bit.ly.example.com/x",
    "https://at.co/x",
    "https://localhost.example.com/",
    "https://e.com/javascript:alert(1)",
    "https://e.com/?u=http://10.0.0.1/",
    "https://github.com/o/r/compare/v1...v2",
    "https://e.com/a.",
    "https://e.com/a%20b",
    "https://e.com/?a=1&hellip=2",
    "https://e.com/?next=javascript:x",
    "https://t.co.example.com/",
    "https://e123.com/",
    "https://e.com:10/",
    "https://4chan.example/",
    "https://xn--mller-kva.de/",
    "mailto:a@e.com",
    "#section",
    "page.html",
]


@pytest.mark.parametrize(("url", "rule"), BROKEN)
def test_broken_rules(url: str, rule: str) -> None:
    assert broken_rule(url) == rule


@pytest.mark.parametrize("url", FINE)
def test_look_alikes_are_fine(url: str) -> None:
    assert broken_rule(url) is None


@pytest.mark.parametrize("host", sorted(rules().shorteners))
def test_every_shortener_of_the_table(host: str) -> None:
    assert broken_rule(f"https://{host}/abc") == "shortened_url"


@pytest.mark.parametrize("scheme", sorted(rules().unsafe_schemes))
def test_every_scheme_of_the_table(scheme: str) -> None:
    verified = verify(f"See [this]({scheme}:x) and ![that]({scheme.upper()}:y).", [], configured(CitationSettings))
    assert verified.text == "See this and that."
    assert [removed.reason for removed in verified.audit.removed_citations] == ["unsafe_scheme"] * 2


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Read [this](javascript:alert(1)) now.", "Read this now."),  # S1
        ("Read ![this](data:text/html;base64,AA) now.", "Read this now."),  # S1
        ("Read <javascript:alert(1)> now.", "Read now."),
        ("Read javascript:alert(1) now.", "Read now."),
        ("Read [this](  <JAVASCRIPT:alert(1)> 'title') now.", "Read this now."),
        ("Read https://bit.ly/x now.", "Read now."),
        ("Read this (https://bit.ly/x).", "Read this."),
        ("Read this: http://192.168.0.1/a.", "Read this:."),
        ("Read [https://bit.ly/x](https://bit.ly/x) now.", "Read now."),
        ('Read <a href="javascript:alert(1)">this</a> now.', 'Read <a href="">this</a> now.'),
        ("Read <a href='&#106;avascript:x' id=a>this</a> now.", "Read <a href='' id=a>this</a> now."),
        ('<div>\n<img src="data:text/html,x" alt="a">\n</div>', '<div>\n<img src="" alt="a">\n</div>'),
        ('<script src="https://bit.ly/x.js"></script>', '<script src=""></script>'),
        ('Read <script async src="https://bit.ly/x.js">x</script>.', 'Read <script async src="">x</script>.'),
        (
            'Read <a ping="https://bit.ly/x" title="x > y" href="javascript:x">it</a>.',
            'Read <a ping="" title="x > y" href="">it</a>.',
        ),
        ('<img srcset="https://e.com/a 1x, https://bit.ly/x 2x">', '<img srcset="https://e.com/a 1x,  2x">'),
        ('<pre>\n<a href="javascript:x">\n</pre>', '<pre>\n<a href="">\n</pre>'),  # a browser shows it as a link
        ('<pre>\n<a title="<" href="javascript:x">\n</pre>', '<pre>\n<a title="<" href="">\n</pre>'),
        ('So <code>a[1] <a href="javascript:x">b</a></code> is.', 'So <code>a[1] <a href="">b</a></code> is.'),
        ("So <code>a[1] [b](javascript:x)</code> is.", "So <code>a[1] b</code> is."),
        ("<pre>\n&lt;a href=&quot;javascript:x&quot;&gt;, a[1], https://bit.ly/x\n</pre>", None),
        ("<script>\na = '<a href=\"javascript:x\">' + b[1]\n</script>", None),
        (
            'So <svg><a xlink:href="javascript:x"><text>[9]</text></a></svg>.',
            'So <svg><a xlink:href=""><text>[9]</text></a></svg>.',
        ),
        ('<a href="https://e.com/a">this</a>', None),
        ("Read [this][a].\n\n[a]: javascript:alert(1)\n", "Read [this][a].\n\n[a]:\n"),
        ("Read [this][a].\n\n[a]: <java&#115;cript:alert(1)>\n", "Read [this][a].\n\n[a]:\n"),
        ("Read [this][a].\n\n[a]:\njava&#115;cript:alert(1)\n", "Read [this][a].\n\n[a]:\n\n"),
        ("Read [this][a].\n\n> - [a]: java&#115;cript:alert(1) 'so'\n", "Read [this][a].\n\n> - [a]: 'so'\n"),
        ("Read [this][a].\n\n[a]: https://e.com/a\n", None),
        ("读https://t.cn/x，再读。", "读，再读。"),
        ("Data: we found 3. JavaScript: a language. file: none.", None),
        ("Read `https://bit.ly/x` and\n\n    http://10.0.0.1/\n", None),
        ("postgres://db.example.com/x and artifact://42 and ftp://e.com/x", None),
        ("Read [the page](https://e.com/a) and https://e.com/b, [mail](mailto:a@e.com), [part](#part).", None),
    ],
)
def test_bodies(body: str, expected: str | None) -> None:
    assert verify(body, [], configured(CitationSettings)).text == (body if expected is None else expected)


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        ("click: javascript:alert(1)", "unsafe_scheme"),  # S1
        ("[x](javascript:alert(1))", "unsafe_scheme"),  # S1
        ("A - HTTP://bit.ly/x", "shortened_url"),
        ("A - https://10.0.0.1/x", "ip_address_url"),
        ("A - http://localhost/x", "private_host"),
        ("A - https://e.com/cut...", "truncated_url"),
        ("A - (https://e.com/cut...)", "truncated_url"),  # S4
        ("A - ftp://e.com/x", "unsafe_scheme"),
    ],
)
def test_entries(entry: str, rule: str) -> None:
    verified = verify(f"So it is [1].\n\n## References\n\n[1] {entry}\n", [], configured(CitationSettings))
    assert verified.text == "So it is.\n"
    assert [removed.reason for removed in verified.audit.removed_citations] == [rule]


SHORTENERS = (
    "bit.ly tinyurl.com t.co goo.gl ow.ly is.gd buff.ly short.io rb.gy cutt.ly lnkd.in soo.gd s.coop cli.gs"
    " budurl.com yourls.org"
)


@pytest.mark.parametrize("host", SHORTENERS.split())
@pytest.mark.parametrize("url", ["https://{}/x", "HTTP://www.{}:8080/x", "https://user@sub.{}./x"])
def test_shorteners(host: str, url: str) -> None:
    assert broken_rule(url.format(host)) == "shortened_url"
