"""Material of any form: the sources that a text brings, be it JSON, XML, HTML, Markdown or plain words.

Fields are told by the form of their values (an address, a short title, prose, a date) and only then by their names.
"""

import ast
import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from aiq.offline.engine import written
from aiq.offline.engine.source import URL, Source, day_of, first_url, is_prose


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
    r"\W*(?:\w*error|exception|traceback|failed|failure|time(?:d )?out|(?:nothing|no (?:\w+ ){0,3}\w+) (?:was "
    r"|were )?found"
    r"|no (?:\w+ ){0,3}(?:results?|matches|hits)|(?:page |file )?not found|could ?n[o']t|cannot|unable to|invalid"
    r"|[45]0\d|none$"
    r"|没有找到|未找到|无结果|错误|失败)",
    re.IGNORECASE,
)
_NAMES = {
    "link": r".*(?:url|link|href|uri|source).*",
    "key": r"source|document|file|file_?name|path|doc_?id|citation|citation_?key|reference|来源",
    "id": r"id|key",
    "title": r"(?:page_?|document_?)?(?:title|name|headline|heading)|标题|题目",
    "published": r".*(?:publi|发布).*",
    "date": r".*(?:date|modified|created|posted|日期|时间).*|.*time",
}
_ASIDE = re.compile(
    r".*(?:image|thumb|icon|logo|query|question|prompt|instruction|score|engine).*|.*type", re.IGNORECASE
)
_PAGE = {
    "key": "string(//link[@rel='canonical']/@href | //meta[@property='og:url']/@content)",
    "title": "string((//title | //h1)[1])",
    "day": "string(//time/@datetime "
    "| //meta[contains(concat(@name, @property), 'date') or contains(@property, 'publish')]"
           "/@content)",
}  # fmt: skip
_PLAN = r"(?:\w+_)?(?:queries|(?:sub_?)?questions|sections|outline|headings|chapters|sub_?topics|searches|steps|todos)"


def sources(text: str, *, key: str = "") -> list[Source]:
    """The sources of a text, in order. `key`: the address that was asked for, where this is the page that came back."""
    text, outer = text.strip(), Source("", key)
    if not text or (len(text) < 400 and _ERROR.match(text)):
        return []
    if (objects := parsed(text)) is not None:
        return _rows(objects, outer)
    if len(_HTML.findall(text[:20_000])) > 1:
        page = _page(text, outer)
        return written.sources(page.text, page)
    marked = list(elements(text))
    if sum(e.end - e.start for e in marked) * 2 > len(text):
        found = _rows([_as_value(e) for e in marked], outer)
        if any(row.key for row in found):
            return found
    return written.sources(re.sub(r"</[\w:. -]+>", "", _OPEN.sub("", text)) if marked else text, outer)


def parsed(text: str) -> list[Any] | None:
    """The JSON values or the Python literal that a text consists of; None where it is mainly words."""
    text = re.sub(r"^ *\d+\t", "", text.strip(), flags=re.MULTILINE)  # as some tools number a file's lines
    found = list(objects(text))
    if sum(end - start for _, start, end in found) * 2 > len(text):
        return [value for value, _, _ in found]
    if len(text) < 300_000 and text[:1] in ("[", "{") and text[-1] in "]}":
        try:
            return [ast.literal_eval(text)]
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return None


def objects(text: str) -> Iterator[tuple[Any, int, int]]:
    """The JSON objects and lists in a text, each with its start and end."""
    at = failures = 0
    for opening in re.finditer(r"[\[{](?=\s*[\[{\"])", text):
        if opening.start() < at or failures > 20:
            continue
        try:
            value, at = json.JSONDecoder(strict=False).raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            failures += 1
        else:
            yield value, opening.start(), at


def elements(text: str) -> Iterator[Element]:
    """The outermost elements of a text, in order; a tag that is never closed is text."""
    at, unclosed = 0, set()
    while match := _OPEN.search(text, at):
        label, at = match[1], match.end()
        end = -1 if label in unclosed else text.find(f"</{label}>", at)
        if end < 0:
            unclosed.add(label)
            continue
        attributes = {name: html.unescape(a or b) for name, a, b in _ATTRIBUTE.findall(match[2])}
        yield Element(label, attributes, text[at:end].strip("\n"), match.start(), end + len(label) + 3)
        at = end + len(label) + 3


def _as_value(element: Element) -> Any:
    """An element as fields: its attributes, its children (of one label: a list), and what is left as `text`."""
    fields: dict[str, Any] = dict(element.attributes)
    rest, at = "", 0
    for child in elements(element.text):
        known = fields.get(child.label, [])
        fields[child.label] = [*(known if isinstance(known, list) else [known]), _as_value(child)]
        rest, at = rest + element.text[at : child.start], child.end
    text = html.unescape(rest + element.text[at:]).strip()
    return {**fields, "text": text} if fields and text else fields or text


def plan_lists(value: Any) -> dict[str, list[Any]]:
    """The lists of a plan among a parsed object's fields, by name: of queries, of sections, of steps."""
    fields = value.items() if isinstance(value, dict) else ()
    return {n: v for n, v in fields if isinstance(v, list) and v and re.fullmatch(_PLAN, n, re.IGNORECASE)}


def _rows(value: Any, outer: Source) -> list[Source]:
    """The sources of parsed values; rows inside a row have its key, title and day where they have none."""
    if isinstance(value, list):
        return [source for item in value for source in _rows(item, outer)]
    if isinstance(value, str):
        nested = sources(value, key=outer.key) if is_prose(value) or parsed(value) else []
        return [replace(s, title=s.title or outer.title, day=s.day or outer.day) for s in nested]
    if not isinstance(value, dict) or value.get("error") or value.get("isError"):
        return []
    fields, inner = _flat(value)
    here = _row(fields, outer)
    prose = [v for v in fields.values() if is_prose(v) and v != here.title]
    own = here.key != outer.key
    below = [s for s in _rows(inner if own else [*prose, *inner], here) if s.key or not plan_lists(value)]
    if below and not (own and prose):
        return below
    said = dict.fromkeys(_page(p, here).text if _HTML.search(p) else p for p in prose if own)
    facts = (v if re.fullmatch(_NAMES["title"], n, re.I) else f"{n.replace('_', ' ')}: {v}"
             for n, v in fields.items() if v != here.key and not day_of(v))  # fmt: skip
    text = "\n".join(said) or ("" if plan_lists(value) or "type" in value else "; ".join(facts))
    return [*([replace(here, text=text)] if text else []), *below]


def _flat(row: Mapping[str, Any]) -> tuple[dict[str, str], list[Any]]:
    """A row's plain fields as strings, those of small objects inside it (`metadata`) too; and what may hold rows."""
    fields: dict[str, str] = {}
    inner: list[Any] = []
    for name, value in row.items():
        if isinstance(value, list) and all(isinstance(item, str) and not parsed(item) for item in value):
            value = "\n".join(value)
        if isinstance(value, dict):
            small, deep = _flat(value)
            if deep or any(map(is_prose, small.values())):
                inner.append(value)
            else:
                fields = small | fields
        elif isinstance(value, list):
            inner.append(value)
        elif value and value is not True and not _ASIDE.fullmatch(name):
            fields[name] = str(value).strip()
    return fields, inner


def _row(fields: Mapping[str, str], outer: Source) -> Source:
    """The source that a row's fields name, without its text; what they leave open is the outer one's."""
    short = {name: value for name, value in fields.items() if value and len(value) < 300}
    named = {kind: [v for n, v in short.items() if re.fullmatch(names, n, re.I)] for kind, names in _NAMES.items()}
    keys = [v for v in [*named["link"], *short.values()] if URL.fullmatch(v)]
    keys += [v for v in [*named["key"], *named["id"]] if not is_prose(v)]
    titles = [v for v in short.values() if 2 <= len(v.split()) <= 20 and not (is_prose(v) or day_of(v) or first_url(v))]
    dated = [v for v in short.values() if re.match(r"\d{4}-\d\d-\d\d", v)]
    day = next(filter(None, map(day_of, [*named["published"], *named["date"], *dated])), outer.day)
    title = [*named["title"], *(v for v in titles if v not in keys[:1]), outer.title][0]
    return Source("", [*keys, outer.key][0], " ".join(title.split()), day)


def _page(page: str, outer: Source) -> Source:
    """An HTML page: its text as Markdown, its title, and the address and date that it gives for itself."""
    from trafilatura import load_html

    tree = load_html(page)
    if tree is None:
        return replace(outer, text=page)
    told = {name: " ".join(tree.xpath(path).split()) for name, path in _PAGE.items()}
    for node in tree.xpath("//head | //script | //style | //nav | //footer | //noscript"):
        node.drop_tree()
    for link in tree.xpath("//a[starts-with(@href, 'http')]"):
        link.text, link.tail = f"[{link.text or ''}", f"]({link.get('href')}){link.tail or ''}"
    for block in tree.xpath("//*[not(self::a or self::b or self::i or self::em or self::strong or self::span)]"):
        block.text, block.tail = f"\n{block.text or ''}", f"\n{block.tail or ''}"
    text = re.sub(r"\s*\n\s*", "\n", tree.text_content()).strip()
    return Source(text, outer.key or told["key"], told["title"] or outer.title, day_of(told["day"]) or outer.day)
