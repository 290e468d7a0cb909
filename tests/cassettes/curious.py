"""An agent and a tool that repeat everything they hear, including the secrets of their services."""

import os

from pydantic import BaseModel

from aiq.core.errors import ModelError, ToolError
from aiq.core.models import Message
from aiq.core.reports import Report
from aiq.core.samples import Question
from aiq.core.session import Session
from aiq.core.settings import Settings

WAYS = ("plain", "streamed", "refused", "broken")
PAGES = ("page", "missing", "away")


def whisper(what: str) -> str:
    """Tells or shouts what the environment holds."""
    secret = os.environ.get("ODD_SECRET_TOKEN", "aiq-redacted")
    if what == "shout":
        raise RuntimeError(f"the key is {secret}")
    return f"the key is {secret}"


class Curious:
    """Asks every model and tool in every way, and reports what they said."""

    Settings = Settings

    def __init__(self, settings: BaseModel) -> None:
        pass

    async def research(self, question: Question, session: Session) -> Report:
        base = question.text
        answers = []
        for way in WAYS:
            try:
                answers.append(await self._asked(way, session))
            except ModelError as error:
                answers.append(str(error))
        calls = [
            *(("fetch_page", {"url": f"{base}/{page}"}) for page in PAGES),
            *(("web_search_tool", {"query": query}) for query in ("all", "refused")),
            *(("whisper", {"what": what}) for what in ("tell", "shout")),
        ]
        for name, arguments in calls:
            try:
                result = await session.call_tool(name, arguments)
                answers += [result.content, str(result.sources)]
            except ToolError as error:
                answers.append(str(error))
        answers.append(await self._asked(" ".join(answers), session))
        text = "\n".join(answers)
        return Report(text=text, raw_text=text, route="curious", extras={"heard": answers})

    async def _asked(self, way: str, session: Session) -> str:
        if way != "streamed":
            return (await session.models.complete("echo.writer", [Message(role="user", content=way)])).text
        stream = await session.openai("echo.writer").chat.completions.create(
            model=session.models.name("echo.writer"), messages=[{"role": "user", "content": way}], stream=True
        )
        return "".join([event.choices[0].delta.content or "" async for event in stream if event.choices])


class Careless(Curious):
    """Gives an answer even after any error."""

    async def research(self, question: Question, session: Session) -> Report:
        try:
            text = await self._asked(question.text, session)
        except Exception as error:
            text = f"never mind {type(error).__name__}"
        return Report(text=text, raw_text=text, route="careless")
