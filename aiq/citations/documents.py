"""Document citations such as `report.pdf, p.15`: a name, and perhaps pages."""

import re
from dataclasses import dataclass

_PAGES = re.compile(
    r"""(?P<name>.*?\S)\s*
    (?: [\#](?:page=)?p? (?P<anchor>\d+)
      | [,;，；、(（\s]\s* (?:pages?|pp?\.?|s\.|seiten?|pág(?:s|inas?)?\.?)
          \s* (?P<west>\d+)(?:\s*[-–—]\s*(?P<west_end>\d+))? \s*[)）]?
      | [,;，；、(（\s]?\s* 第\s*(?P<cjk>\d+)(?:\s*[-–—至~]\s*(?P<cjk_end>\d+))?\s*[页頁] \s*[)）]?
      | [,;，；、(（\s]\s* (?P<kor>\d+)\s*(?:쪽|페이지|ページ) \s*[)）]?
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_FILE = re.compile(r"[^\s/\\](?:[^/\\]*[^\s/\\])?\.(?=\w*[a-z])\w{2,5}", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s+[-–—|]+\s+|[:：]\s*|\s*[|]\s*")
_TRIM = " \t\n*_`\"'“”‘’«»《》「」[]。."


@dataclass(frozen=True, slots=True)
class DocumentKey:
    """A document's `name` in lower case, and the first and last page named (None: the whole document)."""

    name: str
    first: int | None = None
    last: int | None = None


def parse_key(text: str) -> DocumentKey:
    """Read a citation key; the page counts only where a separator stands before it and nothing behind it."""
    text = text.strip().strip(_TRIM)
    match = _PAGES.fullmatch(text) if len(text) < 300 else None
    if match is None:
        return DocumentKey(_name(text))
    first = int(next(match[g] for g in ("anchor", "west", "cjk", "kor") if match[g]))
    return DocumentKey(_name(match["name"]), first, int(match["west_end"] or match["cjk_end"] or first))


def named_documents(entry: str) -> tuple[DocumentKey, ...]:
    """The keys an entry's text may mean, most literal first: all of it, then the parts at its separators."""
    parts = [entry]
    for cut in list(_SEPARATOR.finditer(entry))[:8]:
        parts += [entry[cut.end() :], entry[: cut.start()]]
    parts += [re.sub(r"\s*[(（][^()（）]*[)）]\s*$", "", part) for part in parts]
    parts += _SEPARATOR.split(entry)[:12]
    keys = [parse_key(part) for part in parts if part.strip()]
    return tuple(dict.fromkeys(key for key in keys if key.name))


def looks_like_document(entry: str) -> bool:
    """Whether an entry without a URL names a file or a page, so that it can be called a document citation."""
    return any(key.first is not None or _FILE.fullmatch(key.name) for key in named_documents(entry))


def _name(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip().strip(_TRIM).rstrip(",;，；、")).casefold()
