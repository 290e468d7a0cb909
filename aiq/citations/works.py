"""Which addresses mean one work: the forms of a DOI and of an arXiv paper, as segments of one host's path.

A work's identifier is one segment, however many slashes it has: it is never cut, and nothing lies below it.
"""

import re

from aiq.citations.hosts import under
from aiq.citations.rules import rules

Segments = tuple[str, ...]

_DOI = re.compile(r"(?:doi:)?(10\.\d{4,9}/.+)", re.IGNORECASE | re.DOTALL)
_PUBLISHED = re.compile(
    r"doi/(?:(?:abs|full|pdf|epdf|pdfplus|pdfdirect|epub|epdfplus|reader)/)?"
    r"(10\.\d{4,9}/.+?)(?:/(?:full|abstract|pdf|epdf))?",
    re.IGNORECASE | re.DOTALL,
)
_ARXIV = re.compile(
    r"(?:abs|pdf|html|format)/(\d{4}\.\d{4,5}(?:v\d+)?|[a-z-]+(?:\.[a-z]{2})?/\d{7}(?:v\d+)?)(?:\.pdf)?(/.+)?",
    re.IGNORECASE | re.DOTALL,
)
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)", re.DOTALL)
_ARXIV_HOSTS = frozenset({"arxiv.org", "export.arxiv.org", "ar5iv.org", "ar5iv.labs.arxiv.org"})
_DOI_HOSTS = frozenset({"doi.org", "dx.doi.org"})


def canonical_work(host: str, segments: Segments) -> tuple[str, Segments]:
    """Host and segments of the address that stands for the work; those given where they name none.

    `dx.doi.org` is `doi.org`, and DOIs ignore case (DOI Handbook 2.4); so is `/doi/10...` on the
    publishers' hosts of `rules.toml` (abstract, full text and PDF are one work), and nowhere else.
    Abstract, PDF and HTML of an arXiv paper, and its DOI, are one; versions are told apart.
    """
    if host in _ARXIV_HOSTS:
        paper = _ARXIV.fullmatch("/".join(segments))
        return "arxiv.org", ("abs", paper[1].lower() + (paper[2] or "")) if paper else segments
    if host in _DOI_HOSTS:
        host, doi = "doi.org", _DOI.fullmatch("/".join(segments))
    elif segments and segments[0].lower() == "doi" and under(host, rules().doi_hosts):
        doi = _PUBLISHED.fullmatch("/".join(segments))
    else:
        return host, segments
    if doi is None:
        return host, segments
    name = doi[1].lower()
    paper = _ARXIV_DOI.fullmatch(name)
    return ("arxiv.org", ("abs", paper[1])) if paper else ("doi.org", (name,))
