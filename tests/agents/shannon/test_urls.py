"""`urls.jsonl` was written by Go's net/url (1.19), so that peculiar URLs are treated identically here."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiq.agents.shannon.rules import extract_doi, extract_domain, normalize_url, registrable_domain

ROWS = [json.loads(line) for line in Path(__file__).with_name("urls.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[row["url"] or "empty" for row in ROWS])
def test_a_url_is_normalised_as_go_does(row: dict[str, str]) -> None:
    assert normalize_url(row["url"]) == row["normalized"]
    assert extract_domain(row["url"]) == row["domain"]


@settings(max_examples=30)
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
def test_the_registrable_domain_of_a_host(host: str, owner: str) -> None:
    assert registrable_domain(host) == owner
