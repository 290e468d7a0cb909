"""Unsafe URLs in every spelling, and hosts that pass for others; what becomes of them is in `reports.jsonl`.

A row of `unsafe.jsonl`: URL, the rule it breaks (null: none); of `look_alikes.jsonl`: known hosts, URL, its flags.
"""

import pytest

from aiq.citations.sanitise import KnownHosts, broken_rule, skeleton
from aiq.citations.urls import canonical_host, rules
from aiq.citations.verify import verify
from aiq.core.run_settings import CitationSettings
from tests.citations.rows import rows
from tests.settings import configured

HIDDEN = ("java" + "\t" * 5000 + "script:alert(1)", "&#" + "0" * 3000 + "106;avascript:alert(1)")


@pytest.mark.parametrize(("url", "rule"), [*rows("unsafe.jsonl"), *((url, "unsafe_scheme") for url in HIDDEN)])
def test_broken_rules(url: str, rule: str | None) -> None:
    assert broken_rule(url) == rule


@pytest.mark.parametrize("host", sorted(rules().shorteners))
def test_every_shortener_of_the_table(host: str) -> None:
    assert broken_rule(f"https://{host}/abc") == "shortened_url"


@pytest.mark.parametrize("scheme", sorted(rules().unsafe_schemes))
def test_every_scheme_of_the_table(scheme: str) -> None:
    verified = verify(f"See [this]({scheme}:x) and ![that]({scheme.upper()}:y).", [], configured(CitationSettings))
    assert verified.text == "See this and that."
    assert [removed.reason for removed in verified.audit.removed_citations] == ["unsafe_scheme"] * 2


@pytest.mark.parametrize(("known", "url", "flags"), rows("look_alikes.jsonl"))
def test_look_alikes_are_flagged(known: list[str], url: str, flags: list[str]) -> None:
    assert list(KnownHosts(known).flags(url)) == flags


@pytest.mark.parametrize(
    ("latin", "letter"),
    [(latin, letter) for latin, letters in sorted(rules().confusables.items()) for letter in letters],
)
def test_every_confusable_of_the_table(latin: str, letter: str) -> None:
    host = canonical_host(f"x{letter}z.com")
    assert host is not None
    assert skeleton(host) == skeleton(f"x{latin}z.com")
