"""Follows instructions: what the prompt wants of the reply, as data that the other parts obey.

Each clause of the prompt is read by its words (`orders.toml`): what it is about, whether that is wanted, and how many
(`clauses.py`). If two instructions disagree, the later one holds. Material is never an instruction.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

from aiq.offline.engine.clauses import Clause, Limits, clauses, limits
from aiq.offline.engine.read import ITEM, Language, Situation, ends


@dataclass(frozen=True)
class Orders:
    """What the prompt asks of the reply. A field keeps its default if the prompt says nothing; negations count.

    `cite`: `numbered` ([1] and a list), `footnote` ([^1]), `link` (Markdown), `url` or `none`; `reference_heading`: the
    heading line of the reference list (`## References`, `**Sources**`), None if no list is wanted;
    `reference_form`: the form of its lines, with the placeholders {n}, {title}, {url}.
    `most_calls`, `least_calls`: tool calls in the whole conversation; `most_rounds`: replies that delegate;
    `most_at_once`: calls in one reply; `together`: whether independent calls share a reply; `dated_queries`: whether
    queries about the present name the year; `ask`: whether it may ask back. `sections`: the headings asked
    for, in order; `sentences`, `words`, `characters`: of the whole reply. `abstain`: the words for missing evidence.
    `bare`: only the answer, without a sentence around it. `bullets`, `table`: None if the writer may choose; `title`,
    `conclusion`: of a report; `date_form`: a `strftime` format; `oldest`: whether the oldest evidence wins; `premise`:
    whether to correct false premises. `barred`: quoted names of tools, sections or words that must
    not be used; `fields`: fields of the reply with a fixed value. `language`: that of the reply. `numbers`:
    the prompt's own reference numbers, by source key; a source without one is not cited.
    `step`: only the next step of the work is wanted, in words; `done`: the words for when there is none. `every`:
    everything that was found is wanted.
    """

    cite: str = "none"
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
    numbers: Mapping[str, int] = field(default_factory=dict)
    step: bool = False
    done: str | None = None
    every: bool = False


_TABLES = tomllib.loads(files("aiq.offline.engine").joinpath("orders.toml").read_text(encoding="utf-8"))


def _pattern(pattern: str) -> re.Pattern[str]:
    for name, words in _TABLES["words"].items():
        pattern = pattern.replace(f"{{{name}}}", words)
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{pattern})(?![A-Za-z0-9_])", re.IGNORECASE)


_RULES = [rule | {part: _pattern(rule[part]) for part in ("on", "with") if part in rule} for rule in _TABLES["rule"]]
"""A rule applies to a clause that mentions `on` and `with`: it orders `yes`, or `no` if `on` is negated (`flag`: sets
it true or false); `when`: also under a condition; `may`: not if it is merely allowed. {name}: one of `words`."""
_SOURCE = _pattern("{cite}|{source}")
_PARTIAL = re.compile(
    r"(?:\W+\w+){0,3}?\W+(?:that|which|who|you|unless|except|other|same|twice|again|more|fewer|older|yourself|until"
    r"|before"
    r"|first|only|without|from (?!your|the)|to (?!the|be)|for (?:what|the same)|operators?|terms)\b|.{0,6}次",
    re.IGNORECASE,
)
"""What follows if only some of a thing is refused: "do not cite pages that you did not read"."""
_MISUSE = re.compile(
    r"\b(?:invent|mak(?:e|ing) up|fabricat|guess|chang|alter|missing|against|hallucinat|repeat|limit|if\b|only\b)", re.I
)
"""Acts that are refused without refusing the thing itself."""
_EXAMPLE = re.compile(
    r"^[ \t]*(?:task|question|response|input)[ \t]*\d*:(?:(?!^[ \t]*-{3,}[ \t]*$).)*?"
    r"^[ \t]*(?:thought|observation|action|comment|evaluation|output)[ \t]*\d*:(?:(?!^[ \t]*-{3,}[ \t]*$).)*",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_FORM = re.compile(
    r"(?:\{[ \t]*[\"'{]|\[[ \t]*[\"'{\[]).{0,2000}[\]}]|^[ \t]*[-*][ \t]+(?:[\"`]\w+[\"`]|`?\w+_\w+`?)[ \t]*[:：].*$",
    re.MULTILINE,
)
"""Worked examples, JSON forms and descriptions of fields and tools: none of them are instructions."""

_LENGTHS = {"sentences": r"sentences?\b|句", "words": r"words?\b", "characters": r"characters?\b|个?(?:汉)?字(?!段)"}
_OF_A_PART = re.compile(r"\b(?:each|every|per|the first|one of the)\b(?! statement)|每", re.IGNORECASE)
ROUNDS = r"(?:rounds?|iterations?|loops?|cycles?)\b|轮"
_CALLS = (
    r"(?:calls?|searches|search(?:ed)?(?=\b(?! (?:result|engine|tool|quer)))|look-?ups?|tool uses?|invocations?"
    r"|(?<!a )times?|quer(?:y|ies)|requests|`[\w-]*(?:search|fetch)[\w-]*`s?)(?!\w)|次"
)
_CALLING = re.compile(
    r"^(?!.*(?:`(?!\w*(?:search|web|brows|fetch|research))\w+|\b(?:call|use|using|of) it\b|\b(?:per|each"
    r"|every) (?:dispatch|section|quer|question|topic|sub)))(?!\W*(?:write|generate|produce|propose|list|create"
    r"|come up|formulate|each|choose|生成|写出|提出)\b).*(?:\bsearch|\btools?\b|\bcalls?\b|look|\bquer(?:y|ies) to\b"
    r"|dispatch|delegat|send|搜索|检索|工具"
    r"|调用|查询)",
    re.IGNORECASE,
)
_SINGLE = re.compile(
    r"\b(?:single|exactly|precisely|once|get|have|only|just|most|more|allow\w*|enough|limit\w*|budget|no|never)\b"
    r"|^\W*(?:\w+ly )?(?:make|run|perform|do|issue|conduct|search|call|send|one)\b.*(?<!suffice)$|次",
    re.IGNORECASE,
)
"""What makes the number one a limit."""
_PER_REPLY = re.compile(
    r"\b(?:per|each|every|one|a|same|single) (?:reply|turn|round|response|message|step|iteration)\b|at (?:once|a time)"
    r"|parallel|side by side|simultaneous\w*|concurrent\w*|together|同时|并行|每次|每轮",
    re.IGNORECASE,
)
_EXACTLY = re.compile("exactly|恰好|正好")
_DATE = re.compile(r"\b[YMD]{1,4}([-/. ])[YMD]{1,4}\1[YMD]{1,4}\b|\bISO\b|\b\d{4}-\d\d-\d\d\b")
_FORMAT_WORD = re.compile(r"\b(?:write|give|form|format|like|follow|use|as|in|avoid|should)\b|写|格式", re.IGNORECASE)
_FIXED_VALUE = re.compile(
    r"(?:(?:leave|keep) (?=`\w+` (?:null|true|false)))?`(\w+)`[^`.]{0,30}?(?:(?<=` )|\b(?:always|must be|stays?"
    r"|remains?|kept)\b"
    r"[^`.]{0,12}?)\b(null|true|false)\b",
    re.IGNORECASE,
)
_CONSTANTS = {"null": None, "true": True, "false": False}
_MAY = re.compile(r"\b(?:may|might|can|could)\b", re.IGNORECASE)
_SAYING = re.compile(
    r"\b(?:say|reply|answer(?= (?:with|by|just|\W))|respond|writ|state|return|words are)|回答|回复|说|输出",
    re.IGNORECASE,
)
_MISSING = re.compile(
    r"suffic|enough|short|cannot|can[’']?t|unable|missing|n(?:ot?|othing) (?:\w+ ){0,3}?(?:find|found|know|contain"
    r"|evidence"
    r"|answer|say|turn|result|support)|n[’']t|unknown|unsure|lack|无法|不足|没有|找不到|不知道|不确定",
    re.IGNORECASE,
)
_FINISHED = re.compile(
    r"\b(?:all|everything|complete\w*|enough|suffic\w+|no(?:thing)? (?:more|further|else|is missing))\b|足够|全部|完整",
    re.I,
)
"""Conditions under which the work is finished."""
_HEADING = re.compile(r"\b(?:section|heading|list|header|titled|called|named|headed|entitled|under)\b", re.IGNORECASE)
_TITLE = r"[\w ]*(?:title|name|标题)"
_ENTRY = re.compile(
    rf"(?:^|`)\s*(?P<n>\[\^?(?:\d+|n)\]:?|\d+[.)]|[-*])\s*(?P<before>\W*)(?P<title>{_TITLE})(?P<between>\W{{1,5}}?)"
    rf"(?:url|link|网址|链接|https?://[^\s)>`]+)(?P<after>\W*?)[.,]?(?:`|$)",
    re.IGNORECASE | re.MULTILINE,
)
_PARTS = re.compile(r"\b(?:sections?|headings?|chapters?|parts)\b|章节|小节|部分|标题", re.IGNORECASE)
_SECTION_LIST = re.compile(
    rf"(?:{_PARTS.pattern}|\bstructure|\boutline)[^\n.:：]{{0,40}}[:：][ \t]*(?P<line>[^\n]*)"
    rf"(?P<items>(?:\n{ITEM}.+)*)",
    re.IGNORECASE,
)
_HEADING_MARKS = re.compile(r"#{1,6}\W{0,4}(?:(?:for|is|are|marks?)\b|用于|表示)")
"""Says how headings are marked, not what they are."""


def follow(situation: Situation) -> Orders:
    """The orders in the situation's instructions, which take precedence over those in the task."""
    prompt = f"{situation.task}\n\n{_FORM.sub(' ', _EXAMPLE.sub(' ', ends(situation.instructions)))}"
    orders = replace(Orders(language=situation.language, numbers=situation.numbers), **_prompt_orders(prompt))
    if not (orders.numbers and orders.cite in ("numbered", "link")):
        return orders
    heading = orders.reference_heading if orders.cite == "numbered" else None
    return replace(orders, cite="numbered", reference_heading=heading)


@lru_cache(maxsize=256)
def _prompt_orders(prompt: str) -> dict[str, Any]:
    """What a prompt orders, by field; cached, as the turns of a conversation share their prompt."""
    orders: dict[str, Any] = {"heading": "**Sources**"}
    for clause in clauses(prompt):
        for rule in _RULES:
            orders |= _rule_orders(clause, rule)
        orders |= dict(_limit_orders(clause))
        for name, value in _stated_orders(clause):
            orders[name] = (*orders.get(name, ()), value) if name in ("barred", "fields") else value
    if names := _sections(prompt):
        orders.setdefault("sections", names)
    cite = orders.get("form", "numbered") if orders.get("cited") else "none"
    cite = "link" if cite in ("numbered", "footnote") and orders.get("listed") is False else cite
    if cite in ("numbered", "footnote"):
        orders |= {"reference_heading": orders["heading"]} | _entry_form(prompt)
    return {name: value for name, value in orders.items() if name in Orders.__dataclass_fields__} | {"cite": cite}


def _rule_orders(clause: Clause, rule: dict[str, Any]) -> dict[str, Any]:
    """What a rule of the table makes of a clause."""
    subject = rule["on"].search(clause.text)
    if subject is None or ("with" in rule and not rule["with"].search(clause.before + clause.text)):
        return {}
    start, end = subject.span()
    part_start, part_end = clause.part(start)
    before, after = clause.text[part_start:start], clause.text[end:part_end]
    if ("when" not in rule and clause.conditional(start)) or re.search(r"\bwho\b", before):
        return {}
    negated = clause.negated(start, end)
    exempt = _PARTIAL.match(after) or _MISUSE.search(before) if negated else "may" in rule and _MAY.search(clause.text)
    orders: dict[str, Any] = rule.get("no" if negated else "yes", {})
    return {} if exempt else {rule["flag"]: not negated} if "flag" in rule else orders


def _limit_orders(clause: Clause) -> Iterator[tuple[str, Any]]:
    """The limits in a clause: on the reply's length, on rounds, on calls in total or per reply."""
    for name, unit in _LENGTHS.items() if not _OF_A_PART.search(clause.text) else ():
        if any(bounds := limits(clause, unit)):
            yield name, bounds
    for name, unit, applies in (("rounds", ROUNDS, True), ("calls", _CALLS, _CALLING.search(clause.text))):
        for part in _limit_parts(clause, unit) if applies else ():
            least, most = limits(part, unit)
            at_once = name == "calls" and _PER_REPLY.search(part.text)
            if most and (most > 1 or _SINGLE.search(clause.text)):
                yield "most_at_once" if at_once else f"most_{name}", most
            if least and name == "calls" and not at_once and (least != most or _EXACTLY.search(part.text)):
                yield "least_calls", least


def _limit_parts(clause: Clause, unit: str) -> list[Clause]:
    """The clause, or its parts if several limit a unit and only some of them speak of each reply."""
    texts = re.split(r"(?<=,) ", clause.text)
    parts = [Clause(text, (), clause.before + clause.text[: clause.text.index(text)]) for text in texts]
    limiting = [part for part in parts if any(limits(part, unit))]
    per_reply = {_PER_REPLY.search(part.text) is not None for part in limiting}
    return limiting if len(per_reply) > 1 else [clause]


def _stated_orders(clause: Clause) -> Iterator[tuple[str, Any]]:
    """What a clause spells out: the form of dates, fixed values of fields, the words for missing evidence, the
    headings of sections and of the references."""
    if (date := _DATE.search(clause.text)) and _FORMAT_WORD.search(clause.text):
        form = date[0] if date[1] else "YYYY-MM-DD"
        form = form.replace("YYYY", "%Y").replace("MM", "%m").replace("DD", "%d")
        yield "date_form", None if clause.negated(date.start()) else form
    fixed = _FIXED_VALUE.search(clause.text)
    if fixed and not clause.conditional(fixed.start()):
        yield "fields", (fixed[1], _CONSTANTS[fixed[2].lower()])
    saying = _SAYING.search(clause.text)
    if saying and clause.quotes and not clause.negated(saying.start()):
        abstentions = [quote for quote in clause.quotes if _MISSING.search(quote)]
        if abstentions or (clause.conditional(saying.start()) and _MISSING.search(clause.text[: saying.start()])):
            yield "abstain", (abstentions or clause.quotes)[-1]
        finished = _FINISHED.search(clause.text[: saying.start()]) if clause.conditional(saying.start()) else None
        if finished and not clause.negated(finished.start()):
            yield "done", clause.quotes[-1]
    for quote in clause.quotes:
        start = clause.text.find(f"`{quote}`")
        if start >= 0 and clause.negated(start, start + len(quote) + 2) and not clause.conditional(start):
            yield "barred", quote
        is_heading = quote.startswith(("#", "**"))
        about_sources = _SOURCE.search(f"{quote} {clause.text}" if is_heading else quote)
        if quote.strip("#* ") and about_sources and (is_heading or _HEADING.search(clause.text)):
            yield "heading", quote if is_heading else f"## {quote}"
    parts = _PARTS.search(clause.text) or _PARTS.search(clause.before)
    names = [quote.lstrip("# ") for quote in clause.quotes if quote.strip("# ") and not _SOURCE.search(quote)]
    if parts and len(names) > 1 and not clause.negated(parts.start()):
        yield "sections", tuple(names)


def _entry_form(prompt: str) -> dict[str, str]:
    """The form of the lines in the reference list, from the prompt's own example."""
    match = next(_ENTRY.finditer(prompt), None)
    if match is None:
        return {}
    number = re.sub(r"\d+|(?<=[\[^])n(?=\])", "{n}", match["n"])
    return {"reference_form": f"{number} {match['before']}{{title}}{match['between']}{{url}}{match['after']}"}


def _sections(prompt: str) -> tuple[str, ...]:
    """The headings that the prompt lists after a colon, on one line or several."""
    for match in _SECTION_LIST.finditer(prompt):
        line = match["line"].rstrip(".。")
        if _HEADING_MARKS.search(line):
            continue
        pieces = re.split("[;；]" if re.search("[;；]", line) else r"[,，、]|\band\b|和", line)
        for items in (pieces, re.findall(rf"^{ITEM}(.+)$", match["items"], re.MULTILINE)):
            names = [name for item in items if (name := item.strip(" \"'“”`*#"))]
            if len(names) > 1 and all(len(name.split()) <= 8 and not name.endswith((".", "。")) for name in names):
                return tuple(names)
    return ()
