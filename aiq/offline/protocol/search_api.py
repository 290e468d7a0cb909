"""A search API in the shape of Tavily's `POST /search` and `POST /extract`, over the offline stack's pages.

https://docs.tavily.com/documentation/api-reference/endpoint/search
"""

import hashlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlsplit

from aiq.offline.protocol.validation import check, read_json
from aiq.tools.corpus import Corpus, CorpusPage

CONTENT_CHARS, ADVANCED_CHARS = 1000, 1500
"""How much of a page a result shows, by search depth: the passages that match the query best."""

_DAYS = {"d": 1, "w": 7, "m": 31, "y": 366}
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]?")


class SearchApi:
    """Both endpoints over one corpus. Not thread-safe: the index is built at the first search."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._newest = max(map(_day, corpus.pages), default="")

    def search(self, body: bytes) -> dict[str, Any]:
        """The response to a search. Scores are BM25 relative to the best page, which has 1. Raises ApiError."""
        start, fields = time.perf_counter(), check(read_json(body), "search")
        chars = ADVANCED_CHARS if fields.get("search_depth") == "advanced" else CONTENT_CHARS
        hits = self._corpus.search(
            fields["query"], fields.get("max_results", 5), max_chars=chars, among=self._filter(fields)
        )
        results: list[dict[str, Any]] = []
        for hit in hits:
            page = self._corpus.page(hit.url) if fields.get("include_raw_content") else None
            result = {"url": hit.url, "title": hit.title, "content": hit.text, "raw_content": page and page.text}
            published = {"published_date": hit.published} if hit.published else {}
            results.append({**result, "score": hit.relevance, **published})
        sentence = _SENTENCE.search(hits[0].text) if hits and fields.get("include_answer") else None
        answer = sentence.group().strip() if sentence else None
        response = {"query": fields["query"], "follow_up_questions": None, "answer": answer, "images": []}
        return response | {"results": results} | _trailing_fields(body, start)

    def extract(self, body: bytes) -> dict[str, Any]:
        """The response to an extraction: the whole text of each page, and the URLs that have none. Raises ApiError."""
        start, fields = time.perf_counter(), check(read_json(body), "extract")
        results: list[dict[str, Any]] = []
        failures = []
        for url in fields["urls"]:
            page = self._corpus.page(url)
            if page is None:
                failures.append({"url": url, "error": "404: there is no such page"})
                continue
            heading = f"# {page.title}\n\n" if fields.get("format") != "text" else ""
            results.append({"url": url, "title": page.title, "raw_content": heading + page.text, "images": []})
        return {"results": results, "failed_results": failures} | _trailing_fields(body, start)

    def _filter(self, fields: Mapping[str, Any]) -> Callable[[CorpusPage], bool]:
        """Which pages may be found: those of the wanted sites and, if dates are limited, dated within that period.

        `days`, which is for news only, and `time_range` count back from the newest page, as this web has no clock.
        """
        included, excluded = fields.get("include_domains", []), fields.get("exclude_domains", [])
        since, until = fields.get("start_date", ""), fields.get("end_date", "")
        days = fields.get("days") if fields.get("topic") == "news" else None
        days = _DAYS[fields["time_range"][0]] if "time_range" in fields else days
        if days and self._newest:
            newest = date.fromisoformat(self._newest)
            since = max(since, str(newest - timedelta(min(days, newest.toordinal() - 1))))

        def matches(page: CorpusPage) -> bool:
            day = _day(page)
            if (since or until) and not (day and since <= day <= (until or day)):
                return False
            return (not included or _is_within(page.url, included)) and not _is_within(page.url, excluded)

        return matches


def _day(page: CorpusPage) -> str:
    """The day of publication as YYYY-MM-DD; empty if the row has no ISO 8601 date or time."""
    try:
        return str(date.fromisoformat((page.published or "")[:10]))
    except ValueError:
        return ""


def _trailing_fields(body: bytes, start: float) -> dict[str, Any]:
    """The last fields of every answer. Equal requests get equal ids."""
    request_id = hashlib.sha256(body).hexdigest()[:32]
    return {"response_time": round(time.perf_counter() - start, 3), "request_id": request_id}


def _is_within(url: str, domains: Sequence[str]) -> bool:
    """Whether the page belongs to one of these domains or a subdomain."""
    names = [domain.lower().removeprefix("*.").removeprefix("www.") for domain in domains]
    return f".{urlsplit(url).netloc}".endswith(tuple(f".{name}" for name in names))
