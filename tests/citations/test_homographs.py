"""Hosts that look like others."""

import pytest

from aiq.citations.match import SourceIndex
from aiq.citations.sanitise import KnownHosts, mixes_scripts, skeleton
from aiq.citations.urls import canonical_host, rules
from aiq.core.sources import Source

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
    assert index.flags("https://nvidiа.com/a") == FLAGGED
    assert index.flags("https://nvidia.com/b") == ()
    assert index.match_url("https://nvidiа.com/a") is None
