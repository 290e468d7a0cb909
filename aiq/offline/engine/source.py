"""Sources, and how to find them in text meant for people (findings with references, results, or one page)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from aiq.offline.engine import dates
from aiq.offline.engine.text import is_chinese, sentences


@dataclass(frozen=True)
class Source:
    """A piece of evidence: a page, a search result, a page of a document, or a finding that names its source.

    `key` is what a citation must contain: a URL or a document key, exactly as in the material; empty if the
    material gives none. `day` is the material's own date.
    """

    text: str
    key: str = ""
    title: str = ""
    day: date | None = None

    @property
    def name(self) -> str:
        """What identifies it: its key, or else its text."""
        return self.key or self.text


URL = re.compile(r"(?:https?|file)://(?:[^\s<>\"'`|()\[\]{}，。；、（）【】]|\([^\s()]*\))+(?<![.,;:!?*_\\])")
KEY = rf"(?:{URL.pattern}|[\w.'-]+\.(?:pdf|docx?|pptx?|html?|md|txt)(?:, p\.\d+)?)"
"""A URL, or the key of a document or of a page of it."""
LINK = re.compile(r"!?\[([^\[\]\n]*)\]\(<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+\"[^\"\n]*\")?\)")


def is_prose(text: str) -> bool:
    """Whether a text is at least a sentence rather than a name, a number or a URL."""
    if is_chinese(text):
        return len(text) >= 10
    length = len(text.split())
    return length >= 25 or (length >= 4 and re.search(r"[.!?…][\"”’)\]*_]*$|[a-z)][.!?] +[A-Z]", text) is not None)


def day_of(text: str, *, exact: bool = False) -> date | None:
    """The day, month or year (`exact`: only a day) that a field states; None if it is not a date."""
    text = re.sub(r"(\d{4})[/.-](\d\d?)[/.-](\d\d?)[T_]?", lambda m: f"{m[1]}-{m[2]:0>2}-{m[3]:0>2} ", text[:60])
    days = dates.find(text)
    return days[0].when if days and (days[0].day or not exact) else None


_ADDRESS = r"url|link|source|href|uri|网址|链接|来源"
_LABEL = re.compile(
    rf"(?i)\W{{0,4}}(?:(?P<field>{_ADDRESS}|(?:relevance )?score|content type|rank|page(?=\W*\d))"
    r"|(?P<title>(?:page )?(?:title|name)|headline|page|标题)"
    r"|(?P<day>(?:last )?(?:published|updated|date|posted)(?: on| at| date)?|日期|发布(?:时间|日期)?|更新(?:时间)?)"
    r"|content|snippet|summary|text|description|body|excerpt|highlights?|passage|(?:\w+ )?(?:result|observation)|内容"
    r"|摘要|正文)\W{0,3}[:：]\W*"
)
_UPDATED = re.compile(
    r"(?i)(?:updated|published|posted|date|更新|发布)(?: on| at|于|时间|日期)?\W{0,3}(?=\w{0,9}\.? ?\d)(.{6,24})"
)
_HEAD = re.compile(
    r"(?i)\s*(?:(?:#{1,6}|[-*•|]|-{2,}|\[\^?\d+\]|【\d+】|\d{1,3}[.)、])[:：]?\s+|\*\*)*"
    rf"(?:(?:{_ADDRESS})\W{{0,3}}[:：]\W*)?"
)
_NO_NAME = re.compile(r"(?i)\W*(?:\d+|link|source|url|来源|\S+://\S+)?\W*")
_SEPARATED = re.compile(r"(?:^|[-–—:：<(（|,，*])\s*$")
_EDGE = " -–—:：*#=|,"
_REFERENCES = re.compile(
    r"(?im)^\W{0,8}(?:(?:cited )?sources|references|bibliography|citations|works cited|参考文献|参考资料|引用|来源)"
    r"\W{0,8}$"
)
_ENTRY = re.compile(r"(?m)^\s*(?:[-*]\s+)?(?:\[\^?|【)?(\d+)(?:\]|】|[.)])[:：]?\s*(\S.*)$")
_INLINE = re.compile(rf"([(（]{KEY}(?:, [\d-]+)?[)）](?:[。！？]|[.!?]?(?=\s)))\s*(?=\S)")
"""A key after a statement that is followed by another; in Chinese there is no space between them."""
_CITED_AS = re.compile(r"(?i)\W{0,4}(?:citation(?: key)?|cite as|引用)\W{0,3}[:：]\s*(\S.*?)\s*$")
_MARKS = r"[\[【]\^?\d+(?:\s*[,，、]\s*\d+)*[\]】]"


def sources_in(text: str, outer: Source) -> list[Source]:
    """The sources in a text: findings by what they cite, results by their URLs, or else the text as one page.

    A page whose URL is known (`outer.key`) is one source, whatever its text lists and cites.
    """
    lines = [part for line in text.splitlines() for part in _INLINE.sub(r"\1\n", line).splitlines() or [line]]
    if not outer.key and (sources := findings(text) or _records(lines)):
        return sources
    days = filter(None, (day_of(match[1], exact=True) for match in _UPDATED.finditer(text)))
    title, day = outer.title or _record(lines[:8]).title, outer.day or next(days, None)
    return [replace(outer, text=LINK.sub(r"\1", text), title=title, day=day)]


def prose(text: str) -> str:
    """A text without its reference list and citation marks."""
    heading = next(reversed(list(_REFERENCES.finditer(text))), None)
    return re.sub(rf"[ \t]*{_MARKS}", "", text[: heading.start()] if heading else text).strip()


def findings(text: str) -> list[Source]:
    """Prose with marks such as [1] and a list of what they mean: one source each, with the sentences that cite it."""
    heading = next(reversed(list(_REFERENCES.finditer(text))), None)
    entries = [e for e in _ENTRY.finditer(text, heading.end() if heading else 0) if heading or URL.search(e[2])]
    prose = text[: (heading or entries[0]).start()] if entries else ""
    statements = sentences(re.sub(rf"([.!?。！？])[ \t]*((?:{_MARKS}[ \t]*)+)", r" \2\1 ", prose))
    sources = []
    for entry in entries:
        name, key, rest = _split(entry[2])
        if not key:  # a document: "Title - key"
            name, _, key = rest.rpartition(" - ")
        mark = rf"[\[【][\d\s,，、^]*(?<!\d){entry[1]}(?!\d)[\d\s,，、]*[\]】]"
        cited = (re.sub(rf"\s*{_MARKS}|\s+(?=[.,;!?])", "", s).strip("-*• ") for s in statements if re.search(mark, s))
        sources.append(Source("\n".join(cited), key, name or rest or key, day_of(name)))
    return [source for source in sources if source.text]


def _split(line: str) -> tuple[str, str, str]:
    """(name, URL or key, rest) of a line; for a sentence that contains a URL, the rest is the whole line."""
    line = _HEAD.sub("", line, count=1)
    line = LINK.sub(lambda m: f"{'' if _NO_NAME.fullmatch(m[1]) else m[1]} {'' if m.start() else '<'}{m[2]}", line)
    match = URL.search(line) or re.search(rf"(?<=[(（]){KEY}(?=[)）])", line)
    if match is None:
        citation = _CITED_AS.match(line)
        return ("", citation[1], "") if citation else ("", "", line.strip(" *"))
    after = re.sub(r"^(?:, [\d-]+)?[)）\]>*]+|\s*<?\S+://[^\s)]+>?", "", line[match.end() :])
    before = line[: match.start()]
    name = before.rstrip(" <(（[").strip(_EDGE)
    if is_prose(name) or not _SEPARATED.search(before) or re.match(r"[.!?。！？]", after):
        return "", match[0], f"{before.rstrip(' <(（[')}{after}".strip(_EDGE)
    return name, match[0], after.strip(_EDGE)


def _kind(line: str) -> str:
    """The role of a line in its record: a name with its URL (A; B with prose), a URL (U), a sentence with one (S), a
    labelled title (T), prose (P), a numbered or marked heading (h), other words (t), blank."""
    name, key, rest = _split(line)
    prose = is_prose(rest)
    if key:
        return "AB"[prose] if name else "US"[prose]
    label = _LABEL.match(line)
    if label and label.lastgroup == "title":
        return "T"
    return " " if not line.strip() else "P" if prose else "h" if re.match(r"\s*(?:#|\[?\d)", line) else "t"


def _records(lines: Sequence[str]) -> list[Source]:
    """Consecutive results, each with its URL: split after the URL if prose comes first, else before it."""
    kinds = "".join(map(_kind, lines)).replace("B", "A")
    heads = "[AUS]" if re.match("[^AU]*S", kinds) else "[AU]"
    if re.match(rf"[^AUS]*P.*{heads}", kinds):
        cuts = [0, *(match.end() for match in re.finditer(heads, kinds))]
    else:
        cuts = [match.start() for match in re.finditer(rf"(?:h ?)?(?:T ?t{{0,2}}|t{{0,3}})U|{heads}", kinds)]
    records = [_record(lines[start:end]) for start, end in zip(cuts, [*cuts[1:], len(lines)], strict=False)]
    return [record for record in records if record.key]


def _record(lines: Sequence[str]) -> Source:
    """A result given in lines: its title by a label, its link or its position, its date, and the rest as text."""
    key = title = ""
    day: date | None = None
    body: list[str] = []
    for line in lines:
        label = _LABEL.match(line)
        kind = label.lastgroup if label else None
        name, address, rest = _split(line[label.end() :] if label else line)
        if cited_day := re.search(r"://\S+, ([\d-]+)[)）]", line):
            day = day or day_of(cited_day[1])
        if key:
            rest = f"{name} {rest}".strip()
        else:
            key, title = address, title or name
        prose, is_label = is_prose(rest), rest.endswith((":", "："))
        if kind == "title" or not (title or body or kind or prose or is_label):
            title = rest.strip(_EDGE)
        elif kind == "day" or (len(rest) < 30 and not prose and day_of(rest)):
            day = day or day_of(rest)
        elif rest != title and (prose or (kind != "field" and not is_label and re.search(r"\w", rest))):
            body.append(rest)
    title = title if "://" in key or not key else key
    text = "\n".join(body)
    return Source(text or title, key, title, day)
