"""Reading a request: what is asked, which material it brings, what was done so far, and what stays instruction.

Nothing here knows a role, a prompt or a tool of ours: material is found by its form (tags, JSON, Markdown, HTML, plain
text), the task by where it stands and how it is spoken.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Literal

from aiq.offline.chat import ChatMessage, ChatRequest
from aiq.offline.engine import material, transcript
from aiq.offline.engine.source import Source, day_of, first_url, is_prose
from aiq.offline.engine.text import is_chinese, sentences, words
from aiq.offline.engine.transcript import Step
from aiq.offline.engine.written import findings, is_field

__all__ = ["Block", "Language", "Situation", "Source", "Step", "read"]

Language = Literal["en", "zh"]


@dataclass(frozen=True)
class Block:
    """Marked material of the prompt: `<label>text</label>`, a fenced or headed part. `message`: its message's index."""

    label: str
    text: str
    message: int


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
    notes: tuple[str, ...] = field(default=())  # what was written down by a note-taking tool
    queries: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Part:
    """A message of the prompt, taken apart: `told` is its text without material."""

    message: int
    role: str
    told: str
    blocks: tuple[Block, ...]


_TASK_WORD = r"(?:question|task|query|topic|request|problem|brief|goal|objective|subject|inquiry)"
_TASK = re.compile(
    rf"(?:(?:the|an?|my|our|user'?s?|research|original|main|new|current|latest|input|following|overall|actual|last"
    rf"|message|final)[ _-])*{_TASK_WORD}|(?:研究|用户|的|当前)*(?:问题|任务|主题|课题|查询|请求|提问)",
    re.IGNORECASE,
)
_MATERIAL = re.compile(
    r"(?:document|page|context|source|result|finding|information|info|material|content|article|passage|excerpt|text"
    r"|data"
    r"|knowledge|report|answer|response|observation|evidence|snippet|note|webpage|资料|材料|上下文|文档|结果|内容|信息|原文)s?",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"dialogue|conversation|history|messages|chat|feedback|plan|clarif|preference|user|criteri|asked|statements"
    r"|accepted"
    r"|reference.?list|memory|对话|历史",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"(?<![a-z])(?:instruct|rule|guid|format|output|example|schema|tool|role|persona|system|important|constraint"
    r"|require|limit"
    r"|think|reason|tip|style|policy|workflow|process|steps?$)|说明|规则|要求|格式|示例",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    rf"(?:^|(?<=[.!?。]\s))[ \t]*(?:#+ *|\*\*)?(?P<label>(?:[A-Za-z', ]{{0,120}}\b)?{_TASK_WORD}|(?:研究|用户|的|当前)*"
    r"(?:问题|任务|主题|课题|查询|请求|提问))\**(?: is| was|是)?[ \t]*(?:[:：]\**|--|\n)\s*(?P<text>\S.*)",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED = re.compile(
    rf"(?:{_TASK_WORD}|问题|任务|主题|关于)\W{{0,4}}(?:is|was|below)?\W{{0,4}}?(?:\"{{3}}"
    rf"|[\"“「])(?P<text>[^\"”」]{{4,2000}})[\"”」]",
    re.I,
)
_PART_LABEL = re.compile(
    r"^[ \t]*(?:#+ *|\*\*)?(?P<label>[^\n:：.]{0,70}?)\**[ \t]*(?:[:：]\**[ \t]*|(?<=\*\*)\n|(?<!.)\n)", re.MULTILINE
)
_FENCE = re.compile(r"(?P<mark>```|~~~|\"\"\"|''')(?P<language>\w*)[ \t]*\n?(?P<text>.*?)(?P=mark)", re.DOTALL)
_FORM = re.compile(r"format|schema|example|e\.g\.|form\b|like this|such as|json|格式|示例|例如|如下形式", re.IGNORECASE)
_TURN = re.compile(r"^[^\w\n]{0,8}(user|human|assistant|ai|用户|助手)\W*[:：]\s*", re.IGNORECASE | re.MULTILINE)
_LISTED = re.compile(
    r"^[ \t]*(?:#+ *|\*\*)?(?P<label>[^\n:：•*-]{0,40}?(?:queries|questions|searches|sections|outline|headings|chapters"
    r"|subtopics|检索词|查询|子问题|章节|大纲|提纲))\**[ \t]*[:：]\**[ \t]*(?P<line>.*)"
    r"(?P<items>(?:\n[ \t]*(?:[-*•]|\d+[.)、])[ \t]+.+)*)",
    re.IGNORECASE | re.MULTILINE,
)
_SECTIONS = re.compile(r"section|outline|heading|chapter|topic|章节|大纲|提纲", re.IGNORECASE)
_NOW = re.compile(
    r"(?:current (?:date|day|time)|today(?:'s date)?|the date|date today|(?:it|now) is|as of|^[^\w\n]{0,8}date|now\b"
    r"|今天|今日|当前(?:日期|时间)|现在|日期)[^\n.。]{0,30}?(?P<day>\d{4}\D|\d{1,2}\s|[A-Z][a-z]{2,8}\.? \d)",
    re.IGNORECASE | re.MULTILINE,
)
_REPLY_FORM = re.compile(
    r"(?:please |then |now |and |请)*(?:answer|reply|respond|return|output|give your|write your|cite|use|keep|do not"
    r"|don't|never"
    r"|always|be |format|include|provide your|your (?:answer|reply|response|output)|the (?:answer|reply|response"
    r"|output)|回答|回复"
    r"|输出|返回|只|不要|用|以)",
    re.IGNORECASE,
)
_META_WORDS = """
    answer final continue give write report json tool tools use using result results above step steps search searches
    ready ok okay thanks thank begin start proceed go ahead next carry task question query reply respond response return
    output format valid based information found previous provide complete finish done call called observation try again
    make plan yes good great research findings enough user need want keep work follow following instruction once more
    instructions error parse well help remember don't you've you'll let's without further conversation text
"""
_META = frozenset(_META_WORDS.split())
"""Words of one who urges on; a message of nothing else asks for nothing new."""


def read(request: ChatRequest) -> Situation:
    """The request understood. Never fails: what cannot be understood stays text."""
    steps, heard = transcript.steps(request)
    parts = [_part(number, m, heard.get(number, m.text)) for number, m in enumerate(request.messages)
             if m.role not in ("assistant", "tool", "function")]  # fmt: skip
    blocks = tuple(block for part in parts for block in part.blocks)
    at, task = _task([p for p in parts if not _is_remark(request, p.message)] or parts)
    said = [b for b in blocks if _TALK.search(b.label)]
    history = [turn for block in said for turn in _turns(block.text)]
    if not task and history:
        task = next((text for role, text in reversed(history) if role == "user"), "")
    earlier = enumerate(request.messages[: max(at, 0)])
    told = {part.message: part for part in parts}
    history += [
        (m.role, told[n].told if n in told else m.text)
        for n, m in earlier
        if m.role in ("user", "assistant") and m.text.strip() and not transcript.is_working(m.text)
    ]
    notes, results = _notes(request, steps)
    listed = _listed(
        [*(p.told for p in parts if p.role == "user"), *(b.text for b in blocks), *(s.result or "" for s in steps)]
    )
    return Situation(
        request=request,
        task=task,
        instructions="\n\n".join(part.told for part in parts if part.told.strip()),
        history=tuple(history),
        blocks=blocks,
        sources=tuple(_merged([*_found(blocks), *_answered(request.messages[: max(at, 0)]), *_returned(results)])),
        steps=tuple(steps),
        now=_now(parts),
        language="zh" if is_chinese(task) else "en",
        notes=notes,
        queries=listed[0],
        sections=listed[1],
    )


def _part(number: int, message: ChatMessage, text: str) -> _Part:
    """A message without its material; in a system prompt only what is plainly marked as material is."""
    user = message.role == "user"
    blocks, told, at = [], [], 0
    for element in material.elements(text):
        label = element.label.replace("_", " ")
        known = _TASK.fullmatch(label) or _MATERIAL.search(label) or _TALK.search(label)
        data = bool(known or user) and not (_TOLD.search(label) or _speaks_to_model(element.text, label))
        if data and element.text.strip() not in ("", "and", "or", "...", "…"):  # "between <a> and </a>" names tags
            blocks.append(Block(element.label, element.text, number))
            told.append(text[at : element.start])
            at = element.end
    rest = "".join([*told, text[at:]])
    if user:
        rest, more = _pasted(rest, number)
        blocks += more
    return _Part(number, message.role, rest.strip(), tuple(blocks))


def _speaks_to_model(text: str, label: str) -> bool:
    """Whether a part labelled as a task tells the model its job instead."""
    job = re.match(
        r"\s*(?:you are|your (?:job|task|role|goal)|you (?:will|must|should)|the user's \w+)\b", text, re.IGNORECASE
    )
    return bool(_TASK.fullmatch(label) and job)


def _pasted(text: str, number: int) -> tuple[str, list[Block]]:
    """A user's text without its material: fenced, under a label such as "Context:", or a result with its address."""
    blocks: list[Block] = []

    def fenced(match: re.Match[str]) -> str:
        before = text[max(0, match.start() - 200) : match.start()].rstrip().rsplit("\n", 1)[-1]
        content = match["text"].strip()
        if _TASK.search(before[-40:]) and not _FORM.search(before) and len(before) < 120:
            blocks.append(Block("task", content, number))
        elif not _FORM.search(before) and (is_prose(content) or any(s.key for s in material.sources(content))):
            blocks.append(Block(before.strip(" :：#*")[-60:] or "fence", content, number))
        else:
            return match.group()
        return "\n\n"

    text = _FENCE.sub(fenced, text)
    kept: list[str] = []
    label = ""
    gathered: list[str] = []
    text = re.sub(r"\n(?=([^\n:：]{1,60})[:：].)", _apart, text)
    paragraphs = [p for p in re.split(r"\n\s*\n|\n(?=[-=]{3,}[ \t]*\n)", text) if p.strip()]
    for at, paragraph in enumerate(paragraphs):
        head = _PART_LABEL.match(paragraph)
        name = head["label"].strip() if head else ""
        asks = at == len(paragraphs) - 1 and re.fullmatch(r"[^\n]*[?？]\s*", paragraph)
        if head and _is_material_label(name) and not paragraph.startswith("http", head.end()):
            blocks += [Block(label, _unquoted(gathered), number)] if gathered else []
            label, gathered = name, [paragraph[head.end() :]]
        elif gathered and not asks and not _ends_material(paragraph, name):
            gathered.append(paragraph)
        else:
            blocks += [Block(label, _unquoted(gathered), number)] if gathered else []
            gathered = []
            if material.is_result(paragraph):
                blocks.append(Block("result", paragraph, number))
            else:
                kept.append(paragraph)
    blocks += [Block(label, _unquoted(gathered), number)] if gathered else []
    return "\n\n".join(kept), blocks


def _apart(match: re.Match[str]) -> str:
    """A line break before a label of material, as a paragraph's."""
    return "\n\n" if _is_material_label(match[1]) and not is_field(f"{match[1]}:") else "\n"


def _unquoted(paragraphs: Sequence[str]) -> str:
    text = "\n\n".join(paragraphs).strip()
    return text.strip('"').strip() if text.startswith('"') and text.endswith('"') else text


def _is_material_label(name: str) -> bool:
    if re.match(r"\s*[-*•]|\w+_\w", name):  # the description of a tool or a field
        return False
    last = name.casefold().split(" ")[-1]
    said = last.rstrip("s") in ("answer", "response")  # as worked examples label theirs
    return bool(_MATERIAL.fullmatch(last)) and not said and not _TOLD.search(name) and len(name.split()) < 9


def _ends_material(paragraph: str, name: str) -> bool:
    """Whether a paragraph after pasted material is the prompt again: a label of its own, a rule, an instruction."""
    opening = (
        r"\W*(?:using|based on|given|now|please|answer|write|construct|create|summari[sz]e|according to|from the"
        r"|with the|use|根据|请|基于)\b"
    )
    return bool(
        (name and (_TASK.search(name) or _TOLD.search(name)))
        or (re.match(r"\s*(?:---|===|#)", paragraph) and not first_url(paragraph))
        or re.match(opening, paragraph, re.IGNORECASE)
    )


def _task(parts: Sequence[_Part]) -> tuple[int, str]:
    """What is wanted, and the index of the message that says so (-1: none): the last user's word, else the system's."""
    for part in [*(p for p in reversed(parts) if p.role == "user"), *(p for p in reversed(parts) if p.role != "user")]:
        tagged = [b.text for b in part.blocks if _TASK.fullmatch(b.label.replace("_", " "))]
        if tagged or (asked := _asked(part)):
            return part.message, (tagged[-1] if tagged else asked).strip()
    return -1, ""


def _is_remark(request: ChatRequest, number: int) -> bool:
    """Whether a user's message comes amid the work: a harness's word to the model, not a person's next turn."""
    before = request.messages[number - 1] if number else None
    return before is not None and (before.role in ("tool", "function") or bool(before.tool_calls))


def _asked(part: _Part) -> str:
    """The task of a message that does not tag it; empty where it only urges on."""
    told = re.sub(
        r"^[^\n]*(?:current date|today is|今天是)[^\n]*\n?", "", part.told, flags=re.IGNORECASE | re.MULTILINE
    )
    if quoted := [m["text"] for m in _QUOTED.finditer(told)]:
        return quoted[-1]
    labelled = [m for m in _LABELLED.finditer(told) if _is_real(m["text"]) and not _TOLD.search(m["label"])]
    if labelled:
        plain = [m for m in labelled if _TASK.fullmatch(m["label"].strip())]
        return str((plain or labelled)[-1]["text"]).strip(' *"“”')
    if not re.search("[?？]", told) and not set(words(told)) - _META:
        return ""
    if (
        part.role == "user"
        and len(told) < 1200
        and not re.search(r"^#|^[^\w\n]{0,8}(?:rules|format)[^\w\n]{0,8}$", told, re.IGNORECASE | re.MULTILINE)
    ):
        return _without_form(told)
    asked = [s for s in sentences(told) if re.search(r"[?？]\W*$", s) and not re.match(r"[-*•]|\d+[.)]", s)]
    if part.role != "user":
        return asked[-1] if asked else ""
    return asked[-1] if asked else _without_form(told.split("\n\n")[0])


def _is_real(text: str) -> bool:
    """Whether a labelled task is one and not the placeholder of a template."""
    return not re.match(
        r"\W*(?:the|your|an?) (?:\w+ ){0,3}(?:question|task|query|topic|request)s?\b|\W*[{\[<.]|\W*$", text, re.I
    )


def _without_form(text: str) -> str:
    """A message without the sentences at its end that only say how to reply."""
    said = list(sentences(text))
    last = len(said)
    while last > 1 and _REPLY_FORM.match(said[last - 1]) and not said[last - 1].endswith(("?", "？")):
        last -= 1
    if last == len(said):
        return text.strip()
    end = text.find(said[last])
    return (text[:end] if end > 0 else " ".join(said[:last])).strip()


def _turns(text: str) -> list[tuple[str, str]]:
    """A conversation told as text: (role, text) each."""
    pieces = _TURN.split(text)
    roles = {"human": "user", "用户": "user", "ai": "assistant", "助手": "assistant"}
    return [(roles.get(r.lower(), r.lower()), said.strip()) for r, said in zip(pieces[1::2], pieces[2::2], strict=True)]


def _notes(request: ChatRequest, steps: Sequence[Step]) -> tuple[tuple[str, ...], list[Step]]:
    """What was noted down, and the steps whose results are evidence."""
    about = {tool.function.name: tool.function.description for tool in request.tools}
    notes: list[str] = []
    telling = []
    for step in steps:
        if transcript.is_note(step.tool, about.get(step.tool, "")):
            notes += [v for v in step.arguments.values() if isinstance(v, str)]
        elif step.result and not transcript.is_writing(step.tool):
            telling.append(step)
    return tuple(notes), telling


def _found(blocks: Iterable[Block]) -> list[Source]:
    """The evidence in what the prompt brings."""
    return [
        replace(source, message=block.message)
        for block in blocks
        if not _TALK.search(block.label) and not _TASK.fullmatch(block.label.replace("_", " "))
        for source in material.sources(block.text)
        if source.key or is_prose(source.text)
    ]


def _answered(messages: Sequence[ChatMessage]) -> list[Source]:
    """Findings in the assistant's earlier answers: sentences that cite an address, nothing else of them."""
    return [replace(source, message=number) for number, message in enumerate(messages)
            if message.role == "assistant" for source in findings(message.text)]  # fmt: skip


def _returned(steps: Iterable[Step]) -> list[Source]:
    """The evidence in the tools' results; of a page that was asked for by its address, the address is the key."""
    found = []
    for step in steps:
        address = next((v for v in step.arguments.values() if isinstance(v, str) and first_url(v) == v and v), "")
        found += [replace(source, message=step.message) for source in material.sources(step.result or "", key=address)]
    return found


def _merged(found: Iterable[Source]) -> list[Source]:
    """One source a key: the longest text, with what only the others say behind it."""
    by_key: dict[str, Source] = {}
    for source in found:
        name = source.key or source.text
        known = by_key.get(name, source)
        short, long = sorted((known.text, source.text), key=len)
        extra = [] if short in long else [s for s in sentences(short) if s not in " ".join(long.split())]
        text = "\n".join([long, *extra])
        by_key[name] = replace(known, text=text, title=known.title or source.title, day=known.day or source.day)
    return list(by_key.values())


def _listed(texts: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Queries and sections that labelled lists and plans name."""
    queries: list[str] = []
    sections: list[str] = []
    for text in texts:
        for match in _LISTED.finditer(text[:50_000]):
            items = re.findall(r"^[ \t]*(?:[-*•]|\d+[.)、])[ \t]+(.+)$", match["items"], re.MULTILINE)
            (sections if _SECTIONS.search(match["label"]) else queries).extend(
                items or re.split(r"\s*[;；]\s*", match["line"])
            )
        for value in material.parsed(text) or ():
            for name, rows in material.plan_lists(value).items():
                (sections if _SECTIONS.search(name) else queries).extend(_names(rows))
    return tuple(dict.fromkeys(q.strip() for q in queries if q.strip())), tuple(
        dict.fromkeys(s.strip() for s in sections if s.strip())
    )


def _names(rows: list[Any]) -> list[str]:
    """What a plan's rows are called: themselves, or their field for it."""
    wanted = ("query", "question", "title", "name", "heading", "topic", "section")
    return [
        row if isinstance(row, str) else str(next((row[w] for w in wanted if w in row), ""))
        for row in rows
        if isinstance(row, (str, dict))
    ]


def _now(parts: Sequence[_Part]) -> date | None:
    """The date that the prompt states for today, in the system prompt first."""
    for part in sorted(parts, key=lambda part: part.role == "user"):
        for match in _NOW.finditer(part.told):
            line = part.told[match.start() :].split("\n", 1)[0]
            if "?" not in line and (day := day_of(part.told[match.start("day") : match.start("day") + 40], exact=True)):
                return day
    return None
