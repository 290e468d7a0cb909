"""An agent of the tests, agent=python agent.function=tests.serve.answers:answer: what it does is in the question."""

import asyncio
from contextlib import suppress
from pathlib import Path

from aiq.core.errors import AgentError
from aiq.core.events import Round, StageChanged
from aiq.core.models import Message
from aiq.core.samples import Question
from aiq.core.session import Session

HOSTILE = """# Report <script>document.title = "owned"</script>

<img src=x onerror="document.title = 'owned'"> [link](javascript:document.title='owned') ![x](http://x.example/t.png)

<iframe srcdoc="<script>parent.document.title = 'owned'</script>"></iframe>
"""


async def rounds(words: str, session: Session) -> str:
    for number in range(int(words)):
        session.events.emit(Round(number=number, queries=(f"query {number}",), new_sources=()))
        await asyncio.sleep(0.01)
    return words


async def broken_off(words: str, session: Session) -> str:
    """Finishes only in its second attempt."""
    await rounds(words, session)
    await asyncio.sleep(3600 if session.attempt == 1 else 0)
    return words


async def flood(words: str, session: Session) -> str:
    """Emits more than the buffers of a connection can hold."""
    for number in range(int(words)):
        session.events.emit(Round(number=number, queries=("x" * 1_000_000,), new_sources=()))
        await asyncio.sleep(0)
    return words


async def sleep(words: str, session: Session) -> str:
    await asyncio.sleep(float(words))
    return words


async def stubborn(words: str, session: Session) -> str:
    """Resists being cancelled."""
    for _ in range(3):
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(30)
    return words


async def plan(words: str, session: Session) -> str:
    while (reply := await session.user.review(f"**Plan** {words}")) not in ("approve", "reject"):
        words = f"{words}, {reply}"
    return f"{reply} {words}"


async def clarify(words: str, session: Session) -> str:
    return await session.user.answer("Which one?")


async def spend(words: str, session: Session) -> str:
    for _ in range(int(words)):
        await session.models.complete("tests.spend", [Message(role="user", content=words)])
    return words


async def fail(words: str, session: Session) -> str:
    raise AgentError("there is nothing to say")


async def fall(words: str, session: Session) -> str:
    raise ValueError(f"at {Path(__file__).parent}")


async def hostile(words: str, session: Session) -> str:
    session.events.emit(Round(number=0, queries=(HOSTILE,), new_sources=(HOSTILE,)))
    await session.user.review(HOSTILE)
    return HOSTILE


VERBS = {
    verb.__name__: verb
    for verb in (rounds, broken_off, flood, sleep, stubborn, plan, clarify, spend, fail, fall, hostile)
}


async def answer(question: Question, session: Session) -> str:
    """`VERB WORDS`: the function that answers, and its arguments."""
    verb, _, words = question.text.partition(" ")
    session.events.emit(StageChanged(stage=verb))
    return "It says: " + (await VERBS[verb](words, session) if verb in VERBS else words)
