"""One attempt as a person reads it: its events in order, shortened, then report, sources, audit and scores."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from aiq.runs.rows import SampleRow, ScoreRow

Shorten = Callable[[str], str]
EventData = dict[str, Any]
"""An event as its JSON line has it: files of earlier versions may lack newer fields."""


def shortener(most: int | None) -> Shorten:
    """Cuts a text to about `most` characters in its middle, saying how much is gone; None leaves it whole."""

    def shorten(text: str) -> str:
        text = text.strip()
        if most is None or len(text) <= most:
            return text
        head, tail = text[: most * 2 // 3], text[-most // 3 :]
        return f"{head} [... {len(text) - len(head) - len(tail):,} characters ...] {tail}"

    return shorten


def transcript(row: SampleRow, events: Iterator[EventData], scores: list[ScoreRow], short: Shorten) -> RenderableType:
    """Everything about one attempt, top to bottom."""
    return Group(
        *_head(row),
        *(shown for event in events for shown in _event(event, short)),
        *_foot(row, scores, short),
    )


def judge_transcript(events: Iterator[EventData], short: Shorten) -> RenderableType:
    """What the judges asked and were told about one attempt."""
    return Group(*(shown for event in events for shown in _event(event, short)))


def _head(row: SampleRow) -> Iterator[RenderableType]:
    status = f"{row.status}{', ' + row.route if row.route else ''}, {row.timing.seconds:.1f} s, attempt {row.attempt}"
    yield Panel(Text(row.question), title=escape(f"{row.sample_id}, epoch {row.epoch}"), subtitle=status)
    if row.error:
        yield Text(f"{row.error.type}: {row.error.message}", style="red")


def _event(event: EventData, short: Shorten) -> Iterator[RenderableType]:
    """An event as a heading line and, indented below it, what was said."""
    show = _SHOWN.get(str(event.get("type")))
    if show is None:
        return
    indent = 2 if event.get("parent_id") else 0
    for heading, style, body in show(event, short):
        yield Padding(Text(heading, style=style), (0, 0, 0, indent))
        if body:
            yield Padding(Text(body), (0, 0, 0, indent + 4))


Line = tuple[str, str, str]


def _started(event: EventData, short: Shorten) -> Iterator[Line]:
    yield f"\n> {event['question']}" if str(event["question"]).startswith("judge ") else "\n> started", "bold", ""


def _finished(event: EventData, short: Shorten) -> Iterator[Line]:
    yield f"> {event['status']}", "bold", short(event.get("error") or "")


def _stage(event: EventData, short: Shorten) -> Iterator[Line]:
    yield f"\n== {event['stage']}", "bold magenta", _plain(event.get("detail"), short)


def _agent(event: EventData, short: Shorten) -> Iterator[Line]:
    word = "begins" if event["type"] == "agent_started" else "ends"
    yield f"\n-- agent {event['agent']} {word}", "magenta", short(str(event.get("task") or event.get("output") or ""))


def _model(event: EventData, short: Shorten) -> Iterator[Line]:
    usage = event.get("usage") or {}
    tokens = f", {usage.get('input_tokens', 0):,} in, {usage.get('output_tokens', 0):,} out" if usage else ""
    again = f", send {event['attempt'] + 1}" if event.get("attempt") else ""
    head = f"\nmodel {event['role']} ({event['model']}, {event['latency_ms']:.0f} ms{tokens}{again})"
    yield head, "bold cyan", ""
    messages = event.get("messages") or []
    for message in _asked(messages):
        yield f"  {message.get('role')}:", "cyan", short(_content(message))
    if event.get("error"):
        yield f"  error (HTTP {event.get('status')}):", "red", short(event["error"])
    reply = event.get("reply") or {}
    if reply:
        yield "  reply:", "green", short(_content(reply))


def _asked(messages: list[EventData]) -> list[EventData]:
    """The messages that are new in a call: all of the first, then those after the model's last reply.

    Results of tools are left out: they have lines of their own.
    """
    answered = [index for index, message in enumerate(messages) if message.get("role") == "assistant"]
    new = messages[answered[-1] + 1 :] if answered else messages
    return [message for message in new if message.get("role") != "tool"]


def _content(message: EventData) -> str:
    """A message's text, and the tools it calls."""
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    calls = [call.get("function") or {} for call in message.get("tool_calls") or []]
    return "\n".join([*([content] if content else []), *(f"-> {c.get('name')}({c.get('arguments')})" for c in calls)])


def _tool_called(event: EventData, short: Shorten) -> Iterator[Line]:
    yield f"\ntool {event['tool']}", "bold yellow", _plain(event.get("arguments"), short)


def _tool_returned(event: EventData, short: Shorten) -> Iterator[Line]:
    failed = not event["success"]
    heading = f"  {event['tool']} failed ({event.get('error')}):" if failed else f"  {event['tool']} gave:"
    yield heading, "red" if failed else "yellow", short(str(event.get("content") or ""))


def _decision(event: EventData, short: Shorten) -> Iterator[Line]:
    because = f" because {event['cause']}" if event.get("cause") else ""
    yield f"\n* decision {event['name']}: {event['value']}{because}", "bold", _plain(event.get("detail"), short)


def _round(event: EventData, short: Shorten) -> Iterator[Line]:
    gaps = "; ".join(event.get("gaps") or ()) or "none"
    body = f"queries: {'; '.join(event['queries'])}\nnew sources: {len(event['new_sources'])}\ngaps: {gaps}"
    yield f"\n* round {event['number']}", "bold", body


def _approval(event: EventData, short: Shorten) -> Iterator[Line]:
    yield f"\n* {event['kind']} put to the user, who says: {event['answer']}", "bold", short(event["prompt"])


def _recovery(event: EventData, short: Shorten) -> Iterator[Line]:
    yield f"\n* recovered: {event['what']}", "bold", short(event.get("detail") or "")


_SHOWN: dict[str, Callable[[EventData, Shorten], Iterator[Line]]] = {
    "run_started": _started,
    "run_finished": _finished,
    "stage_changed": _stage,
    "agent_started": _agent,
    "agent_finished": _agent,
    "model_called": _model,
    "tool_called": _tool_called,
    "tool_returned": _tool_returned,
    "decision": _decision,
    "round": _round,
    "approval": _approval,
    "recovery": _recovery,
}


def _plain(value: Any, short: Shorten) -> str:
    return short(json.dumps(value, ensure_ascii=False)) if value else ""


def _foot(row: SampleRow, scores: list[ScoreRow], short: Shorten) -> Iterator[RenderableType]:
    if row.report is not None:
        yield Panel(Text(row.report), title="report", border_style="green")
    if row.retrieved:
        yield Text(f"\nsources ({len(row.retrieved)})", style="bold")
        cited = {citation.source: citation for citation in row.audit.valid_citations} if row.audit else {}
        for source in row.retrieved:
            target = source.url or source.citation_key or ""
            mark = f"[{cited[target].number}] {cited[target].level}" if target in cited else "not cited"
            yield Padding(Text(f"{mark}  {source.title}  {target}"), (0, 0, 0, 4))
    for removed in row.audit.removed_citations if row.audit else ():
        yield Text(f"removed [{removed.number}] {removed.target}: {removed.reason}", style="red")
    if scores:
        yield Text("\nscores", style="bold")
    for score in scores:
        value = f"{score.numerator:g} of {score.denominator:g}" if score.numerator is not None else score.value
        note = score.error.message if score.error else score.reason or ""
        yield Padding(Text(f"{score.metric}: {score.status if value is None else value}  {note}"), (0, 0, 0, 4))
        if score.detail:
            yield Padding(Text(_plain(score.detail, short), style="dim"), (0, 0, 0, 8))
