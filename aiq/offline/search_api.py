"""A search API in the shape of Tavily's `POST /search`, over the offline stack's pages.

https://docs.tavily.com/documentation/api-reference/endpoint/search
"""

import hashlib
import json
import re
import time
from datetime import date, timedelta
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aiq.core.plugins import describe
from aiq.tools.corpus import Corpus, Hit

CONTENT_CHARS = 1000
"""How much of a page a basic result shows: its passages that fit the query best."""

CHUNK_CHARS = 500
"""The size of each of the `chunks_per_source` pieces that an advanced search shows."""

_DAYS = {"day": 1, "d": 1, "week": 7, "w": 7, "month": 31, "m": 31, "year": 366, "y": 366}
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]?")


class SearchError(Exception):
    """An answer in Tavily's error shape."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"detail": {"error": message}}


class SearchRequest(BaseModel):
    """The request fields that change the answer here; others of the real API are accepted and ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    query: str = Field(min_length=1, max_length=400)
    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    topic: Literal["general", "news", "finance"] = "general"
    max_results: int = Field(default=5, ge=0, le=20)
    chunks_per_source: int = Field(default=3, ge=1, le=3)
    days: int | None = Field(default=None, ge=1)
    time_range: str | None = Field(default=None, pattern="^(day|week|month|year|d|w|m|y)$")
    start_date: date | None = None
    end_date: date | None = None
    include_answer: bool | Literal["basic", "advanced"] = False
    include_raw_content: bool | Literal["markdown", "text"] = False
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()


def read_search(body: bytes) -> SearchRequest:
    """Raises SearchError 400 when the request is malformed."""
    try:
        values = json.loads(body)
        return SearchRequest.model_validate({name: value for name, value in values.items() if value is not None})
    except ValidationError as error:
        raise SearchError(400, describe(error)) from None
    except (ValueError, AttributeError):
        raise SearchError(400, "the body must be a JSON object with a query") from None


def search(request: SearchRequest, corpus: Corpus) -> dict[str, Any]:
    """The answer's JSON. Scores fall from 1: BM25 relative to the best page."""
    start = time.perf_counter()
    found = [hit for hit in _ranked(request, corpus) if _wanted(hit, request, _since(request, corpus))]
    hits = found[: request.max_results]
    results = [_result(hit, hits[0].score, request, corpus) for hit in hits]
    return {
        "query": request.query,
        "follow_up_questions": None,
        "answer": _answer(hits) if request.include_answer else None,
        "images": [],
        "results": results,
        "response_time": round(time.perf_counter() - start, 3),
        "request_id": hashlib.sha256(request.model_dump_json().encode()).hexdigest()[:32],
    }


def _ranked(request: SearchRequest, corpus: Corpus) -> list[Hit]:
    """Enough hits that filters still leave as many as were asked for."""
    narrowed = request.model_fields_set & {
        "include_domains",
        "exclude_domains",
        "days",
        "time_range",
        "start_date",
        "end_date",
    }
    count = len(corpus.pages) if narrowed else request.max_results
    chars = request.chunks_per_source * CHUNK_CHARS if request.search_depth == "advanced" else CONTENT_CHARS
    return corpus.search(request.query, count, max_chars=chars) if count else []


def _since(request: SearchRequest, corpus: Corpus) -> date | None:
    """The first day wanted. `days` and `time_range` count back from the newest page: this web has no clock."""
    days = _DAYS[request.time_range] if request.time_range else request.days
    if days is None:
        return request.start_date
    newest = max(filter(None, (_day(page.published) for page in corpus.pages)), default=None)
    since = newest - timedelta(days=days) if newest else None
    return max(filter(None, (since, request.start_date)), default=None)


def _wanted(hit: Hit, request: SearchRequest, since: date | None) -> bool:
    host = re.sub(r"^https?://", "", hit.url).split("/")[0]
    if request.include_domains and not any(_below(host, domain) for domain in request.include_domains):
        return False
    if any(_below(host, domain) for domain in request.exclude_domains):
        return False
    if since is None and request.end_date is None:
        return True
    day = _day(hit.published)
    if day is None:
        return False
    return (since is None or day >= since) and (request.end_date is None or day <= request.end_date)


def _day(published: str | None) -> date | None:
    """The day of publication, where it is written as an ISO 8601 date or time."""
    try:
        return date.fromisoformat((published or "")[:10])
    except ValueError:
        return None


def _below(host: str, domain: str) -> bool:
    domain = domain.lower().removeprefix("*.").removeprefix("www.")
    return host == domain or host.endswith("." + domain)


def _result(hit: Hit, best: float, request: SearchRequest, corpus: Corpus) -> dict[str, Any]:
    page = corpus.page(hit.url)
    result: dict[str, Any] = {
        "url": hit.url,
        "title": hit.title,
        "content": hit.text,
        "score": round(hit.score / best, 6),
        "raw_content": page.text if request.include_raw_content and page else None,
    }
    if hit.published:
        result["published_date"] = hit.published
    return result


def _answer(hits: list[Hit]) -> str | None:
    """The first sentence of the best hit's best passage."""
    sentence = _SENTENCE.search(hits[0].text) if hits else None
    return sentence.group().strip() if sentence else None
