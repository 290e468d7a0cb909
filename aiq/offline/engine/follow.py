"""Following instructions: what the prompt wants of the reply, as data that the other verbs obey.

An instruction is read as a clause (`clauses.py`): what it is about, how many, and whether it is wanted or not. What
there is to be about is a table (`orders.toml`). Where two instructions disagree, the later one holds. Material is no
instruction at all.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

from aiq.offline.engine.clauses import Clause, Limits, amounts, clauses
from aiq.offline.engine.read import Language, Situation, ends

Cite = str
"""How citations are asked for: `numbered` ([1] and a list), `footnote` ([^1]), `link` (Markdown), `url`, `none`."""


@dataclass(frozen=True)
class Orders:
    """What the prompt asks of the reply. A field keeps its default where the prompt says nothing; negations count.

    `cite`: see `Cite`; `reference_heading`: the heading line of the reference list (`## References`, `**Sources**`),
    None where no list is wanted; `reference_form`: a line of it with the placeholders {n}, {title}, {url}.
    `most_calls`, `least_calls`: tool calls in the whole conversation; `most_rounds`: replies that delegate;
    `most_at_once`: calls in one reply; `search_first`: whether to search before answering. `sections`: headings asked
    for, in order. `sentences`, `words`, `characters`: of the whole reply. `abstain`: the words for "not enough
    evidence". `bare`: only the answer, no sentence around it. `language`: that of the reply.
    """

    cite: Cite = "numbered"
    reference_heading: str | None = "## References"
    reference_form: str = "[{n}] {title} - {url}"
    most_calls: int | None = None
    least_calls: int | None = None
    most_rounds: int | None = None
    most_at_once: int | None = None
    search_first: bool = True
    sections: tuple[str, ...] = ()
    sentences: Limits = (None, None)
    words: Limits = (None, None)
    characters: Limits = (None, None)
    abstain: str | None = None
    bare: bool = False
    language: Language = "en"


_TABLE: list[dict[str, Any]] = tomllib.loads(
    files("aiq.offline.engine").joinpath("orders.toml").read_text(encoding="utf-8")
)["row"]
_WORKED = re.compile(
    r"^[ \t]*(?:task|question|response|input)[ \t]*\d*:(?:(?!^[ \t]*-{3,}[ \t]*$).)*?"
    r"^[ \t]*(?:thought|observation|action|comment|evaluation|output)[ \t]*\d*:(?:(?!^[ \t]*-{3,}[ \t]*$).)*",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_DATA = re.compile(
    r"(?:\{[ \t]*[\"'{]|\[[ \t]*[\"'{\[]).{0,2000}[\]}]|^[ \t]*[-*][ \t]+(?:[\"`]\w+[\"`]|`?\w+_\w+`?)[ \t]*[:：].*$",
    re.MULTILINE,
)
"""JSON examples and the descriptions of fields and tools: none of them is an instruction about the reply."""

_LENGTHS = {"sentences": r"sentences?\b|句", "words": r"words?\b", "characters": r"characters?\b|个?(?:汉)?字(?!段)"}
_OF_ONE_TOOL = re.compile(r"\b(?:of|call|use|calling|using) it\b", re.IGNORECASE)
"""A limit on the tool that was just spoken of is none on all calls."""
_OF_A_PART = re.compile(r"\b(?:each|every|per|the first|one of the)\b(?! statement)|每", re.IGNORECASE)
_ROUNDS = r"(?:rounds?|iterations?|loops?|cycles?)\b|轮"
_CALLS = (
    r"(?:calls?|searches|search(?=\b(?! (?:result|engine|tool|quer)))|look-?ups?|tool uses?|invocations?|times"
    r"|rounds? of search\w*|quer(?:y|ies)|requests)\b|次"
)
_CALLING = re.compile(
    r"^(?!.*(?:`(?!\w*(?:search|web|brows|fetch|research))\w+`|\bcall it\b"
    r"|\b(?:per|each|every) (?:dispatch|section|quer|question|topic|sub)))"
    r"(?!\W*(?:write|generate|produce|propose|list|create|come up|formulate|each|生成|写出|提出)\b)"
    r".*(?:\bsearch|\btools?\b|\bcalls?\b|look|\bquer(?:y|ies)\b|dispatch|delegat|搜索|检索|工具|调用|查询)",
    re.IGNORECASE,
)
_LIMITING = re.compile(
    r"\bonly\b|\bjust\b|\bsingle\b|(?<!not )(?<!not be )enough|allow|budget|limit|stop after|exactly|precisely|suffic"
    r"|^\W*(?:please )?(?:make|run|use|perform|do|issue|conduct|search|call|work)\b|恰好|正好|仅|只|次",
    re.IGNORECASE,
)
"""What makes a mere number one of calls: "one search" alone is none."""

_PER_REPLY = re.compile(
    r"\b(?:per|each|every|one|a|same|single) (?:reply|turn|round|response|message|step|iteration)\b|at (?:once|a time)"
    r"|parallel|simultaneous\w*|concurrent\w*|together|同时|并行|每次|每轮",
    re.IGNORECASE,
)
_LIST = (
    r"(?:reference list|references|(?:cited )?sources|bibliography|works cited|citations|参考文献|参考资料"
    r"|来源|引用)"
)
_HEADING = re.compile(
    rf"(?:section|heading|list|header)\s+(?:titled|called|named|headed"
    rf"|entitled)\s+[\"“`'](?P<a>[^\"”`'\n]*{_LIST}[^\"”`'\n]*)"
    rf"|[\"“`'](?P<b>{_LIST}:?)[\"”`']\s+(?:section|heading|list)|(?:under|heading|titled"
    rf"|called) [\"“`'](?P<c>{_LIST}:?)[\"”`']"
    rf"|(?<=[^\n#*])(?P<d>(?:#{{1,4}} |\*\*){_LIST}:?(?:\*\*)?)|^(?P<e>(?:#{{1,4}} "
    rf"|\*\*){_LIST}:?(?:\*\*)?)(?=:?\s+(?:\[|\d[.)]))",
    re.IGNORECASE | re.MULTILINE,
)
_TITLE = r"[\w ]*(?:title|name|标题)"
_ENTRY = re.compile(
    rf"\s*(?P<n>\[\^?(?:\d+|n)\]:?|\d+[.)]|[-*])\s*(?P<before>\W*)(?P<a>{_TITLE}|url|link"
    rf"|https?://\S+?)(?P<between>\W{{1,5}}?)"
    rf"(?P<b>{_TITLE}|url|link|网址|链接|https?://[^\s)>]+)(?P<after>\W*)",
    re.IGNORECASE,
)
_PARTS = r"\b(?:sections?|headings?|chapters?|parts)\b|章节|小节|部分|标题"
_ITEM = r"[ \t]*(?:[-*•]|\d+[.)、])[ \t]+"
_LISTED = re.compile(
    rf"(?:{_PARTS}|\bstructure|\boutline)[^\n.:：]{{0,40}}[:：][ \t]*(?P<line>[^\n]*)(?P<items>(?:\n{_ITEM}.+)*)",
    re.IGNORECASE,
)
_SAYING = re.compile(r"\b(?:say|reply|answer|respond|write|state|output|return)\b|回答|回复|说|输出", re.IGNORECASE)
_WHERE = re.compile(r"(?:^should|\bif|\bwhen|\bwhere|\bin case|\botherwise)\b.*|(?:如果|若|否则).*", re.IGNORECASE)
_MISSING = re.compile(
    r"suffic|enough|short|cannot|can[’']?t|unable|missing|not? (?:\w+ ){0,3}?(?:find|found|know|contain|evidence"
    r"|answer|say"
    r"|result|support)|n[’']t|unknown|unsure|nothing|lack|无法|不足|没有|找不到|不知道|不确定",
    re.IGNORECASE,
)


def follow(situation: Situation) -> Orders:
    """The orders that stand in the situation's instructions and, before them, in the task."""
    told = f"{situation.task}\n\n{_DATA.sub(' ', _WORKED.sub(' ', ends(situation.instructions)))}"
    orders = _ordered(told)
    language = orders.get("language") or situation.language
    return replace(Orders(), **{**orders, "language": language} | ({"sections": ()} if situation.sections else {}))


@lru_cache(maxsize=256)
def _ordered(told: str) -> dict[str, Any]:
    """What a prompt orders, by field; kept, since the turns of a conversation share their prompt."""
    found: dict[str, Any] = {}
    said = tuple(clauses(told))
    for clause in said:
        for row in _TABLE:
            _obey(row, clause, found)
        found |= {**dict(_counted(clause)), **_abstaining(clause)}
    found |= _references(told) | _sections(told, said)
    return {name: None if value == "" else value for name, value in found.items()}


def _obey(row: dict[str, Any], clause: Clause, found: dict[str, Any]) -> None:
    """Adds to what was found what a row of the table orders for a clause."""
    about = re.search(row["about"], clause.text, re.IGNORECASE)
    if about is None or (clause.conditional and "when" not in row):
        return
    if re.search(row.get("unless", "(?!)"), clause.text, re.I) or not re.search(row.get("also", ""), clause.text, re.I):
        return
    negated = clause.negated(about.start())
    if "undo" in row and not negated and row["no"].items() <= found.items():
        for name in row["no"]:
            del found[name]
    found |= row.get("no" if negated else "yes", {})


def _counted(clause: Clause) -> Iterator[tuple[str, Any]]:
    """The numbers that a clause names: of the reply's length, of rounds, of calls in all or in one reply."""
    if not _OF_A_PART.search(clause.text):
        yield from ((name, limits) for name, unit in _LENGTHS.items() for limits, _ in amounts(clause, unit))
    limiting = _LIMITING.search(clause.text)
    yield from (("most_rounds", most) for (least, most), _ in amounts(clause, _ROUNDS) if least != most or limiting)
    at_once = _PER_REPLY.search(clause.text)
    of_all = _CALLING.search(clause.text) and not _OF_ONE_TOOL.search(clause.text)
    for (least, most), _ in amounts(clause, _CALLS) if of_all else ():
        exact = least == most
        if most is not None and (limiting or not exact):
            yield "most_at_once" if at_once else "most_calls", most
        if least is not None and not at_once and (not exact or re.search("exactly|恰好|正好", clause.text)):
            yield "least_calls", least


def _abstaining(clause: Clause) -> dict[str, str]:
    """The words for missing evidence."""
    saying, where = _SAYING.search(clause.text), _WHERE.search(clause.text)
    gives_up = [quote for quote in clause.quotes if _MISSING.search(quote)]
    if not (saying and where and clause.quotes) or clause.negated(saying.start()):
        return {}
    return {"abstain": (gives_up or clause.quotes)[-1]} if gives_up or _MISSING.search(where[0]) else {}


def _references(told: str) -> dict[str, str]:
    """The heading of the reference list, and the form of its lines, by the prompt's own example."""
    orders: dict[str, str] = {}
    for match in _HEADING.finditer(told):
        name = next(filter(None, match.groups()))
        orders["reference_heading"] = name if name.startswith(("#", "*")) else f"## {name}"
    lines = [*re.findall(r"`([^`\n]+)`", told), *(line for line in told.splitlines() if len(line) < 100)]
    for match in filter(None, (_ENTRY.fullmatch(line.strip().rstrip(".,")) for line in lines)):
        first, second = ("{title}" if re.fullmatch(_TITLE, match[part], re.I) else "{url}" for part in "ab")
        if first != second:
            number = re.sub(r"\d+|(?<=\[)n(?=\])|(?<=\^)n", "{n}", match["n"])
            orders["reference_form"] = f"{number} {match['before']}{first}{match['between']}{second}{match['after']}"
    return orders


def _sections(told: str, said: Sequence[Clause]) -> dict[str, tuple[str, ...]]:
    """The headings that the prompt asks for: quoted, listed after a colon, or in lines."""
    named = [c.quotes for c in said if (m := re.search(_PARTS, c.text, re.I)) and not c.negated(m.start())]
    lists = [[n.lstrip("# ") for n in quotes if n.strip("# ") and not re.search(_LIST, n, re.I)] for quotes in named]
    for match in _LISTED.finditer(told):
        items = re.findall(rf"^{_ITEM}(.+)$", match["items"], re.MULTILINE)
        comma = "[;；]" if re.search("[;；]", match["line"]) else r"[,，、]|\band\b|和"
        items = items or re.split(comma, match["line"].rstrip(".。"))
        names = [item.strip(" \"'“”`*#") for item in items if item.strip()]
        if all(len(name.split()) <= 8 and not name.endswith((".", "。")) for name in names):
            lists.append(names)
    return next(({"sections": tuple(names)} for names in lists if len(names) > 1), {})
