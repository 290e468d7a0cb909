"""The program that summarises a document: its first line and the sentences that use its most frequent words."""

import re
from collections import Counter

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.reading.text import sentences, words

_LIMIT = re.compile(r"at most (\d+) characters")
_SENTENCES = 2


def reply(request: ChatRequest) -> ChatReply:
    """Title and two telling sentences, in the order of the text, as long as the prompt allows."""
    title, _, body = (request.fenced("document") or "").strip().partition("\n")
    limit = _LIMIT.search(request.last_user)
    told = [sentence for sentence in sentences(body) if len(words(sentence)) > 3]
    frequent = Counter(word for sentence in told for word in words(sentence))
    weight = {number: sum(frequent[word] for word in set(words(told[number]))) for number in range(len(told))}
    chosen = sorted(sorted(weight, key=lambda number: (-weight[number], number))[:_SENTENCES])
    text = " ".join([f"{title.strip()}.", *(told[number] for number in chosen)])
    return ChatReply(text=text[: int(limit.group(1)) if limit else 400])
