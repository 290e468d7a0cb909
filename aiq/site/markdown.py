"""Reports as HTML that is safe to open: no raw HTML, no images, no links but http and https."""

import html
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

_BARE_URL = re.compile(r"https?://[^\s<>\"'（）《》【】，。；]+[^\s<>\"'（）《》【】，。；.,:;!?)\]]")


def is_web_link(url: str) -> bool:
    """Whether a link may be followed: http or https, and nothing else."""
    return re.match(r"https?://", url, re.IGNORECASE) is not None


def render(text: str) -> str:
    """Markdown as HTML. Line ends are kept, because reference lists have one entry a line."""
    return str(_renderer().render(text))


@cache
def _renderer() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable("image")
    markdown.validateLink = is_web_link  # type: ignore[method-assign]
    markdown.add_render_rule("text", _text)
    markdown.add_render_rule("link_open", _link_open)
    return markdown


def _text(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    """Escaped text; outside of links, bare web addresses become links."""
    text = tokens[index].content
    depth = sum((token.type == "link_open") - (token.type == "link_close") for token in tokens[:index])
    if depth:
        return html.escape(text)
    parts, end = [], 0
    for found in _BARE_URL.finditer(text):
        url = html.escape(found.group())
        parts += [html.escape(text[end : found.start()]), f'<a href="{url}" rel="noopener noreferrer">{url}</a>']
        end = found.end()
    return "".join([*parts, html.escape(text[end:])])


def _link_open(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    tokens[index].attrSet("rel", "noopener noreferrer")
    return str(renderer.renderToken(tokens, index, options, env))
