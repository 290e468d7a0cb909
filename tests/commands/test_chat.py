"""`aiq chat` on the real offline stack: piped, typed, interrupted, and continued by a second process."""

import io
import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from itertools import repeat
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from aiq.__main__ import main
from aiq.commands.chat import _talk
from aiq.core.samples import Question
from aiq.site.chat import LeftError, Terminal
from tests.agents.conftest import agent, on_bench
from tests.agents.replies import chat as scripted
from tests.cases import table
from tests.forked import Forked

each = table(__file__)
Captured = pytest.CaptureFixture[str]

pytestmark = pytest.mark.usefixtures("children_share_a_stack")

KEPT = ["checkpointer=sqlite", "--thread", "t", "agent.deep.max_loops=1", "agent.deep.max_researcher_calls=1"]
TIDES = "Write a report on tidal energy on the Morquist Coast: companies, founders and outlook."


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def say(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Make these lines, then the end, of standard input."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_a_conversation_shows_route_citations_and_cost(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    say(monkeypatch, "Hello!", "", "In which country is Drostewick?", "exit", "not read any more")
    assert main(["chat", "agent.enable_escalation=false"]) == 0
    output = capsys.readouterr()
    assert re.search(r"you> Hello!\n\nHello! I answer.*\n\nmeta · 1 model call, [\d,]+ tokens, \$0\.00 · ", output.out)
    assert re.search(r"\nshallow · citations verified: \d+ kept, \d+ removed · \d+ model calls, ", output.out)
    assert "## References" in output.out
    assert "not read any more" not in output.out
    assert output.out.endswith("left; nothing is kept (checkpointer=sqlite would keep it)\n")
    assert "· intent classifier" in output.err
    assert "· web_search_tool: " in output.err


def test_a_plan_is_shown_for_approval(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    say(monkeypatch, "Write a report on energy.", "no", "", "add a section on prices", "reject", "Hello!")
    assert main(["chat"]) == 0
    out = capsys.readouterr().out
    assert "answer (Enter skips)> no\n" in out
    assert out.count("**Research Plan Preview**") == 2
    assert "Prices" in out[out.rindex("**Research Plan Preview**") :]
    assert "The research plan was rejected; no research was done.\n\nrejected · " in out
    assert out.index("rejected · ") < out.index("meta · ")  # and the conversation goes on


@pytest.mark.parametrize("at", ["question", "plan"])
def test_exit_leaves_even_at_a_question(at: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    answers = ["exit"] if at == "question" else ["skip", "EXIT"]
    say(monkeypatch, "Write a report on energy.", *answers, "approve")
    assert main(["chat", "checkpointer=sqlite", "agent.deep.tools=[web_search_tool, fetch_page]"]) == 0
    output = capsys.readouterr()
    assert output.out.count("**Research Plan Preview**") == (at == "plan")
    assert "deep research" not in output.err
    assert re.search(
        r"left; continue with: aiq chat checkpointer=sqlite 'agent\.deep\.tools=\[web_search_tool, fetch_page\]'"
        r" --thread chat-\w+\n$",
        output.out,
    )


def test_any_agent_can_be_talked_with(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    Path("parrot.py").write_text(
        "from aiq.core.errors import AgentError\n"
        "from aiq.core.reports import Report\n"
        "from aiq.core.settings import Settings\n"
        "class Parrot:\n"
        "    Settings = Settings\n"
        "    def __init__(self, settings): pass\n"
        "    async def research(self, question, session):\n"
        "        if question.text == 'fail': raise AgentError('it failed')\n"
        "        name = await session.user.answer('Your name?') if question.text == 'ask' else '-'\n"
        "        said = [turn.text for turn in question.history]\n"
        "        text = f'{question.text} {name} {said} {question.thread_id}'\n"
        "        return Report(text=text, raw_text=text, route='parrot')\n"
    )
    Path("conf/agent").mkdir(parents=True)
    Path("conf/agent/parrot.yaml").write_text("# Repeats\ntarget: parrot:Parrot\n")
    say(monkeypatch, "hi", "fail", "ask", "Ada", "\x1b[2Jover")
    assert main(["chat", "agent=parrot", "--thread", "t"]) == 0
    output = capsys.readouterr()
    assert "\nhi - [] t\n\nparrot · citations no_sources: 0 kept, 0 removed · " in output.out
    assert "no model call through the session: nothing measured" in output.out
    assert "\nask Ada ['hi', 'hi - [] t'] t\n" in output.out
    assert "aiq: it failed\n" in output.err
    assert "\n[2Jover - " in output.out  # an answer cannot steer the terminal


async def test_a_turn_that_ended_without_an_answer_says_so(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    say(monkeypatch, "Who?", "")
    async with on_bench(scripted(shallow=" "), checkpointer=InMemorySaver()) as bench:
        with pytest.raises(LeftError):
            await _talk(
                agent(enable_escalation=False), Question(text="", thread_id="t"), Terminal(), repeat(bench.session)
            )
    err = capsys.readouterr().err
    assert "the shallow route gave no answer" in err
    assert err.endswith("continue where it broke off\n  · that turn is over, without an answer; ask again\n")


@each("given")
def test_a_mistake_is_one_line(given: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.delenv("AIQ_POSTGRES_DSN", raising=False)
    say(monkeypatch, "Hello!")
    assert main(["chat", *given]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


def piped(*lines: str, settings: Sequence[str] = (), seconds: float = 120) -> tuple[str, str]:
    """(stdout, stderr) of a separate process that continues the thread `t`, fed with these lines."""
    with Forked("aiq", "chat", *KEPT, *settings, stdin="".join(f"{line}\n" for line in lines)) as process:
        assert process.wait(seconds) == 0
        return process.out, process.err


Talk = Callable[..., tuple[str, str]]


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Talk:
    """Like `piped`, but in this process, which need not load everything again."""

    def converse(*lines: str, settings: Sequence[str] = ()) -> tuple[str, str]:
        say(monkeypatch, *lines)
        capsys.readouterr()
        assert main(["chat", *KEPT, *settings]) == 0
        output = capsys.readouterr()
        return output.out, output.err

    return converse


@pytest.mark.whole
def test_a_second_process_continues_at_a_waiting_plan() -> None:
    first, _ = piped("Hello!", TIDES)
    assert first.count("**Research Plan Preview**") == 1
    assert "\nleft; continue with: aiq chat checkpointer=sqlite " in first
    assert first.endswith(" --thread t\n")
    second, err = piped("approve", "In which country is Drostewick?")
    assert (
        second.index("**Research Plan Preview**") < second.index("plan> approve") < second.index("\ndeep · citations")
    )
    assert "\nshallow · citations verified: 1 kept, 0 removed" in second
    assert second.index("you> Hello!\n\nHello! I answer") < second.index(f"you> {TIDES}") < second.index("plan> ")
    assert "unregistered" not in err
    assert "Traceback" not in err


def kill_in(stage: str, *lines: str) -> None:
    """Feed a process with these lines, and `kill -9` it once it has entered the stage."""
    with Forked("aiq", "chat", *KEPT, stdin="".join(f"{line}\n" for line in lines)) as process:
        while stage not in process.err:
            assert process.returncode is None
            time.sleep(0.02)
        process.kill()


def test_research_killed_after_plan_approval_continues_without_asking_again(talk: Talk, capsys: Captured) -> None:
    kill_in("· deep research", TIDES, "looks good")
    assert main(["chat", "--list", "checkpointer=sqlite"]) == 0
    assert re.search(
        r"\nt +20\d\d-\S+ \S+ +1 +broke off in deep research +Write a report on tidal", capsys.readouterr().out
    )
    out, err = talk()
    assert f"you> {TIDES}\n" in out
    assert "· continues at deep research: the last turn stopped there; what was answered and approved holds" in err
    assert "Research Plan Preview" not in out
    assert "· intent classifier" not in err
    assert "\ndeep · citations " in out
    assert "continues at" not in talk()[1]  # once


def test_another_agents_conversation_is_listed_without_warnings(
    talk: Talk, capsys: Captured, caplog: pytest.LogCaptureFixture
) -> None:
    talk("In which country is Drostewick?")
    assert main(["chat", "--list", "checkpointer=sqlite", "agent=ai_q_shallow"]) == 0
    assert "In which country" in capsys.readouterr().out
    assert caplog.records == []


def test_a_single_agent_keeps_its_conversation_too(talk: Talk, capsys: Captured) -> None:
    overrides = ["agent=ai_q_shallow"]
    first, _ = talk("In which country is Drostewick?", settings=overrides)
    second, err = talk("exit", settings=overrides)
    assert "\nleft; continue with: " in first
    assert first[first.index("you> ") : first.index("\n\nshallow · ")] in second
    assert "· " not in err  # it was answered
    assert main(["chat", "--list", "checkpointer=sqlite", *overrides]) == 0
    assert re.search(r"\nt +20\d\d-\S+ \S+ +2 +In which country", capsys.readouterr().out)


def test_without_a_conversation_the_list_says_so(capsys: Captured) -> None:
    assert main(["chat", "--list", "checkpointer=sqlite"]) == 0
    assert "no conversations are stored here" in capsys.readouterr().out


def read_until(terminal: int, marker: str, seconds: float = 90) -> str:
    """What the terminal shows until the marker appears."""
    output, deadline = "", time.monotonic() + seconds
    while marker not in output:
        assert time.monotonic() < deadline, f"{marker!r} never came: {output}"
        if select.select([terminal], [], [], 0.5)[0]:
            try:
                output += os.read(terminal, 4096).decode(errors="replace")
            except OSError:  # the other side is closed
                break
    return output


def test_ctrl_c_leaves_at_the_plan() -> None:
    controller, terminal = pty.openpty()
    with Forked("aiq", "chat", "checkpointer=sqlite", "--thread", "t", terminal=terminal) as process:
        os.close(terminal)
        read_until(controller, "you> ")
        os.write(controller, b"Write a report on tidal energy on the Morquist Coast: companies and founders.\n")
        read_until(controller, "plan> ")
        time.sleep(0.5)  # readline looks for signals once it waits for keys, a moment after it shows its prompt
        process.send_signal(signal.SIGINT)  # the terminal is not its controlling one
        output = read_until(controller, "--thread t")
        assert process.wait(timeout=30) == 130
    os.close(controller)
    assert "left; continue with: aiq chat checkpointer=sqlite --thread t" in output
    assert "Traceback" not in output
