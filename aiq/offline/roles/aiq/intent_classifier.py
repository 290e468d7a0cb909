"""Routes a message by its words: small talk is meta, a report or several facets is deep, the rest is shallow.

It judges wording alone, so a short question over many things ("which of the companies ...") looks shallow to it, and
a long-winded lookup looks deep.
"""

import json
import re

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.reading import tasks
from aiq.offline.reading.text import is_chinese

_META = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?|thank you|bye|goodbye|你好|您好|谢谢"
    r"|再见)\b[\w\s,!.。！]{0,20}$"
    r"|\b(?:who|what) are you\b|\bwhat can you (?:do|help)|\bhow do you work\b|\byour (?:name|capabilities)\b"
    r"|你是谁|你能做什么|你会什么",
    re.IGNORECASE,
)
_DEEP = re.compile(
    r"\b(?:report|overview|analysis|analy[sz]e|survey|literature review|comprehensive|in-depth|thorough|detailed"
    r"|compar(?:e|ison)"
    r"|contrast|trends?|strateg(?:y|ies)|evaluate|assess|investigate|research (?:on|into)|researching|exploring"
    r"|pros and cons)\b"
    r"|报告|比较|对比|分析|综述|调研|研究|趋势|策略|评估|收集整理|梳理",
    re.IGNORECASE,
)
_LONG = 45
"""Words beyond which a message is taken for a task with several facets."""


def reply(request: ChatRequest) -> ChatReply:
    """The classification as JSON; without a fenced question the whole last message is taken for one."""
    question = request.fenced("question") or request.last_user
    knows_meta = re.search(r"\bmeta\b", request.system) is not None
    if knows_meta and _META.search(question.strip()):
        return _json("meta", None, "small talk, or about the assistant", _greeting(question))
    if not re.search(r"\bdeep\b", request.system):
        return _json("research", None, "the prompt knows no depth")
    cause = _why_deep(question)
    return _json("research", "deep" if cause else "shallow", cause or "one question, a lookup")


def _why_deep(question: str) -> str | None:
    word = _DEEP.search(question)
    if word:
        return f"asks for work beyond a lookup: {word.group().lower()}"
    if len(re.findall(r"[?？]", question)) > 1:
        return "asks several questions"
    if len(question.split()) > _LONG or (is_chinese(question) and len(question) > 2 * _LONG):
        return "a long message with several facets"
    return "names several facets" if len(tasks.parse(question).facets) > 3 else None


def _greeting(question: str) -> str:
    if is_chinese(question):
        return "你好！我可以用注明来源的网络资料回答问题，也可以撰写研究报告。"
    return (
        "Hello! I answer questions with cited web sources, and I write research reports. What would you like to know?"
    )


def _json(intent: str, depth: str | None, reasoning: str, answer: str | None = None) -> ChatReply:
    fields = {"intent": intent, "meta_response": answer, "research_depth": depth, "depth_reasoning": reasoning}
    return ChatReply(text=json.dumps(fields, ensure_ascii=False))
