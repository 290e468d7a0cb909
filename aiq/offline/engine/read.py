"""Reading a request: what is asked, which material it brings, what was done so far, and what stays instruction.

Nothing here knows a role, a prompt or a tool of ours: material is found by its form (tags, JSON, Markdown, HTML, plain
text), the task by where it stands and how it is spoken.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from aiq.offline.chat import ChatRequest
from aiq.offline.engine import dialect, material, transcript
from aiq.offline.engine.source import URL, Source, day_of, is_prose
from aiq.offline.engine.text import is_chinese, sentences, words
from aiq.offline.engine.transcript import Step
from aiq.offline.engine.written import findings, is_result

__all__ = ["Block", "Language", "Situation", "Source", "Step", "ends", "read"]

Language = Literal["en", "zh"]


@dataclass(frozen=True)
class Block:
    """A part of the prompt: `<label>text</label>`, a fenced or headed part; own words have no label.

    `message` is its message's index.
    """

    label: str
    text: str
    message: int

    @property
    def kind(self) -> str:
        return _kind(self.label)


@dataclass(frozen=True)
class Situation:
    """A request as understood.

    `instructions`: what the prompt says to do, its material taken out (the messages' texts, blank line between).
    `task`: what the person wants, word for word. `history`: the earlier turns of the conversation, (role, text) each.
    `sources`: all evidence, in order of arrival, of one key the longest text. `now`: the date that the prompt states.
    `queries`, `sections`: what a dispatch or a plan lists under such names, in order.
    """

    request: ChatRequest
    task: str
    instructions: str
    history: tuple[tuple[str, str], ...] = ()
    blocks: tuple[Block, ...] = ()
    sources: tuple[Source, ...] = ()
    steps: tuple[Step, ...] = ()
    now: date | None = None
    language: Language = "en"
    queries: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()


_TASK_WORD = r"(?:question|task|query|topic|request|problem|brief|goal|objective|subject|inquiry)"
_TASK = (
    rf"(?:(?:the|an?|my|our|user'?s?|research|original|main|new|current|latest|input|following|overall|actual|last"
    rf"|message"
    rf"|final)[ _-])*{_TASK_WORD}|(?:研究|用户|的|当前)*(?:问题|任务|主题|课题|查询|请求|提问)"
)
_KINDS = {
    "told": re.compile(
        r"(?<![a-z])(?:instruct|rule|guid|format|output|example|schema|tool|role|persona|system|important|constraint"
        r"|require|limit|think|reason|tip|style|policy|workflow|process|steps?$)|说明|规则|要求|格式|示例",
        re.IGNORECASE,
    ),
    "task": re.compile(rf"^(?:{_TASK})$", re.IGNORECASE),
    "talk": re.compile(
        r"dialogue|conversation|history|messages|chat|feedback|plan|clarif|preference|user|criteri|asked|statements"
        r"|accepted"
        r"|reference.?list|memory|对话|历史",
        re.IGNORECASE,
    ),
    "material": re.compile(
        r"(?:document|page|context|source|result|finding|information|info|material|content|article|passage|excerpt"
        r"|text|data"
        r"|knowledge|report|answer|response|observation|evidence|snippet|note|webpage|资料|材料|上下文|文档|结果|内容|信息|原文)s?",
        re.IGNORECASE,
    ),
}
"""Kinds of marked parts by their labels, the first that fits."""

_TO_MODEL = re.compile(
    r"\s*(?:you are|your (?:job|task|role|goal)|you (?:will|must|should|were|have)|these are|the user's \w+"
    r"|given)\b",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    rf"(?:^|(?<=[.!?。]\s))[ \t]*(?:#+ *|\*\*)?(?P<label>(?:[A-Za-z', ]{{0,120}}\b)?{_TASK})\**(?: is| was|是)?"
    r"[ \t]*(?:[:：]\**|--|\n)\s*(?P<text>\S.*)",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED = re.compile(
    rf"(?:{_TASK_WORD}|问题|任务|主题|关于)\W{{0,4}}(?:is|was|below)?\W{{0,4}}?(?:\"{{3}}"
    rf"|[\"“「])(?P<text>[^\"”」]{{4,2000}})[\"”」]",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"\W*(?:the|your|an?) (?:\w+ ){0,3}(?:question|task|query|topic|request)s?\b|\W*[{\[<.]|\W*$", re.IGNORECASE
)
_PASTED = (
    r"[ \t]*(?:#+ *|\*\*)?(?P<label>(?!(?:source|content|text|summary|page|snippet|passage)\W*[:：]|(?:when|for|if|to"
    r"|in|with) )(?:[a-z][a-z'-]* ){0,7}"
    r"(?:document|page|context|source|result|finding|information|info|material|content|article|passage|excerpt|text"
    r"|data"
    r"|knowledge|report|observation|evidence|snippet|note|webpage|资料|材料|上下文|文档|结果|内容|信息|原文)s?)"
    r"\**[ \t]*(?:[:：]\**(?!\**[ \t]*\S+://)[ \t]*\n?|(?<=\*\*)\n|(?<!.)\n)"
)
"""A line that announces pasted material; "Source: ..." and the like are fields of a result."""
_FENCE = re.compile(r"(?P<mark>```|~~~|\"\"\"|''')\w*[ \t]*\n?(?P<text>.*?)(?P=mark)", re.DOTALL)
_FORM = re.compile(r"format|schema|example|e\.g\.|form\b|like this|such as|json|格式|示例|例如|如下形式", re.IGNORECASE)
_RESUMES = re.compile(
    r"\W*(?:using|based on|given|now|please|answer|write|construct|create|summari[sz]e|according to|from the|with the"
    r"|use"
    r"|根据|请|基于)\b|\s*(?:---|===|#)(?!.*://)"
    rf"|\W*(?:{_TASK}|(?:\w+ ){{0,3}}"
    r"(?:instructions?|rules?|guidelines|format|requirements?|examples?|tools|说明|规则|要求"
    rf"|格式))\W?[:：]",
    re.IGNORECASE,
)
_TURN = re.compile(r"^[^\w\n]{0,8}(user|human|assistant|ai|用户|助手)\W*[:：]\s*", re.IGNORECASE | re.MULTILINE)
_ITEM = r"[ \t]*(?:[-*•]|\d+[.)、])[ \t]+"
_LISTED = re.compile(
    r"^[ \t]*(?:#+ *|\*\*)?(?P<label>[^\n:：•*-]{0,40}?(?:queries|questions|searches|sections|outline|headings|chapters"
    r"|subtopics|检索词|查询|子问题|章节|大纲|提纲))"
    r"\**[ \t]*[:：]\**[ \t]*(?P<line>.*)(?P<items>(?:\n" + _ITEM + ".+)*)",
    re.IGNORECASE | re.MULTILINE,
)
_SECTIONS = re.compile(r"section|outline|heading|chapter|topic|章节|大纲|提纲", re.IGNORECASE)
_NOW = re.compile(
    r"(?:current (?:date|day|time)|today(?:'s date)?|the date|date today|(?:it|now) is|as of|^[^\w\n]{0,8}date|now\b"
    r"|今天|今日|当前(?:日期|时间)|现在|日期)[^\n.。]{0,30}?(?!.{0,200}[?？])"
    r"(?P<day>(?:\d{4}\D|\d{1,2}\s|[A-Z][a-z]{2,8}\.? \d).{0,36})",
    re.IGNORECASE | re.MULTILINE,
)
_REPLY_FORM = re.compile(
    r"(?:(?<=[.!?。？！\n])\s*(?:please |then |now |and |请)*(?:answer|reply|respond|return|output|give your|write your"
    r"|cite|use|keep"
    r"|do not|don't|never|always|be |format|include|provide your|your (?:answer|reply|response|output)"
    r"|the (?:answer|reply|response|output)|回答|回复|输出|返回|只|不要|用|以)"
    r"(?:[^.!?。！？\n]|\.(?=\S))*[.!。！]*\s*)+$",
    re.IGNORECASE,
)
"""Sentences at the end that only say how to reply."""

_DATED = re.compile(r"^[^\n]*(?:current date|today(?:'s date)? is|今天是)[^\n]*\n?", re.IGNORECASE | re.MULTILINE)
_URGING_WORDS = """
    answer final continue give write report json tool tools use using result results above step steps search searches
    ready ok okay thanks thank begin start proceed go ahead next carry task question query reply respond response return
    output format valid based information found previous provide complete finish done call called observation try again
    make plan yes good great research findings enough user need want keep work follow following instruction once more
    instructions error parse well help remember don't you've you'll let's without further conversation text
"""
_URGING = frozenset(_URGING_WORDS.split())
"""Words of one who urges on; a message of nothing else asks for nothing new."""


_LONG = 30_000
"""Characters at the start and at the end of a message that may ask and instruct; what lies between is pasted text."""


def read(request: ChatRequest) -> Situation:
    """The request understood. Never fails: what cannot be understood stays text."""
    steps, left = transcript.steps(request)
    parts = [
        part
        for number, message in enumerate(request.messages)
        if message.role not in ("assistant", "tool", "function")
        for part in _parts(number, message.role, left.get(number, message.text))
    ]
    told = [part for part in parts if not part.label]
    blocks = [part for part in parts if part.label]
    turns = [turn for block in blocks if block.kind == "talk" for turn in _turns(block.text)]
    at, task = _task(request, parts)
    task = task or next((text for role, text in reversed(turns) if role == "user"), "")
    for number, message in enumerate(request.messages[: max(at, 0)]):
        said = message.text if message.role == "assistant" else _told(parts, number)
        if message.role in ("user", "assistant") and said.strip() and not dialect.calls(message.text):
            turns.append((message.role, said))
    results = [step.result or "" for step in steps]
    plans = chain(
        (p.text for p in told if request.messages[p.message].role == "user"), (b.text for b in blocks), results
    )
    listed = list(chain.from_iterable(map(_listed, plans)))
    instructions = "\n\n".join(part.text for part in told)
    return Situation(
        request=request,
        task=task,
        instructions=instructions,
        history=tuple(turns),
        blocks=tuple(blocks),
        sources=tuple(_merged(_sources(request, blocks, steps, at))),
        steps=tuple(steps),
        now=_now(instructions),
        language="zh" if is_chinese(task) else "en",
        queries=tuple(dict.fromkeys(name for label, name in listed if not _SECTIONS.search(label))),
        sections=tuple(dict.fromkeys(name for label, name in listed if _SECTIONS.search(label))),
    )


def ends(told: str) -> str:
    """A prompt's text without the middle of what is too long to be one."""
    return told if len(told) <= 2 * _LONG else f"{told[:_LONG]}\n\n{told[-_LONG:]}"


def _kind(label: str) -> str:
    label = label.replace("_", " ").strip()
    return next((kind for kind, pattern in _KINDS.items() if pattern.search(label)), "")


def _now(told: str) -> date | None:
    """The date that a prompt states for today."""
    return next(filter(None, (day_of(match["day"], exact=True) for match in _NOW.finditer(ends(told)))), None)


def _told(parts: Sequence[Block], message: int) -> str:
    """The own words of a message."""
    return "\n\n".join(part.text for part in parts if part.message == message and not part.label)


# the parts of a message


def _parts(number: int, role: str, text: str) -> Iterator[Block]:
    """A message's material and own words, in order; in a system prompt only what is plainly marked is material."""
    text = _FENCE.sub(_as_element, text) if role == "user" else text
    own, at = "", 0
    for element in material.elements(text):
        kind = _kind(element.label)
        meant = kind != "told" and (kind or role == "user") and not (kind == "task" and _TO_MODEL.match(element.text))
        if meant and len(element.text) > 3:  # "between <a> and </a>" names tags
            own, at = own + text[at : element.start], element.end
            yield Block(element.label, element.text.strip(), number)
    own += text[at:]
    for label, said in _pieces(own) if role == "user" else [("", own)]:
        said = said.strip('" \n') if label else said.strip()
        if said:
            yield Block(label, said, number)


def _as_element(match: re.Match[str]) -> str:
    """A fenced part as an element, by the line before it; an example of a form stays as it is."""
    before = match.string[max(0, match.start() - 200) : match.start()].rstrip().rsplit("\n", 1)[-1]
    label = "task" if re.search(_TASK_WORD, before[-40:], re.IGNORECASE) else "material"
    return match[0] if _FORM.search(before) else f"<{label}>\n{match['text']}\n</{label}>"


def _pieces(text: str) -> list[tuple[str, str]]:
    """A user's text in pieces, (label, text) each: what is pasted under a label, results, own words (no label)."""
    pieces = [("", "")]
    paragraphs = re.split(rf"\n\s*\n|\n(?=[-=]{{3,}}[ \t]*\n|{_PASTED})", text, flags=re.IGNORECASE)[::2]
    for number, paragraph in enumerate(paragraphs):
        label, said = pieces[-1]
        head = re.match(_PASTED, paragraph + "\n", re.IGNORECASE)
        asks = number == len(paragraphs) - 1 and re.fullmatch(r"[^\n]*[?？]\s*", paragraph)
        if head and _kind(head["label"]) == "material":
            pieces.append((head["label"], paragraph[head.end() :]))
        elif label not in ("", "result") and not asks and not _RESUMES.match(paragraph):
            pieces[-1] = label, f"{said}\n\n{paragraph}"
        else:
            keyed = paragraph[:1] in ("[", "{") and any(s.key for s in material.sources(paragraph))
            pieces.append(("result" if keyed or is_result(paragraph) else "", paragraph))
    return pieces


# what is asked


def _task(request: ChatRequest, parts: Sequence[Block]) -> tuple[int, str]:
    """What is wanted, and the index of the message that says so (-1: none): the last user's word, else the system's.

    What follows a tool's result is a harness's word: it counts only where nobody else has spoken.
    """
    amid = {n + 1 for n, message in enumerate(request.messages) if message.role in ("tool", "function")}
    spoken = {part.message: request.messages[part.message].role != "user" for part in parts}
    numbers = [number for number in spoken if number not in amid] or spoken
    for number in sorted(numbers, key=lambda number: (spoken[number], -number)):
        tagged = [part.text for part in parts if part.message == number and part.kind == "task"]
        if task := tagged[-1] if tagged else _asked(_told(parts, number), person=not spoken[number]):
            return number, task
    return -1, ""


def _asked(told: str, *, person: bool) -> str:
    """The task of a message that does not tag it; empty where it only urges on or speaks of a conversation."""
    told = _DATED.sub("", ends(told))
    named = [m for m in _LABELLED.finditer(told) if _kind(m["label"]) != "told" and not _PLACEHOLDER.match(m["text"])]
    plain = [m for m in named if _kind(m["label"]) == "task"]
    if said := [*_QUOTED.finditer(told)] or plain or named:
        return said[-1]["text"].strip(' *"“”')
    if not re.search("[?？]", told) and _URGING.issuperset(words(told)):
        return ""
    person = person and not _TO_MODEL.match(told)
    if person and len(told) < 1200 and not re.search(r"^#|^\W{0,8}(?:rules|format)\W{0,8}$", told, re.I | re.M):
        return _REPLY_FORM.sub("", told).strip()
    asked = [s for s in sentences(told) if re.search(r"[?？]\W*$", s) and not re.match(r"[-*•]|\d+[.)]", s)]
    return asked[-1] if asked else _REPLY_FORM.sub("", told.split("\n\n")[0]).strip() if person else ""


def _turns(text: str) -> list[tuple[str, str]]:
    """A conversation told as text: (role, text) each."""
    pieces = _TURN.split(text)
    roles = ["user" if role.lower() in ("user", "human", "用户") else "assistant" for role in pieces[1::2]]
    return list(zip(roles, map(str.strip, pieces[2::2]), strict=True))


# evidence, and what is listed to be looked up


def _sources(request: ChatRequest, blocks: Sequence[Block], steps: Sequence[Step], at: int) -> Iterator[Source]:
    """The evidence of the prompt's material, of earlier answers and of the steps' results; `at`: the task's message."""
    for block in blocks:
        if block.kind not in ("talk", "task"):
            yield from (source for source in material.sources(block.text) if source.key or is_prose(source.text))
    for message in request.messages[: max(at, 0)]:
        if message.role == "assistant":
            yield from findings(message.text)
    for step in steps:
        if step.brings_sources:
            address = next((v for v in step.arguments.values() if isinstance(v, str) and URL.fullmatch(v)), "")
            yield from material.sources(step.result or "", key=address)


def _merged(found: Iterable[Source]) -> list[Source]:
    """One source a key: what the first says, and what only the others say after it."""
    by_key: dict[str, Source] = {}
    for source in found:
        name = source.key or source.text
        known = by_key.get(name, source)
        text = known.text if source.text in known.text else source.text
        if known.text not in text:
            text = "\n".join(dict.fromkeys([*sentences(known.text), *sentences(text)]))
        by_key[name] = replace(known, text=text, title=known.title or source.title, day=known.day or source.day)
    return list(by_key.values())


def _listed(text: str) -> Iterator[tuple[str, str]]:
    """What labelled lists and plans name, each with its list's label."""
    for match in _LISTED.finditer(text[:50_000]):
        items = re.findall(rf"^{_ITEM}(.+)$", match["items"], re.MULTILINE) or re.split("[;；]", match["line"])
        yield from ((match["label"], item.strip()) for item in items if item.strip())
    for value in material.parsed(text) or ():
        for label, rows in material.plan_lists(value).items():
            first = (next(iter(row.values()), "") if isinstance(row, dict) else row for row in rows)
            yield from ((label, str(name)) for name in first if name)
