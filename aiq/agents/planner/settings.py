"""Every threshold of the planner: type, range and meaning. The defaults are in `conf/agent/planner.yaml`."""

from typing import Literal

from pydantic import Field

from aiq.agents.toolkit.settings import ResearchSettings
from aiq.core.settings import Count, NotNegative, OneOrMore, Positive, Settings, Share

PAGE_LIMIT = 100
"""Documents of one page that servers give at most; they cut larger requests without a word (specification 4.9)."""


class CallSettings(Settings):
    at_once: Count = Field(description="calls of one iteration, and searches and pages of the pool, at the same time")
    retries: int = Field(ge=0, description="of a call that failed in a way that may pass, after the first time")
    first_seconds: NotNegative = Field(description="before the first retry; twice as long before each further one")
    timeout_seconds: Positive = Field(description="of one call of a tool, and of one send to a model")


class FieldSettings(Settings):
    """Where documents of any tool have what the planner reads: the first of the names that a document has."""

    id: OneOrMore = Field(description="what tells a document from all others of its tool")
    title: OneOrMore = Field(description="its title")
    url: OneOrMore = Field(description="its address")
    date: OneOrMore = Field(description="its date; the first is also what a bare `month` in date_histogram is taken of")
    text: OneOrMore = Field(description="its text, which sources show the beginning of")


class DecomposerSettings(Settings):
    max_questions: int = Field(ge=3, le=7, description="sub-questions at most; three at least")


class AggregatorSettings(Settings):
    top_n: int = Field(ge=0, description="buckets of one grouping; 0: as the tool has it")
    top_n_per_group: int = Field(ge=0, description="buckets within a bucket; 0: as the tool has it")
    max_insights: Count = Field(description="insights that it gives")


class ScannerSettings(Settings):
    max_documents: Count = Field(description="documents of one scan")
    batch_size: int = Field(ge=1, le=PAGE_LIMIT, description="documents of one batch")
    forced_batch_size: int = Field(ge=1, le=PAGE_LIMIT, description="the same of a scan that the policy adds")
    max_batches: Count = Field(description="batches where no tool says how many documents there are")
    samples_per_bucket: int = Field(ge=1, description="documents of each bucket, where it is told to group")
    document_chars: Count = Field(description="of each document, that findings are looked for in")
    findings_per_doc: Count = Field(description="findings of one document at most")


class SynthesizerSettings(Settings):
    format: Literal["comprehensive_report", "executive_summary", "bullet_points"] = Field(description="of the report")
    max_length: Count = Field(description="words of the report")
    include_methodology: bool = Field(description="a section on how many documents of how many were read")
    max_findings: Count = Field(description="findings in its prompt")
    top_buckets: Count = Field(description="of each grouping in its prompt")
    max_documents: int = Field(ge=0, description="documents without a finding in its prompt")
    stream: bool = Field(description="the report as events while it is written")


class PoolSettings(Settings):
    """The pool of web pages that is paged and grouped, where no tool of the question is."""

    max_documents: Count = Field(description="in one pool")
    max_queries: Count = Field(description="searches of one research")
    open_pages: bool = Field(description="open each page of a scan; false: what searches say of it is its text")
    document_chars: Count = Field(description="of an opened page")


class PlannerSettings(ResearchSettings):
    policy: Literal["document", "strict_source"] = Field(
        description="which safeguards the plan goes through: document lets validators and gap analyzers run, "
        "strict_source writes the report as soon as there are aggregations and nothing is to be scanned"
    )
    max_iterations: Count = Field(description="plans of one research; the last one writes the report")
    confidence: Share = Field(description="from which the report is written")
    no_new_batches: Count = Field(
        description="iterations with data and without a new finding, after which it is written"
    )
    validator_findings: Count = Field(description="findings that validator and gap analyzer are shown")
    subagents: OneOrMore = Field(description="sub-agents of your own, as package.module:Class, beside the eight")
    calls: CallSettings = Field(description="of tools and sub-agents")
    fields: FieldSettings = Field(description="of documents, by name")
    decomposer: DecomposerSettings = Field(description="sub-questions")
    aggregator: AggregatorSettings = Field(description="statistics")
    scanner: ScannerSettings = Field(description="of all documents, and of the extractor")
    synthesizer: SynthesizerSettings = Field(description="the report")
    pool: PoolSettings = Field(description="of web pages, where no tool pages through documents")
