"""Reads a request: what is asked, which material it brings, what was done so far, and which text is instruction.

Nothing here knows our own roles, prompts or tools: material is found by its form (tags, JSON, Markdown, HTML, plain
text), the task by its position and wording.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal

from aiq.offline.chat import ChatRequest
from aiq.offline.engine import given, material, research, transcript
from aiq.offline.engine.lexicon import parts_of_speech
from aiq.offline.engine.source import URL, Source, day_of, findings, is_prose
from aiq.offline.engine.text import is_chinese, sentences, words
from aiq.offline.engine.transcript import Step

Language = Literal["en", "zh"]


@dataclass(frozen=True)
class Block:
    """Marked material in the prompt: `<label>text</label>`, a fenced or headed part. `whole`: including its tags, if
    they have attributes (a URL, a title)."""

    label: str
    text: str
    whole: str = ""

    @property
    def kind(self) -> str:
        return _kind(self.label)


@dataclass(frozen=True)
class Situation:
    """A request as understood.

    `instructions`: what the prompt says to do, without its material (the messages' texts, separated by blank lines).
    `task`: what the user wants, word for word. `history`: the earlier turns of the conversation, (role, text) each.
    `sources`: all evidence, in order of arrival, with one source per key. `now`: the date that the prompt states.
    `queries`, `sections`: what a dispatch or a plan lists under such names, in order. `headings`: the lines of an
    outline that the prompt shows, with their `#`. `numbers`: the numbers in a reference list it gives, by source key.
    `answers`: the first words of the results of others' work, each an answer or the correction of a premise.
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
    headings: tuple[str, ...] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)
    answers: tuple[given.GivenAnswer, ...] = ()

    def actions(self, *, next_one: bool) -> tuple[str, ...]:
        """The queries of the next action that the prompt wants, or of the actions it reports as done."""
        actions = [(action, b.text) for b in self.blocks if (action := given.ACTION.search(b.label))]
        return tuple(name for action, text in actions if bool(action["next"]) == next_one for _, name in _entries(text))


_TASK_WORD = r"(?:question|task|query|topic|request|problem|brief|goal|objective|subject|inquiry)"
_TASK = (
    r"(?:(?:the|an?|my|our|user'?s?|research|original|main|new|current|latest|input|following|overall|actual|last|message"
    rf"|final)[ _-])*{_TASK_WORD}|(?:研究|用户|的|当前)*(?:问题|任务|主题|课题|查询|请求|提问)"
)
_MATERIAL = (
    r"(?:document|page|context|source|result|finding|information|info|material|content|article|passage|excerpt|text|data"
    r"|knowledge|report|observation|evidence|snippet|note|webpage|资料|材料|上下文|文档|结果|内容|信息|原文)s?"
)
_KINDS = {
    "told": re.compile(
        r"(?i)(?<![a-z])(?:instruct|rule|guid|format|output|example|schema|tool|role|persona|system|important|constraint"
        r"|require|limit|think|reason|tip|style|policy|workflow|process|steps?$)|说明|规则|要求|格式|示例"
    ),
    "task": re.compile(rf"(?i)^(?:{_TASK})$"),
    "talk": re.compile(
        r"(?i)dialogue|conversation|history|messages|chat|feedback|plan|clarif|preference|user|criteri|asked|statements"
        r"|accepted|reference.?list|memory|thoughts?$|actions?$|next.step$|draft|对话|历史|思考$|行动$"
    ),
    "material": re.compile(rf"(?i){_MATERIAL}|answers?|responses?"),
}
"""Kinds of marked parts by their labels; the first match counts."""

_TO_MODEL = re.compile(
    r"(?i)\s*(?:you are|your (?:job|task|role|goal)|you (?:will|must|should|were|have)|these are|the user's \w+"
    r"|given)\b"
)
_LABELLED = re.compile(
    rf"(?im)(?:^|(?<=[.!?。]\s))[ \t]*(?:#+ *|\*\*)?(?P<label>(?:[A-Za-z', ]{{0,120}}\b)?{_TASK})\**(?: is| was|是)?"
    r"[ \t]*(?:[:：]\**|--|\n)\s*(?P<text>\S.*)"
)
_QUOTED = re.compile(
    rf"(?i)(?:{_TASK_WORD}|问题|任务|主题|关于)\W{{0,4}}(?:is|was|below)?\W{{0,4}}?(?:\"{{3}}"
    r"|[\"“「])(?P<text>[^\"”」]{4,2000})[\"”」]"
)
_PASTED = (
    r"[ \t]*(?:#+ *|\*\*)?(?P<label>(?!(?:source|content|text|summary|page|snippet|passage)\W*[:：]|(?:when|for|if|to"
    rf"|in|with) )(?:[a-z][a-z'-]* ){{0,7}}{_MATERIAL})"
    r"\**[ \t]*(?:[:：]\**(?!\**[ \t]*\S+://)[ \t]*\n?|(?<=\*\*)\n|(?<!.)\n)"
)
"""A line that announces pasted material; "Source: ..." and the like are fields of a result."""
_PARAGRAPH = re.compile(rf"(?i)\n\s*\n|\n(?=[-=]{{3,}}[ \t]*\n|{_PASTED})")
_FENCE = re.compile(r"(?s)(?P<mark>```|~~~|\"\"\"|''')\w*[ \t]*\n?(?P<text>.*?)(?P=mark)")
_FORM = re.compile(r"(?i)(?:format|schema|example|e\.g\.|form\b|like this|such as|json|格式|示例|例如|如下形式).*\s*$")
_RESUMES = re.compile(
    r"(?i)\W*(?:using|based on|given|now|please|answer|write|construct|create|summari[sz]e|according to|from the"
    r"|with the|use|根据|请|基于)\b|\s*(?:---|===|#)(?!.*://)"
    rf"|\W*(?:{_TASK}|(?:\w+ ){{0,3}}"
    r"(?:instructions?|rules?|guidelines|format|requirements?|examples?|tools|说明|规则|要求|格式))\W?[:：]"
)
_LABEL = re.compile(rf"^\W*{_TASK}\W*[:：]\W*", re.IGNORECASE)
_ORDER = re.compile(r"\W*([A-Za-z]+)\s+(?![A-Z])")
_PERSONAL = re.compile(
    r"\b(?:I|me|my|we|us|our|you|your|please|answer|reply|do not|don[’']t|never)\b|[我你您请]|回答", re.IGNORECASE
)
_TURN = re.compile(r"(?im)^[^\w\n]{0,8}(user|human|assistant|ai|用户|助手)\W*[:：]\s*")
ITEM = r"[ \t]*(?:[-*•]|\d+[.)、])[ \t]+"
_LISTED = re.compile(
    r"(?im)^[ \t]*(?:#+ *|\*\*)?(?P<label>[^\n:：•*-]{0,40}?(?:queries|questions|searches|search for|sections|outline"
    r"|headings|chapters|subtopics|检索词|查询|搜索|子问题|章节|大纲|提纲))"
    rf"\**[ \t]*[:：]\**[ \t]*(?P<line>.*)(?P<items>(?:\n{ITEM}.+)*)"
)
_SECTIONS = re.compile(r"(?i)section|outline|heading|chapter|topic|章节|大纲|提纲")
_NOW = re.compile(
    r"(?im)(?:current (?:date|day|time)|today(?:'s date)?|the date|date today|(?:it|now) is|as of|^[^\w\n]{0,8}date"
    r"|now\b|今天|今日|当前(?:日期|时间)|现在|日期)[^\n.。]{0,30}?(?!.{0,200}[?？])"
    r"(?P<day>(?:\d{4}\D|\d{1,2}\s|[A-Z][a-z]{2,8}\.? \d).{0,36})"
)
_REPLY_FORM = re.compile(
    r"(?i)(?:(?<=[.!?。？！\n])\s*(?:please |then |now |and |请)*(?:answer|reply|respond|return|output|give your"
    r"|write your|cite|use|keep|do not|don't|never|always|be |format|include|provide your"
    r"|(?:your|the) (?:answer|reply|response|output)|回答|回复|输出|返回|只|不要|用|以)"
    r"(?:[^.!?。！？\n]|\.(?=\S))*[.!。！]*\s*)+$"
)
"""Sentences at the end that only say how to reply."""
_DATED = re.compile(r"(?im)^[^\n]*(?:current date|today(?:'s date)? is|今天是)[^\n]*\n?")
_URGING_WORDS = """
    answer final continue give write report json tool tools use using result results above step steps search searches
    ready ok okay thanks thank begin start proceed go ahead next carry task question query reply respond response return
    output format valid based information found previous provide complete finish done call called observation try again
    make plan yes good great research findings enough user need want keep work follow following instruction once more
    instructions error parse well help remember don't you've you'll let's without further conversation text
"""
_URGING = frozenset(_URGING_WORDS.split())
"""Words that only urge the model on; a message of nothing else asks for nothing new."""
_END_LENGTH = 30_000
"""Characters at the start and end of a message that may ask and instruct; anything in between is pasted text."""


def read(request: ChatRequest) -> Situation:
    """Parse the request. Never fails: what cannot be parsed remains text."""
    messages = request.messages
    steps, rest = transcript.steps(request)
    blocks: dict[int, list[Block]] = {}
    prompts: dict[int, str] = {}
    for number, message in enumerate(messages):
        if message.role not in ("assistant", "tool", "function"):
            text = rest.get(number, message.text)
            pieces = _pieces(text, pasted=message.role == "user", unmarked=not request.tools)
            blocks[number] = [block for block in pieces if block.label]
            prompts[number] = "\n\n".join(block.text for block in pieces if not block.label)
    marked = [block for number in blocks for block in blocks[number]]
    history = [turn for block in marked if block.kind == "talk" for turn in _turns(block.text)]
    index, task = _task(request, blocks, prompts)
    task = task or next((text for role, text in reversed(history) if role == "user"), "")
    task = research.of_question(task)
    references = {n: source for block in marked for n, source in given.references(block.text).items()}
    replies = [given.answered(block.label, block.text) for block in marked]
    marked = [
        b if text == b.text else replace(b, text=text, whole="") for b, (_, text) in zip(marked, replies, strict=True)
    ]
    passages = [b.whole or b.text for b in marked if b.kind not in ("talk", "task") and not given.references(b.text)]
    sources = [*references.values()]
    sources += [s for text in passages for s in material.sources(text) if s.key or is_prose(s.text)]
    for number, message in enumerate(messages[: max(index, 0)]):
        if message.role in ("user", "assistant") and message.text.strip() and not transcript.calls(message.text):
            history.append((message.role, prompts.get(number, message.text)))
        sources += findings(message.text) if message.role == "assistant" else []
    for step in steps:
        address = next((v for v in step.arguments.values() if isinstance(v, str) and URL.fullmatch(v)), "")
        sources += material.sources(step.result or "", key=address) if step.brings_sources else []
    texts = [prompts[number] for number in prompts if messages[number].role == "user"]
    texts += [b.text for b in marked if not given.ACTION.search(b.label)] + [step.result or "" for step in steps]
    entries = dict.fromkeys(entry for text in texts for entry in _entries(text))
    return Situation(
        request=request,
        task=task,
        instructions="\n\n".join(filter(None, prompts.values())),
        history=tuple(history),
        blocks=tuple(marked),
        sources=tuple(source for source in _merge(sources) if source.text),
        steps=tuple(steps),
        now=_stated_date("\n".join(prompts.values())),
        language="zh" if is_chinese(task) else "en",
        queries=tuple(name for is_section, name in entries if not is_section),
        sections=tuple(name for is_section, name in entries if is_section),
        headings=next((lines for block in marked if (lines := given.headings(block.text))), ()),
        answers=tuple(answer for answer, _ in replies if answer),
        numbers={source.key: number for number, source in references.items()},
    )


def ends(told: str) -> str:
    """The start and end of a prompt's text; the middle is dropped if it is too long to be instructions."""
    return told if len(told) <= 2 * _END_LENGTH else f"{told[:_END_LENGTH]}\n\n{told[-_END_LENGTH:]}"


def _kind(label: str) -> str:
    label = label.replace("_", " ").strip()
    return next((kind for kind, pattern in _KINDS.items() if pattern.search(label)), "")


def _stated_date(prompt: str) -> date | None:
    """The current date, if a prompt states it."""
    return next(filter(None, (day_of(match["day"], exact=True) for match in _NOW.finditer(ends(prompt)))), None)


# the parts of a message


def _pieces(text: str, *, pasted: bool, unmarked: bool = False) -> list[Block]:
    """A message's material, and its own words, which have no label. Tags and fences mark material; if text may be
    `pasted` (in a user's message), so do a line that announces it and the form of results."""
    text = _FENCE.sub(_as_element, text) if pasted else text
    pieces, own_text, position = [], "", 0
    for element in material.elements(text):
        kind = _kind(element.label)
        is_block = kind != "told" and (kind or pasted) and not (kind == "task" and _TO_MODEL.match(element.text))
        if is_block and len(element.text.strip()) > 3:  # "between <a> and </a>" only mentions tags
            whole = text[element.start : element.end] if element.attributes else ""
            parts = _pieces(element.text, pasted=False) if kind == "task" else []
            has_parts = any(block.label for block in parts)
            pieces += [replace(b, label=b.label or element.label) for b in parts if has_parts]
            pieces += [] if has_parts else [Block(element.label, element.text.strip(), whole)]
            own_text, position = own_text + text[position : element.start], element.end
    own_text += text[position:]
    own_blocks = _paragraphs(own_text) if pasted else [Block("", own_text.strip())]
    is_marked = not pasted or any(piece.label for piece in (*pieces, *own_blocks))
    pieces += (unmarked and not is_marked and _passage(own_text)) or own_blocks
    return [piece for piece in pieces if piece.text]


def _passage(text: str) -> list[Block]:
    """Unmarked sentences that only make statements, with one question before or after them; otherwise nothing."""
    texts = sentences(text)
    questions = [s for s in texts if s[-1] in "?？"]
    statements = [s for s in texts if s not in questions]
    is_alone = len(questions) == 1 and questions[0] in (texts[0], texts[-1]) and is_prose(" ".join(statements))
    is_passage = is_alone and not any(map(_is_order, statements))
    return [Block("material", "\n".join(statements)), Block("task", _LABEL.sub("", questions[0]))] if is_passage else []


def _is_order(sentence: str) -> bool:
    """Whether a sentence says what to do, or mentions the user or the model."""
    verb = _ORDER.match(sentence)
    addresses = _PERSONAL.search(sentence) or _RESUMES.match(sentence)
    return addresses is not None or (verb is not None and "VERB" in parts_of_speech(verb[1]))


def _as_element(match: re.Match[str]) -> str:
    """A fenced part as an element, labelled by the line before it; an example of a format is left as it is."""
    before = match.string[max(0, match.start() - 120) : match.start()]
    label = "task" if re.search(rf"(?i){_TASK_WORD}\W*$", before) else "material"
    return match[0] if _FORM.search(before) else f"<{label}>\n{match['text']}\n</{label}>"


def _paragraphs(text: str) -> list[Block]:
    """The parts of a user's text: pasted under a label, results, and their own words (no label)."""
    pieces = [Block("", "")]
    paragraphs = _PARAGRAPH.split(text)[::2]
    for number, paragraph in enumerate(paragraphs):
        last = pieces[-1]
        head = re.match(_PASTED, f"{paragraph}\n", re.IGNORECASE)
        asks = re.search(r"(?m)[?？]\s*$", paragraph)
        if head and _kind(head["label"]) == "material":
            pieces.append(Block(head["label"], paragraph[head.end() :].strip('" \n')))
        elif not (
            last.label in ("", "result") or _RESUMES.match(paragraph) or (asks and number == len(paragraphs) - 1)
        ):
            pieces[-1] = replace(last, text=f"{last.text}\n\n{paragraph}".strip('" \n'))
        else:
            is_result = not asks and any(source.key and source.title for source in material.sources(paragraph))
            pieces.append(Block("result" if is_result else "", paragraph.strip()))
    return pieces


# what is asked


def _task(request: ChatRequest, blocks: dict[int, list[Block]], prompts: dict[int, str]) -> tuple[int, str]:
    """What is wanted, and the index of the message that says so (-1: none): the user's last one, else the system's.

    Text after a tool result comes from a harness: it counts only if nobody else has spoken.
    """
    harness = {number + 1 for number, message in enumerate(request.messages) if message.role in ("tool", "function")}
    candidates = [number for number in prompts if number not in harness or len(prompts) < 2]
    for is_user, number in sorted(((request.messages[n].role == "user", n) for n in candidates), reverse=True):
        tasks = [block.text for block in blocks[number] if block.kind == "task"]
        if task := tasks[-1] if tasks else _untagged_task(prompts[number], is_user=is_user):
            return number, task
    return -1, ""


def _untagged_task(text: str, *, is_user: bool) -> str:
    """The task in a message that does not tag it; empty if it only urges the model on or refers to a conversation."""
    text = _DATED.sub("", ends(text))
    labelled = [m for m in _LABELLED.finditer(text) if _kind(m["label"]) != "told"]
    if matches := [*_QUOTED.finditer(text)] or labelled:
        return matches[-1]["text"].strip(' *"“”')
    is_user = is_user and not _TO_MODEL.match(text)
    questions = [s for s in sentences(text) if re.search(r"[?？]\W*$", s) and not re.match(r"[-*•]|\d+[.)]", s)]
    if is_user and research.is_small_talk(text.strip()):
        return text.strip()
    if not re.search("[?？]", text) and _URGING.issuperset(words(text)):
        return ""
    if is_user and len(text) < 1200 and not re.search(r"(?im)^#|^\W{0,8}(?:rules|format)\W{0,8}$", text):
        return _REPLY_FORM.sub("", text).strip()
    return questions[-1] if questions else _REPLY_FORM.sub("", text.split("\n\n")[0]).strip() if is_user else ""


def _turns(text: str) -> list[tuple[str, str]]:
    """A conversation given as text: (role, text) each."""
    pieces = _TURN.split(text)
    roles = ["user" if role.lower() in ("user", "human", "用户") else "assistant" for role in pieces[1::2]]
    return list(zip(roles, map(str.strip, pieces[2::2]), strict=True))


# evidence, and what is listed to be looked up


def _merge(sources: Iterable[Source]) -> Iterable[Source]:
    """One source per key: what the first one says, then what only the others say."""
    by_key: dict[str, Source] = {}
    for source in sources:
        first = by_key.get(source.name, source)
        text = first.text if source.text in first.text else source.text
        if first.text not in text:
            text = "\n".join(dict.fromkeys([*sentences(first.text), *sentences(text)]))
        by_key[source.name] = replace(first, text=text, title=first.title or source.title, day=first.day or source.day)
    return by_key.values()


def _entries(text: str) -> Iterator[tuple[bool, str]]:
    """The entries of labelled lists and plans: whether each is a section, and its name."""
    lists = [
        (match["label"], re.findall(rf"(?m)^{ITEM}(.+)$", match["items"]) or re.split("[;；]", match["line"]))
        for match in _LISTED.finditer(text[:50_000])
    ]
    plans = material.rows(text) if material.parsed(text) else ()
    lists += [entry for plan in plans for entry in material.plan_lists(plan).items()]
    for label, items in lists:
        names = (str(next(iter(item.values()), "") if isinstance(item, dict) else item).strip() for item in items)
        yield from ((_SECTIONS.search(label) is not None, name) for name in names if name)
