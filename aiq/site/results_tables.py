"""The results of runs as Markdown and LaTeX: metrics with intervals and n, and what they cost."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from aiq.core.text import counted
from aiq.core.usage import Usage
from aiq.runs.frames import RunFrames
from aiq.runs.manifest import Manifest
from aiq.runs.summary import Summary
from aiq.site.analysis_tables import Sheet
from aiq.site.tables import cell, dollars, interval, judge_failures, missing_metrics, notes, replay_note

TextFormat = Literal["markdown", "latex"]

_LATEX: Final[Mapping[str, str]] = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
_MARKDOWN: Final = re.compile(r"([\\`*\[\]<>|#$~]|(?<!\w)_|_(?!\w))")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]+")
_MINUS: Final = re.compile(r"(?<![^\s(])-(?=\d)")


def results_text(frames: RunFrames, kind: TextFormat) -> str:
    """The tables of these runs, and below them what a reader of the numbers must know."""
    sheets = list(_sheets(frames))
    remarks = list(dict.fromkeys(_remarks(frames)))
    if kind == "markdown":
        blocks = [f"## {sheet.title}\n\n{_markdown(sheet)}" for sheet in sheets]
        return "\n\n".join([*blocks, *(_escaped(remark, kind) for remark in remarks)]) + "\n"
    head = "% \\usepackage{booktabs}\n"
    return head + "\n\n".join(_latex(sheet, () if place else remarks) for place, sheet in enumerate(sheets)) + "\n"


def _sheets(frames: RunFrames) -> Iterator[Sheet]:
    pairs = [*zip(frames.manifests, frames.summaries, strict=True)]
    names = _names([manifest for manifest, _ in pairs])
    first, title = (["run"], f"{len(pairs)} runs") if len(pairs) > 1 else ([], f"{pairs[0][0].experiment} {names[0]}")
    metrics: list[Sequence[object]] = []
    spend: list[Sequence[object]] = []
    for name, (_, summary) in zip(names, pairs, strict=True):
        place = [name] if first else []
        for metric, found in summary.metrics.items():
            metrics.append([*place, metric, found.mean, interval(found), found.n])
        spend += [[*place, *row] for row in _spend(summary)]
    yield Sheet(f"Metrics of {title}", [*first, "metric", "mean", "95 % interval", "n"], metrics)
    headings = [*first, "account", "calls", "input tokens", "output tokens", "cost"]
    yield Sheet(f"Spend of {title}", headings, spend)


def _names(manifests: Sequence[Manifest]) -> list[str]:
    """How the runs are told apart: by their values on the axes of a sweep, or else by experiment and id."""
    axes = [manifest.sweep.axes if manifest.sweep else {} for manifest in manifests]
    values = [", ".join(f"{name.rpartition('.')[2]}={value}" for name, value in one.items()) for one in axes]
    if all(values) and len(set(values)) == len(values):
        return values
    if len(manifests) > 1 and len({manifest.experiment for manifest in manifests}) == len(manifests):
        return [manifest.experiment for manifest in manifests]
    return [manifest.run_id for manifest in manifests]


def _spend(summary: Summary) -> Iterator[Sequence[object]]:
    accounts = {account: usage.total for account, usage in summary.usage.items()}
    accounts["total"] = sum(accounts.values(), Usage())
    for name, used in accounts.items():
        cost = dollars(used).removeprefix("cost ")
        yield name, f"{used.calls:,}", f"{used.input_tokens:,}", f"{used.output_tokens:,}", cost


def _remarks(frames: RunFrames) -> Iterator[str]:
    several = len(frames.folders) > 1
    for name, manifest, summary in zip(_names(frames.manifests), frames.manifests, frames.summaries, strict=True):
        before = f"{name}: " if several else ""
        statuses = ", ".join(f"{count} {status}" for status, count in summary.statuses.items()) or "none"
        yield f"{before}{counted(summary.n_samples, 'sample')}, {counted(summary.n_attempts, 'attempt')}: {statuses}."
        yield from (f"{before}{line}" for line in (*missing_metrics(summary), *judge_failures(summary)))
        yield from (*notes(summary), *replay_note(manifest))


def _escaped(value: object, kind: TextFormat) -> str:
    """A cell, with nothing in it that would be markup, and on one line."""
    text = _CONTROL.sub(" ", cell(value))
    if kind == "markdown":
        return _MARKDOWN.sub(r"\\\1", text)
    return _MINUS.sub("$-$", "".join(_LATEX.get(sign, sign) for sign in text))


def _markdown(sheet: Sheet) -> str:
    flush = ["---" if place < _left(sheet) else "---:" for place in range(len(sheet.headings))]
    lines = [[*map(_md, sheet.headings)], flush, *([*map(_md, row)] for row in sheet.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _md(value: object) -> str:
    return _escaped(value, "markdown")


def _latex(sheet: Sheet, remarks: Sequence[str]) -> str:
    """A table of booktabs, a rule between runs; the remarks are notes below it."""
    left = _left(sheet)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escaped(sheet.title, 'latex')}}}",
        rf"\begin{{tabular}}{{{'l' * left}{'r' * (len(sheet.headings) - left)}}}",
        r"\toprule",
        _line(sheet.headings),
        r"\midrule",
    ]
    last: object = None
    for row in sheet.rows:
        same = left > 1 and row[0] == last
        if left > 1 and last is not None and not same:
            lines.append(r"\midrule")
        lines.append(_line(["", *row[1:]] if same else row))
        last = row[0]
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\smallskip\footnotesize {_escaped(remark, 'latex')}" for remark in remarks]
    return "\n".join([*lines, r"\end{table}"])


def _line(cells: Sequence[object]) -> str:
    return rf"{' & '.join(_escaped(value, 'latex') for value in cells)} \\"


def _left(sheet: Sheet) -> int:
    """How many columns hold words."""
    return 2 if sheet.headings[0] == "run" else 1
