"""Unsafe URLs in every spelling, and hosts that imitate others; `reports.jsonl` has what verification does with them.

A row of `unsafe.jsonl`: URL, the rule it breaks (null: none); of `look_alikes.jsonl`: known hosts, URL, its flags.
"""

from aiq.citations.sanitise import KnownHosts, broken_rule, skeleton
from aiq.citations.urls import canonical_host, rules
from aiq.citations.verify import verify
from aiq.core.run_settings import CitationSettings
from tests.citations.rows import rows
from tests.settings import configured

HIDDEN = ("java" + "\t" * 5000 + "script:alert(1)", "&#" + "0" * 3000 + "106;avascript:alert(1)")


def test_broken_rules() -> None:
    cases = [*rows("unsafe.jsonl"), *((url, "unsafe_scheme") for url in HIDDEN)]
    cases += ((f"https://{host}/abc", "shortened_url") for host in rules().shorteners)
    assert [(url, broken) for url, rule in cases if (broken := broken_rule(url)) != rule] == []


def test_every_scheme_of_the_table() -> None:
    for scheme in rules().unsafe_schemes:
        verified = verify(f"See [this]({scheme}:x) and ![that]({scheme.upper()}:y).", [], configured(CitationSettings))
        assert verified.text == "See this and that.", scheme
        assert [removed.reason for removed in verified.audit.removed_citations] == ["unsafe_scheme"] * 2


def test_look_alikes_are_flagged() -> None:
    wrong = [
        (url, flags) for known, url, flags in rows("look_alikes.jsonl") if [*KnownHosts(known).flags(url)] != flags
    ]
    assert wrong == []


def test_every_confusable_of_the_table() -> None:
    pairs = [(latin, letter) for latin, letters in rules().confusables.items() for letter in letters]
    skeletons = {letter: skeleton(canonical_host(f"x{letter}z.com") or "") for _, letter in pairs}
    assert skeletons == {letter: skeleton(f"x{latin}z.com") for latin, letter in pairs}
