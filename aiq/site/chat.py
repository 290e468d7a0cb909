"""The person at the terminal: reading lines, answering an agent's questions, reviewing plans, listing conversations."""

import contextlib
import sys
from collections.abc import Sequence
from textwrap import shorten
from typing import TYPE_CHECKING

from aiq.core.concurrency import interruptible
from aiq.core.events import Decision, Event, Round, StageChanged, ToolCalled
from aiq.core.text import plural, printable
from aiq.site.tables import Sheet, show

if TYPE_CHECKING:
    from aiq.agents.toolkit.conversation import Thread  # loads LangGraph

_EXIT_WORDS = frozenset({"exit", "quit", ":q"})
_MAX_CHARS = 200  # characters of a question in a list


class LeftError(Exception):
    """The person has left: by `exit`, Ctrl-D, or the end of a pipe."""


class Terminal:
    """A user who answers with lines from standard input, typed or from a pipe."""

    def __init__(self) -> None:
        self._is_tty = sys.stdin.isatty()
        if self._is_tty:
            with contextlib.suppress(ImportError):  # editing and history, if Python was built with it
                import readline  # noqa: F401
        elif hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(encoding="utf-8", errors="replace")

    def line(self, prompt: str) -> str:
        """The next line. Raises LeftError at the end of the input and on `exit`, KeyboardInterrupt on Ctrl-C.

        Nothing else runs meanwhile: the caller has nothing to do without the answer.
        """
        try:
            with interruptible():
                text = input(prompt if self._is_tty else "")
        except EOFError:
            raise LeftError from None
        if not self._is_tty:
            print(f"{prompt}{text}", flush=True)
        if text.strip().lower() in _EXIT_WORDS:
            raise LeftError
        return text.strip()

    async def answer(self, question: str) -> str:
        print(f"\n{printable(question)}\n", flush=True)
        return self.line("answer (Enter skips)> ")

    async def review(self, plan: str) -> str:
        print(f"\n{printable(plan)}\n", flush=True)
        while not (reply := self.line("plan> ")):
            continue
        return reply


def show_thread(thread: "Thread") -> None:
    """The conversation so far, as it was shown."""
    for turn in thread.turns:
        print(f"you> {printable(turn.text)}" if turn.speaker == "user" else f"\n{printable(turn.text)}\n", flush=True)


def show_threads(threads: "Sequence[Thread]") -> None:
    """A table with one line per thread: its name, when it changed, how long it is, what is open, how it began."""
    rows = []
    for thread in threads:
        changed = thread.changed[:16].replace("T", " ")
        opening = shorten(printable(thread.turns[0].text), _MAX_CHARS, placeholder="…") if thread.turns else ""
        rows.append((printable(thread.name), changed, len(thread.turns), _open_state(thread), opening))
    show(Sheet(("thread", "changed (UTC)", "messages", "open", "began with"), rows, left=5))
    print("\ncontinue with: aiq chat ... --thread NAME" if rows else "\nno conversations are stored here")


def _open_state(thread: "Thread") -> str:
    """What the last turn waits for."""
    if thread.asks:
        return f"a {thread.asks} is waiting for you"
    if thread.stage:
        return f"broke off in {thread.stage.replace('_', ' ')}"
    return "" if thread.unanswered is None else "not answered"


def show_progress(event: Event) -> None:
    """One line on standard error for what takes time."""
    match event:
        case StageChanged():
            text = event.stage.replace("_", " ")
        case Round():
            queries, sources = len(event.queries), len(event.new_sources)
            text = f"round {event.number}: {plural(queries, 'query', 'queries')}, {plural(sources, 'new source')}"
        case ToolCalled() if query := event.arguments.get("query"):
            text = f"{event.tool}: {query}"
        case Decision(name="resumed"):
            text = f"continues at {str(event.value).replace('_', ' ')}: {event.cause}"
        case Decision(name="escalation", value=True):
            text = f"continues with deep research ({event.cause})"
        case _:
            return
    print(f"  · {printable(text)}", file=sys.stderr, flush=True)
