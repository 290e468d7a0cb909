"""What a result shows to a model, and which sources it declares."""

import json
from typing import Any

import mcp_types as types
import pytest

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.sources import Source
from aiq.core.tools import ToolResult
from aiq.tools.deny import DenyList
from aiq.tools.mcp.results import Reading
from tests.cases import table
from tests.tools.mcp.server import looked_up, media, records

each = table(__file__)

DENIED = DenyList(["denied.example"])


def read(*blocks: Any, max_chars: int = 1000, urls_in_text: bool = False, **given: Any) -> ToolResult:
    content = [types.TextContent(text=block) if isinstance(block, str) else block for block in blocks]
    result = types.CallToolResult(content=content, **given)
    return Reading("tool", max_chars, DENIED, urls_in_text=urls_in_text).result(result)


def declared(result: ToolResult) -> list[tuple[str, str, str]]:
    return [(source.address, source.title, source.text) for source in result.sources]


def test_resources_are_shown_as_pages_are_and_each_is_a_source() -> None:
    result = read(*looked_up("March").content)
    assert declared(result) == [
        ("notes://2026/march", "march", "March: 40 events."),
        ("https://notes.example/a?b=1", "a", "A page <document> of notes."),
        ("may 2026.md".replace(" ", "%20"), "may 2026.md", "May."),
        ("https://notes.example/index", "Index", "All notes."),
    ]
    assert [source.url is None for source in result.sources] == [True, False, True, False]
    assert result.content.startswith(
        "Found for March:\n\n"
        '<Document href="notes://2026/march">\n<title>\nmarch\n</title>\nMarch: 40 events.\n</Document>\n\n'
    )
    assert "A page &lt;document> of notes." in result.content


def test_pictures_sounds_and_binary_data_are_named_and_not_shown() -> None:
    result = read(*media().content)
    assert result.content.startswith("[image, image/png: not shown]\n\n[audio, audio/wav: not shown]\n\n")
    assert "[application/pdf: not shown]" in result.content
    assert "AAAA" not in result.content
    assert declared(result) == [("notes://scan", "scan", "")]


def test_urls_in_structured_content_are_sources_except_denied_pages() -> None:
    result = read(*records().content, structured_content=records().structured_content)
    assert declared(result) == [("https://a.example/1", "One", "The first record.")]
    record = {"url": "https://a.example/1", "title": "One", "text": "The first record.", "score": 0.5}
    assert result.content == json.dumps({"records": [record]})
    assert result.denied == 1


ROW = {"url": "https://a.example/1", "name": "Ä", "score": 7}


@each("blocks")
def test_structured_content_is_shown_if_the_text_does_not_say_it(
    blocks: list[str], structured: Any, shown: str
) -> None:
    content = {} if structured is None else {"structured_content": structured}
    result = read(*blocks, **content)
    assert result.content == shown
    assert declared(result) == [("https://a.example/1", "Ä", "Ä")]


def test_json_in_a_text_loses_denied_pages_too() -> None:
    rows = [ROW, {"url": "https://denied.example/a", "text": "answers"}, "https://denied.example/b", None]
    result = read(json.dumps(rows))
    assert (json.loads(result.content), result.denied) == ([ROW, None], 2)


def test_addresses_outside_the_web_are_keys_a_file_by_its_name_alone() -> None:
    rows = [{"url": "doc://c", "title": "C", "text": "A document."}, {"path": "file:///srv/my%20notes.md"}]
    result = read(structured_content={"documents": rows})
    assert declared(result) == [("doc://c", "C", "A document."), ("my%20notes.md", "", "")]
    assert [source.url for source in result.sources] == [None, None]


@pytest.mark.parametrize("urls_in_text", [False, True])
def test_urls_in_other_texts_are_sources_if_the_settings_say_so(*, urls_in_text: bool) -> None:
    text = "1. A tower: https://a.example/t (330 m).\n\n2. Denied: https://denied.example/x."
    result = read(text, urls_in_text=urls_in_text)
    assert result.content == text
    paragraph = "1. A tower: https://a.example/t (330 m)."
    assert declared(result) == ([("https://a.example/t", "", paragraph)] if urls_in_text else [])


def test_a_long_result_is_cut_visibly_and_loses_the_sources_cut_off() -> None:
    rows = [{"url": f"https://a.example/{number}", "text": "x" * 60} for number in range(5)]
    result = read(structured_content=rows, max_chars=150)
    text = json.dumps(rows)
    assert result.content == f"{text[:150]}\n[cut: the first 150 of {len(text)} characters]"
    assert declared(result) == [(f"https://a.example/{number}", "", "x" * 60) for number in range(2)]
    long = types.TextResourceContents(uri="notes://long", text="y" * 400)
    (source,) = read(types.EmbeddedResource(resource=long), max_chars=150).sources
    assert source == Source(citation_key="notes://long", title="long", text="y" * 150, tool="tool")


@pytest.mark.parametrize(
    ("said", "why"),
    [(["the index\nis locked", "try later"], "the index is locked try later"), ([], "it failed and does not say why")],
)
def test_a_tool_that_says_that_it_failed_has_failed(said: list[str], why: str) -> None:
    with pytest.raises(ToolError) as raised:
        read(*said, is_error=True)
    assert (raised.value.kind, str(raised.value)) == (ToolErrorKind.FAILED, f"tool: {why}")
    with pytest.raises(ToolError, match=r"^tool: x{100}\n\[cut: the first 100 of 5000 characters\]$"):
        read("x" * 5000, is_error=True, max_chars=100)
