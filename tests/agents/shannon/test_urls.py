"""`urls.jsonl` was written by Go's net/url (1.19), so that peculiar URLs are as peculiar here."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.agents.shannon.rules import extract_doi, extract_domain, normalize_url, registrable_domain

ROWS = [json.loads(line) for line in Path(__file__).with_name("urls.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[row["url"] or "empty" for row in ROWS])
def test_a_url_is_normalised_as_go_does(row: dict[str, str]) -> None:
    assert normalize_url(row["url"]) == row["normalized"]
    assert extract_domain(row["url"]) == row["domain"]


WORD = st.text("abcXYZ019-_.~é中", min_size=1, max_size=6).filter(lambda text: set(text) != {"."})


@given(
    host=st.sampled_from(["example.com", "WWW.Example.com", "a.b.co.uk:8080"]),
    path=st.lists(WORD, max_size=3).map("/".join),
    slash=st.sampled_from(["", "/"]),
    query=st.lists(st.tuples(st.one_of(WORD, st.sampled_from(["ref", "utm_term"])), WORD), max_size=4),
    fragment=st.sampled_from(["", "#top"]),
)
def test_normalising_twice_is_normalising_once(
    host: str, path: str, slash: str, query: list[tuple[str, str]], fragment: str
) -> None:
    parts = "&".join(f"{key}={value}" for key, value in query)
    once = normalize_url(f"https://{host}/{path}{slash if path else ''}?{parts}x=1{fragment}")
    assert normalize_url(once) == once
    assert "#" not in once
    assert not {"ref", "utm_term"} & {part.partition("=")[0] for part in once.partition("?")[2].split("&")}


@given(st.text(max_size=40))
def test_any_text_has_a_normal_form_and_a_domain(text: str) -> None:
    assert isinstance(normalize_url(text), str)
    extract_domain(text).encode()
    extract_doi(text)


@pytest.mark.parametrize(
    ("url", "doi"),
    [
        ("https://doi.org/10.1000/XYZ", "10.1000/XYZ"),
        ("http://dx.doi.org/10.1000/xyz?x=1", "10.1000/xyz"),
        ("https://doi.org/about", "about"),  # of such a host whatever the path is
        ("https://doi.org/", ""),
        ("https://example.com/a?doi=10.1000%2Fabc", "10.1000/abc"),
        ("https://example.com/10.2000/path?doi=10.1000/query", "10.1000/query"),
        ("https://example.com/doi/full/10.1038/s41586-020-2649-2", "10.1038/s41586-020-2649-2"),
        ("https://example.com/DOI/10.1002/(SICI)1097;2-x", "10.1002/(SICI)1097;2-x"),
        ("https://example.com/10.123/short", ""),  # a registrant has four digits or more
        ("https://example.com/10.1234567890/long", ""),
        ("https://example.com/10.1234", ""),
        ("https://example.com/a#10.1000/xyz", ""),
        ("10.1000/xyz", "10.1000/xyz"),
        ("https://example.com/%zz/10.1000/xyz", ""),
        ("", ""),
    ],
)
def test_the_doi_of_a_url(url: str, doi: str) -> None:
    assert extract_doi(url) == doi


@pytest.mark.parametrize(
    ("host", "owner"),
    [
        ("docs.stripe.com", "stripe.com"),
        ("news.bbc.co.uk", "bbc.co.uk"),
        ("acme.github.io", "acme.github.io"),
        ("localhost", "localhost"),
        ("not a host", "not a host"),
        ("", ""),
    ],
)
def test_what_an_owner_registers(host: str, owner: str) -> None:
    assert registrable_domain(host) == owner
