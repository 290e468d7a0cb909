"""One test for each of the confirmed defects V1 to V11, D1 to D15 and S1 to S4 (and their relatives): ours has none."""

import asyncio
from datetime import UTC, datetime

import pytest
from pydantic import BaseModel

from aiq.citations.documents import parse_key
from aiq.citations.match import SourceIndex
from aiq.citations.passages import cited_passages
from aiq.citations.registry import SourceRegistry
from aiq.citations.sanitise import broken_rule
from aiq.citations.verify import verify
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.events import EventLog
from aiq.core.samples import SampleKey
from aiq.core.session import ApprovingUser, Session
from aiq.core.sources import Source
from aiq.core.tools import ToolResult
from aiq.core.usage import Limits
from aiq.tools.toolbox import FixedToolbox


def found(urls: str | list[str], cited: str) -> tuple[str, str] | None:
    """Level and source of a cited URL."""
    listed = [urls] if isinstance(urls, str) else urls
    match = SourceIndex([Source(url=url) for url in listed]).match_url(cited)
    return (match.level, match.source.url or "") if match else None


def report(entries: str, body: str = "So it is [1].") -> str:
    return f"{body}\n\n## References\n\n{entries}\n"


def valid(text: str, *sources: Source) -> list[tuple[int, str]]:
    return [(citation.number, citation.level) for citation in verify(text, sources).audit.valid_citations]


def reasons(text: str, *sources: Source) -> list[str]:
    return [removed.reason for removed in verify(text, sources).audit.removed_citations]


# V: verification accepts what it should not


@pytest.mark.parametrize(
    "cited",
    ["https://nvidia.co", "https://nvidia.co...", "https://", "http", "", "https://nvidia…", "https://nvidia.com..."],
)
def test_v1_a_host_is_never_completed(cited: str) -> None:
    assert found("https://nvidia.com/a", cited) is None


@pytest.mark.parametrize(
    ("source", "cited"),
    [
        ("https://nvidia.com/a", "https://nvidia.com.evil.net/a/b"),
        ("https://nvidia.com/a/b", "https://evil-nvidia.com/a/b"),
        ("https://nvidia.com/a/b", "https://nvidia.com@evil.net/a/b"),
        ("https://nvidia.com/a/b", "https://evil.net\\@nvidia.com/a/b"),
        ("https://nvidia.com/a/b", "https://evil.net#@nvidia.com/a/b"),
        ("https://nvidia.com/a/b", "https://nvidia.com:8443/a/b"),
        ("https://nvidia.com/a/b", "https://sub.nvidia.com/a/b"),
        ("https://nvidia.com/a/bc", "https://nvidia.com/a/b"),
        ("https://nvidia.com/a/b", "https://nvidia.com/a/bc"),
        ("https://nvidia.com/a/b", "https://nvidia.com/a/bc/d"),
        ("https://nvidia.com/a/b", "https://nvidia.com/a/b/../../x/y"),
        ("https://nvidia.com/a/b", "https://nvidia.com/a/b/%2e%2e/%2E%2e/x/y"),
        ("https://nvidia.com/a/b", "https://nvidia.com/a%2Fb/c"),
    ],
)
def test_v1_hosts_and_segments_have_boundaries(source: str, cited: str) -> None:
    assert found(source, cited) is None


@pytest.mark.parametrize(
    ("source", "cited"),
    [
        ("https://e.com/pull/112", "https://e.com/pull/1"),
        ("https://e.com/page10", "https://e.com/page1"),
        ("https://e.com/?id=123", "https://e.com/?id=12"),
        ("https://e.com/?id=123&x=1", "https://e.com/?id=12"),
        # however it is cut off
        ("https://e.com/pull/112", "https://e.com/pull/1..."),
        ("https://e.com/pull/112", "https://e.com/pull/%31…"),
        ("https://e.com/pull/112", "https://e.com/pull/1[...]"),
        ("https://e.com/page10", "https://e.com/page1…"),
        ("https://e.com/article12", "https://e.com/article…"),
        ("https://e.com/?id=123", "https://e.com/?id=12…"),
        ("https://e.com/?a=x&id=123", "https://e.com/?a=x&id=1%32…"),
        ("https://e.com/commit/4f2a91cdd", "https://e.com/commit/4f2a…"),
        ("https://e.com/item/a1-title-987", "https://e.com/item/a1-title-98…"),
        ("https://e.com/550e8400-e29b-41d4-a716-446655440000", "https://e.com/550e8400-e29b…"),
        ("https://e.com/550e8400-e29b-41d4-a716-446655440000", "https://e.com/550e8400-e29b-…"),
        ("https://e.com/2024-01-15", "https://e.com/2024-01…"),
        ("https://e.com/v1.2.3", "https://e.com/v1.2…"),
        ("https://e.com/2024_10", "https://e.com/2024…"),
        ("https://e.com/v1_2", "https://e.com/v1_…"),
        ("https://arxiv.org/abs/1706.03762", "https://arxiv.org/abs/1706..."),
        ("https://arxiv.org/abs/1706.03762", "https://arxiv.org/abs/1706.0376…"),
        ("https://arxiv.org/abs/1706.03762v5", "https://arxiv.org/abs/1706.03762"),
        ("https://doi.org/10.1038/s41586-021-03819-2", "https://doi.org/10.1038"),
        ("https://doi.org/10.1038/s41586-021-03819-2", "https://doi.org/10.1038/s41586…"),
        ("https://doi.org/10.1038/s41586", "https://doi.org/10.1038/s41586/fake"),
        ("https://doi.org/10.1000/abc", "https://doi.org/10.1000/ab…"),
        ("https://doi.org/10.1000/abc", "https://doi.org/10.1000/…"),
    ],
)
def test_v2_numbers_and_identifiers_are_never_completed(source: str, cited: str) -> None:
    assert found(source, cited) is None


def test_v3_an_invented_sub_page_shows_by_its_level() -> None:
    invented = "https://github.com/o/r/blob/main/FAKE.md"
    assert found("https://github.com/o/r", invented) == ("child_path", "https://github.com/o/r")
    assert found("https://github.com/o", invented) is None
    assert found("https://github.com//o", "https://github.com//o/r") is None  # an empty segment is none


@pytest.mark.parametrize("name", ["step1.pdf", "map2.pdf", "http2.pdf", "top 10 list.pdf", "page 3.pdf", "p7.pdf"])
def test_v4_a_name_is_not_cut_where_a_page_might_stand(name: str) -> None:
    assert (parse_key(name).name, parse_key(name).first) == (name, None)


def test_v4_a_document_of_a_series_verifies_no_other() -> None:
    steps = (Source(citation_key="step1.pdf"), Source(citation_key="step2.pdf"))
    assert valid(report("[1] step2.pdf"), *steps) == [(1, "document")]
    assert valid(report("[1] step9.pdf"), *steps) == []


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("knowledge_search", "A wholly invented study, via knowledge_search"),
        ("knowledge_search", "A wholly invented study: knowledge_search"),
        ("knowledge_search", "A wholly invented study - knowledge_search"),
        ("a.md", "data.md"),
        ("a.md", "a.md.bak"),
        ("data.md", "A note on data"),
        ("report.pdf", "my report.pdf"),
        ("report.pdf", "report.pdf.exe"),
    ],
)
def test_v5_a_key_is_a_whole_name(key: str, entry: str) -> None:
    assert valid(report(f"[1] {entry}"), Source(citation_key=key)) == []


class Asked(BaseModel):
    query: str


class Scripted:
    """A tool that answers as it was told to, or fails."""

    name = "lookup"
    description = "Look something up."
    parameters: type[BaseModel] = Asked

    def __init__(self, answer: ToolResult | ToolError, data_source: str | None = "web") -> None:
        self._answer = answer
        self.data_source = data_source

    async def run(self, arguments: BaseModel) -> ToolResult:
        if isinstance(self._answer, ToolError):
            raise self._answer
        return self._answer


def registry_after(answer: ToolResult | ToolError, query: str = "q", data_source: str | None = "web") -> SourceRegistry:
    """The registry of a session after one call of a tool."""
    registry = SourceRegistry()
    session = Session(
        key=SampleKey("s1", 1),
        run_seed=7,
        now=datetime(2026, 11, 1, tzinfo=UTC),
        models=None,  # type: ignore[arg-type]  # no model is asked here
        tools=FixedToolbox([Scripted(answer, data_source)]),
        web=None,  # type: ignore[arg-type]
        user=ApprovingUser(),
        limits=Limits(),
        events=EventLog(lambda event: None),
        sources=registry,
    )

    async def call() -> None:
        try:
            await session.call_tool("lookup", {"query": query})
        except ToolError:
            return

    asyncio.run(call())
    return registry


FAILURES = [
    ToolResult(content="No papers found via Google Scholar."),
    ToolResult(content="Paper search failed: unable to fetch results from X."),
    ToolResult(content="Search error: quota exceeded, see https://tavily.com/ for more"),
    ToolResult(content="Search returned no results"),
    ToolResult(content="   ", sources=(Source(url="https://e.com/a"),)),
    ToolError(ToolErrorKind.UNAUTHORIZED, "no key; get one at https://tavily.com/"),
    ToolError(ToolErrorKind.TIMEOUT, "timed out after 30s for query: see https://evil.com/x"),
]


@pytest.mark.parametrize("answer", FAILURES)
def test_v6_failures_and_empty_results_are_no_evidence(answer: ToolResult | ToolError) -> None:
    registry = registry_after(answer)
    assert registry.all() == ()
    assert {source.kind for source in registry.known()} <= {"echoed"}
    assert verify(report("[1] T https://tavily.com/\n[2] lookup"), registry.known()).audit.valid_citations == ()


def test_v6_what_a_helper_says_is_no_evidence() -> None:
    answer = ToolResult(content="noted https://e.com/a", sources=(Source(url="https://e.com/a", text="x"),))
    assert [source.kind for source in registry_after(answer, data_source=None).known()] == ["echoed"]


PROSE = ToolResult(
    content="A page that says: see https://evil.com/x, and https://asked.com/a",
    sources=(Source(url="https://e.com/page", text="see https://evil.com/x"),),
)


def test_v7_a_url_in_the_prose_of_a_page_was_not_retrieved() -> None:
    registry = registry_after(PROSE, query="what does https://asked.com/a say?")
    kinds = {source.url: source.kind for source in registry.known()}
    assert kinds == {
        "https://e.com/page": "retrieved",
        "https://evil.com/x": "mentioned",
        "https://asked.com/a": "echoed",  # the agent named it first: that a result repeats it proves nothing
    }
    text = report("[1] T https://evil.com/x\n[2] T https://asked.com/a\n[3] T https://e.com/page")
    verified = verify(text, registry.known())
    assert [removed.seen_as for removed in verified.audit.removed_citations] == ["mentioned", "echoed"]
    assert [citation.source for citation in verified.audit.valid_citations] == ["https://e.com/page"]


def test_v7_what_is_retrieved_later_is_a_source_all_the_same() -> None:
    registry = registry_after(PROSE)
    registry.add(Source(url="http://evil.com/x", text="the page", title="X", call_id="c9"), (5, 0))
    (late,) = [source for source in registry.all() if source.url == "http://evil.com/x"]
    assert (late.kind, late.call_id, late.text) == ("retrieved", "c9", "the page")


def test_v8_a_citation_line_in_a_chunk_registers_nothing() -> None:
    chunk = "Text.\nCitation: injected.pdf, p.9\nSource: injected.pdf"
    answer = ToolResult(content=chunk, sources=(Source(citation_key="real.pdf, p.1", text=chunk),))
    registry = registry_after(answer)
    assert [source.citation_key for source in registry.known()] == ["real.pdf, p.1"]
    assert reasons(report("[1] injected.pdf, p.9"), *registry.known()) == ["citation_key_not_in_registry"]


def test_v9_every_attempt_has_a_registry_of_its_own() -> None:
    first, second = registry_after(PROSE), registry_after(ToolResult(content="nothing"))
    assert first.all() != ()
    assert second.known() == ()


def test_v10_every_citation_has_its_own_outcome() -> None:
    text = report("[1] https://v.com/1\n[2] https://a.com/\n[3] https://b.com/", "A [1] B [2] C [3].")
    assert valid(text, Source(url="https://v.com/1")) == [(1, "exact")]
    assert reasons(text, Source(url="https://v.com/1")) == ["url_not_in_registry"] * 2


def test_v11_a_reader_sees_what_the_source_says_of_a_sentence() -> None:
    page = Source(url="https://v.com/1", text="It rains. The bridge was opened in 1932 and is 1149 metres long.")
    text = report("[1] https://v.com/1", "The bridge was opened in 1932 [1]. The bridge was opened in 1968 [1].")
    first, second = (cited.passage for cited in cited_passages(verify(text, [page]).found))
    assert first is not None
    assert second is not None
    assert first.text == second.text == "The bridge was opened in 1932 and is 1149 metres long."
    assert [first.text[start:end] for start, end in first.shared] == ["bridge", "opened", "1932"]
    assert [second.text[start:end] for start, end in second.shared] == ["bridge", "opened"]


# D: verification or sanitising damages good reports


@pytest.mark.parametrize("name", ["section", "copy", "reg", "para", "times", "lt", "not", "micro", "deg"])
def test_d1_parameters_are_no_entities(name: str) -> None:
    url = f"https://v.com/p?a=1&{name}=2"
    text = report(f"[1] T {url}")
    assert verify(text, [Source(url=url)]).text == text


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://[host]/v1", "http://[", "http://]", "http://[::1]]/", "http://[v1.x]/"]
)
def test_d2_brackets_crash_nothing(url: str) -> None:
    text = report(f"[1] T {url}", f"See {url} and [this]({url}) [1].")
    assert verify(text, [Source(url=url), Source(url="https://v.com/1")]).audit.valid_citations == ()


def test_d3_a_url_is_rewritten_where_it_stands() -> None:
    sources = [Source(url="https://x.com/a"), Source(url="https://x.com/a/b")]
    text = report("[1] https://x.com/a/\n[2] https://x.com/a/b", "A [1] [2].")
    assert verify(text, sources).text == report("[1] https://x.com/a\n[2] https://x.com/a/b", "A [1] [2].")


@pytest.mark.parametrize("entry", ["{}", "Mercury ({}).", "[Mercury]({})", "Mercury - {}."])
def test_d4_parentheses_of_a_url_stay(entry: str) -> None:
    url = "https://en.wikipedia.org/wiki/Mercury_(planet)"
    text = report(f"[1] {entry.format(url)}")
    assert verify(text, [Source(url=url)]).text == text


def test_d4_so_they_do_in_mentions() -> None:
    result = ToolResult(
        content="x",
        sources=(Source(url="https://e.com/", text="(see https://en.wikipedia.org/wiki/Mercury_(planet))."),),
    )
    assert registry_after(result).known()[1].url == "https://en.wikipedia.org/wiki/Mercury_(planet)"


@pytest.mark.parametrize("behind", ["，以及更多", "。", "」", "》更多", "、", "** more", "` more", "|"])
def test_d5_marks_behind_a_url_are_not_part_of_it(behind: str) -> None:
    assert valid(report(f"[1] 见https://v.com/1{behind}"), Source(url="https://v.com/1")) == [(1, "exact")]


@pytest.mark.parametrize("body", ["In [2024] we ran arr[0].", "See `x[1]` and $a[1]$ [sic].", "The interval [0, 1]."])
def test_d6_not_every_number_in_brackets_is_a_citation(body: str) -> None:
    assert verify(body, [Source(url="https://v.com/1")]).text == body


@pytest.mark.parametrize(
    ("mark", "kept"), [("[1, 3]", "[1, 2]"), ("[1-3]", "[1, 2]"), ("[1; 2]", "[1]"), ("[2][3]", "[2]")]
)
def test_d7_groups_are_checked_and_renumbered(mark: str, kept: str) -> None:
    entries = "[1] https://v.com/1\n[2] https://no.com/\n[3] https://v.com/3"
    sources = [Source(url="https://v.com/1"), Source(url="https://v.com/3")]
    text = verify(report(entries, f"A {mark}."), sources).text
    assert text == report("[1] https://v.com/1\n[2] https://v.com/3", f"A {kept}.")


def test_d8_a_link_stays_a_link() -> None:
    text = "It grew [1](https://v.com/1) fast."
    assert verify(text, [Source(url="https://v.com/1")]).text == text


@pytest.mark.parametrize(
    "body",
    [
        "- a\n    - b  c\n      - d",
        "```py\ndef main():\n    return https://bit.ly/x\n```",
        "Use `http://user:pw@10.0.0.1/db`.",
    ],
)
def test_d9_layout_and_code_stay(body: str) -> None:
    text = report("[1] https://v.com/1", f"{body}\n\nSo it is [1].")
    assert verify(text, [Source(url="https://v.com/1")]).text == text


@pytest.mark.parametrize(
    "behind",
    [
        "\n## Appendix\n\n1. Method one\n2. Method two\n",  # D10
        "\n## Appendix\n\nJust words, without a number.\n",  # D11
        "\n---\n\n*Written by an agent.*\n",  # D11
    ],
)
def test_d10_d11_what_follows_the_list_stays(behind: str) -> None:
    text = report("[1] https://v.com/1") + behind
    assert verify(text, [Source(url="https://v.com/1")]).text == text


@pytest.mark.parametrize(
    "tag", ["<function name='x'>", "<parameter ", "<tool_call>", "<invoke name='y'>", "</function>"]
)
def test_d12_a_tag_wipes_nothing(tag: str) -> None:
    text = report("[1] https://v.com/1", f"Write {tag} here [1]. And go on.")
    assert verify(text, [Source(url="https://v.com/1")]).text == text


def test_d13_a_number_that_stands_twice() -> None:
    text = verify(report("[1] https://no.com/\n[1] https://v.com/2"), [Source(url="https://v.com/2")]).text
    assert text == report("[1] https://v.com/2")


def test_d14_a_sentence_keeps_its_end() -> None:
    text = report("[1] https://v.com/1", "See https://v.com/1. Next [1].")
    assert verify(text, [Source(url="https://v.com/1")]).text == text


@pytest.mark.parametrize(
    ("sources", "cited"),
    [
        (["http://www.v.com/a"], "https://v.com/a"),
        (["https://v.com:443/a"], "http://v.com:80/a/"),
        (["https://v.com/a/b", "https://v.com/a/b/c"], "https://v.com/a/b/c/d"),
    ],
)
def test_d15_true_sources_are_not_rejected(sources: list[str], cited: str) -> None:
    assert found(sources, cited) is not None


# S: safety rules that do not do what the documents say


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html;base64,AA", "vbscript:x", "file:///etc/passwd"],
)
@pytest.mark.parametrize("written", ["[x]({})", "![x]({})", "<{}>", "[x](<{}>)"])
def test_s1_schemes_are_removed_wherever_they_stand(url: str, written: str) -> None:
    place = written.format(url)
    assert url not in verify(f"See {place} now.", []).text
    assert reasons(report(f"[1] click: {place}")) == ["unsafe_scheme"]


@pytest.mark.parametrize(
    "url",
    [
        "HTTPS://192.168.0.1",
        "http://user@10.0.0.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://[::1]/",
        "http://[fe80::1%25eth0]/",
        "http://[::ffff:127.0.0.1]:80/",
    ],
)
def test_s2_addresses_are_removed_in_every_spelling(url: str) -> None:
    assert reasons(report(f"[1] T {url}"), Source(url=url)) == ["ip_address_url"]
    assert url not in verify(f"See [this]({url}).", []).text


def test_s2_a_name_that_looks_like_an_address_is_fine() -> None:
    url = "http://1.2.3.4.example.com/"
    assert valid(report(f"[1] T {url}"), Source(url=url)) == [(1, "exact")]


HIDDEN = ["HTTP://{}/x", "http://user:pw@{}/x", "https://foo.{}/x", "https://{}./x", "https://{}:8080/x"]


@pytest.mark.parametrize("url", HIDDEN)
@pytest.mark.parametrize("host", ["bit.ly", "t.ly", "tiny.cc", "rebrand.ly", "shorturl.at"])
def test_s3_shorteners_are_removed_in_every_spelling(url: str, host: str) -> None:
    url = url.format(host)
    assert broken_rule(url) == "shortened_url"
    assert reasons(report(f"[1] T {url}"), Source(url=url)) == ["shortened_url"]


@pytest.mark.parametrize(
    "url", ["https://e.com/a...", "(https://e.com/a...)", "https://e.com/a…", "https://e.com/a[...]"]
)
def test_s4_cut_off_urls_are_removed_unless_they_mean_one_source(url: str) -> None:
    text = report(f"[1] T {url}")
    assert reasons(text) == ["truncated_url"]
    assert valid(text, Source(url="https://e.com/an-article")) == [(1, "truncation")]
