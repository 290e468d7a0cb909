"""Generated URLs: such as tools return, and near misses of the kind that models write.

The strategies are made once and not nested, so that cases are drawn quickly and shrink well.
"""

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from tests.citations.fuzzing import fragments

Change = Callable[[str, int], str]
"""(URL, a number that chooses the place or the replacement) -> changed URL."""
Changes = Sequence[tuple[Change, int]]


def _url(scheme: str, host: str, segments: list[str], parameters: list[str], ending: str) -> str:
    slash, _, fragment = ending.partition("#")
    query = "?" + "&".join(parameters) if parameters else ""
    return f"{scheme}{host}{''.join(f'/{segment}' for segment in segments)}{slash}{query}" + (
        fragment and "#" + fragment
    )


def _pick(choices: Sequence[str], number: int) -> str:
    return choices[number % len(choices)]


def _drop(url: str, number: int) -> str:
    at = number % (len(url) or 1)
    return url[:at] + url[at + 1 :]


def _insert(url: str, number: int) -> str:
    at = number // 100 % (len(url) + 1)
    return url[:at] + _pick(fragments.INSERTED, number % 100) + url[at:]


def _swap(url: str, number: int) -> str:
    at = number % (len(url) or 1)
    return url[:at] + url[at : at + 2][::-1] + url[at + 2 :]


def _cut(url: str, number: int) -> str:
    return url[: 8 + number % max(1, len(url) - 7)]


def _cut_marked(url: str, number: int) -> str:
    return _cut(url, number // 4) + _pick(fragments.CUTS, number)


def _extend(url: str, number: int) -> str:
    return url + _pick(fragments.EXTENSIONS, number)


def _below(url: str, number: int) -> str:
    path = url.partition("?")[0].partition("#")[0].rstrip("/")
    deeper = "" if number % 3 == 0 else "/" + _pick(fragments.SEGMENTS, number // 100)
    return f"{path}/{_pick(fragments.SEGMENTS, number)}{deeper}"


def _above(url: str, number: int) -> str:
    return url.rpartition("/")[0] or url


def _other_query(url: str, number: int) -> str:
    path, _, query = url.partition("?")
    parameters = query.split("&")[number % 2 :] if query else []
    parameters.insert(number // 2 % 3, _pick(fragments.QUERIES, number // 6))
    return path + "?" + ("&amp;" if number % 5 == 0 else "&").join(parameters[:: 1 if number % 7 else -1])


def _other_host(url: str, number: int) -> str:
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    variants = (
        *(f"www.{host}", host.upper(), f"{host}.", f"{host}:443", f"{host}:80", f"user@{host}", f"{host}.evil.org"),
        *(f"evil{host}", host[:-1], host.removeprefix("www."), f"sub.{host}"),
    )
    return f"{_pick((scheme, 'http', 'https'), number // 11)}://{_pick(variants, number)}{slash}{path}"


_numbers = st.integers(0, 9_999)
_changes: tuple[Change, ...] = (
    *(_below, _drop, _insert, _swap, _cut, _cut_marked, _extend),
    *(_above, _other_query, _other_query, _other_host, _other_host),
)
_relations: tuple[Change, ...] = (_below, _below, _other_query, _other_host, _above)

retrieved_urls = st.builds(
    _url,
    st.sampled_from(fragments.SCHEMES),
    st.sampled_from(fragments.HOSTS),
    st.lists(st.sampled_from(fragments.SEGMENTS), max_size=4),
    st.lists(st.sampled_from(fragments.QUERIES), max_size=2),
    st.sampled_from(("", "", "/", *fragments.FRAGMENTS)),
)
"""A URL as a tool would return it; with few hosts and words, so that many URLs are related."""

changes = st.lists(st.tuples(st.sampled_from(_changes), _numbers), max_size=3)
"""Small changes: a character, a cut, a longer path, another query, a variant of the host."""


def changed(url: str, many: Changes) -> str:
    """The URL after these changes."""
    for change, number in many:
        url = change(url, number)
    return url


def _with_relatives(urls: list[str], relatives: list[tuple[Change, int]]) -> list[str]:
    for relation, number in relatives:
        urls = [*urls, relation(urls[number % len(urls)], number // 7)]
    return urls


registries = st.builds(
    _with_relatives,
    st.lists(retrieved_urls, min_size=1, max_size=4),
    st.lists(st.tuples(st.sampled_from(_relations), _numbers), max_size=3),
)
"""Up to seven URLs, some of them relatives of others: pages below, other parameters, another spelling."""
