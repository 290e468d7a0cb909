"""`urls.jsonl` was written by Go's net/url (1.19), so that peculiar URLs are treated identically here."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiq.agents.shannon.rules import extract_doi, extract_domain, normalize_url, registrable_domain
from tests.cases import table

each = table(__file__)

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


@each("doi")
def test_the_doi_of_a_url(url: str, doi: str) -> None:
    assert extract_doi(url) == doi


@each("owner")
def test_the_registrable_domain_of_a_host(host: str, owner: str) -> None:
    assert registrable_domain(host) == owner
