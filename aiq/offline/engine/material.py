"""Material of any form: the sources that a text brings, be it JSON, XML, HTML, Markdown or plain words.

Fields are told by the form of their values (an address, a short title, prose, a date) and only then by their names.
"""

import ast
import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

from aiq.offline.engine.source import LINK, URL, Source, day_of, first_url, is_prose
from aiq.offline.engine.written import findings, first_title, heads_and_tells, page_day, records, table_rows


class Element(NamedTuple):
    """An outermost `<label ...>text</label>` of a text and where it stands there."""

    label: str
    attributes: dict[str, str]
    text: str
    start: int
    end: int


_OPEN = re.compile(r"<([A-Za-z][\w.:-]*(?: [A-Z][\w-]*)*)((?:\s+[\w:-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'))*)\s*>")
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_HTML = re.compile(r"<(?:!doctype html|html|body|head|div|p|h[1-6]|ul|ol|span)\b[^<>]*>", re.IGNORECASE)
_ERROR = re.compile(
    r"\W*(?:\w*error|exception|traceback|failed|failure|time(?:d )?out|no (?:\w+ ){0,3}(?:results?|matches"
    r"|documents?|pages?"
    r"|hits)|nothing (?:was )?found|(?:page |file )?not found|could ?n[o']t|cannot|unable to|invalid|40\d|50\d|none$"
    r"|没有找到|未找到|无结果|错误|失败)",
    re.IGNORECASE,
)
_TITLE_NAME = re.compile(r"(?:page_?|document_?)?(?:title|name|headline|heading)|标题|题目", re.IGNORECASE)
_DATE_NAME = re.compile(r"publi|date|updated|modified|created|posted|time$|日期|时间|发布", re.IGNORECASE)
_KEY_NAME = re.compile(
    r"source|document|file|file_?name|path|doc_?id|citation|citation_?key|reference|key|id|来源", re.IGNORECASE
)
_OTHER_NAME = re.compile(r"image|thumb|icon|logo|favicon|query|question|prompt|instruction|type$|score|engine", re.I)


def sources(text: str, *, key: str = "") -> list[Source]:
    """The sources of a text, in order. `key`: the address that was asked for, where this is the page that came back."""
    text = text.strip()
    if not text or is_error(text):
        return []
    outer = Source("", key)
    containers = parsed(text)
    if containers is not None:
        return _rows(containers, outer)
    if len(_HTML.findall(text[:20_000])) > 1:
        return _page(text, outer)
    rows = _rows([_as_value(element) for element in elements(text) if _is_record(element)], outer)
    if rows and (any(row.key for row in rows) or not first_url(text)):
        return rows
    return _written(_OPEN.sub("", re.sub(r"</[\w:. -]+>", "", text)) if rows else text, outer)


def is_error(text: str) -> bool:
    """Whether a tool's result says that there is none."""
    return len(text) < 400 and _ERROR.match(text) is not None


def parsed(text: str) -> list[Any] | None:
    """The JSON values or the Python literal that a text consists of; None where it is mainly words."""
    text = re.sub(r"^ *\d+\t", "", text.strip(), flags=re.MULTILINE)  # as some tools number a file's lines
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    if start < 0 or start > 400:
        return None
    found, covered, failures, at = [], start, 0, start
    while at >= 0 and failures < 20:
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(text, at)
        except (ValueError, RecursionError):
            end, failures = at + 1, failures + 1
        else:
            if (
                value
                and isinstance(value, (dict, list))
                and not (isinstance(value, list) and isinstance(value[0], int))
            ):
                found.append(value)
                covered += end - at
        at = min((i for i in (text.find("{", end), text.find("[{", end)) if i >= 0), default=-1)
    if found and (text[0] in "[{" or covered > 0.6 * len(text)):
        return found
    if len(text) < 300_000 and text[0] in "[{" and text[-1] in "]}":
        try:
            return [ast.literal_eval(text)]
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return None


def elements(text: str) -> Iterator[Element]:
    """The outermost elements of a text, in order; a tag that is never closed is text."""
    at, unclosed = 0, set()
    while match := _OPEN.search(text, at):
        label = match.group(1)
        end = -1 if label in unclosed else text.find(f"</{label}>", match.end())
        at = match.end()
        if end < 0:
            unclosed.add(label)
            continue
        attributes = {name: html.unescape(a or b) for name, a, b in _ATTRIBUTE.findall(match.group(2))}
        at = end + len(label) + 3
        yield Element(label, attributes, text[match.end() : end].strip("\n"), match.start(), at)


def _is_record(element: Element) -> bool:
    """Whether an element is material with an address or fields, not a word in bold."""
    return bool(element.attributes or _OPEN.search(element.text) or len(element.text) > 80)


def _as_value(element: Element) -> Any:
    """An element as fields: its attributes, its children (of one label: a list), and what is left as `text`."""
    fields: dict[str, Any] = dict(element.attributes)
    rest, at = [], 0
    for child in elements(element.text):
        value = _as_value(child)
        known = fields.get(child.label)
        fields[child.label] = value if known is None else [*(known if isinstance(known, list) else [known]), value]
        rest.append(element.text[at : child.start])
        at = child.end
    text = "".join([*rest, element.text[at:]]).strip()
    if not fields:
        return html.unescape(text)
    return {**fields, "text": html.unescape(text)} if text else fields


def _rows(value: Any, outer: Source) -> list[Source]:
    """The sources of parsed JSON or XML; rows inside a row have its key, title and day where they have none."""
    if isinstance(value, list):
        return [source for item in value for source in _rows(item, outer)]
    if isinstance(value, str):
        nested = sources(value, key=outer.key) if is_prose(value) or parsed(value) is not None else []
        return [replace(s, title=s.title or outer.title, day=s.day or outer.day) for s in nested]
    if not isinstance(value, dict) or _has_failed(value):
        return []
    fields, inner = _fields(value)
    key, title, day = _key(fields), "", _day(fields)
    title = _title({name: field for name, field in fields.items() if field != key})
    here = Source("", key or outer.key, title or outer.title, day or outer.day)
    prose = [v for n, v in fields.items() if v not in (key, title) and not _OTHER_NAME.search(n) and is_prose(v)]
    if not key and prose:
        inner = [*prose, *inner]
    below = [s for s in _rows(inner, here) if s.key or not plan_lists(value)]
    if key:
        text = "\n".join(dict.fromkeys(_plain(p) for p in prose if not any(p != q and p in q for q in prose)))
        return [replace(here, text=text or _told(fields, key)), *below] if text or not below else below
    if below or value.get("type") == "text":
        return below
    facts = _told(fields, "")
    return [replace(here, text=facts)] if facts and not plan_lists(value) else []


def plan_lists(value: Any) -> dict[str, list[Any]]:
    """The lists of a plan among a parsed object's fields, by name: of queries, of sections, of steps."""
    name = (
        r"(?:\w+_)?(?:queries|(?:sub_?)?questions|sections|outline|headings|chapters|sub_?topics|searches|steps|todos)"
    )
    fields = value.items() if isinstance(value, dict) else ()
    return {n: v for n, v in fields if isinstance(v, list) and v and re.fullmatch(name, n, re.IGNORECASE)}


def _has_failed(row: dict[str, Any]) -> bool:
    """Whether a tool's object reports a failure and nothing else."""
    failed = row.get("error") or row.get("isError") or row.get("success") is False or row.get("status") == "error"
    return bool(failed) and not any(isinstance(v, list) and v and k != "content" for k, v in row.items())


def _fields(row: dict[str, Any]) -> tuple[dict[str, str], list[Any]]:
    """A row's plain fields as strings, those of small objects inside it (`metadata`) too; and what may hold rows."""
    fields: dict[str, str] = {}
    inner: list[Any] = []
    for name, value in row.items():
        if isinstance(value, str):
            fields.setdefault(name, value.strip())
        elif isinstance(value, (int, float)):
            fields.setdefault(name, str(value))
        elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            fields.setdefault(name, "\n".join(value) if not parsed(value[0]) else "") or inner.extend(value)
        elif isinstance(value, dict) and all(isinstance(v, (str, int, float, type(None))) for v in value.values()):
            small = {n: str(v).strip() for n, v in value.items() if v is not None}
            if any(is_prose(v) for v in small.values()):
                inner.append(value)
            else:
                fields |= {n: v for n, v in small.items() if n not in fields}
        elif isinstance(value, (dict, list)):
            inner.append(value)
    return fields, inner


def _key(fields: dict[str, str]) -> str:
    """A row's address, else its document key."""
    urls = [(n, v) for n, v in fields.items() if URL.fullmatch(v) and not _OTHER_NAME.search(n)]
    if urls:
        return min(urls, key=lambda field: not re.search(r"url|link|href|uri|source", field[0], re.IGNORECASE))[1]
    keys = [(n, v) for n, v in fields.items() if _KEY_NAME.fullmatch(n) and 0 < len(v) < 200 and not is_prose(v)]
    return max(keys, key=lambda field: (not re.fullmatch(r"id|key", field[0]), "." in field[1]))[1] if keys else ""


def _title(fields: dict[str, str]) -> str:
    """A row's title: by its name, else the only short words among longer ones."""
    named = [v for n, v in fields.items() if _TITLE_NAME.fullmatch(n) and v and len(v) < 300]
    short = [v for n, v in fields.items() if 2 <= len(v.split()) <= 20 and not is_prose(v) and not day_of(v)
             and not first_url(v) and not _OTHER_NAME.search(n)]  # fmt: skip
    return " ".join((named or short or [""])[0].split())


def _day(fields: dict[str, str]) -> date | None:
    """A row's date, publication before all others."""
    named = sorted((n for n in fields if _DATE_NAME.search(n)), key=lambda n: "publi" not in n.lower())
    days = (day_of(fields[n]) for n in named if len(fields[n]) < 60)
    return next((day for day in days if day), None) or next(
        (day_of(v) for v in fields.values() if re.fullmatch(r"\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]*)?", v)), None
    )


def _told(fields: dict[str, str], key: str) -> str:
    """A row without prose as one line: its title, then `name: value`; its key and date left out."""
    return "; ".join(
        value if _TITLE_NAME.fullmatch(name) else f"{name.replace('_', ' ')}: {value}"
        for name, value in fields.items()
        if value and value != key and not _OTHER_NAME.search(name) and not _DATE_NAME.search(name)
    )


def _plain(text: str) -> str:
    """A field's text without HTML."""
    return _markdown(text) if _HTML.search(text) else text


def _markdown(page: str) -> str:
    """An HTML page as Markdown: headings, links and blocks."""
    page = re.sub(r"(?is)<(script|style|nav|footer|noscript)\b.*?</\1\s*>|<!--.*?-->", " ", page)
    page = re.sub(r"(?is)<a\b[^>]*?href\s*=\s*[\"']?([^\"'\s>]+)[^>]*>(.*?)</a\s*>", r"[\2](\1)", page)
    page = re.sub(r"(?i)<h[1-6]\b[^>]*>", "\n\n## ", page)
    page = re.sub(r"(?i)</?(?:p|div|li|ul|ol|tr|br|h[1-6]|section|article|dt|dd|table|title)\b[^>]*>", "\n", page)
    page = html.unescape(re.sub(r"<[^<>]+>", " ", page))
    return re.sub(r"\n\s*\n+", "\n\n", re.sub(r"[ \t]+", " ", page)).strip()


def _page(page: str, outer: Source) -> list[Source]:
    """The sources of an HTML text: the page that it is, or what it lists where it names no address of its own."""
    head = page[:20_000]
    tags = [
        {n.lower(): a or b for n, a, b in _ATTRIBUTE.findall(tag)}
        for tag in re.findall(r"<(?:meta|link|time)\b[^>]*>", head)
    ]
    own = [t.get("href", "") for t in tags if t.get("rel") == "canonical"]
    own += [t.get("content", "") for t in tags if t.get("property") == "og:url"]
    days = (day_of(t.get("content") or t.get("datetime") or "") for t in tags
            if t.keys() & {"datetime"} or _DATE_NAME.search(t.get("name", "") + t.get("property", "")))  # fmt: skip
    title = re.search(r"(?is)<(title|h1)\b[^>]*>(.*?)</\1", head)
    name = " ".join(_markdown(title[2]).lstrip("# ").split()) if title else ""
    text = _markdown(re.sub(r"(?is)<head\b.*?</head>", "", page))
    here = replace(outer, key=outer.key or (own or [""])[0], title=name, day=next((d for d in days if d), None))
    return _written(text, here)


def _written(text: str, outer: Source) -> list[Source]:
    """The sources of a text for people: findings with a reference list, results one after the other, or one page."""
    if outer.key:
        title = outer.title or first_title(text)
        return [replace(outer, text=LINK.sub(r"\1", text), title=title, day=outer.day or page_day(text))]
    found = findings(text) or [row for row in _rows(table_rows(text), outer) if row.key] or records(text)
    return found or [replace(outer, text=text, title=outer.title or first_title(text), day=outer.day or page_day(text))]


def is_result(paragraph: str) -> bool:
    """Whether a paragraph of a prompt is a result with its address, not somebody's words with a link."""
    if paragraph.lstrip()[:1] in ("[", "{"):
        return any(source.key for source in sources(paragraph))
    return heads_and_tells(paragraph)
