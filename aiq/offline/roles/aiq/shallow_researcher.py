"""The program that answers the shallow researcher.

Why it answers as it does:

1. It reads the request: the question (the last user message that is not the synthesis anchor), the instructions of
   the prompt, the tools offered, the queries sent so far and the documents they brought (`reading.assignment`).
2. It parses the question into hops and follows them through the documents (`reading.questions`, `reading.chain`).
3. If tools are offered and something is missing, stale or unchecked, it asks for the next search (`reading.searching`):
   the first unresolved hop, or a dated search for a changing fact, or the subject of a doubtful premise.
4. Otherwise, or when the anchor tells it to stop, it answers with what it has (`reading.answering`): the answer and the
   sentences that carry it, a correction of the premise, a guess, or the admission that the evidence does not suffice.

It errs where its reading errs: a stale page taken for news, a wrong bridge, a premise that it did not check. The seed
decides only what the text leaves open: wording, near-tied evidence, and how careful it is.
"""

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.reading import answering, assignment, searching

ROLE = "aiq.shallow_researcher"


def reply(request: ChatRequest) -> ChatReply:
    """The next tool calls, or the final answer."""
    work = assignment.read(request, ROLE)
    calls = searching.next_calls(work)
    return ChatReply(tool_calls=tuple(calls)) if calls else ChatReply(text=answering.answer(work))
