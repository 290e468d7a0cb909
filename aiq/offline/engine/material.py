"""Material in any form: the sources contained in a text, whether JSON, XML, HTML, Markdown or plain text.

Fields are recognised by the form of their values (a URL, a short title, prose, a date) and only then by their names.
"""

import ast
import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from aiq.offline.engine import counts
from aiq.offline.engine.source import URL, Source, day_of, is_prose, sources_in


class Element(NamedTuple):
    """An outermost `<label ...>text</label>` in a text, with its position."""

    label: str
    attributes: dict[str, str]
    text: str
    start: int
    end: int


_TAG = re.compile(r"(?<!`)<([A-Za-z][\w.:-]*(?: [A-Z][\w-]*)*)((?:\s+[\w:-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'))*)\s*>")
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_HTML = re.compile(r"(?i)<(?:!doctype html|html|body|head|div|p|h[1-6]|ul|ol|span)\b[^<>]*>")
_ERROR = re.compile(
    r"(?i)\W*(?:\w*error|exception|traceback|failed|failure|time(?:d )?out"
    r"|(?:nothing|no (?:\w+ ){0,3}\w+) (?:was |were )?found|no (?:\w+ ){0,3}(?:results?|matches|hits)"
    r"|(?:page |file )?not found|could ?n[o']t|cannot|unable to|invalid|[45]0\d|none$"
    r"|没有找到|未找到|无结果|错误|失败)"
)
_NAMES = {
    "link": r"(?i).*(?:url|link|href|uri|source).*",
    "key": r"(?i)source|document|file|file_?name|path|doc_?id|citation|citation_?key|reference|id|key|来源",
    "title": r"(?i)(?:page_?|document_?)?(?:title|name|headline|heading)|标题|题目",
    "date": r"(?i).*(?:date|publi|modified|created|posted|发布|日期|时间).*|.*time|(?:.*_)?age",
}
"""Patterns for names of fields; the first that matches and holds a value of that form counts."""
_IGNORED = re.compile(
    r"(?i).*(?:image|thumb|icon|logo|query|question|prompt|instruction|score|engine).*|.*type|isError|is_error"
)
_PAGE_PATHS = {
    "key": "string(//link[@rel='canonical']/@href | //meta[@property='og:url']/@content)",
    "title": "string((//title | //h1)[1])",
    "day": (
        "string(//time/@datetime"
        " | //meta[contains(concat(@name, @property), 'date') or contains(@property, 'publish')]/@content)"
    ),
}
_PLAN = (
    r"(?i)(?:\w+_)?(?:queries|(?:sub_?)?questions|sections|outline|headings|chapters|sub_?topics|searches|steps|todos)"
)


def sources(text: str, *, key: str = "") -> list[Source]:
    """The sources in a text, in order. `key`: the requested URL, if this is the page that came back."""
    text, outer = text.strip(), Source("", key)
    if not text or (len(text) < 400 and _ERROR.match(text)):
        return []
    if (values := parsed(text)) is not None:
        return _rows(values, outer)
    if len(_HTML.findall(text[:20_000])) > 1:
        page = _page(text, outer)
        return sources_in(page.text, page)
    parts = list(elements(text))
    if sum(element.end - element.start for element in parts) * 2 > len(text):
        results = _rows([_as_value(element) for element in parts], outer)
        if any(source.key for source in results):
            return results
    return sources_in(re.sub(r"</[\w:. -]+>", "", _TAG.sub("", text)) if parts else text, outer)


def parsed(text: str) -> list[Any] | None:
    """The JSON values or Python literal that a text consists of; None if it is mainly words."""
    text = text.strip()
    spans = list(objects(text))
    if sum(end - start for _, start, end in spans) * 2 > len(text):
        return [value for value, _, _ in spans]
    if len(text) < 300_000 and text[:1] in ("[", "{") and text[-1] in "]}":
        try:
            return [json.loads(json.dumps(ast.literal_eval(text), default=str))]
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
    return None


def objects(text: str) -> Iterator[tuple[Any, int, int]]:
    """The JSON objects and lists in a text, each with its start and end."""
    end = failures = 0
    for opening in re.finditer(r"[\[{](?=\s*[\[{\"])", text):
        if opening.start() < end or failures > 20:
            continue
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            failures += 1
        else:
            yield value, opening.start(), end


def rows(text: str) -> list[dict[str, Any]]:
    """The objects in a text, in lists or not: from JSON anywhere, or from one Python literal."""
    bracketed = re.search(r"(?s)[\[{].*[\]}]", text)
    values = (bracketed and parsed(bracketed[0])) or [value for value, _, _ in objects(text)]
    items = (item for value in values for item in (value if isinstance(value, list) else [value]))
    return [item for item in items if isinstance(item, dict)]


def elements(text: str) -> Iterator[Element]:
    """The outermost elements of a text, in order; a tag that is never closed counts as text."""
    position, unclosed = 0, set()
    while match := _TAG.search(text, position):
        label, position = match[1], match.end()
        end = -1 if label in unclosed else text.find(f"</{label}>", position)
        if end < 0:
            unclosed.add(label)
            continue
        attributes = {name: html.unescape(a or b) for name, a, b in _ATTRIBUTE.findall(match[2])}
        content, position = text[position:end].strip("\n"), end + len(label) + 3
        yield Element(label, attributes, content, match.start(), position)


def _as_value(element: Element, levels: int = 20) -> Any:
    """An element as fields: its attributes, lists of its children by label, and the rest as `text`. `levels`: the depth
    to which children are read."""
    fields: dict[str, Any] = {}
    rest, end = "", 0
    for child in elements(element.text) if levels else ():
        fields.setdefault(child.label, []).append(_as_value(child, levels - 1))
        rest, end = rest + element.text[end : child.start], child.end
    text = html.unescape(rest + element.text[end:]).strip()
    fields |= element.attributes
    return {**fields, "text": text} if fields and text else fields or text


def plan_lists(fields: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The lists of a plan among an object's fields, by name: queries, sections, steps."""
    return {
        name: rows for name, rows in fields.items() if isinstance(rows, list) and rows and re.fullmatch(_PLAN, name)
    }


def _rows(value: Any, outer: Source) -> list[Source]:
    """The sources in parsed values; rows inside a row inherit its key, title and day if they have none."""
    if isinstance(value, list):
        return [source for item in value if not counts.is_count(item) for source in _rows(item, outer)]
    if isinstance(value, str):
        nested = sources(value, key=outer.key) if is_prose(value) or parsed(value) else []
        return [replace(s, title=s.title or outer.title, day=s.day or outer.day) for s in nested]
    if not isinstance(value, dict) or value.get("error") or value.get("isError"):
        return []
    if plan_lists(value):  # planned queries are not evidence
        return [source for source in _rows(list(value.values()), outer) if source.key]
    fields, children = _flatten(value)
    base = _row(fields, outer)
    prose = [text for text in fields.values() if is_prose(text) and text != base.title]
    if base.key == outer.key:
        children, prose = [*prose, *children], []
    nested_sources = _rows(children, base)
    if nested_sources and not prose:
        return nested_sources
    text = "\n".join(dict.fromkeys(_page(p, base).text if _HTML.search(p) else p for p in prose))
    if not prose and "type" not in fields:
        facts = (f"{name}: {content}" for name, content in fields.items() if content not in (base.key, base.title))
        text = "; ".join(facts) or base.title
    return [*([replace(base, text=text)] if text else []), *nested_sources]


def _flatten(row: Mapping[str, Any]) -> tuple[dict[str, str], list[Any]]:
    """A row's plain fields as strings, with those of small objects in it (`metadata`), and what may contain rows."""
    fields: dict[str, str] = {}
    containers: list[Any] = []
    for name, value in row.items():
        subfields, subrows = _flatten(value) if isinstance(value, dict) else ({}, [])
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            value = "\n".join(value)
        if isinstance(value, list) or subrows or any(map(is_prose, subfields.values())):
            containers.append(value)
        elif subfields:
            fields |= {key: text for key, text in subfields.items() if key not in fields}
        elif value and value is not True and not _IGNORED.fullmatch(name):
            fields[name] = str(value).strip()
    return fields, containers


def _row(fields: Mapping[str, str], outer: Source) -> Source:
    """The source that a row's fields describe, without its text; missing parts come from the outer source."""
    short = {name: value for name, value in fields.items() if len(value) < 300}
    values = {kind: [v for n, v in short.items() if re.fullmatch(pattern, n)] for kind, pattern in _NAMES.items()}
    keys = [key for key in (*values["link"], *short.values()) if URL.fullmatch(key)]
    keys += [key for key in (*values["key"], outer.key) if not is_prose(key)]
    title = [*values["title"], outer.title][0]
    days = filter(None, map(day_of, values["date"]))
    return Source("", keys[0], " ".join(title.split()), next(days, outer.day))


def _page(page: str, outer: Source) -> Source:
    """An HTML page: its text as Markdown, its title, and the URL and date that it gives itself."""
    from trafilatura import load_html

    tree = load_html(page)
    if tree is None:
        return replace(outer, text=page)
    meta = {name: " ".join(tree.xpath(path).split()) for name, path in _PAGE_PATHS.items()}
    for node in tree.xpath("//head | //script | //style | //nav | //footer | //noscript"):
        node.drop_tree()
    for link in tree.xpath("//a[starts-with(@href, 'http')]"):
        link.text, link.tail = f"[{link.text or ''}", f"]({link.get('href')}){link.tail or ''}"
    for block in tree.xpath("//*[not(self::a or self::b or self::i or self::em or self::strong or self::span)]"):
        block.text, block.tail = f"\n{block.text or ''}", f"\n{block.tail or ''}"
    text = re.sub(r"\s*\n\s*", "\n", tree.text_content()).strip()
    return Source(text, outer.key or meta["key"], meta["title"] or outer.title, day_of(meta["day"]) or outer.day)
