"""What a prompt asks for: the offline model does only what it can read here.

Every flag is a phrase of our prompts; take the phrase out of the prompt and the model stops doing it.
"""

import re
from datetime import datetime

from aiq.core.base import Record
from aiq.offline.chat import ChatRequest


class Instructions(Record):
    """`heading`: the reference section's heading line, None where none is asked for. `now`: the date stated.

    `cites`: inline `[n]` are asked for. `rewrites`: questions are to be rewritten into search queries.
    `checks_premise`: what the question takes for granted is to be checked. `admits`: the words in which a lack of
    evidence is to be said, empty where the prompt gives none. `exhausted`: the budget is used up, answer now.
    """

    now: datetime | None = None
    cites: bool = False
    heading: str | None = None
    rewrites: bool = False
    checks_premise: bool = False
    admits: str = ""
    exhausted: bool = False


_HEADING = re.compile(r"(#{1,6} (?:References|Sources|参考文献|参考资料)|\*\*(?:References|Sources):?\*\*)")
_ADMIT = re.compile(
    r"[\"“](I don['’]t have enough information|unable to find[^\"”]*|need more research)[\"”]", re.IGNORECASE
)


def read(request: ChatRequest) -> Instructions:
    """The instructions of a request's system messages, and of its last user message where that is an order."""
    text = f"{request.system}\n{request.last_user}"
    heading = _HEADING.search(text)
    admit = _ADMIT.search(text)
    return Instructions(
        now=request.now,
        cites=re.search(r"\[(?:1|n|N)\]", text) is not None,
        heading=heading.group(1) if heading else None,
        rewrites=re.search(r"query rewriting|rewrite the question|rewrites? (?:it|them) into", text, re.IGNORECASE)
        is not None,
        checks_premise=re.search(
            r"premise check|takes? for granted|check the premise|false premise", text, re.IGNORECASE
        )
        is not None,
        admits=admit.group(1) if admit else "",
        exhausted="exhausted your research budget" in request.last_user,
    )
