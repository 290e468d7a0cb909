"""Sources in a text for people: findings with a reference list, results one after the other, a page's head."""

import re
from datetime import date

from aiq.offline.engine import dates
from aiq.offline.engine.source import LINK, URL, Source, addresses, day_of, first_url, is_prose
from aiq.offline.engine.text import sentences

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
    link = LINK.search(entry)
    key = link[2] if link else first_url(entry)
    if not key:
        title, _, key = entry.rpartition(" - ")
        return key.strip(), title.strip() or key.strip()
    title = link[1] if link and not URL.match(link[1]) else entry.replace(key, " ").replace("[]()", " ")
    return key, " ".join(re.sub(r"(?i)\b(?:url|link)\s*[:：]\s*$", "", title.strip(" -–—:：()<>*,.")).split()).strip(
        " -–—:：()<>*"
    )


def table_rows(text: str) -> list[dict[str, str]]:
    """The rows of a Markdown table with a column of addresses, by column; none where the text has no such table."""
    lines = [
        [c.strip() for c in line.strip().strip("|").split("|")] for line in text.splitlines() if line.count("|") > 1
    ]
    if len(lines) < 3 or not any(first_url(" ".join(row)) for row in lines[2:]):
        return []
    rows = []
    for row in lines[2:]:
        link = LINK.search(" ".join(row))
        cells = dict(zip(lines[0], (LINK.sub(r"\1", cell) for cell in row), strict=False))
        rows.append({**cells, "url": link[2]} if link else cells)
    return rows


def records(text: str) -> list[Source]:
    """Results one after the other, each with its address; a sentence that ends in a link is a result too."""
    blocks = [b for b in re.split(r"\n\s*\n|\n(?=\s*[-=_*~]{3,}\s*\n)", text) if b.strip() and not _RULE.fullmatch(b)]
    with_url = [len(addresses(block)) for block in blocks]
    while blocks and not with_url[0] and not is_prose(blocks[0]) and not _HEAD.match(blocks[0]):
        blocks, with_url = blocks[1:], with_url[1:]  # "Found 3 results:"
    if not any(with_url):
        return []
    if all(count == 1 for count in with_url):
        return [_record(block) for block in blocks]
    return [_record(record) for record in _cut(text.splitlines()) if addresses(record)]


def _cut(lines: list[str]) -> list[str]:
    """The lines cut into records: after each address where prose comes first, else before the title over it."""
    marked = [i for i, line in enumerate(lines) if addresses(line)]
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
        and not addresses(lines[start - 1])
    ):
        if _HEAD.match(lines[start]) and lines[start].lstrip()[0] in "#[0123456789":
            break
        start -= 1
    return start


def _shown(line: str) -> str:
    """A line as a reader sees it, without addresses and list marks."""
    return _HEAD.sub("", URL.sub("", LINK.sub(r"\1", line))).strip(" -–—:：()<>|")


def _record(record: str) -> Source:
    """A result in lines as a source: labelled lines, the title by its label, its link or its place, prose as text."""
    key, title, day, kept = addresses(record)[0], "", None, []
    for link in LINK.finditer(record):
        title = title or (
            "" if URL.match(link[1]) or re.fullmatch(r"\W*(?:\d+|link|source|url|来源)\W*", link[1], re.I) else link[1]
        )
    for line in record.splitlines():
        label = _LABEL.fullmatch(line)
        shown = _shown(label["rest"] if label else line)
        if label and label["title"]:
            title = shown.strip("*")
        elif (label and label["date"]) or (shown and len(shown) < 30 and day_of(shown) and not is_prose(shown)):
            day = day or day_of(shown)
        elif (
            re.search(r"\w", shown)
            and not (label and label["url"])
            and shown.strip("*") != title
            and not _RULE.fullmatch(line)
        ):
            if not title and not kept and not is_prose(shown):
                title = shown.strip("* ")
            else:
                kept.append(shown.removeprefix(title).lstrip("*])(:：-–— ") if title and addresses(line) else shown)
    text = "\n".join(line for line in kept if line)
    return Source(text or title, key, title, day or _own_day(text))


def first_title(text: str) -> str:
    for line in text.strip().splitlines()[:6]:
        label = _LABEL.fullmatch(line)
        if (label and label["title"]) or (_HEAD.match(line) and not is_prose(line)):
            return (label["rest"] if label else _HEAD.sub("", line, count=1)).strip("*# ")
    first = text.strip().split("\n", 1)
    return first[0].strip() if len(first) > 1 and len(first[0]) < 120 and not is_prose(first[0]) else ""


def page_day(text: str) -> date | None:
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


def is_field(line: str) -> bool:
    """Whether a line is a result's labelled field, such as "Title: ..."."""
    return _LABEL.match(line) is not None


def heads_and_tells(paragraph: str) -> bool:
    """Whether a paragraph is an address in a line of its own with prose to it, not somebody's words with a link."""
    lines = paragraph.splitlines()
    heads = [line for line in lines if addresses(line) and not is_prose(_shown(line))]
    return bool(heads) and any(is_prose(_shown(line)) and not line.endswith(("?", "？")) for line in lines)
