"""A function as an agent: what it is called with, how its answer is used, and which functions are refused."""

import threading
from functools import partial

import pytest

from aiq.agents.external.python import PythonAgent, PythonSettings
from aiq.core.errors import AgentError, ConfigError
from aiq.core.reports import Report
from aiq.core.samples import Question
from aiq.core.session import Session
from aiq.core.sources import Source
from tests.sessions import make_session

FOUND, MADE_UP = "https://a.example/found", "https://b.example/made-up"
CITES = f"Kelso has 12 bridges [1] and a ferry [2].\n\n## References\n[1] {FOUND}\n[2] {MADE_UP}"


def plain(text: str) -> str:
    return f"{text} in {threading.current_thread() is threading.main_thread()}"


async def of_question(question: Question) -> str:
    return f"{question.language}: {question.text}"


async def of_question_by_name(asked: "Question", words: int = 2) -> str:
    return " ".join([asked.text] * words)


async def researched(text: str, session: Session) -> str:
    session.sources.add(Source(url=FOUND, text="12 bridges"), (0, 0))
    return CITES


async def unresearched(text: str) -> str:
    return CITES


async def report(text: str, *, session: Session) -> Report:
    return Report(text=CITES, raw_text="raw", route=f"mine of {session.key.sample_id}")


class Callable:
    async def __call__(self, text: str) -> str:
        return text.upper()


called = Callable()
lent = partial(of_question_by_name, words=3)


def number(text: str) -> int:
    return 5


def blank(text: str) -> str:
    return " \n"


def sync(text: str, session: Session) -> str:
    return text


def nothing() -> str:
    return ""


def demanding(text: str, model: str) -> str:
    return text


text = "no function"


async def ask(name: str) -> Report:
    agent = PythonAgent(PythonSettings(function=f"{__name__}:{name}"))
    return await agent.research(Question(text="Which?", language="en"), make_session())


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("plain", "Which? in False"),  # in a thread, so that nobody waits for it
        ("of_question", "en: Which?"),
        ("of_question_by_name", "Which? Which?"),
        ("lent", "Which? Which? Which?"),
        ("called", "WHICH?"),
    ],
)
async def test_any_callable_gets_the_question(name: str, answer: str) -> None:
    result = await ask(name)
    assert result == Report(text=answer, raw_text=answer, route="python", citation_status="unverified")


async def test_only_reports_written_with_the_session_are_verified() -> None:
    verified = await ask("researched")
    assert MADE_UP not in verified.text
    assert (verified.raw_text, verified.citation_status) == (CITES, "partial")
    assert verified.audit is not None
    assert [citation.target for citation in verified.audit.removed_citations] == [MADE_UP]
    assert ((await ask("unresearched")).text, (await ask("unresearched")).audit) == (CITES, None)
    assert await ask("report") == Report(text=CITES, raw_text="raw", route="mine of s1")


@pytest.mark.parametrize(("name", "said"), [("number", "returned int; return text or a Report"), ("blank", "empty")])
async def test_anything_but_a_report_fails(name: str, said: str) -> None:
    with pytest.raises(AgentError, match=said):
        await ask(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing", "cannot be called with a question .*: too many positional arguments"),
        ("demanding", "cannot be called with a question .*: missing a required argument: 'model'"),
        ("text", "is not a function but str"),
        ("sync", "takes the session, so it must be `async def`"),
        ("Callable", r"is a class; write conf/agent/NAME\.yaml"),
        ("absent", "has no 'absent'"),
    ],
)
async def test_an_unusable_function_is_reported_before_the_run(name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=rf"^agent\.function.*{said}"):
        await ask(name)
