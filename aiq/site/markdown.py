"""Untrusted Markdown as HTML that is safe to open, with pieces of our own at given places; and the page templates."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.token import Token

Json: TypeAlias = dict[str, Any]
"""A page's record, as JSON."""

TEMPLATES = Path(__file__).parent / "templates"
_BARE_URL = re.compile(r"https?://[^\s<>\"'（）《》【】，。；]+[^\s<>\"'（）《》【】，。；.,:;!?)\]]")


_IN_LINK = "in_link"


def is_web_link(url: str) -> bool:
    """Whether a link may be followed: http or https."""
    return re.match(r"https?://", url, re.IGNORECASE) is not None


def render(text: str) -> str:
    """Markdown as HTML without raw HTML, images or non-web links. Line ends are kept: lists have one entry per line."""
    return str(_renderer().render(text))


@cache
def _renderer() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable("image")
    markdown.validateLink = is_web_link  # type: ignore[method-assign]
    markdown.add_render_rule("text", _text)
    markdown.add_render_rule("link_open", _link_open)
    markdown.add_render_rule("link_close", _link_close)
    return markdown


def _text(_: Any, tokens: Sequence[Token], index: int, __: Any, env: Any) -> str:
    """Escaped text; outside of links, bare web addresses become links."""
    text = tokens[index].content
    if env.get(_IN_LINK):
        return html.escape(text)
    parts, end = [], 0
    for match in _BARE_URL.finditer(text):
        url = html.escape(match.group())
        parts += [html.escape(text[end : match.start()]), f'<a href="{url}" rel="noopener noreferrer">{url}</a>']
        end = match.end()
    return "".join([*parts, html.escape(text[end:])])


def _link_open(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    env[_IN_LINK] = True
    tokens[index].attrSet("rel", "noopener noreferrer")
    return str(renderer.renderToken(tokens, index, options, env))


def _link_close(_: Any, __: Sequence[Token], ___: int, ____: Any, env: Any) -> str:
    env[_IN_LINK] = False  # links do not nest
    return "</a>"


_OPEN, _CLOSE = "\ue000", "\ue001"  # around the number of a piece that is inserted after rendering
_PLACEHOLDER = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_PLACEHOLDER_OR_TAG = re.compile(rf"<p>{_OPEN}(?P<alone>\d+){_CLOSE}</p>|{_OPEN}(?P<held>\d+){_CLOSE}|<[^>]*>")
_PRIVATE = str.maketrans(_OPEN + _CLOSE, "\ufffd\ufffd")
_MARKED_FENCE = re.compile(rf"^([ \t>]*(?:`{{3,}}|~{{3,}}))[ \t]*((?:{_OPEN}\d+{_CLOSE}[ \t]*)+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Piece:
    """`html` to replace `start:end` of a text; a `block` is a paragraph of its own."""

    start: int
    end: int
    html: str
    block: bool = False


def annotated(text: str, pieces: Iterable[Piece]) -> str:
    """The text as safe HTML with these pieces, wherever they are in it; of two that overlap the first is kept."""
    text = text.translate(_PRIVATE)
    kept: list[Piece] = []
    parts, position = [], 0
    for piece in sorted(pieces, key=lambda piece: (piece.start, piece.end)):
        if piece.start >= position:
            placeholder = f"{_OPEN}{len(kept)}{_CLOSE}"
            parts += [text[position : piece.start], f"\n\n{placeholder}\n\n" if piece.block else placeholder]
            kept.append(piece)
            position = piece.end

    def replacement(match: re.Match[str]) -> str:
        if match["alone"]:
            piece = kept[int(match["alone"])]
            return piece.html if piece.block else f"<p>{piece.html}</p>"
        return kept[int(match["held"])].html if match["held"] else _PLACEHOLDER.sub("", match[0])

    marked = _MARKED_FENCE.sub(r"\1\n\2", "".join([*parts, text[position:]]))
    return _PLACEHOLDER_OR_TAG.sub(replacement, render(marked))


def environment() -> Any:
    """The templates, which escape everything; the filter `trusted` exempts our styles and `render`'s safe output."""
    import jinja2
    from markupsafe import Markup

    loader = jinja2.FileSystemLoader(TEMPLATES)
    templates = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    templates.filters["trusted"] = Markup
    templates.tests["web_link"] = is_web_link
    return templates
