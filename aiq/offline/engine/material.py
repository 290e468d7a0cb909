"""Material of any form: the sources that a text brings, be it JSON, XML, HTML, Markdown or plain words.

Fields are told by the form of their values (an address, a short title, prose, a date) and only then by their names.
"""

import ast
import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NamedTuple

from aiq.offline.engine import dates
from aiq.offline.engine.text import is_chinese, sentences


@dataclass(frozen=True)
class Source:
    """A piece of evidence: a page, a search result, a document's page, a finding that names where it comes from.

    `key` is what a citation must say: a URL or a document key, exactly as the material writes it; empty where the
    material names none. `day` is the material's own date. `message` is the index of the message that brought it.
    """

    text: str
    key: str = ""
    title: str = ""
    day: date | None = None
    message: int = 0


class Element(NamedTuple):
    """An outermost `<label ...>text</label>` of a text and where it stands there."""

    label: str
    attributes: dict[str, str]
    text: str
    start: int
    end: int


_URL = re.compile(r"(?:https?|file)://(?:[^\s<>\"'`|()\[\]{}，。；、（）【】]|\([^\s()]*\))+")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\(<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+\"[^\"\n]*\")?\)")
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
_LABEL = re.compile(
    r"\W{0,4}(?:(?P<url>url|link|source|href|uri|网址|链接|来源)|(?P<title>(?:page )?(?:title|name)|headline|page|标题)"
    r"|(?P<date>(?:last )?(?:published|updated|date|posted)(?: on| at| date)?|日期|发布(?:时间|日期)?|更新(?:时间)?)"
    r"|content|snippet|summary|text|description|body|excerpt|highlights?|passage|内容|摘要|正文)\W{0,3}[:：]\W*(?P<rest>.*)",
    re.IGNORECASE,
)
_UPDATED = re.compile(
    r"(?:updated|published|posted|date|更新|发布)(?: on| at|于|时间|日期)?\W{0,3}(.{6,24})", re.IGNORECASE
)
_HEAD = re.compile(r"\s*(?:#{1,6}\s+|\*\*|[-*•]\s+|\[\d+\]\s*|\d+[.)、]\s+)+")
_RULE = re.compile(r"\s*[-=_*~]{3,}\s*")
_REFERENCES = re.compile(
    r"^[^\w\n]{0,8}(?:(?:cited )?sources|references|bibliography|citations|works cited|参考文献|参考资料|引用"
    r"|来源)[^\w\n]{0,8}$",
    re.I | re.M,
)
_ENTRY = re.compile(r"^\s*(?:[-*]\s+)?(?:\[\^?(\d+)\]|【(\d+)】|(\d+)[.)])[:：]?\s*(\S.*)$", re.MULTILINE)
_MARK = re.compile(r"[\[【]\^?(\d+(?:\s*[,，、]\s*\d+)*)[\]】]")
_LATE_MARKS = re.compile(r"([.!?。！？])[ \t]*((?:[\[【]\^?\d+(?:\s*[,，、]\s*\d+)*[\]】][ \t]*)+)")


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


def is_prose(text: str) -> bool:
    """Whether a text is at least a sentence, not a name, a number or an address."""
    words = text.split()
    if is_chinese(text):
        return len(text) >= 10
    return len(words) >= 25 or (
        len(words) >= 4 and re.search(r"[.!?…][\"”’)\]*_]*$|[a-z)][.!?] +[A-Z]", text) is not None
    )


def first_url(text: str) -> str:
    """The first address of a text, without the punctuation around it; empty where it has none."""
    found = _URL.search(text)
    return found.group().rstrip(".,;:!?*_\\") if found else ""


def day_of(text: str) -> date | None:
    """The day, month or year that a field states; None where it is no date."""
    text = re.sub(r"(\d)[T_](?=\d\d:)", r"\1 ", text[:60])
    found = dates.find(re.sub(r"(\d{4})[/.](\d\d?)[/.](\d\d?)", _iso, text))
    return found[0].when if found else None


def _iso(match: re.Match[str]) -> str:
    return f"{match[1]}-{int(match[2]):02}-{int(match[3]):02}"


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
    urls = [(n, v) for n, v in fields.items() if _URL.fullmatch(v) and not _OTHER_NAME.search(n)]
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
        title = outer.title or _first_title(text)
        return [replace(outer, text=_LINK.sub(r"\1", text), title=title, day=outer.day or _page_day(text))]
    found = findings(text) or _table(text) or _records(text)
    return found or [
        replace(outer, text=text, title=outer.title or _first_title(text), day=outer.day or _page_day(text))
    ]


def _first_title(text: str) -> str:
    for line in text.strip().splitlines()[:6]:
        label = _LABEL.fullmatch(line)
        if (label and label["title"]) or (_HEAD.match(line) and not is_prose(line)):
            return (label["rest"] if label else _HEAD.sub("", line, count=1)).strip("*# ")
    first = text.strip().split("\n", 1)
    return first[0].strip() if len(first) > 1 and len(first[0]) < 120 and not is_prose(first[0]) else ""


def _page_day(text: str) -> date | None:
    for line in text.splitlines()[:10]:
        label = _LABEL.match(line)
        if label and label["date"] and day_of(label["rest"]):
            return day_of(label["rest"])
    return _own_day(text)


def _own_day(text: str) -> date | None:
    """The day that a page gives for itself ("Page updated 2026-03-14")."""
    for match in _UPDATED.finditer(text):
        found = dates.find(match[1])
        if found and found[0].start < 6 and found[0].day:
            return found[0].when
    return None


def findings(text: str) -> list[Source]:
    """Prose with marks such as [1] and a list of what they mean: a source for each, with the sentences that cite it."""
    headed = list(_REFERENCES.finditer(text))
    listed = [m for m in _ENTRY.finditer(text) if first_url(m[4]) or (headed and m.start() > headed[-1].end())]
    body, at = [], 0
    for match in listed:
        body.append(text[at : match.start()])
        at = match.end()
    prose = _LATE_MARKS.sub(r" \2\1 ", "".join([*body, text[at:]]))
    cited: dict[str, list[str]] = {}
    for sentence in sentences(prose):
        for number in {n: None for mark in _MARK.findall(sentence) for n in re.split(r"\D+", mark)}:
            cited.setdefault(number, []).append(re.sub(r"\s+(?=[.,;!?])", "", _MARK.sub("", sentence)).strip("-*• "))
    found = []
    for match in listed:
        if said := cited.get(match[1] or match[2] or match[3]):
            key, title = _entry(match[4])
            found.append(Source("\n".join(said), key, title, day_of(re.sub(r"\S+://\S+", "", title))))
    return found


def _entry(entry: str) -> tuple[str, str]:
    """Key and title of a reference list's entry."""
    link = _LINK.search(entry)
    key = link[2] if link else first_url(entry)
    if not key:
        title, _, key = entry.rpartition(" - ")
        return key.strip(), title.strip() or key.strip()
    title = link[1] if link and not _URL.match(link[1]) else entry.replace(key, " ").replace("[]()", " ")
    return key, " ".join(re.sub(r"(?i)\b(?:url|link)\s*[:：]\s*$", "", title.strip(" -–—:：()<>*,.")).split()).strip(
        " -–—:：()<>*"
    )


def _table(text: str) -> list[Source]:
    """The rows of a Markdown table with a column of addresses."""
    lines = [
        [c.strip() for c in line.strip().strip("|").split("|")] for line in text.splitlines() if line.count("|") > 1
    ]
    if len(lines) < 3 or not any(first_url(" ".join(row)) for row in lines[2:]):
        return []
    rows = []
    for row in lines[2:]:
        link = _LINK.search(" ".join(row))
        cells = dict(zip(lines[0], (_LINK.sub(r"\1", cell) for cell in row), strict=False))
        rows.append({**cells, "url": link[2]} if link else cells)
    return [source for source in _rows(rows, Source("")) if source.key]


def _records(text: str) -> list[Source]:
    """Results one after the other, each with its address; a sentence that ends in a link is a result too."""
    blocks = [b for b in re.split(r"\n\s*\n|\n(?=\s*[-=_*~]{3,}\s*\n)", text) if b.strip() and not _RULE.fullmatch(b)]
    with_url = [len(_addresses(block)) for block in blocks]
    while blocks and not with_url[0] and not is_prose(blocks[0]) and not _HEAD.match(blocks[0]):
        blocks, with_url = blocks[1:], with_url[1:]  # "Found 3 results:"
    if not any(with_url):
        return []
    if all(count == 1 for count in with_url):
        return [_record(block) for block in blocks]
    return [_record(record) for record in _cut(text.splitlines()) if _addresses(record)]


def _cut(lines: list[str]) -> list[str]:
    """The lines cut into records: after each address where prose comes first, else before the title over it."""
    marked = [i for i, line in enumerate(lines) if _addresses(line)]
    first_prose = next((i for i, line in enumerate(lines) if is_prose(_shown(line))), len(lines))
    if first_prose < marked[0] or all(is_prose(_shown(lines[i])) for i in marked):
        cuts = [0, *(i + 1 for i in marked)]
    else:
        cuts = [_title_over(lines, i) for i in marked]
    return ["\n".join(lines[a:b]) for a, b in zip(cuts, [*cuts[1:], len(lines)], strict=True)]


def _title_over(lines: list[str], at: int) -> int:
    """Where the record starts whose address stands in line `at`: with the title lines right over it."""
    start = at
    while (
        start
        and at - start < 3
        and lines[start - 1].strip()
        and not is_prose(lines[start - 1])
        and not _addresses(lines[start - 1])
    ):
        if _HEAD.match(lines[start]) and lines[start].lstrip()[0] in "#[0123456789":
            break
        start -= 1
    return start


def _addresses(text: str) -> list[str]:
    """The different addresses of a text that are no pictures."""
    links = [m[2] for m in _LINK.finditer(text) if m[0][0] != "!" and _URL.match(m[2])]
    bare = (m.group().rstrip(".,;:!?*_\\") for m in _URL.finditer(_LINK.sub(" ", text)))
    return list(dict.fromkeys([*links, *bare]))


def _shown(line: str) -> str:
    """A line as a reader sees it, without addresses and list marks."""
    return _HEAD.sub("", _URL.sub("", _LINK.sub(r"\1", line))).strip(" -–—:：()<>|")


def _record(record: str) -> Source:
    """A result in lines as a source: labelled lines, the title by its label, its link or its place, prose as text."""
    key, title, day, kept = _addresses(record)[0], "", None, []
    for link in _LINK.finditer(record):
        title = title or (
            "" if _URL.match(link[1]) or re.fullmatch(r"\W*(?:\d+|link|source|url|来源)\W*", link[1], re.I) else link[1]
        )
    for line in record.splitlines():
        label = _LABEL.fullmatch(line)
        shown = _shown(label["rest"] if label else line)
        if label and label["title"]:
            title = shown.strip("*")
        elif (label and label["date"]) or (shown and len(shown) < 30 and day_of(shown) and not is_prose(shown)):
            day = day or day_of(shown)
        elif shown and not (label and label["url"]) and shown.strip("*") != title and not _RULE.fullmatch(line):
            if not title and not kept and not is_prose(shown):
                title = shown.strip("* ")
            else:
                kept.append(shown.removeprefix(title).lstrip("*])(:：-–— ") if title and _addresses(line) else shown)
    text = "\n".join(line for line in kept if line)
    return Source(text or title, key, title, day or _own_day(text))


def is_result(paragraph: str) -> bool:
    """Whether a paragraph of a prompt is a result with its address, not somebody's words with a link."""
    if paragraph.lstrip()[:1] in ("[", "{"):
        return any(source.key for source in sources(paragraph))
    lines = paragraph.splitlines()
    heads = [line for line in lines if _addresses(line) and not is_prose(_shown(line))]
    return bool(heads) and any(is_prose(_shown(line)) and not line.endswith(("?", "？")) for line in lines)
