"""One attempt as a person reads it: its events in order, shortened, then report, sources, audit and scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, groupby
from textwrap import indent
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from aiq.core.reports import Audit
from aiq.core.samples import Sample
from aiq.core.text import printable
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.site.tables import rounded, score_value, spend_line
from aiq.site.timeline import content

_MAX_CHARS: Final = 60  # characters of a value shown beside others
_GOLD: Final = {
    "answers": "accepted answers",
    "reference": "reference report",
    "rubric": "criteria",
    "truth": "known to be true",
    "preferences": "what the user wants",
}
"""What reports are compared with, by field of the sample."""

Shorten = Callable[[str], str]
EventData = dict[str, Any]
"""An event as in its JSON line: files of earlier versions may lack newer fields."""
Line = tuple[str, str, str]
"""A heading, its style, and the text below it."""


def shortener(most: int | None) -> Shorten:
    """A function that cuts the middle out of texts over `most` characters and says how much is gone; None cuts none."""

    def shorten(text: str) -> str:
        text = text.strip()
        if most is None or len(text) <= most:
            return text
        head, tail = text[: most * 2 // 3], text[-most // 3 :]
        return f"{head} [... {len(text) - len(head) - len(tail):,} characters ...] {tail}"

    return shorten


def transcript(
    row: SampleRow, events: Iterable[EventData], scores: list[ScoreRow], sample: Sample | None, short: Shorten
) -> RenderableType:
    """Everything about one attempt, top to bottom; `sample` has what its report is compared with."""
    parts = (_citations(row), _scores(scores, short))
    return Group(*_head(row, short), render_events(events, short), *_report(row), *_gold(sample, short), *chain(*parts))


def outline(value: Any) -> str:
    """JSON for reading: short values on one line, longer ones below their names, empty ones left out."""
    if isinstance(value, Mapping):
        texts = {name: text for name, item in value.items() if (text := outline(item))}
        inside = {
            name: f" ({text})" if isinstance(value[name], Mapping) else f": {text}" for name, text in texts.items()
        }
        line = ", ".join(f"{name}{inside[name]}" for name, text in texts.items() if _is_short(text))
        blocks = [f"{name}:\n{indent(text, '  ')}" for name, text in texts.items() if not _is_short(text)]
        return "\n".join(filter(None, (line, *blocks)))
    if isinstance(value, list | tuple):
        items = [text for item in value if (text := outline(item))]
        if not any(isinstance(item, Mapping) for item in value) and all(map(_is_short, items)):
            return "; ".join(items)
        return "\n".join(f"- {indent(text, '  ')[2:]}" for text in items)
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    return f"{rounded(value):.10g}" if isinstance(value, float) else str(value).strip()


def _is_short(text: str) -> bool:
    return len(text) <= _MAX_CHARS and "\n" not in text and not text.startswith("- ")


def render_events(events: Iterable[EventData], short: Shorten) -> RenderableType:
    """Each event as a heading line with its contents indented below."""
    parts = []
    for event in events:
        indent = 2 if event.get("parent_id") else 0
        for heading, style, body in _lines(event, short):
            parts.append(_indented(heading, indent, style))
            if body:
                parts.append(_indented(body, indent + 4))
    return Group(*parts)


def _indented(text: str, columns: int, style: str = "") -> RenderableType:
    """Each line indented by so many more columns, also where it wraps."""
    lines = [(line, len(line) - len(line.lstrip(" "))) for line in printable(text).split("\n")]
    return Group(*(Padding(Text(line[pad:], style), (0, 0, 0, columns + pad), expand=False) for line, pad in lines))


def _head(row: SampleRow, short: Shorten) -> Iterator[RenderableType]:
    for number, turn in enumerate(row.turns, start=1):
        yield Panel(Text(printable(turn.question)), title=f"turn {number}", subtitle=turn.route)
        yield _indented(short(turn.report), 4)
    status = f"{row.status}{', ' + row.route if row.route else ''}, {row.timing.seconds:.1f} s, attempt {row.attempt}"
    yield Panel(Text(printable(row.question)), title=escape(f"{row.sample_id}, epoch {row.epoch}"), subtitle=status)
    yield Text(spend_line(row.spent), style="dim")
    if row.error:
        yield Text(printable(str(row.error)), style="red")


_PLAIN: Mapping[str, tuple[str, str, str]] = {
    "run_finished": ("> {status}", "bold", "error"),
    "stage_changed": ("\n== {stage}", "bold magenta", "detail"),
    "agent_started": ("\n-- agent {agent} begins", "magenta", "task"),
    "agent_finished": ("\n-- agent {agent} ends", "magenta", "output"),
    "tool_called": ("\ntool {tool}", "bold yellow", "arguments"),
    "approval": ("\n* {kind} put to the user, who says: {answer}", "bold", "prompt"),
    "recovery": ("\n* recovered: {what}", "bold", "detail"),
}
"""By type of event: the heading, its style, and the field that is shown below it."""


def _lines(event: EventData, short: Shorten) -> Iterator[Line]:
    """The lines of one event; none for a type that no reader needs."""
    match event.get("type"):
        case str(kind) if kind in _PLAIN:
            heading, style, body = _PLAIN[kind]
            yield heading.format_map(event), style, _body(event.get(body), short)
        case "run_started":
            judge = str(event["question"]).startswith("judge ")
            yield f"\n> {event['question'] if judge else 'started'}", "bold", ""
        case "model_called":
            yield from _model_called(event, short)
        case "tool_returned":
            verb, style = ("gave", "yellow") if event["success"] else (f"failed ({event.get('error')})", "red")
            yield f"  {event['tool']} {verb}:", style, _body(event.get("traceback") or event.get("content"), short)
        case "decision":
            cause = f" because {event['cause']}" if event.get("cause") else ""
            yield (
                f"\n* decision {event['name']}: {outline(event['value'])}{cause}",
                "bold",
                _body(event.get("detail"), short),
            )
        case "round":
            gaps = "; ".join(event.get("gaps") or ()) or "none"
            result = f"new sources: {len(event['new_sources'])}\ngaps: {gaps}"
            yield f"\n* round {event['number']}", "bold", f"queries: {'; '.join(event['queries'])}\n{result}"


def _model_called(event: EventData, short: Shorten) -> Iterator[Line]:
    usage = event.get("usage")
    tokens = f", {usage.get('input_tokens', 0):,} in, {usage.get('output_tokens', 0):,} out" if usage else ""
    tokens = ", usage not reported" if usage and usage.get("unreported_calls") else tokens
    resend = f", send {event['attempt'] + 1}" if event.get("attempt") else ""
    yield f"\nmodel {event['role']} ({event['model']}, {event['latency_ms']:.0f} ms{tokens}{resend})", "bold cyan", ""
    messages = event.get("messages") or []
    start = max((index + 1 for index, message in enumerate(messages) if message.get("role") == "assistant"), default=0)
    for message in messages[start:]:  # earlier messages were in earlier calls
        if message.get("role") != "tool":  # tool results have lines of their own
            yield f"  {message.get('role')}:", "cyan", short(content(message, "({})".format))
    if event.get("error"):
        status = f"HTTP {event['status']}" if event.get("status") else "no answer"
        yield f"  error ({status}):", "red", short(event["error"])
    if reply := event.get("reply"):
        yield "  reply:", "green", short(content(reply, "({})".format))


def _body(value: Any, short: Shorten) -> str:
    return short(outline(value)) if value else ""


def _report(row: SampleRow) -> Iterator[RenderableType]:
    if row.report is not None:
        status = f"citations: {row.citation_status}" if row.citation_status else None
        title = "report, cut off" if row.partial else "report"
        yield Panel(
            Text(printable(row.report)), title=title, subtitle=status, border_style="yellow" if row.partial else "green"
        )


def _gold(sample: Sample | None, short: Shorten) -> Iterator[RenderableType]:
    fields = sample.model_dump(include=set(_GOLD), exclude_defaults=True) if sample else {}
    for name, value in fields.items():
        yield Text(f"\n{_GOLD[name]}", style="bold")
        yield _indented(_body(value, short), 4)


def _citations(row: SampleRow) -> Iterator[RenderableType]:
    """Each citation with what the audit says about it, then the sources that are not cited."""
    audit, sources = row.audit or Audit(), {source.address: source for source in row.retrieved}
    lines = []
    for valid in audit.valid_citations:
        title = sources[valid.source].title if valid.source in sources else ""
        lines.append((f"[{valid.number}] valid, {valid.level}  {title}  {valid.source}", "green"))
    for removed in audit.removed_citations:
        number = "" if removed.number is None else f"[{removed.number}] "
        lines.append((f"{number}removed, {removed.reason}  {removed.target}", "red"))
    lines += [(f"[{number}] in no list of references", "red") for number in audit.dangling]
    cited = {valid.source for valid in audit.valid_citations}
    uncited = [(f"{source.title}  {address}", "dim") for address, source in sources.items() if address not in cited]
    for heading, entries in (("citations", lines), ("sources that are not cited", uncited)):
        if entries:
            yield Text(f"\n{heading} ({len(entries)})", style="bold")
            yield from (_indented(text, 4, style) for text, style in entries)


def _scores(scores: list[ScoreRow], short: Shorten) -> Iterator[RenderableType]:
    if scores:
        yield Text("\nscores", style="bold")
    for _, group in groupby(scores, lambda score: (score_value(score), score.why or score.metric, score.detail)):
        first, *others = group
        metrics = ", ".join(score.metric for score in (first, *others))
        style = "red" if first.status in ("error", "agent_failed") else ""
        yield _indented(f"{metrics}: {score_value(first)}  {first.why or ''}", 4, style)
        if first.detail:
            yield _indented(_body(first.detail, short), 8, "dim")
