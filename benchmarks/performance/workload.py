"""Sources and reports of any size for the benchmark, the same on every machine."""

from collections.abc import Iterator, Sequence
from itertools import count, islice

_WORDS = ("market", "energy", "report", "health", "climate", "survey", "method", "policy", "supply", "growth")
_SENTENCE = "The {} of the {} grew by {}.{} percent in {}, as the *{}* says"
_PAGES = 20
"""Pages per host."""


def source_urls(size: int) -> list[str]:
    """URLs as tools return them: news, papers, pages with parameters, up to twenty per host."""
    return [_url(number) for number in range(size)]


def _url(number: int) -> str:
    host, page = f"www.site-{number // _PAGES}.example.com", number % _PAGES
    first, second = _WORDS[number % 10], _WORDS[number // 10 % 10]
    if page % 4 == 0:
        return f"https://{host}/view?id={number}&lang=en&topic={first}"
    if page % 4 == 1:
        return f"https://{host}/{first}/{second}/{2000 + number % 26}/the-{first}-of-{second}-{number}.html"
    return f"https://{host}/{second}/{first}-{number}"


def cited_urls(size: int, wanted: int) -> list[str]:
    """URLs as a model writes them; four in five match one of the first `size` sources, at various levels."""
    step = max(1, size // wanted)
    return list(islice(_variants(_url(number * step % size) for number in count()), wanted))


def _variants(urls: Iterator[str]) -> Iterator[str]:
    for position, url in enumerate(urls):
        match position % 10:
            case 0 | 1:
                yield url.replace("/site-", "/missing-").replace("www.site-", "www.missing-")
            case 2:
                yield url.replace("https://www.", "http://") + ("&" if "?" in url else "?") + "utm_source=model"
            case 3:
                yield url.partition("?")[0] + "/details/of-it"
            case 4:
                yield url[:-4] + "..."
            case _:
                yield url


def missing_urls(known: Sequence[str], wanted: int) -> list[str]:
    """URLs that match at no level, half of them on hosts that have sources."""
    step = max(1, len(known) // wanted)
    chosen = [known[number * step % len(known)] for number in range(wanted)]
    return [
        url.replace("www.site-", "www.other-")
        if number % 2
        else f"{'/'.join(url.split('/')[:3])}/invented/page-{number}"
        for number, url in enumerate(chosen)
    ]


def report(cited: Sequence[str], *, characters: int, citations: int) -> str:
    """A report that cites these URLs in turn, `citations` times, with about `characters` characters in all."""
    references = "\n".join(f"[{number}] The {_WORDS[number % 10]} page - {url}" for number, url in enumerate(cited, 1))
    per_citation = max(1, (characters - len(references)) // citations)
    paragraphs = []
    for start in range(0, citations, 5):
        if start % 50 == 0:
            paragraphs.append(f"## {_WORDS[start // 50 % 10].title()} and what it means")
        paragraphs.append(
            " ".join(_cited(n, n % len(cited) + 1, per_citation) for n in range(start, min(start + 5, citations)))
        )
    return "\n\n".join([*paragraphs, "## References", references]) + "\n"


def _cited(number: int, entry: int, length: int) -> str:
    """Sentences of about this length; the last one has a citation mark."""
    text = ""
    while len(text) < length - len(_SENTENCE):
        words = (
            _WORDS[(number + len(text)) % 10],
            _WORDS[number // 10 % 10],
            number % 90,
            number % 10,
            2000 + number % 26,
        )
        text += _SENTENCE.format(*words, _WORDS[number // 7 % 10]) + ". "
    return f"{text or 'So it is. '}It holds [{entry}]."
