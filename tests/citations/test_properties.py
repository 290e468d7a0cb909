"""What holds for any report and any registry: no crash, no invented source, nothing touched that no edit names."""

from hypothesis import given, settings
from hypothesis import strategies as st

from aiq.citations.edits import apply_edits
from aiq.citations.parsing import parse_report
from aiq.citations.sanitise import broken_rule
from aiq.citations.urls import parse_url
from aiq.citations.verify import verify
from aiq.core.sources import Source

# fmt: off
URLS = [
    "https://v.com/1", "https://v.com/1/2/3", "http://www.v.com/1?x=1&y=2",
    "https://en.wikipedia.org/wiki/Mercury_(planet)", "https://v.com/a.", "https://v.com/é，b",
    "https://v.com/p?q=a)b", "https://v.com/1...", "https://v.com/12", "javascript:alert(1)",
    "data:text/html,x", "https://bit.ly/x", "http://10.0.0.1/", "http://[::1", "https://nope.com/z",
    "https://v.com/a](b", "https://v.com/`x`", "ftp://v.com/1", "https://v.com/a|b", "https://v.com/\\_x_",
    "https://V.com/#/r", "https://v.com/a*b*", "https://v.com/&amp;x", "http://", "https://v.com/1;v=2",
    "www.v.com", "https://v.com/x y",
]
# fmt: on
KEYS = ["report.pdf, p.3", "a.md", "Annual Report"]
# fmt: off
PIECES = [
    "[1]", "[2]", "[9]", "[1, 3]", "[1-3]", "[^1]", "[^2]: ", "【1†L2】", "[1](", "[1]: ", "[[1]]",
    "<sup>1</sup>", "\\[1\\]", "[2024]", "arr[0]", "[sic]", "[0]", "[1;2]", "# ", "## References\n", "参考文献：\n",
    "**Sources:**\n", "- ", "1. ", "2) ", "* ", "> ", "`", "```\n", "~~~\n", "```markdown\n", "$", "$$", "\\(",
    "\\)", "\\[", "(", ")", "[", "]", "{", "<", ">", "<b>", "</code>", "<code>", "<!--", "-->", "<pre>", "![",
    "](", "'", '"', "*", "**", "_", "，", "。", "：", "text ", "Fact ", "\r\n", "\r", "\x00", "\u3000", "...", "…",
    "---\n", "===\n", "Accessed ", "URL: ", "中文", "&amp;", "\\", "    ", "(see ", "\ufeff", "\ud800", " - ",
    ": ", "1) ", "• [2] ", "(1) ", " ", "\n", "\n\n", "So it is.1 ", "|", "[a]: ", "<div>\n",
    '<a href="javascript:x">', "<img src=", "|---|---|\n",
]
# fmt: on

NUMBERINGS = ["[{}] ", "{}. ", "[^{}]: ", "- [{}] ", "- ", "[{}]: ", "**[{}]** ", "| {} | ", "[{}] [T]("]

pieces = st.sampled_from(PIECES) | st.sampled_from(URLS) | st.sampled_from(KEYS)
entries = st.lists(st.tuples(st.sampled_from(NUMBERINGS), st.lists(pieces, max_size=3)), max_size=5)


@st.composite
def reports(draw: st.DrawFn) -> str:
    """A body of fragments, mostly with a list of references behind it, sometimes with more behind that."""
    text = "".join(draw(st.lists(pieces, max_size=14)))
    heading = draw(
        st.sampled_from(["", "\n\n## References\n", "\n\n参考文献：\n", "\n**Sources:**\n\n", "\nSources: "])
    )
    listed = [
        numbering.format(n) + "".join(parts) + "\n" for n, (numbering, parts) in enumerate(draw(entries), start=1)
    ]
    return text + heading + "".join(listed) + "".join(draw(st.lists(pieces, max_size=4)))


registries = st.lists(
    st.sampled_from(URLS).map(lambda url: Source(url=url))
    | st.sampled_from(KEYS).map(lambda k: Source(citation_key=k)),
    max_size=8,
)


@given(reports(), registries)
@settings(max_examples=400, deadline=None)
def test_verification_is_idempotent_and_complete(text: str, sources: list[Source]) -> None:
    verified = verify(text, sources)
    again = verify(verified.text, sources)
    assert again.text == verified.text
    assert again.edits == ()
    assert again.audit.removed_citations == ()
    assert again.audit.dangling == ()


@given(reports(), registries)
@settings(max_examples=300, deadline=None)
def test_only_what_the_edits_name_changes(text: str, sources: list[Source]) -> None:
    verified = verify(text, sources)
    ends = [0]
    for edit in verified.edits:
        assert ends[-1] <= edit.start <= edit.end <= len(text)
        assert edit.rule
        ends.append(edit.end)
    if not verify(apply_edits(text, verified.edits), sources).edits:
        assert apply_edits(text, verified.edits) == verified.text


@given(reports(), registries)
@settings(max_examples=300, deadline=None)
def test_nothing_is_verified_that_no_tool_returned(text: str, sources: list[Source]) -> None:
    verified = verify(text, sources)
    known = {source.url or source.citation_key for source in sources}
    numbers = [valid.number for valid in verified.audit.valid_citations]
    assert all(valid.source in known for valid in verified.audit.valid_citations)
    assert numbers == list(range(1, len(numbers) + 1))
    for entry in parse_report(verified.text).entries:
        for use in entry.urls:
            assert broken_rule(use.url) is None
            assert parse_url(use.url) is not None or use.url.startswith("www.")


@given(reports())
@settings(max_examples=300, deadline=None)
def test_places_lie_in_the_text_and_in_order(text: str) -> None:
    report = parse_report(text)
    assert [mark.start for mark in report.marks] == sorted(mark.start for mark in report.marks)
    for mark in report.marks:
        assert 0 <= mark.start <= mark.items[0] < mark.items[1] <= mark.end <= len(text)
        assert all(str(n) in text[slice(*mark.items)] for n in (mark.numbers[0], mark.numbers[-1]))
    for entry in report.entries:
        assert 0 <= entry.place.start < entry.place.end <= len(text)
        for use in entry.urls:
            assert entry.place.start <= use.start <= use.url_start <= use.url_end <= use.end <= entry.place.end


@given(st.text(alphabet="abc XYZ.,;!?-_*#>|`~$\\(){}<&'\"\n\r\t0123456789中文，。：é", max_size=200))
@settings(max_examples=300, deadline=None)
def test_a_text_without_brackets_and_urls_stays(text: str) -> None:
    assert verify(text, [Source(url="https://v.com/1")]).text == text


@given(st.text(max_size=60))
@settings(max_examples=500, deadline=None)
def test_no_text_is_a_url_that_crashes(text: str) -> None:
    for url in (text, f"https://{text}", f"https://v.com/{text}", f"http://{text}:80/{text}?{text}#{text}"):
        parsed = parse_url(url)
        broken_rule(url)
        assert parsed is None or parse_url(parsed.raw) == parsed
