"""A search API in the shape of Tavily's `POST /search` and `POST /extract`, over the offline stack's pages.

https://docs.tavily.com/documentation/api-reference/endpoint/search
"""

import hashlib
import re
import time
from collections.abc import Callable
from datetime import date, timedelta
from functools import cached_property
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from aiq.core.plugins import describe
from aiq.offline.protocol.errors import ApiError
from aiq.tools.corpus import Corpus, CorpusPage, Hit

CONTENT_CHARS = 1000
"""How much of a page a basic result shows: its passages that fit the query best."""

CHUNK_CHARS = 500
"""The size of each of the `chunks_per_source` pieces that an advanced search shows."""

_DAYS = {"day": 1, "d": 1, "week": 7, "w": 7, "month": 31, "m": 31, "year": 366, "y": 366}
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]?")


class _Request(BaseModel):
    """The fields that change the answer here; others of the real API are accepted and ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


R = TypeVar("R", bound=_Request)


class SearchRequest(_Request):
    query: str = Field(min_length=1, max_length=400)
    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    topic: Literal["general", "news", "finance"] = "general"
    max_results: int = Field(default=5, ge=0, le=20)
    chunks_per_source: int = Field(default=3, ge=1, le=3)
    days: int | None = Field(default=None, ge=1)
    time_range: Literal["day", "week", "month", "year", "d", "w", "m", "y"] | None = None
    start_date: date | None = None
    end_date: date | None = None
    include_answer: bool | Literal["basic", "advanced"] = False
    include_raw_content: bool | Literal["markdown", "text"] = False
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()


class ExtractRequest(_Request):
    urls: Annotated[tuple[str, ...], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)] = (
        Field(min_length=1, max_length=20)
    )
    format: Literal["markdown", "text"] = "markdown"


class SearchApi:
    """Both endpoints over one corpus. Not for several threads at once: the index is made at the first search."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    @cached_property
    def _days(self) -> dict[str, date]:
        """The day of publication by URL, of the pages whose row has an ISO 8601 date or time."""
        days = {}
        for page in self._corpus.pages:
            try:
                days[page.url] = date.fromisoformat((page.published or "")[:10])
            except ValueError:
                continue
        return days

    def search(self, body: bytes) -> dict[str, Any]:
        """The answer's JSON. Scores fall from 1: BM25 relative to the best page. Raises ApiError 400."""
        start, request = time.perf_counter(), _read(SearchRequest, body)
        chars = request.chunks_per_source * CHUNK_CHARS if request.search_depth == "advanced" else CONTENT_CHARS
        hits = self._corpus.search(request.query, request.max_results, max_chars=chars, among=self._filter(request))
        sentence = _SENTENCE.search(hits[0].text) if hits and request.include_answer else None
        return {
            "query": request.query,
            "follow_up_questions": None,
            "answer": sentence.group().strip() if sentence else None,
            "images": [],
            "results": [self._result(hit, hits[0].score, bool(request.include_raw_content)) for hit in hits],
            **_end(body, start),
        }

    def extract(self, body: bytes) -> dict[str, Any]:
        """The answer's JSON: each page's whole text, and the URLs that have none. Raises ApiError 400."""
        start, request = time.perf_counter(), _read(ExtractRequest, body)
        results, failed = [], []
        for url in request.urls:
            page = self._corpus.page(url)
            if page is None:
                failed.append({"url": url, "error": "404: there is no such page"})
                continue
            heading = f"# {page.title}\n\n" if request.format == "markdown" else ""
            results.append({"url": url, "title": page.title, "raw_content": heading + page.text, "images": []})
        return {"results": results, "failed_results": failed, **_end(body, start)}

    def _filter(self, request: SearchRequest) -> Callable[[CorpusPage], bool] | None:
        """Which pages may be found; None where all may."""
        since, until = self._since(request), request.end_date
        within, without = request.include_domains, request.exclude_domains
        dated = since is not None or until is not None
        if not (dated or within or without):
            return None

        def wanted(page: CorpusPage) -> bool:
            if dated:
                day = self._days.get(page.url)
                if day is None or day < (since or day) or day > (until or day):
                    return False
            return (not within or _below(page.url, within)) and not (without and _below(page.url, without))

        return wanted

    def _since(self, request: SearchRequest) -> date | None:
        """The first day wanted. `days`, which is for news only, and `time_range` count back from the newest page: this
        web has no clock."""
        days = _DAYS[request.time_range] if request.time_range else request.days if request.topic == "news" else None
        if days is None or not self._days:
            return request.start_date
        newest = max(self._days.values())
        since = newest - timedelta(days=min(days, newest.toordinal() - 1))
        return max(since, request.start_date or since)

    def _result(self, hit: Hit, best: float, whole: bool) -> dict[str, Any]:
        page = self._corpus.page(hit.url) if whole else None
        return {
            "url": hit.url,
            "title": hit.title,
            "content": hit.text,
            "score": round(hit.score / best, 6),
            "raw_content": page.text if page else None,
            **({"published_date": hit.published} if hit.published else {}),
        }


def _read(model: type[R], body: bytes) -> R:
    """Raises ApiError 400 when the request is malformed."""
    try:
        values = from_json(body)
        return model.model_validate({name: value for name, value in values.items() if value is not None})
    except ValidationError as error:
        raise ApiError(describe(error)) from None
    except (ValueError, AttributeError):
        raise ApiError("the body must be a JSON object with the request's fields") from None


def _end(body: bytes, start: float) -> dict[str, Any]:
    """What every answer ends with. Equal requests have equal ids."""
    name = hashlib.sha256(body).hexdigest()[:32]
    return {"response_time": round(time.perf_counter() - start, 3), "request_id": name}


def _below(url: str, domains: tuple[str, ...]) -> bool:
    """Whether the page is of one of these domains or of a subdomain."""
    host = urlsplit(url).netloc
    names = [domain.lower().removeprefix("*.").removeprefix("www.") for domain in domains]
    return any(host == name or host.endswith("." + name) for name in names)
