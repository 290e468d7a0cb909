"""Following instructions: what the prompt wants of the reply, as data that the other verbs obey.

An instruction is read as a clause (`clauses.py`): what it is about, how many, and whether it is wanted or not. Where
two instructions disagree, the later one holds. Material is no instruction at all.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from aiq.offline.engine.clauses import CONDITION, LIMITING, NUMBER, Clause, Limits, amounts, value_of
from aiq.offline.engine.clauses import clauses as clauses_of
from aiq.offline.engine.read import Language, Situation

Cite = str
"""How citations are asked for: `numbered` ([1] and a list), `footnote` ([^1]), `link` (Markdown), `url`, `none`."""


@dataclass(frozen=True)
class Orders:
    """What the prompt asks of the reply. A field keeps its default where the prompt says nothing; negations count.

    `cite`: see `Cite`; `reference_heading`: the heading line of the reference list (`## References`, `**Sources**`),
    None where no list is wanted; `reference_form`: a line of it with the placeholders {n}, {title}, {url}.
    `most_calls`, `least_calls`: tool calls in the whole conversation; `most_rounds`: replies that delegate;
    `most_at_once`: calls in one reply. `sections`: headings asked for, in order; `section_count`: how many of them.
    `sentences`, `words`, `characters`: of the whole reply. `bullets`: how many, None where no list is asked for.
    `premise_check`, `newest`, `search_first`: whether to check what the question takes for granted, to prefer the
    newest evidence, to search before answering. `abstain`: the words for "not enough evidence"; `must_answer`: there
    are none, an answer is to be given anyway. `json_only`: the reply is one JSON value and nothing else. `bare`: only
    the answer, no sentence around it; `choices`: the words it may be. `table`: the reply has a table. `date_form`: how
    dates are written, as `YYYY-MM-DD`. `language`: that of the reply.
    """

    cite: Cite = "numbered"
    reference_heading: str | None = "## References"
    reference_form: str = "[{n}] {title} - {url}"
    most_calls: int | None = None
    least_calls: int | None = None
    most_rounds: int | None = None
    most_at_once: int | None = None
    sections: tuple[str, ...] = ()
    section_count: Limits = (None, None)
    sentences: Limits = (None, None)
    words: Limits = (None, None)
    characters: Limits = (None, None)
    bullets: Limits | None = None
    table: bool = False
    premise_check: bool = False
    newest: bool = True
    search_first: bool = True
    abstain: str | None = None
    must_answer: bool = False
    json_only: bool = False
    bare: bool = False
    choices: tuple[str, ...] = ()
    date_form: str | None = None
    language: Language = "en"


_LONG = 30_000
"""Characters at the start and at the end of a prompt that may instruct; what lies between is pasted text."""

_EXAMPLE = re.compile(r"^[ \t]*(?:task|question)[ \t]*\d*:", re.IGNORECASE | re.MULTILINE)
_WORKED = re.compile(r"^[ \t]*(?:thought|observation|action)[ \t]*\d*:", re.IGNORECASE | re.MULTILINE)
_DATA = re.compile(
    r"(?:\{[ \t]*[\"'{]|\[[ \t]*[\"'{\[]).{0,2000}[\]}]|^[ \t]*[-*][ \t]+(?:[\"`]\w+[\"`]|`?\w+_\w+`?)[ \t]*[:：].*$",
    re.MULTILINE,
)
"""JSON examples and the descriptions of fields and tools: none of them is an instruction about the reply."""

_CITING = (
    r"\b(?:cit(?:e|es|ing|ations?)|references?|referencing|sources?|footnotes?|attributions?|bibliograph\w+)\b"
    r"|引用|引注|参考文献|来源|出处|脚注"
)
_LIST_WORD = (
    r"(?:reference list|references|sources|bibliography|works cited|citations|cited sources"
    r"|参考文献|参考资料|来源|引用)"
)
_STYLES = (
    ("footnote", r"\[\^\d\]|\bfootnotes?\b|脚注"),
    ("link", r"\[[\w ]+\]\(\S+\)|(?:markdown|inline|hyper|embedded)[ -]?links?\b|hyperlink|\blinks\b"
             r"|\b(?:source )?link\b|\bapa\b|\bmla\b|harvard"
             r"|author[- ](?:date|year)|\(author|超链接|链接形式"),
    ("url", r"(?:bare|plain|raw|full) (?:urls?|address\w*|links?)|\burls? (?:in|between|behind|after)\b|网址"),
    ("numbered", r"\[\d\]|\bnumber(?:s|ed)?\b.{0,30}(?:brackets?|cit|refer)|bracketed numbers?|(?:cit"
                 r"|refer)\w*.{0,30}\bnumber(?:s|ed)\b"
                 r"|编号|数字"),
)  # fmt: skip
_CALLS = (
    r"(?:calls?|searches|search(?=\b(?! (?:result|engine|tool|quer)))|look-?ups?|tool uses?|invocations?|times"
    r"|rounds? of search\w*"
    r"|quer(?:y|ies)|requests)\b|次"
)
_CALLING = (
    r"\bsearch\w*|\btools?\b|\bcalls?\b|look-?ups?|look .{0,15}up|\bquer(?:y|ies)\b|dispatch|delegat|搜索|检索|工具"
    r"|调用|查询"
)
_PER_REPLY = (
    r"\b(?:per|each|every|one|a|same|single) (?:reply|turn|round|response|message|step|iteration)\b|at (?:once|a time)"
    r"|in parallel|parallel|simultaneous\w*|concurrent\w*|together|同时|并行|每次|每轮"
)
_OF_A_PART = (
    r"`(?!\w*(?:search|web|brows|fetch|research))\w+`|\bcall it\b|\b(?:per|each|every) (?:dispatch|section|quer"
    r"|question|topic|sub)"
    r"|^\W*(?:write|generate|produce|propose|list|create|come up|formulate|each)\b|^\W*(?:生成|写出|提出)"
)
_IN_TURN = (
    r"\bone (?:call |search |tool |query )?at a time|(?:call|search|tool|quer)\w*[^,;:]{0,30}(?:sequentially"
    r"|one (?:after|by) (?:the other|another|one))|逐个|依次"
)
_NO_TOOLS = (
    r"(?:use|call|make|run|perform|invoke|consult|attempt|us(?:e of|ing)|calling|making)\s+(?:\w+\s+){0,3}?(?:tools?"
    r"|search(?:es|ing)?|web|internet|browser)\b(?! (?:operator|quer|term|syntax|phrase|string|backend))"
    r"|\bsearch(?:ing)?\b(?=\s*(?:[.,;!?)]|$|for\b|the (?:web|net|internet)|any|online|at all|now|or\b|and\b|again))"
    r"|\bbrows(?:e|ing)\b|\btools\b|tool calls|搜索"
    r"|检索|使用.{0,4}工具|工具"
)
_FROM_MEMORY = (
    r"(?:from|using|with) (?:\w+ ){0,3}?(?:memory|knowledge|what you (?:already )?know)|凭.{0,4}(?:记忆|知识)|已有知识"
)
_JSON = r"(?<![a-z.])json(?![a-z]| (?:output )?schema)|\b(?:list|array) of (?:\w+ )?strings\b"
_BARE = (
    r"(?:just|only|nothing but|solely) (?:\w+ ){0,3}?(?:answer|value|name|number|word)\b|answer (?:only|alone)\b"
    r"|answer and nothing else|\b(?:one|single)[- ]word|single (?:number|name|value)|\byes or no\b"
    r"|只(?:需)?(?:回答|给出|输出)(?:答案|是或否)|一个词|是或否"
)
_EXPLAINING = r"\bexplanations?\b|\bexplain\b|\belaborat\w+|\breasoning\b|解释"
_AGED = re.compile(
    r"(?P<old>\bold(?:er|est)?\b|\bearliest\b|最早|最旧)|\b(?:new(?:er|est)?|latest|recent)\b|最新|较新",
    re.IGNORECASE,
)
_DATE_FORM = re.compile(r"\b(?:YYYY|DD|MM|D|M)[-/. ](?:MM|DD|M|D|Month)[-/. ](?:YYYY|DD|D)\b|\bISO(?:[ -]?8601)?\b")


def follow(situation: Situation) -> Orders:
    """The orders that stand in the situation's instructions and, before them, in the task."""
    told = situation.instructions
    if len(told) > 2 * _LONG:
        told = f"{told[:_LONG]}\n{told[-_LONG:]}"
    told = f"{situation.task}\n\n{_DATA.sub(' ', _without_examples(told))}"
    clauses = tuple(clauses_of(told))
    found: dict[str, Any] = {"language": situation.language}
    for clause in clauses:
        for part in (_citing, _calling, _shape, _lengths, _manner, _abstaining):
            found |= part(clause, found)
    found |= _references(told) | ({} if situation.sections else _sections(told, clauses))
    if situation.request.json_schema is not None:
        found["json_only"] = True
    if found.get("most_calls") == 0:
        found["search_first"] = False
    return replace(Orders(), **found)


def _without_examples(told: str) -> str:
    """A prompt without its worked examples and transcripts, each up to a rule or the end."""
    parts = []
    for part in re.split(r"^-{3,}[ \t]*$", told, flags=re.MULTILINE):
        example = _EXAMPLE.search(part)
        worked = example and _WORKED.search(part, example.end())
        parts.append(part[: example.start()] if example and worked else part)
    return "\n".join(parts)


def _citing(clause: Clause, found: dict[str, Any]) -> dict[str, Any]:
    """Whether and how to cite; what must not be invented or which sources are meant says nothing of that."""
    about = re.search(_CITING, clause.text, re.IGNORECASE)
    styles = [(name, clause.wants(pattern)) for name, pattern in _STYLES]
    wanted = next((name for name, wants in styles if wants), None)
    if about and not clause.conditional and clause.negated(about.start()):
        rest = clause.text[about.end() :]
        limited = re.match(
            r"(?:\s+\w+)?\s+(?:that|which|who|you|unless|other|more|from (?!your|the (?:answer|reply|text|report))"
            r"|twice|except|without|to|is|are|has|returned)\b",
            rest,
        )
        made_up = re.search(
            r"invent|make up|making up|fabricat|guess|chang|alter|count|missing|against|hallucinat|repeat",
            clause.text,
            re.I,
        )
        if limited or made_up:
            return {}
        if re.search(
            rf"{_LIST_WORD}\s+(?:section|list)|reference list|list of|bibliograph|works cited|参考文献",
            clause.text,
            re.I,
        ):
            style = found.get("cite", "numbered")
            return {"cite": "link" if style in ("numbered", "footnote") else style, "reference_heading": None}
        unwanted = next((name for name, wants in styles if wants is False), None)
        if unwanted:
            return {"cite": wanted or ("link" if unwanted == "numbered" else found.get("cite", "numbered"))}
        return {"cite": "none", "reference_heading": None}
    if about and wanted:
        return {"cite": wanted}
    if about and re.match(
        r"\W*(?:please |always |you must |must |do not forget to )*(?:cite|include|add|give|list|provide|support)",
        clause.text,
        re.I,
    ):
        return {"cite": "numbered", "reference_heading": "## References"} if found.get("cite") == "none" else {}
    return {}


def _calling(clause: Clause, found: dict[str, Any]) -> dict[str, Any]:
    """How many tool calls, rounds, and calls at once."""
    rounds = _rounds(clause)
    if clause.wants(_FROM_MEMORY) and not clause.conditional:
        return {"most_calls": 0}
    if not re.search(_CALLING, clause.text, re.IGNORECASE) or re.search(_OF_A_PART, clause.text, re.IGNORECASE):
        return rounds
    counted = rounds | _counted(clause)
    at_once = re.search(_PER_REPLY, clause.text, re.IGNORECASE)
    if counted:
        return counted
    if re.search(_IN_TURN, clause.text, re.IGNORECASE) or (at_once and clause.negated(at_once.start())):
        return {"most_at_once": 1}
    return _tools_off(clause)


def _rounds(clause: Clause) -> dict[str, Any]:
    behind = re.search(rf"\brounds?\b.{{0,12}}?at most ({NUMBER})\b(?! times)", clause.text, re.IGNORECASE)
    if behind:
        return {"most_rounds": value_of(behind[1])}
    for limits, _ in amounts(clause, r"(?:rounds?|iterations?|loops?|cycles?)\b|轮"):
        if limits[0] != limits[1] or LIMITING.search(clause.text):
            return {"most_rounds": limits[1]}
    return {}


def _counted(clause: Clause) -> dict[str, Any]:
    """The numbers of calls that a clause names; "one search" without a word of limiting is no number of calls."""
    orders: dict[str, Any] = {}
    at_once = re.search(_PER_REPLY, clause.text, re.IGNORECASE)
    for (least, most), _ in amounts(clause, _CALLS):
        if least == most and not LIMITING.search(clause.text):
            continue
        exact = least == most and not re.search(r"exactly|precisely|恰好|正好", clause.text, re.IGNORECASE)
        if most is not None:
            orders["most_at_once" if at_once else "most_calls"] = most
        if least is not None and not exact and not at_once:
            orders["least_calls"] = least
    return orders


def _tools_off(clause: Clause) -> dict[str, Any]:
    match = re.search(_NO_TOOLS, clause.text, re.IGNORECASE)
    restricted = (
        r"other than|except|besides|same|twice|repeat|yourself|unless|until|more than|before|first|\bonly\b"
        r"|\bno tool\b \w+ed"
    )
    if re.search(restricted, clause.text, re.IGNORECASE) or CONDITION.search(
        clause.text[: match.start()] if match else ""
    ):
        return {}
    off = (
        r"(?:search\w*|tools?|browsing)\b.{0,12} (?:is|are) (?:not (?:allow|avail|permit|need|necess)|unavail"
        r"|forbid|disab|off\b)"
    )
    refused = bool(match and clause.negated(match.start())) or re.search(off, clause.text, re.IGNORECASE)
    return {"most_calls": 0} if refused else {}


def _shape(clause: Clause, found: dict[str, Any]) -> dict[str, Any]:
    """JSON, only the answer, a table, bullets."""
    orders: dict[str, Any] = {}
    replying = re.search(
        r"\b(?:repl|answer|respon[ds]|return|output|produc|give|format|only|just|as|in)\w*|回答|回复|输出|返回|作答|只",
        clause.text,
        re.I,
    )
    if replying and (json := clause.wants(_JSON)) is not None:
        orders["json_only"] = json
    if (bare := clause.wants(_BARE)) is not None and not clause.conditional:
        orders["bare"] = bare
        either = re.search(r"yes or no|是或否", clause.text, re.IGNORECASE)
        if bare and either:
            orders["choices"] = ("是", "否") if either.group() == "是或否" else ("yes", "no")
    elif clause.wants(_EXPLAINING) is False and not clause.conditional:
        orders["bare"] = True
    if (table := clause.wants(r"\btables?\b|\btabular\b|表格")) is not None and not clause.conditional:
        orders["table"] = table
    if (listed := clause.wants(r"\bbullet(?:s|ed)?\b|要点列表|项目符号|列表")) is not None:
        orders["bullets"] = (
            next((limits for limits, _ in amounts(clause, "bullets?|要点")), (None, None)) if listed else None
        )
    return orders


def _lengths(clause: Clause, found: dict[str, Any]) -> dict[str, Any]:
    """Sentences, words, characters and sections of the whole reply; what each part of it has is not meant."""
    units = {"sentences": r"sentences?\b|句", "words": r"words?\b", "characters": r"characters?\b|个?(?:汉)?字(?!段)",
             "section_count": r"sections?\b|chapters?\b|章节?|小节|个?部分"}  # fmt: skip
    if re.search(r"\b(?:each|every|per|for every)\b (?!statement)|每", clause.text, re.IGNORECASE):
        return {}
    orders: dict[str, Any] = {}
    for name, unit in units.items():
        for limits, at in amounts(clause, unit):
            if not re.search(r"\b(?:the first|first|one of the) \w*$|第$", clause.text[:at]):
                orders[name] = limits
                break
    return orders


def _manner(clause: Clause, found: dict[str, Any]) -> dict[str, Any]:
    """Language, dates, premise, which evidence wins."""
    orders: dict[str, Any] = {}
    saying = r"\b(?:in|into|use|using)\s+(?:\w+ )?"
    for language, pattern in (
        ("en", rf"{saying}english\b|[用以]英[文语]"),
        ("zh", rf"{saying}(?:chinese|mandarin)\b|[用以](?:简体)?(?:中文|汉语)"),
    ):
        wants = clause.wants(pattern)
        if wants is not None and not clause.conditional:
            orders["language"] = language if wants else ("zh" if language == "en" else "en")
    form = _DATE_FORM.search(" ".join([clause.text, *clause.quotes]))
    if form and clause.wants(r"\bdates?\b|日期"):
        orders["date_form"] = "YYYY-MM-DD" if form.group().startswith("ISO") else form.group()
    premise = r"takes? for granted|\bpremises?\b|presuppos\w+|\bassum(?:es|ptions?)\b|前提"
    checking = (
        r"check|verif|\bquestion (?:the|its|any)\b|challenge|validat|test|correct|point out|examin|make sure"
        r"|检查|核实|确认|质疑|核对"
    )
    if re.search(checking, clause.text, re.IGNORECASE) and (wants := clause.wants(premise)) is not None:
        orders["premise_check"] = wants
    if re.search(
        r"(?:ignor\w*|disregard\w*|regardless of|忽略)(?: \w+){0,2}? ?(?:dates?|recency|日期)",
        clause.text,
        re.IGNORECASE,
    ):
        orders["newest"] = False
    if re.search(r"prefer|favou?r|priorit|trust|优先|采用", clause.text, re.IGNORECASE):
        wanted = re.split(r"\bover\b|\brather than\b|\binstead of\b|\bunless\b|而非", clause.text)[0]
        aged = _AGED.search(wanted)
        if aged:
            orders["newest"] = bool(aged["old"]) == clause.negated(aged.start())
    return orders


def _abstaining(clause: Clause, found: dict[str, Any]) -> dict[str, Any]:
    """The words for missing evidence, or that there must be none."""
    missing = (
        r"suffic|enough|short|cannot|can[’']?t|unable|missing|not? (?:\w+ ){0,3}?(?:find|found|know|contain"
        r"|evidence|answer|say|result|support)|n[’']t|unknown|unsure|nothing|lack|无法|不足|没有|找不到|不知道|不确定"
    )
    saying = re.search(
        r"\b(?:say|reply|answer|respond|write|state|output|return)\b|回答|回复|说|输出", clause.text, re.IGNORECASE
    )
    gives_up = [quote for quote in clause.quotes if re.search(missing, quote, re.IGNORECASE)]
    if saying and clause.negated(saying.start()) and not clause.conditional:
        unknowing = r"(?:you |that you )?(?:do not|don[’']t|cannot) know|unknown|不知道"
        return (
            {"must_answer": True, "abstain": None}
            if gives_up or re.search(unknowing, clause.text[saying.end() :], re.I)
            else {}
        )
    if re.search(
        r"always (?:give|provide) (?:an?|your|some) (?:best )?(?:answer|guess)|always answer|your best guess"
        r"|必须(?:给出|回答)",
        clause.text,
        re.I,
    ) and not clause.negated(0):
        return {"must_answer": True}
    where = re.search(
        r"^should\b|\bif\b|\bwhen\b|\bwhere\b|\bin case\b|\botherwise\b|如果|若|否则", clause.text, re.IGNORECASE
    )
    lacking = gives_up or (where and re.search(missing, clause.text[where.start() :], re.IGNORECASE))
    if saying and where and lacking and clause.quotes and not clause.negated(saying.start()):
        return {"abstain": (gives_up or clause.quotes)[-1]}
    return {}


def _references(told: str) -> dict[str, Any]:
    """The heading of the reference list, and the form of its lines, by the prompt's own example."""
    orders: dict[str, Any] = {}
    heading = rf"(?P<mark>#{{1,4}} |\*\*)(?P<name>{_LIST_WORD})(?P<end>:?(?:\*\*)?:?)"
    named = (
        rf"(?:section|heading|list|header)\s+(?:titled|called|named|headed"
        rf"|entitled)\s+[\"“`'](?P<name>[^\"”`'\n]+)[\"”`']|[\"“`'](?P<other>{_LIST_WORD}:?)[\"”`']\s+(?:section"
        rf"|heading|list)|(?:under|heading|titled|called) [\"“`'](?P<third>{_LIST_WORD}:?)[\"”`']"
    )
    for match in re.finditer(named, told, re.IGNORECASE):
        name = next(g for g in match.groups() if g)
        if re.search(_LIST_WORD, name, re.IGNORECASE):
            orders["reference_heading"] = name if name.startswith(("#", "*")) else f"## {name}"
    for match in re.finditer(heading, told, re.IGNORECASE):
        following = told[match.end() :].lstrip("`\"' \n").split("\n", 1)[0]
        if (
            f"\n{told[: match.start()]}".rstrip(" `\"'").endswith("\n")
            and told[match.end() : match.end() + 1] == "\n"
            and not _entry(following)
        ):
            continue  # a heading of the prompt itself
        orders["reference_heading"] = match.group().strip()
    lines = [*re.findall(r"`([^`\n]+)`", told), *(line for line in told.splitlines() if len(line) < 100)]
    entries = [form for line in lines if (form := _entry(line))]
    return orders | ({"reference_form": entries[-1]} if entries else {})


def _entry(line: str) -> str | None:
    """The form of a reference list's line that is an example of one: `[1] Title - URL`."""
    match = re.fullmatch(
        r"\s*(?P<n>\[\^?(?:\d+|n)\]:?|\d+[.)]|[-*])\s*(?P<before>\W*)(?P<a>[\w ]*(?:title|name|标题)|url|link"
        r"|https?://\S+?)(?P<between>\W{1,5}?)"
        r"(?P<b>[\w ]*(?:title|name|标题)|url|link|网址|链接|https?://[^\s)>]+)(?P<after>\W*)",
        line.strip().rstrip(".,"), re.IGNORECASE,
    )  # fmt: skip
    if match is None or ("{title}" in (a := _placeholder(match["a"]))) == (
        "{title}" in (b := _placeholder(match["b"]))
    ):
        return None
    number = re.sub(r"\d+|(?<=\[)n(?=\])|(?<=\^)n", "{n}", match["n"])
    return f"{number} {match['before']}{a}{match['between']}{b}{match['after']}"


def _placeholder(said: str) -> str:
    return "{title}" if re.search(r"title|name|标题", said, re.IGNORECASE) else "{url}"


def _sections(told: str, clauses: Iterable[Clause]) -> dict[str, Any]:
    """The headings that the prompt asks for: quoted, listed after a colon, or in lines."""
    word = r"\b(?:sections?|headings?|chapters?|parts)\b|章节|小节|部分|标题"
    for clause in clauses:
        names = [q.lstrip("# ") for q in clause.quotes if q.strip("# ") and not re.search(_LIST_WORD, q, re.IGNORECASE)]
        if len(names) > 1 and clause.wants(word):
            return {"sections": tuple(names)}
    listed = (
        rf"(?:{word}|\bstructure"
        rf"|\boutline)[^\n.:：]{{0,40}}[:：][ \t]*(?P<line>[^\n]*)(?P<items>(?:\n[ \t]*(?:[-*•]|\d+[.)、])[ \t]+.+)*)"
    )
    for match in re.finditer(listed, told, re.IGNORECASE):
        items = re.findall(r"^[ \t]*(?:[-*•]|\d+[.)、])[ \t]+(.+)$", match["items"], re.MULTILINE)
        separator = r"\s*[;；]\s*" if re.search("[;；]", match["line"]) else r"\s*(?:[,，、]|\band\b|和)\s*"
        items = items or re.split(separator, match["line"].rstrip(".。"))
        names = [item.strip(" \"'“”`*#") for item in items if item.strip()]
        if len(names) > 1 and all(len(name.split()) <= 8 and not name.endswith((".", "。")) for name in names):
            return {"sections": tuple(names)}
    return {}
