"""Document citations such as `report.pdf, p.15`: a name, and perhaps pages."""

import re
from dataclasses import dataclass

_PAGES = re.compile(
    r"""(?P<name>.*?\S)\s*
    (?: [\#](?:page=)?p?(?P<anchor>\d+)(?:&[\w.,=&-]*)?
      | (?:[,;，；、(（\[\s]|\s[-–—]\s)\s*
        (?: (?:pages?|pp?\.?|s\.|seiten?|pág(?:s|inas?)?\.?)
            \s* (?P<west>\d+)(?:\s*(?:[-–—]|to|bis|à|a)\s*(?P<west_end>\d+))? (?:\s*(?:of|von|/|de)\s*\d+)?
          | (?P<east>\d+)(?:\s*[-–—~]\s*(?P<east_end>\d+))?\s*(?:쪽|페이지|ページ|頁|页)
        ) \s*[)）\]]?
      | [,;，；、(（\[\s]?\s* 第\s*(?P<cjk>\d+)(?:\s*[-–—至~]\s*(?P<cjk_end>\d+))?\s*[页頁] \s*[)）\]]?
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_FILE = re.compile(r"[^\s/\\](?:[^/\\]*[^\s/\\])?\.(?=\w*[a-z])\w{2,5}", re.IGNORECASE)
_SEPARATOR = re.compile(r" [-–—|]+ |[:：] ?| ?[|] ?")
_REMARK = re.compile(r" ?[(（][^()（）]*[)）]$")
_LONGEST_ENTRY = 2000
"""Characters of an entry in which a document's name may stand."""
_TRIM = " \t\n*_`\"'“”‘’«»《》「」[]。."


@dataclass(frozen=True, slots=True)
class DocumentKey:
    """A document's `name` in lower case, and the first and last page named (None: the whole document)."""

    name: str
    first: int | None = None
    last: int | None = None

    @property
    def tells(self) -> bool:
        """Whether it names a file or a page, and so cannot be any other words."""
        return self.first is not None or _FILE.fullmatch(self.name) is not None


def parse_key(text: str) -> DocumentKey:
    """Read a citation key; the page counts only where a separator stands before it and nothing behind it."""
    text = text.strip().strip(_TRIM)
    match = _PAGES.fullmatch(text) if len(text) < 300 else None
    if match is None:
        return DocumentKey(_name(text))
    first = next(match[g] for g in ("anchor", "west", "east", "cjk") if match[g])
    last = match["west_end"] or match["east_end"] or match["cjk_end"] or first
    return DocumentKey(_name(match["name"]), int(first), _last_page(first, last))


def _last_page(first: str, last: str) -> int:
    """The end of a range; `123-5` ends at 125, and one that runs backwards is its first page."""
    if int(last) < int(first):
        last = first[: max(0, len(first) - len(last))] + last
    return max(int(first), int(last))


def named_documents(entry: str) -> tuple[DocumentKey, ...]:
    """The keys an entry's text may mean, most literal first: all of it, then the parts at its separators.

    A part must name a file or a page; all of an entry may be any name.
    """
    entry = " ".join(entry.split())[:_LONGEST_ENTRY]
    parts = []
    for cut in list(_SEPARATOR.finditer(entry))[:8]:
        parts += [entry[cut.end() :], entry[: cut.start()]]
    parts += [_without_remark(part) for part in parts]
    parts += _SEPARATOR.split(entry)[:12]
    whole = [parse_key(text) for text in (entry, _without_remark(entry))]
    keys = [*whole, *(key for part in parts if (key := parse_key(part)).tells)]
    return tuple(dict.fromkeys(key for key in keys if key.name))


def looks_like_document(entry: str) -> bool:
    """Whether an entry without a URL names a file or a page, so that it can be called a document citation."""
    return any(key.tells for key in named_documents(entry))


def _without_remark(text: str) -> str:
    return _REMARK.sub("", text.rstrip())


def _name(text: str) -> str:
    return " ".join(text.strip().strip(_TRIM).rstrip(",;，；、").split()).casefold()
