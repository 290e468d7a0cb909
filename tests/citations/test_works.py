"""The forms of a DOI and of an arXiv paper."""

import pytest

from aiq.citations.urls import parse_url


def key(url: str) -> object:
    parsed = parse_url(url)
    assert parsed is not None
    return parsed.key


@pytest.mark.parametrize(
    "url",
    [
        "https://doi.org/10.1126/science.abc1234",
        "http://dx.doi.org/10.1126/SCIENCE.abc1234",
        "https://www.doi.org/10.1126/science.abc1234",
        "https://doi.org/10.1126%2Fscience.abc1234",
        "https://doi.org/doi:10.1126/science.abc1234",
        "https://www.science.org/doi/10.1126/science.abc1234",
        "https://www.science.org/doi/abs/10.1126/science.abc1234",
        "https://science.org/doi/full/10.1126/science.abc1234",
        "https://www.science.org/doi/pdf/10.1126/science.abc1234",
        "https://www.science.org/doi/epdf/10.1126/science.abc1234/",
        "https://www.science.org/doi/10.1126/science.abc1234/full",
    ],
)
def test_one_doi(url: str) -> None:
    assert key(url) == key("https://doi.org/10.1126/science.abc1234")


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.com/doi/10.1126/science.abc1234",  # anybody can write this path
        "https://science.org.evil.com/doi/10.1126/science.abc1234",
        "https://www.science.org/doi/suppl/10.1126/science.abc1234",  # something else about it
        "https://www.science.org/doi/10.1126/science.abc12345",
        "https://www.science.org/content/10.1126/science.abc1234",
        "https://doi.org/10.1126/science.abc1234/x",
        "https://doi.org/10.1126",
    ],
)
def test_other_addresses(url: str) -> None:
    assert key(url) != key("https://doi.org/10.1126/science.abc1234")


@pytest.mark.parametrize(
    "url",
    [
        "https://arxiv.org/abs/1706.03762",
        "http://www.arxiv.org/pdf/1706.03762",
        "https://arxiv.org/pdf/1706.03762.pdf",
        "https://export.arxiv.org/abs/1706.03762",
        "https://arxiv.org/html/1706.03762",
        "https://ar5iv.labs.arxiv.org/html/1706.03762",
        "https://doi.org/10.48550/arXiv.1706.03762",
    ],
)
def test_one_paper(url: str) -> None:
    assert key(url) == key("https://arxiv.org/abs/1706.03762")


def test_old_identifiers_and_versions() -> None:
    assert key("https://arxiv.org/pdf/math.GT/0309136v1.pdf") == key("https://arxiv.org/abs/math.GT/0309136v1")
    assert key("https://arxiv.org/abs/hep-th/9901001") != key("https://arxiv.org/abs/hep-th/9901001v2")
    assert key("https://arxiv.org/list/cs.CL/recent") != key("https://arxiv.org/abs/cs.CL/recent")


def test_nothing_lies_below_a_paper() -> None:
    """It is one segment, as a DOI is, so that no made-up page below it passes for a part of it."""
    parsed = parse_url("https://arxiv.org/abs/1706.03762/appendix")
    assert parsed is not None
    assert parsed.segments == ("abs", "1706.03762/appendix")
