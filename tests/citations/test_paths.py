"""The tree of paths against a plain reading of its rules, which looks at every source."""

from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.match import AMBIGUOUS, PathIndex
from aiq.citations.urls import ParsedUrl, read_url

segments = st.lists(st.sampled_from(["a", "b", ""]), max_size=4)
queries = st.lists(st.sampled_from(["x=1", "x=2", "y=1", "y=1"]), max_size=3)


def _url(host: str, path: list[str], query: list[str], route: str) -> ParsedUrl:
    url = read_url(f"https://{host}/{'/'.join(path)}{'?' if query else ''}{'&'.join(query)}{route}")
    assert url is not None
    return url


urls = st.builds(_url, st.sampled_from(["e.com", "f.com"]), segments, queries, st.sampled_from(["", "", "#/r"]))


def _one(numbers: list[int]) -> int | None:
    return None if not numbers else numbers[0] if len(numbers) == 1 else AMBIGUOUS


def _continuing(sources: list[ParsedUrl], url: ParsedUrl) -> int | None:
    if url.query or url.route:
        return None
    size = len(url.segments)
    return _one(
        [
            n
            for n, s in enumerate(sources)
            if s.site == url.site and s.segments[:size] == url.segments and s.key != url.key
        ]
    )


def _parent(sources: list[ParsedUrl], url: ParsedUrl) -> int | None:
    for depth in range(len(url.segments) - 1, 1, -1):
        above = url.segments[:depth]
        here = [n for n, s in enumerate(sources) if (s.site, s.segments) == (url.site, above)]
        plain = [n for n in here if not sources[n].query and not sources[n].route]
        if here and sum(map(bool, above)) >= 2:
            return _one(plain or here)
    return None


def _with_parameters(sources: list[ParsedUrl], url: ParsedUrl) -> int | None:
    def has(source: ParsedUrl) -> bool:
        counts = all(source.query.count(pair) >= url.query.count(pair) for pair in url.query)
        return (source.site, source.segments) == (url.site, url.segments) and counts and url.route in ("", source.route)

    return _one([n for n, s in enumerate(sources) if has(s)]) if url.query else None


@given(st.lists(urls, max_size=8, unique_by=lambda url: url.key), urls)
def test_the_tree_gives_what_looking_at_every_source_gives(sources: list[ParsedUrl], url: ParsedUrl) -> None:
    index = PathIndex()
    for number, source in enumerate(sources):
        index.add(number, source)
    if url.key not in {source.key for source in sources}:  # an equal URL is found before
        assert index.continuing(url) == _continuing(sources, url)
    assert index.parent(url) == _parent(sources, url)
    found = index.with_parameters(url)
    assert (None if found == AMBIGUOUS else found) == _unique(_with_parameters(sources, url))


def _unique(number: int | None) -> int | None:
    return None if number == AMBIGUOUS else number


def test_a_path_of_any_depth() -> None:
    index = PathIndex()
    deep = "https://e.com/" + "/".join("abc"[n % 3] for n in range(3000))
    for number, url in enumerate((deep, deep + "/x")):
        parsed = read_url(url)
        assert parsed is not None
        index.add(number, parsed)
    below, above = read_url(deep + "/x/y"), read_url(deep[:-2])
    assert below is not None
    assert above is not None
    assert index.parent(below) == 1
    assert index.continuing(above) == AMBIGUOUS
