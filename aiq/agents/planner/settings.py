"""The planner's settings: type, range and meaning. The defaults are in `conf/agent/planner.yaml`."""

from typing import Literal

from pydantic import Field

from aiq.agents.toolkit.settings import ResearchSettings
from aiq.core.settings import Count, NotNegative, OneOrMore, Positive, Settings, Share

PAGE_LIMIT = 100
"""Maximum number of documents per page; servers silently cut larger requests (specification 4.9)."""


class CallSettings(Settings):
    at_once: Count = Field(description="concurrency of an iteration's calls, and of the pool's searches and pages")
    retries: int = Field(ge=0, description="maximum number of retries of a call after transient failures")
    first_seconds: NotNegative = Field(description="wait before the first retry; doubled before each further one")
    timeout_seconds: Positive = Field(description="timeout of one tool call, and of one request to a model")


class FieldSettings(Settings):
    """Names of the fields of documents that the planner reads; the first that a document has counts."""

    id: OneOrMore = Field(description="unique id of the document within its tool")
    title: OneOrMore = Field(description="its title")
    url: OneOrMore = Field(description="its URL")
    date: OneOrMore = Field(description="its date; a bare `month` in date_histogram also refers to the first of these")
    text: OneOrMore = Field(description="its text; sources show the beginning")


class DecomposerSettings(Settings):
    max_questions: int = Field(ge=3, le=7, description="maximum number of sub-questions; the minimum is three")


class AggregatorSettings(Settings):
    top_n: int = Field(ge=0, description="maximum number of buckets of one grouping; 0: the tool's default")
    top_n_per_group: int = Field(ge=0, description="maximum number of buckets within a bucket; 0: the tool's default")
    max_insights: Count = Field(description="maximum number of insights")


class ScannerSettings(Settings):
    max_documents: Count = Field(description="maximum number of documents in one scan")
    batch_size: int = Field(ge=1, le=PAGE_LIMIT, description="documents per batch")
    forced_batch_size: int = Field(ge=1, le=PAGE_LIMIT, description="the same in a scan that the policy adds")
    max_batches: Count = Field(description="maximum number of batches if no tool says how many documents there are")
    samples_per_bucket: int = Field(ge=1, description="documents per bucket if the scan is by groups")
    document_chars: Count = Field(description="characters of each document to search for findings")
    findings_per_doc: Count = Field(description="maximum number of findings per document")


class SynthesizerSettings(Settings):
    format: Literal["comprehensive_report", "executive_summary", "bullet_points"] = Field(description="report type")
    max_length: Count = Field(description="maximum length of the report, in words")
    include_methodology: bool = Field(description="add a section on how many of the documents were read")
    max_findings: Count = Field(description="maximum number of findings in the prompt")
    top_buckets: Count = Field(description="maximum number of buckets per grouping in the prompt")
    max_documents: int = Field(ge=0, description="maximum number of documents without a finding in the prompt")
    stream: bool = Field(description="emit the report as events while it is written")


class PoolSettings(Settings):
    """The pool of web pages, which supports paging and grouping if none of the question's tools does."""

    max_documents: Count = Field(description="maximum number of documents in the pool")
    max_queries: Count = Field(description="maximum number of searches in one research")
    open_pages: bool = Field(description="open each page of a scan; false: use the text of the search result")
    document_chars: Count = Field(description="characters to keep of an opened page")


class PlannerSettings(ResearchSettings):
    policy: Literal["document", "strict_source"] = Field(
        description="safeguards applied to plans: document lets validators and gap analyzers run, strict_source "
        "writes the report as soon as there are aggregations and nothing is left to scan"
    )
    max_iterations: Count = Field(description="maximum number of plans in one research; the last one writes the report")
    confidence: Share = Field(description="confidence from which the report is written")
    no_new_batches: Count = Field(
        description="write the report after this many iterations in a row with data but no new finding"
    )
    validator_findings: Count = Field(description="maximum number of findings shown to validator and gap analyzer")
    subagents: OneOrMore = Field(description="sub-agents of your own, as package.module:Class, besides the eight")
    calls: CallSettings = Field(description="calls of tools and sub-agents")
    fields: FieldSettings = Field(description="field names of documents")
    decomposer: DecomposerSettings = Field(description="sub-questions")
    aggregator: AggregatorSettings = Field(description="statistics")
    scanner: ScannerSettings = Field(description="scans of all documents, and the extractor")
    synthesizer: SynthesizerSettings = Field(description="the report")
    pool: PoolSettings = Field(description="pool of web pages, if no tool pages through documents")
