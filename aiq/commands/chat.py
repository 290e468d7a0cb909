"""Talk to an agent: it asks back, shows its plan, researches, and answers with checked citations.

aiq chat                                          AI-Q on the offline stack
aiq chat llm=openai llm.model=MODEL search=tavily web=live
aiq chat agent=ai_q_deep                          any agent, with its settings as for `aiq run`
aiq chat checkpointer=sqlite --thread rivers      shows the conversation `rivers` and continues where it stopped,
                                                  even at a plan awaiting approval or in interrupted research
aiq chat checkpointer=sqlite --list               the saved conversations

Lines may come from a pipe. `exit`, Ctrl-D and Ctrl-C leave.
"""

import asyncio
import logging
import shlex
import sys
import time
import uuid
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import count

from aiq.agents.base import Agent, Checked, Resumable
from aiq.commands import add_overrides
from aiq.core.errors import AiqError, ConfigError, UserError, say
from aiq.core.events import EventLog
from aiq.core.reports import Audit, Report
from aiq.core.run_settings import RunSettings
from aiq.core.samples import Question, SampleKey
from aiq.core.session import Session
from aiq.core.text import printable
from aiq.core.usage import UsageLedger
from aiq.site.chat import LeftError, Terminal, show_progress, show_thread, show_threads

_DEFAULTS = ("experiment=full_freshqa", "agent=ai_q_chat", "name=chat")
"""Used if no experiment is chosen: AI-Q on the closed world, at the world's time."""

_RUN_SETTINGS = (
    *("dataset", "epochs", "limit", "judge", "judge_reliability", "name", "output_dir"),
    *("runner", "cassette", "telemetry"),
)
_UNUSED_SETTINGS = {
    **dict.fromkeys(_RUN_SETTINGS, "a conversation is not a run: it has no samples, judges or folder"),
    "resume": "to continue a conversation use --thread NAME (and a checkpointer that keeps it)",
    "thread": "to name a conversation use --thread NAME",
    "user": "in `aiq chat` the user is whoever types",
}
"""Settings of a run that have no effect in a conversation, and why."""


def add_arguments(parser: ArgumentParser) -> None:
    add_overrides(parser, "[--thread NAME | --list] SETTING=VALUE ...")
    parser.add_argument("--thread", metavar="NAME", help="the conversation's name (default: a new one)")
    parser.add_argument("--list", action="store_true", help="list the conversations that the checkpointer keeps")


def run(args: Namespace) -> int:
    from aiq.experiment.compose import settings_from
    from aiq.experiment.live import live_config
    from aiq.experiment.runner import EXIT_CODE

    if args.thread is not None and not args.thread.strip():
        raise ConfigError("--thread: a conversation's name cannot be blank; leave it out for a new one")
    settings = settings_from(live_config(args.overrides, _DEFAULTS, _UNUSED_SETTINGS)[1])
    kept = settings.checkpointer.kind != "memory"
    logging.getLogger("langgraph").setLevel(logging.ERROR)  # it warns about what other agents keep in a thread
    if args.list:
        if not kept:
            raise ConfigError(
                "--list: checkpointer=memory keeps nothing; add checkpointer=sqlite, or the checkpointer you chat with"
            )
        asyncio.run(_list(settings))
        return 0
    thread = args.thread or f"chat-{uuid.uuid4().hex[:8]}"
    resume = shlex.join(["aiq", "chat", *args.overrides, "--thread", thread])
    code = 0
    try:
        asyncio.run(_converse(settings, thread))
    except KeyboardInterrupt:
        code = EXIT_CODE
    print(f"\nleft; continue with: {resume}" if kept else "\nleft; nothing is kept (checkpointer=sqlite would keep it)")
    return code


async def _list(settings: RunSettings) -> None:
    from aiq.experiment.resources import open_checkpointer

    threads = _as_resumable(settings.agent.make("agent")[0], Question(text="")).threads
    async with open_checkpointer(settings.checkpointer) as checkpointer:
        show_threads(await threads.all(checkpointer) if threads else ())


def _as_resumable(agent: Agent, blank: Question) -> Resumable:
    """The agent, wrapped to keep conversations if it does not do so by itself."""
    from aiq.agents.toolkit.conversation import ConversationMemory

    return agent if isinstance(agent, Resumable) and agent.threads else ConversationMemory(agent.research, blank)


async def _converse(settings: RunSettings, thread: str) -> None:
    from aiq.experiment.plan import blank_question
    from aiq.experiment.resources import is_offline_model, open_resources

    blank = blank_question(settings.knowledge, thread)
    agent, _ = settings.agent.make("agent")
    resumable = _as_resumable(agent, blank)
    terminal, spend = Terminal(), UsageLedger()

    def session(turn: int) -> Session:
        return resources.session(
            settings,
            key=SampleKey(f"{thread}.{turn}", 1),
            user=terminal,
            events=EventLog(show_progress),
            collection_name=blank.collection_name,
            spend=spend,
        )

    async with open_resources(settings) as resources:
        if isinstance(agent, Checked):
            agent.check(resources.tools)
        model = "the offline model" if is_offline_model(settings) else settings.llm.model
        print(f"thread {thread}, {model} (exit leaves)\n", flush=True)
        if resumable.threads:
            show_thread(await resumable.threads.find(thread, resources.checkpointer))
        with suppress(LeftError):
            await _talk(resumable, blank, terminal, map(session, count(1)))


async def _talk(agent: Resumable, blank: Question, terminal: Terminal, sessions: Iterator[Session]) -> None:
    """Resume what the thread waits for, then converse line by line until the user leaves. Raises LeftError.

    Each turn has its own session; what it found stays with the thread. `blank`: a question without text, with the
    thread and the documents that all questions share.
    """
    resume = partial(agent.resume, str(blank.thread_id))
    failed = await _turn(resume, next(sessions))
    while True:
        if text := terminal.line("you> "):
            question = blank.model_copy(update={"text": text})
            failed = await _turn(partial(agent.research, question), next(sessions))
        elif failed:
            failed = await _turn(resume, next(sessions), "that turn is over, without an answer; ask again")


async def _turn(work: Callable[[Session], Awaitable[Report | None]], session: Session, notice: str = "") -> bool:
    """Let the agent work and show the result; whether an error ended the turn, which never ends the conversation.

    `notice`: the message if there was nothing to resume.
    """
    from aiq.experiment.attempt import boundary_error, finalise

    start = time.monotonic()
    try:
        with session.bind():
            report = await work(session)
            report, cut_reason = (None, None) if report is None else finalise(report, session)
    except Exception as raised:
        error = boundary_error(raised)
        if isinstance(error, UserError) or not isinstance(error, AiqError):
            raise error from None
        say(f"aiq: {error}")
        print("  · press Enter to continue where it broke off", file=sys.stderr, flush=True)
        return True
    if cut_reason:
        print(f"aiq: the answer is incomplete: {cut_reason}", file=sys.stderr, flush=True)
    if report is not None:
        print(f"\n{printable(report.text)}\n\n{_summary(report, session, time.monotonic() - start)}\n", flush=True)
    elif notice:
        print(f"  · {notice}", file=sys.stderr, flush=True)
    return False


def _summary(report: Report, session: Session, seconds: float) -> str:
    """How the answer came about: route, citations, spend, time."""
    from aiq.site.tables import spend_line

    parts = [report.route]
    if report.citation_status is not None:
        audit = report.audit or Audit()
        kept, removed = len(audit.valid_citations), len(audit.removed_citations)
        parts.append(f"citations {report.citation_status}: {kept} kept, {removed} removed")
    return " · ".join([*parts, spend_line(session.usage.total()), f"{seconds:.1f} s"])
