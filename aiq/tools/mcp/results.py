"""What an MCP tool returned, as text for a model and as sources: resources, and addresses that are values in JSON."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeGuard
from urllib.parse import unquote

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

from aiq.citations.links import find_urls
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.sources import Source
from aiq.core.tools import ToolResult
from aiq.tools.blocks import document, escape_tags, one_line, safe_url, truncate
from aiq.tools.deny import DenyList

_WEB: Final = re.compile(r"https?://\S+", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_AFTER_PATH: Final = re.compile(r"[?#]")
_PARAGRAPHS: Final = re.compile(r"\n\s*\n")


class Reading:
    """One result of `tool`, read once. `max_chars` limits its text, and the text of each source.

    `urls_in_text`: whether URLs in texts that are not JSON are sources too. Pages that `deny` lists are left out: as
    resources, and in JSON with the object that has their URL.
    """

    def __init__(self, tool: str, max_chars: int, deny: DenyList, *, urls_in_text: bool) -> None:
        self._tool, self._max_chars, self._deny, self._urls_in_text = tool, max_chars, deny, urls_in_text
        self._sources: dict[str, Source] = {}
        self._denied = 0

    def result(self, result: CallToolResult) -> ToolResult:
        """Raises ToolError (`failed`) if the tool says that it failed."""
        if result.is_error:
            reason = one_line(" ".join(_texts(result))) or "it failed and does not say why"
            raise ToolError(ToolErrorKind.FAILED, f"{self._tool}: {truncate(reason, self._max_chars)}")
        text = self._content_text(result)
        head = text[: self._max_chars]
        sources = self._sources.values() if head == text else [s for s in self._sources.values() if s.address in head]
        return ToolResult(content=truncate(text, self._max_chars), sources=tuple(sources), denied=self._denied)

    def _content_text(self, result: CallToolResult) -> str:
        """The content's blocks, and the structured content if their texts do not say all of it."""
        structured, texts = result.structured_content, _texts(result)
        if any(_json(text) == structured for text in texts):  # as the protocol asks for
            structured = None
        data = self._allowed(structured)
        self._declare(data, {})
        repeated = self._denied > 0  # by the texts, which should say what structured content does
        blocks = [block for block in result.content if not (repeated and isinstance(block, TextContent))]
        parts = [text for block in blocks if (text := self._block(block))]
        if data is not None and (repeated or not _contains("\n".join(texts), data)):
            parts.append(escape_tags(json.dumps(data, ensure_ascii=False)))
        return "\n\n".join(parts)

    def _block(self, block: ContentBlock) -> str:
        match block:
            case TextContent(text=text):
                return self._text(text)
            case ImageContent() | AudioContent():
                return f"[{block.type}, {block.mime_type}: not shown]"
            case ResourceLink():
                return self._resource(block.uri, block.title or block.name, block.description or "")
            case EmbeddedResource(resource=held):
                binary = (
                    f"[{held.mime_type or 'binary data'}: not shown]" if isinstance(held, BlobResourceContents) else ""
                )
                return self._resource(held.uri, "", getattr(held, "text", ""), binary)

    def _text(self, text: str) -> str:
        """A text; JSON is read like structured content."""
        data = _json(text)
        if isinstance(data, dict | list):
            allowed = self._allowed(data)
            self._declare(allowed, {})
            return escape_tags(text if allowed == data else json.dumps(allowed, ensure_ascii=False))
        for paragraph in _PARAGRAPHS.split(text) if self._urls_in_text else ():
            for url in find_urls(paragraph):
                if not self._denies(url):
                    self._add(url, "", paragraph)
        return escape_tags(text)

    def _resource(self, uri: str, title: str, text: str, placeholder: str = "") -> str:
        """A resource as a block, with its title or the last part of its address as the title."""
        if self._denies(uri):
            self._denied += 1
            return ""
        title = title or _name(uri) or uri
        return document(self._add(uri, title, text), title, text or placeholder)

    def _allowed(self, data: Any) -> Any:
        """JSON without denied pages."""
        if self._denies(data) or (isinstance(data, dict) and any(map(self._denies, data.values()))):
            self._denied += 1
            return None
        if isinstance(data, dict):
            return {name: self._allowed(value) for name, value in data.items()}
        if isinstance(data, list):
            items = [(item, self._allowed(item)) for item in data]
            return [allowed for item, allowed in items if item is None or allowed is not None]
        return data

    def _declare(self, data: Any, holder: Mapping[str, Any]) -> None:
        """Declare each value that is an address as a source, with title and text from the object that holds it.

        The title is the object's `title` or `name`, the text its longest string.
        """
        if isinstance(data, dict | list):
            for value in data.values() if isinstance(data, dict) else data:
                self._declare(value, data if isinstance(data, dict) else holder)
        elif _is_address(data):
            titles = [holder[name] for name in ("title", "name") if isinstance(holder.get(name), str)]
            texts = [value for value in holder.values() if isinstance(value, str) and not _is_address(value)]
            self._add(data, "".join(titles[:1]), max(texts, key=len, default=""))

    def _add(self, address: str, title: str, text: str) -> str:
        """Declare a source: by its URL or, if it is not on the web, by its address, a file by its name alone.

        The first source with an address counts. Returns the URL or key.
        """
        name = _name(address) if address.lower().startswith("file:") else ""
        key = safe_url(name or address)
        if key not in self._sources:
            location = {"url": key} if _is_web(address) else {"citation_key": key}
            source = Source(**location, title=one_line(title), text=text[: self._max_chars], tool=self._tool)
            self._sources[key] = source
        return key

    def _denies(self, value: object) -> bool:
        return _is_web(value) and self._deny.has(value)


def _texts(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, TextContent)]


def _name(address: str) -> str:
    """The last part of the address's path."""
    return unquote(_AFTER_PATH.split(address)[0].rstrip("/").rpartition("/")[2])


def _is_address(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _ADDRESS.fullmatch(value) is not None


def _is_web(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _WEB.fullmatch(value) is not None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _contains(text: str, data: Any) -> bool:
    """Whether a text has every string and number of the data, as it is or as JSON spells it."""
    return all(any(form in text for form in forms) for forms in _spellings(data))


def _spellings(data: Any) -> Iterator[tuple[str, ...]]:
    if isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _spellings(value)
    elif isinstance(data, str):
        yield data, json.dumps(data, ensure_ascii=False)[1:-1], json.dumps(data)[1:-1]
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield (json.dumps(data),)
