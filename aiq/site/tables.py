"""Tables on the terminal: how cells are written, and the table at the end of a run."""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import product, zip_longest
from typing import Any, Final, NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from aiq.analysis.reliability import Figure, reliabilities
from aiq.core.base import grouped
from aiq.core.errors import OUTAGES, discard_output
from aiq.core.text import plural, printable
from aiq.core.usage import Usage
from aiq.runs.folder import RunFolder
from aiq.runs.listing import ListedRun
from aiq.runs.manifest import Manifest
from aiq.runs.rows import ScoreRow
from aiq.runs.summary import Summary
from aiq.stats.estimates import Estimate
from aiq.stats.noise import RunNoise
from aiq.stats.significance import LEVEL

OFFLINE_NOTE = "Made with the offline model: these numbers test the harness, they do not measure an agent."
JUDGED_OFFLINE_NOTE = "Judged by the offline stack: these scores test the harness, they do not measure an agent."
NOT_MEASURED_NOTE = (
    "The agent made no model call through its session. Calls made elsewhere, by a client of its own or to write the "
    "reports of a file, are not counted, priced or limited."
)
REPLAYED_NOTE = "cassette={}: recorded answers were replayed, so times and waits are not those of the models."
NOTHING_SCORED = "nothing was scored: judge=[] names no judge"
NOISE_HEADINGS = (
    *("sd", "votes", "orders", "members", "first - swapped", "se of the mean", "of the variance", "judgements"),
)
METRIC_HEADINGS = ("metric", "mean", "95 % interval", "n", "estimator")
SPEND_HEADINGS = ("account", "calls", "input tokens", "output tokens", "cost")
LEFT_OUT_HEADINGS = ("attempts without a judgement", "failed", "unjudged", "not\napplicable", "bounds of\nthe mean")
_WIDEST: Final = 1000
_GAP: Final = 2  # blanks between columns
_NARROWEST: Final = 24  # cells of a column of text


class Output(Console):
    """Prints no control characters from outside. If nobody reads the output any more (`aiq compare ... | head`), the
    command goes on in silence, to its own exit code."""

    def render(self, *given: Any, **options: Any) -> Iterator[Segment]:
        for segment in super().render(*given, **options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))

    def on_broken_pipe(self) -> None:
        self.quiet = True
        discard_output()


def show(*contents: RenderableType) -> None:
    """Print within a terminal's width; into a file or a pipe as wide as the contents are.

    Breaking a plain string is left to the terminal, so that a path in it can be copied.
    """
    console = Output(markup=False, highlight=False)  # nothing in brackets is markup: it may be a sample's
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDEST
    for content in contents:
        console.print(content, soft_wrap=isinstance(content, str))


class Sheet(NamedTuple):
    """A table without lines, its first `left` columns flush left. One that is too wide is rearranged, never cut.

    If the last column is also text, its cells are first wrapped. If that is not enough, rows become columns if they
    all fit, else columns become blocks below one another, each with the first column in front.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str = ""
    left: int = 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        if self.title:
            yield Text(self.title, "italic")
        rows = [[item if isinstance(item, Text) else Text(printable(cell(item))) for item in row] for row in self.rows]
        table, room = [[Text(heading) for heading in self.headings], *rows], options.max_width
        spare = room - sum(width + _GAP for width in _widths(table)[:-1])
        if self.left == len(self.headings) and spare >= _NARROWEST:
            for row in table:
                row[-1] = Text("\n").join(row[-1].wrap(console, spare, overflow="fold"))
        transposed = [*zip(*table, strict=True)]
        if len(_lines(table, room)) == 1:
            yield from _aligned(table, self.left, room, console)
        elif len(rows) < len(transposed) and len(_lines(transposed, room)) == 1:
            yield from _aligned(transposed, len(table), room, console)
        else:
            (first,) = _widths([row[:1] for row in table])
            for number, places in enumerate(_lines([row[1:] for row in table], room - first - _GAP, 0)):
                yield from [Text()] if number else []
                block = [[row[0], *(row[place + 1] for place in places)] for row in table]
                yield from _aligned(block, 1 + sum(place + 1 < self.left for place in places), room, console)


def _widths(rows: Sequence[Sequence[Text]]) -> list[int]:
    """The width of each column, in cells of the terminal."""
    columns = zip(*rows, strict=True)
    return [max(line.cell_len for text in column for line in text.split(allow_blank=True)) for column in columns]


def _lines(rows: Sequence[Sequence[Text]], room: int, indent: int = _GAP) -> list[list[int]]:
    """The columns, by number, in as few lines as possible; `indent`: of all lines but the first."""
    lines: list[list[int]] = [[]]
    used = -_GAP
    for place, width in enumerate(_widths(rows)):
        used += _GAP + width
        if used > room and lines[-1]:
            lines.append([])
            used = indent + width
        lines[-1].append(place)
    return lines


def _aligned(rows: Sequence[Sequence[Text]], left: int, room: int, console: Console) -> Iterator[Text]:
    """The rows in aligned columns, the first `left` flush left; the first row is bold."""
    widths, lines = _widths(rows), _lines(rows, room)
    for (number, row), (line, places) in product(enumerate(rows), enumerate(lines)):
        indent = _GAP if line else 0
        limits = [min(widths[place], room - indent) for place in places]
        cells = [row[place].wrap(console, limit, overflow="fold") for place, limit in zip(places, limits, strict=True)]
        for parts in zip_longest(*cells):
            output = Text(" " * indent, "" if number else "bold", no_wrap=True)
            for place, limit, part in zip(places, limits, parts, strict=True):
                text = part.copy() if part else Text()
                text.align("left" if place < left or limit < widths[place] else "right", limit)
                output.append_text(text).append(" " * _GAP)
            output.rstrip()
            yield output


def cell(value: object) -> str:
    """The value as text, `-` for None."""
    return "-" if value is None else number(value) if isinstance(value, float) else str(value)


def number(value: float) -> str:
    """Three decimals below 100, one above."""
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"


def interval(figure: Estimate | Figure | None) -> str:
    return "-" if figure is None or figure.ci95 is None else f"{number(figure.ci95[0])} to {number(figure.ci95[1])}"


def star(p: float | None) -> str:
    """The mark after a figure whose corrected p-value is significant."""
    return "*" if p is not None and p < LEVEL else ""


def percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.0f} %"


def p_value(p: float | None) -> str:
    return "-" if p is None else f"{p:.3f}" if p >= 0.001 else "<0.001"


def dollars(spent: Usage | ListedRun) -> str:
    """A cost; if the endpoint did not report the usage of some calls, a lower bound, and how many calls."""
    cost, unreported = spent.cost_usd, spent.unreported_calls
    note = f"no usage reported for {plural(unreported, 'call')}" if unreported else ""
    if cost is None:
        return f"cost unknown (no price{', ' if note else ''}{note})"
    return f"at least ${money(cost)} ({note})" if note else f"${money(cost)}"


def money(cost: float) -> str:
    """US dollars with cents; below ten cents with four decimals, or as many as two digits need."""
    decimals = max(4, 1 - math.floor(math.log10(cost))) if 0 < cost < 0.1 else 2
    return f"{cost:,.{decimals}f}"


def spend_line(used: Usage) -> str:
    """An attempt's calls, tokens and cost."""
    if not used.calls:
        return "no model call through the session: nothing measured"
    return f"{plural(used.calls, 'model call')}, {used.total_tokens:,} tokens, {dollars(used)}"


def replay_note(manifest: Manifest) -> Iterator[str]:
    """A line for a run whose answers come from a recording, in whole or in part."""
    if manifest.cassette_mode in ("replay", "auto", "refresh"):
        yield REPLAYED_NOTE.format(manifest.cassette_mode)


def notes(summary: Summary) -> Iterator[str]:
    """What a reader of the numbers must know about the models and the web behind them."""
    agent = summary.usage.get("agent")
    if agent is not None and not agent.total.calls and summary.statuses.keys() - {"cancelled"}:
        yield NOT_MEASURED_NOTE
    accounts = [name for name, usage in summary.usage.items() if usage.roles.keys() - {*summary.elsewhere}]
    if summary.offline and accounts:
        yield OFFLINE_NOTE if "agent" in accounts else JUDGED_OFFLINE_NOTE
    if summary.denied:
        denied = plural(summary.denied, "page or search result", "pages or search results")
        yield f"web.deny kept {denied} from agents."
    for tool, outcomes in summary.tools.items():
        outages = {kind: calls for kind, calls in sorted(outcomes.items()) if kind in OUTAGES}
        if outages:
            kinds = ", ".join(f"{kind} {calls}" for kind, calls in outages.items())
            example = f"; the first: {summary.outages[tool]}" if tool in summary.outages else "."
            calls = plural(sum(outcomes.values()), "call")
            yield f"{tool} failed in {sum(outages.values())} of {calls} ({kinds}){example}"


def notes_of(runs: Mapping[str, Summary]) -> Iterator[str]:
    """The `notes` of runs by label, each once and naming its runs unless it is of all; and whose costs are bounds."""
    groups = grouped((note, label) for label, summary in runs.items() for note in (*_bounded(summary), *notes(summary)))
    for note, labels in groups.items():
        yield note if len(labels) == len(runs) else f"{', '.join(labels)}: {note}"


def _bounded(summary: Summary) -> Iterator[str]:
    unreported = summary.usage["agent"].total.unreported_calls if "agent" in summary.usage else 0
    if unreported:
        yield f"no usage reported for {plural(unreported, 'call')}: cost and tokens of the agent are lower bounds"


def rounded(value: Any) -> Any:
    """JSON for reading: numbers to three decimals, small ones to three digits."""
    if isinstance(value, float):
        return round(value, 3) if abs(value) >= 0.001 else float(f"{value:.3g}")
    if isinstance(value, Mapping):
        return {name: rounded(item) for name, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value


def score_value(score: ScoreRow) -> str:
    """A score, or its status if it has no value."""
    if score.numerator is not None and score.denominator is not None:
        return f"{rounded(score.numerator):.10g} of {rounded(score.denominator):.10g}"
    return f"{rounded(score.value):.10g}" if score.value is not None else score.status


def citations(counts: Mapping[str, int]) -> str:
    """How many reports have which citation status."""
    return ", ".join(f"{count} {status}" for status, count in counts.items())


def noise_cells(noise: RunNoise) -> list[str]:
    """The cells below NOISE_HEADINGS."""
    figures = (noise.sd, noise.votes, noise.orders, noise.members, noise.order_gap, noise.standard_error, noise.share)
    return list(map(cell, (*figures, noise.judgements)))


def print_summary(summary: Summary, folder: RunFolder) -> None:
    """Print metrics, failures, spend, and where everything is."""
    reliability, problem = reliabilities(folder, summary.metrics)
    parts: list[Sheet | Text] = [_metrics(summary, reliability)]
    manifest = folder.read_manifest()
    if not manifest.hashes.judges:
        parts.append(Text(NOTHING_SCORED, style="yellow"))
    if problem is not None:
        parts.append(Text(f"the judges' reliability is unknown: {problem}", style="red"))
    if summary.unavailable:
        parts.append(Text("\n".join(missing_metrics(summary)), style="dim"))
    if summary.left_out:
        parts.append(Sheet(LEFT_OUT_HEADINGS, left_out_rows(summary)))
    if summary.judge_noise:
        rows = [(name, *noise_cells(noise)) for name, noise in summary.judge_noise.items()]
        parts.append(Sheet(("judge noise", *NOISE_HEADINGS), rows))
    parts += [_attempts(summary), Sheet(SPEND_HEADINGS, spend_rows(summary))]
    parts += [Text(note, style="yellow") for note in (*notes(summary), *replay_note(manifest))]
    paths = [str(path) for path in (folder.path, folder.page_path) if path.exists()]
    show(*parts, "written to " + "\n           ".join(paths))


def missing_metrics(summary: Summary) -> Iterator[str]:
    """A line for each reason why metrics have no number; `race.*` means all metrics of a judge."""
    declared = [name.partition(".")[0] for name in (*summary.metrics, *summary.unavailable)]
    for why, names in grouped((why, name) for name, why in summary.unavailable.items()).items():
        judges = [name.partition(".")[0] for name in names]
        complete = {judge for judge in judges if judges.count(judge) == declared.count(judge) > 1}
        labels = [f"{judge}.*" if judge in complete else name for judge, name in zip(judges, names, strict=True)]
        yield f"no {', '.join(dict.fromkeys(labels))}: {why}"


def _metrics(summary: Summary, reliability: Mapping[str, str]) -> Sheet:
    headings, rows = list(METRIC_HEADINGS), [list(row) for row in metric_rows(summary.metrics)]
    if reliability:
        headings.append("judge\nreliability")
        for row in rows:
            row.append(reliability[str(row[0])])
    failures = summary.agent_failures
    if failures.failed and failures.metrics:
        rule = "excluded" if failures.alternative == "exclude" else "as worst"
        headings.append(f"failures\n{rule}")
        for row in rows:
            estimate = failures.metrics.get(str(row[0]))
            row.append(estimate.mean if estimate else "")
    return Sheet(headings, rows, f"{summary.experiment}  {summary.run_id}")


def metric_rows(metrics: Mapping[str, Estimate]) -> list[tuple[object, ...]]:
    """The cells below METRIC_HEADINGS."""
    return [(name, e.mean, interval(e), e.n, e.estimator) for name, e in metrics.items()]


def left_out_rows(summary: Summary) -> list[tuple[object, ...]]:
    """How many attempts each mean lacks, and the bounds within which it would lie if all had been judged."""
    return [
        (name, lost.failed, lost.unjudged, lost.not_applicable, lost.bounds and " to ".join(map(number, lost.bounds)))
        for name, lost in summary.left_out.items()
    ]


def attempts_line(summary: Summary) -> str:
    statuses = ", ".join(f"{count} {status}" for status, count in summary.statuses.items()) or "none"
    return f"{plural(summary.n_samples, 'sample')}, {plural(summary.n_attempts, 'attempt')}: {statuses}"


def _attempts(summary: Summary) -> Text:
    """How the attempts ended, and what the judges failed on."""
    text = Text(attempts_line(summary), style="" if set(summary.statuses) <= {"completed"} else "red")
    if summary.partial:
        text.append(f"\ncut off, and judged by what there was: {summary.partial} of {summary.statuses['limit']} limit")
    if summary.citation_statuses:
        text.append(f"\ncitations of reports: {citations(summary.citation_statuses)}", style="")
    if len(summary.routes) > 1:
        text.append("\nroutes: " + ", ".join(f"{route.n} {name}" for name, route in summary.routes.items()), style="")
    for message, count in summary.failures.items():
        text.append(f"\n{plural(count, 'attempt')}: {message}", style="red")
    for line in judge_failures(summary):
        text.append(f"\n{line}", style="red")
    for judge, caveat in summary.judge_caveats.items():
        text.append(f"\njudge {judge}: {caveat}", style="red" if caveat.retry else "yellow")
    return text


def judge_failures(summary: Summary) -> Iterator[str]:
    """A line for each judge that failed on reports, followed by one for each cause if there are several."""
    for judge, errors in summary.judge_errors.items():
        if len(errors.causes) == 1:
            yield f"judge {judge} failed on {errors.n}: {next(iter(errors.causes))}"
            continue
        yield f"judge {judge} failed on {errors.n}:"
        yield from (f"  {plural(count, 'report')}: {message}" for message, count in errors.causes.items())


def spend_rows(summary: Summary) -> list[tuple[str, ...]]:
    """The cells below SPEND_HEADINGS: agents, judges, and both."""
    accounts = {account: usage.total for account, usage in summary.usage.items()} | {"total": summary.spent}
    return [
        (name, f"{use.calls:,}", f"{use.input_tokens:,}", f"{use.output_tokens:,}", dollars(use).removeprefix("cost "))
        for name, use in accounts.items()
    ]
