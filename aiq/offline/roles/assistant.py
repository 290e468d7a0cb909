"""The program that answers whoever names no role, or one that has no program: a plain assistant.

How it proceeds:

1. A greeting or thanks gets a short reply.
2. If a search tool is offered and nothing was searched yet for the last question, it searches for it.
3. Otherwise it answers by extraction: from documents that tools brought, else from what stands in the messages
   themselves (a text in front of a question). It says so when nothing there answers.
4. If a JSON schema is asked for, the answer is put into an object of that shape.
"""

import json
import re
from collections.abc import Sequence

from aiq.offline import shapes
from aiq.offline.chat import ChatReply, ChatRequest, call
from aiq.offline.reading import answering, assignment, chain, documents, questions
from aiq.offline.reading.assignment import Assignment
from aiq.offline.reading.documents import Document
from aiq.offline.reading.text import is_chinese, sentences

ROLE = "assistant"

_GREETING = re.compile(
    r"\s*(?:hi|hello|hey|good (?:morning|day|afternoon|evening)|thanks|thank you|bye|goodbye|你好|您好|谢谢"
    r"|再见)\b[\w\s,!.！。]{0,30}$",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"[?？]\s*$|^\s*(?:who|what|which|when|where|why|how|is|are|was|were|did|does|do|can|find|search|look up"
    r"|tell me)\b",
    re.IGNORECASE,
)


def reply(request: ChatRequest) -> ChatReply:
    """A search, or an answer in the shape asked for."""
    work = assignment.read(request, ROLE)
    if work.search_tool is not None and _asks(work.question.text) and not _answered_by_tools(request):
        return ChatReply(tool_calls=(call(work.search_tool, query=work.question.bare[:397]),))
    text = _text(request, work)
    if request.json_schema is not None:
        text = json.dumps(shapes.fill(request.json_schema, text), ensure_ascii=False)
    return ChatReply(text=text)


def _asks(text: str) -> bool:
    return _ASKS.search(text.splitlines()[-1] if text else "") is not None


def _answered_by_tools(request: ChatRequest) -> bool:
    """Whether a tool message came after the last user message."""
    roles = [message.role for message in request.messages]
    last_user = max((i for i, role in enumerate(roles) if role == "user"), default=0)
    return "tool" in roles[last_user:]


def _text(request: ChatRequest, work: Assignment) -> str:
    asked = work.question.text
    if not asked or _GREETING.match(asked):
        return "您好！请问有什么可以帮您？" if is_chinese(asked) else "Hello! How can I help you?"
    if work.documents:
        return answering.answer(work)
    return _from_messages(request, asked)


def _from_messages(request: ChatRequest, asked: str) -> str:
    """The answer that the conversation's own text gives, or an honest reply that there is none."""
    question, given = _split(asked)
    said = [message.text for message in request.messages if message.role in ("system", "developer", "user")]
    sources = _as_documents([*said[:-1], given])
    parsed = questions.parse(question)
    state = chain.follow(parsed, sources, now=request.now, seed=request.seed)
    last = state.steps[-1].found
    if state.complete and last is not None:
        return last.sentence if last.answer == last.sentence else f"{last.answer}. {last.sentence}"
    if is_chinese(asked):
        return f"这里没有可以回答“{question}”的资料。"
    return f"Nothing in this conversation answers that, and I have no other source: {question}"


def _split(asked: str) -> tuple[str, str]:
    """(the question, the text around it) of a message: its last asking sentence, else its last sentence."""
    parts = list(sentences(asked))
    asking = [part for part in parts if _asks(part)] or parts[-1:]
    question = asking[-1] if asking else asked
    return question, "\n".join(part for part in parts if part != question)


def _as_documents(texts: Sequence[str]) -> list[Document]:
    """Texts of the conversation, to be read like pages without a title."""
    found: list[Document] = []
    for number, text in enumerate(text for text in texts if text.strip()):
        found.extend(documents.parse(text) or [Document(key=f"message-{number}", title="", text=text, rank=number)])
    return found
