"""Groups `search`, `web`; sections `papers`, `knowledge`, `citations`: what agents reach, what counts as a source."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, JsonValue

from aiq.core.settings.base import Endpoint, OneOrMore, Settings
from aiq.core.sources import SourceKind


class SearchSettings(Settings):
    """Group `search`: who answers searches. `corpus` also serves `web=corpus`.

    `provider`: a file of `aiq/tools/providers`, or a class of your own as `package.module:Class`,
    whose own settings are `options`. `include_answer`: have the search API write an answer of its own
    (Tavily); it names no source, so it is none.
    """

    provider: str
    options: Mapping[str, JsonValue] = Field(default_factory=dict)
    base_url: Endpoint | None = None
    api_key_env: str | None = None
    corpus: str | None = None
    max_results: int = Field(default=3, ge=1, le=20)
    max_content_length: int | None = Field(default=4000, ge=1, description="characters of each result")
    depth: Literal["basic", "advanced"] = "basic"
    include_answer: Literal["basic", "advanced"] | None = None
    timeout_seconds: float = Field(default=30.0, gt=0)


class PapersSettings(Settings):
    """Section `papers`: who answers searches for scholarly papers; without a `provider` there is no such tool.

    `provider`: a file of `aiq/tools/paper_providers`, or a class of your own as `package.module:Class`.
    """

    provider: str | None = None
    base_url: Endpoint | None = None
    api_key_env: str | None = "SERPER_API_KEY"
    max_results: int = Field(default=10, ge=1, le=20)
    timeout_seconds: float = Field(default=30.0, gt=0)


class KnowledgeSettings(Settings):
    """Section `knowledge`: users' documents. The tool exists where a collection is named, here or by a question.

    `dir`: the folder of all collections. `collection`: the one that questions look into which name
    none. `documents`: files and folders that a run adds to `collection` before it starts.
    """

    dir: str = "knowledge"
    collection: str | None = None
    documents: OneOrMore = ()
    max_results: int = Field(default=5, ge=1, le=20)
    max_content_length: int = Field(default=2000, ge=1, description="characters of each result")
    summarizer: Literal["rules", "model"] = "rules"
    summary_chars: int = Field(default=400, ge=40)


class WebSettings(Settings):
    """Group `web`: where fetched pages come from."""

    kind: Literal["offline", "corpus", "live"]
    allow_hosts: OneOrMore = ()
    timeout_seconds: float = Field(default=30.0, gt=0)
    max_bytes: int = Field(default=5_000_000, ge=1)
    max_redirects: int = Field(default=5, ge=0)


class CitationSettings(Settings):
    """Section `citations`: how reports are verified.

    `pages`: whether a document citation must be on a retrieved page (`exact`), at most
    `page_window` pages beside one (`window`), or anywhere in the document (`ignore`). `accept`: the
    kinds of source that verify. Without `verify` a report stays as the model wrote it.
    """

    verify: bool = True
    pages: Literal["ignore", "window", "exact"] = "window"
    page_window: int = Field(default=1, ge=0, description="pages before and behind a retrieved one")
    accept: tuple[SourceKind, ...] = Field(default=("retrieved",), min_length=1)
