"""Generated reports: hostile ones of any fragments, and planned ones whose verified report is known in advance."""

import re
from collections.abc import Sequence

from hypothesis import strategies as st

from aiq.core.sources import Source, SourceKind
from tests.citations.fuzzing import fragments
from tests.citations.fuzzing.addresses import Changes, changed, changes, registries, retrieved_urls
from tests.citations.fuzzing.case import Case, Plan

Link = tuple[int, Changes]
"""A near miss: which of the sources' URLs, and how it is changed."""

_KINDS: tuple[SourceKind, ...] = ("retrieved", "retrieved", "retrieved", "retrieved", "mentioned", "echoed")
_WRITABLE = re.compile(r"https?://[A-Za-z0-9/.?=&%#@:_-]*[A-Za-z0-9/=]")
_ENDS = ("\n", "\n", "\n\n", " ", ".\n", "。\n")
_HEADS = ("\n\n{}\n", "\n\n{}\n", "\n{}\n\n", "\n{} ", "")

_links: st.SearchStrategy[Link] = st.tuples(st.integers(0, 6), changes)
_targets = st.one_of(
    _links, _links, st.sampled_from(fragments.UNSAFE_URLS), st.sampled_from(fragments.DOCUMENTS), retrieved_urls
)
_pieces = st.sampled_from(fragments.PIECES)
_texts = st.lists(_pieces | _pieces | _targets, min_size=4, max_size=20)
_entries = st.tuples(
    st.sampled_from((*fragments.NUMBERINGS, *fragments.ODD_NUMBERINGS)),
    st.sampled_from((0, 0, 0, 1, -1)),
    st.lists(_pieces, max_size=2),
    _targets,
    st.sampled_from(_ENDS),
)
_kinds = st.lists(st.sampled_from(_KINDS), min_size=7, max_size=7)


def _hostile(
    urls: list[str],
    kinds: list[SourceKind],
    documents: list[str],
    body: list[str | Link],
    heading: tuple[str, str],
    entries: list[tuple[str, int, list[str], str | Link, str]],
    tail: list[str | Link],
) -> Case:
    items = [
        form.format(max(1, number + shift), "".join(title), _written(target, urls)) + end
        for number, (form, shift, title, target, end) in enumerate(entries, 1)
    ]
    parts = [*(_written(piece, urls) for piece in body), heading[0].format(heading[1]), *items]
    return Case(
        text="".join([*parts, *(_written(piece, urls) for piece in tail)]),
        sources=(*_sources(urls, kinds), *(Source(citation_key=key) for key in documents)),
    )


def _written(piece: str | Link, urls: Sequence[str]) -> str:
    return piece if isinstance(piece, str) else changed(urls[piece[0] % len(urls)], piece[1])


def _sources(urls: Sequence[str], kinds: Sequence[SourceKind]) -> list[Source]:
    """The sources; each retrieved one has a text, some of them about what the report says."""
    return [
        Source(url=url, kind=kind, text=fragments.SOURCE_TEXTS[len(url) % len(fragments.SOURCE_TEXTS)])
        for url, kind in zip(urls, kinds, strict=False)
    ]


hostile_cases = st.builds(
    _hostile,
    registries,
    _kinds,
    st.lists(st.sampled_from(fragments.DOCUMENTS), max_size=2),
    _texts,
    st.tuples(st.sampled_from(_HEADS), st.sampled_from(fragments.HEADINGS)),
    st.lists(_entries, min_size=1, max_size=5),
    st.lists(_pieces | _targets, max_size=4),
)
"""A body of fragments, mostly followed by a list, sometimes with more text after that."""


def _planned(
    urls: list[str],
    kinds: list[SourceKind],
    links: list[Link],
    sentences: list[tuple[int, int, str, str]],
    heading: str,
    form: str,
    end: str,
) -> Case:
    changed_urls = [_written(link, urls) for link in links]
    cited = [url for url in changed_urls if _is_plain(url)] or [urls[0]]
    numbers = [
        tuple(dict.fromkeys((first % len(cited) + 1, *([second % len(cited) + 1] if "{1}" in mark else []))))
        for first, second, mark, _ in sentences
    ]
    paragraphs = []
    for position, (cites, (_, _, mark, prose)) in enumerate(zip(numbers, sentences, strict=True)):
        cited_marks = (mark if len(cites) > 1 else mark.replace("{1}", "{0}")).format(*cites)
        paragraphs += [f"Fact-{position} of this report {cited_marks}.", prose]
    entries = [form.format(number, f"Title {'abcdef'[number - 1]}", url) for number, url in enumerate(cited, 1)]
    return Case(
        text="\n\n".join([*filter(None, paragraphs), heading, "\n".join(entries)]) + end,
        sources=tuple(_sources(urls, kinds)),
        plan=Plan(cited=tuple(cited), sentences=tuple(numbers)),
    )


def _is_plain(url: str) -> bool:
    """Whether it is clear where a URL ends within a line."""
    return _WRITABLE.fullmatch(url.removesuffix("...").removesuffix("…")) is not None


planned_cases = st.builds(
    _planned,
    registries.filter(lambda urls: _is_plain(urls[0])),
    _kinds,
    st.lists(_links, min_size=2, max_size=6),
    st.lists(
        st.tuples(
            st.integers(0, 5),
            st.integers(0, 5),
            st.sampled_from(fragments.MARKS),
            st.sampled_from(("", "", *fragments.RIGHT_PROSE)),
        ),
        min_size=2,
        max_size=5,
    ),
    st.sampled_from(fragments.HEADINGS),
    st.sampled_from(fragments.NUMBERINGS),
    st.sampled_from(("", "\n")),
)
"""A report in good form: each entry cites a source or a near miss of one, each sentence some of the entries.

The plan determines its verified report; the paragraphs between must not change.
"""

_long_pieces = _pieces | st.sampled_from(("https://v.com/1", *fragments.UNSAFE_URLS[:28]))
long_cases = st.builds(
    lambda begin, unit: Case(text="".join(begin), unit="".join(unit), sources=(Source(url="https://v.com/1"),)),
    st.lists(_long_pieces, max_size=4),
    st.lists(_long_pieces, min_size=1, max_size=4),
)
"""A beginning, and a unit of fragments that is repeated after it."""

look_ups = st.builds(
    lambda urls, links: (urls, [_written(link, urls) for link in links]),
    registries,
    st.lists(_links, min_size=4, max_size=12),
)
"""URLs of sources, and near misses of them to look up."""
