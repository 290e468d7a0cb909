"""The program that takes the citations out of a report for RACE.

Why it answers as it does: it goes by the look of things. It cuts from the first line that reads like the heading of a
reference list to the end, though something else may follow, drops numbers in brackets, which in code or maths may
be none, and keeps the words of links. It knows no footnotes, and leaves the marks of styles that it has not met.
"""

import re

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.judging.request import DECLINED, instructions

_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s*)?\**(?:references|sources|bibliography|works cited|参考文献|参考资料|来源)\**\s*[:：]?\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_LINK = re.compile(r"\[([^\[\]\n]+)\]\(https?://[^\s()]*\)")
_MARK = re.compile(r"[ \t]?(?:\[\d{1,3}(?:\s*[,，–-]\s*\d{1,3})*\]|【\d{1,3}[^】\n]*】)")
_URL = re.compile(r"[ \t]?<?https?://[^\s<>()\]]+>?")


def reply(request: ChatRequest) -> ChatReply:
    """The report alone, if the prompt asks for that."""
    article = request.fenced("article")
    wanted = instructions(request)
    if article is None or not re.search(r"citations|引用", wanted):
        return ChatReply(text=DECLINED)
    heading = _HEADING.search(article)
    text = article[: heading.start()] if heading else article
    text = _URL.sub("", _MARK.sub("", _LINK.sub(r"\1", text)))
    return ChatReply(text=re.sub(r"\n{3,}", "\n\n", text).strip())
