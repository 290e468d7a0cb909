"""Following instructions: what the prompt wants of the reply, as data that the other verbs obey.

A clause of the prompt is read by its words (`orders.toml`): what it speaks of, whether that is wanted, and in which
number (`clauses.py`). Where two instructions disagree, the later one holds. Material is no instruction at all.
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
    `most_at_once`: calls in one reply; `together`: whether independent ones go into one reply; `dated_queries`: whether
    queries on the present state name the year; `ask`: whether a question back is allowed. `sections`: headings asked
    for, in order; `sentences`, `words`, `characters`: of the whole reply. `abstain`: the words for "not enough evidence".
    `bare`: only the answer, no sentence around it. `bullets`, `table`: None where the writer may choose; `title`,
    `conclusion`: of a report; `date_form`: such as YYYY-MM-DD; `oldest`: whether the oldest evidence wins; `premise`:
    whether to correct what a question takes for granted. `barred`: quoted names of tools, sections or words that are
    not to be used; `fields`: values that fields of the reply always have. `language`: that of the reply.
    """

    cite: Cite = "none"
    reference_heading: str | None = None
    reference_form: str = "[{n}] {title} - {url}"
    most_calls: int | None = None
    least_calls: int | None = None
    most_rounds: int | None = None
    most_at_once: int | None = None
    together: bool = False
    dated_queries: bool = False
    ask: bool = True
    sections: tuple[str, ...] = ()
    sentences: Limits = (None, None)
    words: Limits = (None, None)
    characters: Limits = (None, None)
    abstain: str | None = None
    bare: bool = False
    bullets: bool | None = None
    table: bool | None = None
    title: bool = True
    conclusion: bool = True
    date_form: str | None = None
    oldest: bool = False
    premise: bool = True
    barred: tuple[str, ...] = ()
    fields: tuple[tuple[str, Any], ...] = ()
    language: Language = "en"

    @property
    def search_first(self) -> bool:
        """Whether to search before answering."""
        return self.most_calls != 0


_DATA = tomllib.loads(files("aiq.offline.engine").joinpath("orders.toml").read_text(encoding="utf-8"))


def _pattern(told: str) -> re.Pattern[str]:
    for name, words in _DATA["words"].items():
        told = told.replace(f"{{{name}}}", words)
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{told})(?![A-Za-z0-9_])", re.IGNORECASE)


_RULES = [
    rule | {name: _pattern(rule[name]) for name in ("on", "with") if name in rule} for rule in _DATA["rule"]
]
_PARTIAL = re.compile(
    r"(?:\W+\w+){0,3}?\W+(?:that|which|who|you|unless|except|other|same|twice|again|more|fewer|older|yourself|until|before|first|only|without"
    r"|from (?!your|the)|to (?!the|be)|for (?:what|the same)|operators?|terms|is|are|has|returned)\b|.{0,6}次",
    re.IGNORECASE,
)
"""What follows where only some of a thing is refused: "do not cite pages that you did not read"."""
_MISUSE = re.compile(
    r"invent|mak(?:e|ing) up|fabricat|guess|chang|alter|missing|against|hallucinat|repeat|\bif\b|\bonly\b", re.IGNORECASE
)
"""Acts that are refused without refusing the thing."""
_MAY = re.compile(r"\b(?:may|might|can|could)\b", re.IGNORECASE)

_WORKED = re.compile(
    r"^[ \t]*(?:task|question|response|input)[ \t]*\d*:(?:(?!^[ \t]*-{3,}[ \t]*$).)*?"
    r"^[ \t]*(?:thought|observation|action|comment|evaluation|output)[ \t]*\d*:(?:(?!^[ \t]*-{3,}[ \t]*$).)*",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_FORM = re.compile(
    r"(?:\{[ \t]*[\"'{]|\[[ \t]*[\"'{\[]).{0,2000}[\]}]|^[ \t]*[-*][ \t]+(?:[\"`]\w+[\"`]|`?\w+_\w+`?)[ \t]*[:：].*$",
    re.MULTILINE,
)
"""Worked examples, JSON forms and the descriptions of fields and tools: none of them instructs."""

_LENGTHS = {"sentences": r"sentences?\b|句", "words": r"words?\b", "characters": r"characters?\b|个?(?:汉)?字(?!段)"}
_OF_A_PART = re.compile(r"\b(?:each|every|per|the first|one of the)\b(?! statement)|每", re.IGNORECASE)
_ROUNDS = r"(?:rounds?|iterations?|loops?|cycles?)\b|轮"
_CALLS = (
    r"(?:calls?|searches|search(?:ed)?(?=\b(?! (?:result|engine|tool|quer)))|look-?ups?|tool uses?|invocations?|(?<!a )times?|quer(?:y"
    r"|ies)|requests|`[\w-]*(?:search|fetch)[\w-]*`s?)(?!\w)|次"
)
_CALLING = re.compile(
    r"^(?!.*(?:`(?!\w*(?:search|web|brows|fetch|research))\w+|\b(?:call|use|using|of) it\b|\b(?:per|each|every) (?:dispatch"
    r"|section|quer|question|topic|sub)))(?!\W*(?:write|generate|produce|propose|list|create|come up|formulate|each|choose"
    r"|生成|写出|提出)\b).*(?:\bsearch|\btools?\b|\bcalls?\b|look|\bquer(?:y|ies) to\b|dispatch|delegat|send|搜索|检索|工具"
    r"|调用|查询)",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"\b(?:single|exactly|precisely|get|have)\b|^\W*(?:\w+ly )?(?:make|run|perform|do|issue|conduct|search|call|send)\b|次", re.I
)
"""What makes the mere number one a limit."""
_PER_REPLY = re.compile(
    r"\b(?:per|each|every|one|a|same|single) (?:reply|turn|round|response|message|step|iteration)\b|at (?:once|a time)"
    r"|parallel|side by side|simultaneous\w*|concurrent\w*|together|同时|并行|每次|每轮",
    re.IGNORECASE,
)
_DATE = re.compile(r"\b[YMD]{1,4}([-/. ])[YMD]{1,4}\1[YMD]{1,4}\b|\bISO\b|\b\d{4}-\d\d-\d\d\b")
_WRITTEN = re.compile(r"\b(?:write|give|form|format|like|follow|use|as|in|avoid|should)\b|写|格式", re.IGNORECASE)
_FIXED = re.compile(
    r"`(\w+)`[^`.]{0,30}\b(?:always|must be|stays?|remains?|kept)[^`.]{0,12}\b(null|true|false)\b"
    r"|\b(?:leave|keep|set) `(\w+)` (?:always |to )?(null|true|false)\b",
    re.IGNORECASE,
)
_HEADED = re.compile(r"^(#+ |\*\*)\S", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:section|heading|list|header|titled|called|named|headed|entitled|under)\b", re.IGNORECASE)
_TITLE = r"[\w ]*(?:title|name|标题)"
_ENTRY = re.compile(
    rf"\s*(?P<n>\[\^?(?:\d+|n)\]:?|\d+[.)]|[-*])\s*(?P<before>\W*)(?P<a>{_TITLE}|url|link"
    rf"|https?://\S+?)(?P<between>\W{{1,5}}?)"
    rf"(?P<b>{_TITLE}|url|link|网址|链接|https?://[^\s)>]+)(?P<after>\W*)",
    re.IGNORECASE,
)
_SOURCE = _pattern("{cite}|{source}")
_PARTS = r"\b(?:sections?|headings?|chapters?|parts)\b|章节|小节|部分|标题"
_ITEM = r"[ \t]*(?:[-*•]|\d+[.)、])[ \t]+"
_LISTED = re.compile(
    rf"(?:{_PARTS}|\bstructure|\boutline)[^\n.:：]{{0,40}}[:：][ \t]*(?P<line>[^\n]*)(?P<items>(?:\n{_ITEM}.+)*)",
    re.IGNORECASE,
)
_SAYING = re.compile(r"\b(?:say|reply|answer(?= (?:with|by|just|\W))|respond|writ|state|return|words are)|回答|回复|说|输出", re.IGNORECASE)
_MISSING = re.compile(
    r"suffic|enough|short|cannot|can[’']?t|unable|missing|n(?:ot?|othing) (?:\w+ ){0,3}?(?:find|found|know|contain|evidence"
    r"|answer|say|turn|result|support)|n[’']t|unknown|unsure|lack|无法|不足|没有|找不到|不知道|不确定",
    re.IGNORECASE,
)


def follow(situation: Situation) -> Orders:
    """The orders that stand in the situation's instructions and, before them, in the task."""
    told = f"{situation.task}\n\n{_FORM.sub(' ', _WORKED.sub(' ', ends(situation.instructions)))}"
    return replace(Orders(language=situation.language), **_ordered(told))


@lru_cache(maxsize=256)
def _ordered(told: str) -> dict[str, Any]:
    """What a prompt orders, by field; kept, since the turns of a conversation share their prompt."""
    found: dict[str, Any] = {}
    barred: dict[str, None] = {}
    said = tuple(clauses(told))
    for clause in said:
        for rule in _RULES:
            _obey(clause, rule, found)
        for name, (least, most) in _counted(clause):
            known = found.get(name, (None, None)) if name in _LENGTHS else None
            found[name] = (least or known[0], most or known[1]) if known else most if most is not None else least
        barred |= dict.fromkeys(quote for quote in clause.quotes if _is_barred(clause, quote))
        found |= _stated(clause)
    citing = {"cited": found.pop("cited", False), "form": found.pop("form", "numbered"), **_references(told, said)}
    found |= _cited(citing, found.pop("listed", True)) | _sections(told, said)
    return found | ({"barred": tuple(barred)} if barred else {})


def _obey(clause: Clause, rule: dict[str, Any], found: dict[str, Any]) -> None:
    """Adds to what was found what a rule orders for a clause."""
    about = rule["on"].search(clause.text)
    if about is None or ("with" in rule and not rule["with"].search(clause.before + clause.text)):
        return
    start, end = about.span()
    begins, ends_ = clause.part(start)
    if ("when" not in rule and clause.conditional(start)) or re.search(r"\bwho\b", clause.text[begins:start]):
        return
    yes, no = rule.get("yes", {}), rule.get("no", {})
    if not clause.negated(start, end):
        found |= {} if "together" in yes and _MAY.search(clause.text) else yes
    elif not _PARTIAL.match(clause.text[end:ends_]) and not _MISUSE.search(clause.text[begins:end]):
        found |= no


def _counted(clause: Clause) -> Iterator[tuple[str, Limits]]:
    """The numbers that a clause names: of the reply's length, of rounds, of calls in all or in one reply."""
    if not _OF_A_PART.search(clause.text):
        for name, unit in _LENGTHS.items():
            yield from ((name, (least if least != 1 else None, most)) for (least, most), _ in amounts(clause, unit))
    for (least, most), _ in amounts(clause, _ROUNDS):
        if most is not None and (least != most or most > 1 or _ONE.search(clause.text)):
            yield "most_rounds", (None, most)
    for (least, most), _ in amounts(clause, _CALLS) if _CALLING.search(clause.text) else ():
        at_once = _PER_REPLY.search(clause.text)
        exact = least == most
        if most is not None and (not exact or most > 1 or at_once or _ONE.search(clause.text)):
            yield "most_at_once" if at_once else "most_calls", (None, most)
        if (least or 0) > 1 and not at_once and (not exact or re.search("exactly|恰好|正好", clause.text)):
            yield "least_calls", (least, None)


def _is_barred(clause: Clause, quote: str) -> bool:
    at = clause.text.find(quote)
    return at >= 0 and clause.negated(at, at + len(quote) + 1) and not clause.conditional(at)


def _stated(clause: Clause) -> dict[str, Any]:
    """The form of dates, fixed values of fields, and the words for missing evidence."""
    found: dict[str, Any] = {}
    if (date := _DATE.search(clause.text)) and _WRITTEN.search(clause.text):
        form = date[0] if date[1] else "YYYY-MM-DD"
        found["date_form"] = None if clause.negated(date.start()) else form
    for match in _FIXED.finditer(clause.text):
        name, value = filter(None, match.groups())
        if not clause.conditional(match.start()):
            found["fields"] = ((name, {"null": None, "true": True, "false": False}[value.lower()]),)
    saying = _SAYING.search(clause.text)
    gives_up = [quote for quote in clause.quotes if _MISSING.search(quote)]
    if saying and clause.quotes and not clause.negated(saying.start()):
        if gives_up or (clause.conditional(saying.start()) and _MISSING.search(clause.text[: saying.start()])):
            found["abstain"] = (gives_up or clause.quotes)[-1]
    return found


def _cited(citing: dict[str, Any], listed: bool) -> dict[str, Any]:
    """How to cite; numbers need a list, so that without one links take their place."""
    form = citing["form"] if citing["cited"] else "none"
    form = "link" if not listed and form in ("numbered", "footnote") else form
    if form in ("none", "link", "url"):
        return {"cite": form} if form != "none" else {}
    heading = citing.get("heading", "**Sources**")
    return {"cite": form, "reference_heading": heading} | {k: v for k, v in citing.items() if k == "reference_form"}


def _references(told: str, said: Sequence[Clause]) -> dict[str, str]:
    """The heading of the reference list, and the form of its lines, by the prompt's own example."""
    orders: dict[str, str] = {}
    for clause in said:
        for quote in clause.quotes if _SOURCE.search(f"{clause.text} {clause.quotes}") else ():
            if _HEADED.match(quote) or (_NAMED.search(clause.text) and re.match(rf"\\W*{_SOURCE.pattern}", quote)):
                orders["heading"] = quote if _HEADED.match(quote) else f"## {quote}"
    lines = [line.strip() for line in told.splitlines()]
    for number, line in enumerate(lines):
        for entry in (line, *re.findall(r"`([^`\n]+)`", line)):
            match = _ENTRY.fullmatch(entry.rstrip(".,")) if len(entry) < 100 else None
            first, second = ("{title}" if match and re.fullmatch(_TITLE, match[p], re.I) else "{url}" for p in "ab")
            if match and first != second:
                mark = re.sub(r"\d+|(?<=\[)n(?=\])|(?<=\^)n", "{n}", match["n"])
                orders["reference_form"] = f"{mark} {match['before']}{first}{match['between']}{second}{match['after']}"
                if entry == line and _HEADED.match(lines[number - 1]):
                    orders["heading"] = lines[number - 1]
    return orders


def _sections(told: str, said: Sequence[Clause]) -> dict[str, tuple[str, ...]]:
    """The headings that the prompt asks for: quoted, listed after a colon, or in lines."""
    named = [c.quotes for c in said if (m := re.search(_PARTS, c.text, re.I)) and not c.negated(m.start())]
    lists = [[n.lstrip("# ") for n in quotes if n.strip("# ") and not _SOURCE.search(n)] for quotes in named]
    for match in _LISTED.finditer(told):
        items = re.findall(rf"^{_ITEM}(.+)$", match["items"], re.MULTILINE)
        line = re.split(r"[.。](?:\s|$)", match["line"])[0]
        items = items or re.split("[;；]" if re.search("[;；]", line) else r"[,，、]|\band\b|和", line)
        names = [item.strip(" \"'“”`*#") for item in items if item.strip()]
        if all(len(name.split()) <= 8 and not name.endswith((".", "。")) for name in names):
            lists.append(names)
    return next(({"sections": tuple(names)} for names in lists if len(names) > 1), {})
