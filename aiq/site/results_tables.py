"""The results of runs as Markdown and LaTeX: metrics with intervals and n, what they lack, and what they cost."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal

from aiq.runs.frames import RunFrames
from aiq.runs.manifest import Manifest
from aiq.runs.summary import Summary
from aiq.site.analysis_tables import comparison_markdown
from aiq.site.tables import (
    LEFT_OUT_HEADINGS,
    METRIC_HEADINGS,
    SPEND_HEADINGS,
    Sheet,
    attempts_line,
    cell,
    judge_failures,
    left_out_rows,
    metric_rows,
    missing_metrics,
    notes,
    replay_note,
    spend_rows,
)

TextFormat = Literal["markdown", "latex"]

_LATEX: Final[Mapping[str, str]] = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "\n": " ",
}
_MINUS: Final = re.compile(r"(?<![^\s(])-(?=\d)")


def results_text(frames: RunFrames, kind: TextFormat) -> str:
    """The tables of these runs, followed by what a reader of the numbers must know."""
    names = _names(frames.manifests)
    parts: list[Sheet | str] = [*_sheets(frames, names), *dict.fromkeys(_remarks(frames, names))]
    if kind == "markdown":
        return comparison_markdown(parts)
    blocks = (_latex(part) if isinstance(part, Sheet) else rf"{{\footnotesize {_escaped(part)}\par}}" for part in parts)
    return "% \\usepackage{booktabs}\n" + "\n\n".join(blocks) + "\n"


def _sheets(frames: RunFrames, names: Sequence[str]) -> Iterator[Sheet]:
    several = len(names) > 1
    title = f"{len(names)} runs" if several else f"{frames.manifests[0].experiment} {names[0]}"
    tables: Sequence[tuple[str, Sequence[str], Callable[[Summary], Sequence[Sequence[object]]]]] = (
        ("Metrics", METRIC_HEADINGS[:-1], lambda summary: [row[:-1] for row in metric_rows(summary.metrics)]),
        ("Attempts without a judgement", ("metric", *LEFT_OUT_HEADINGS[1:]), left_out_rows),
        ("Spend", SPEND_HEADINGS, spend_rows),
    )
    for kind, columns, rows_of in tables:
        runs = zip(names, frames.summaries, strict=True)
        if rows := [[*([name] if several else []), *row] for name, summary in runs for row in rows_of(summary)]:
            yield Sheet([*(["run"] if several else []), *columns], rows, f"{kind} of {title}", left=2 if several else 1)


def _names(manifests: Sequence[Manifest]) -> list[str]:
    """Names that tell the runs apart: their values on the axes of a sweep, else their experiments, else their ids."""
    axes = (manifest.axes.items() for manifest in manifests)
    values = [", ".join(f"{name.rpartition('.')[2]}={value}" for name, value in items) for items in axes]
    if all(values) and len(set(values)) == len(values):
        return values
    if len(manifests) > 1 and len({manifest.experiment for manifest in manifests}) == len(manifests):
        return [manifest.experiment for manifest in manifests]
    return [manifest.run_id for manifest in manifests]


def _remarks(frames: RunFrames, names: Sequence[str]) -> Iterator[str]:
    for name, manifest, summary in zip(names, frames.manifests, frames.summaries, strict=True):
        prefix = f"{name}: " if len(names) > 1 else ""
        status = "" if manifest.status == "finished" else f"; the run is {manifest.status}, not finished"
        yield f"{prefix}{attempts_line(summary)}{status}."
        yield from (f"{prefix}{line}" for line in (*missing_metrics(summary), *judge_failures(summary)))
        yield from (*notes(summary), *replay_note(manifest))


def _escaped(value: object) -> str:
    return _MINUS.sub("$-$", "".join(_LATEX.get(char, char) for char in cell(value)))


def _latex(sheet: Sheet) -> str:
    """A LaTeX table that uses booktabs."""
    columns = "l" * sheet.left + "r" * (len(sheet.headings) - sheet.left)
    headings, *rows = (rf"{' & '.join(map(_escaped, line))} \\" for line in (sheet.headings, *sheet.rows))
    lines = [
        *(r"\begin{table}", r"\centering", rf"\caption{{{_escaped(sheet.title)}}}"),
        *(rf"\begin{{tabular}}{{{columns}}}", r"\toprule", headings, r"\midrule", *rows, r"\bottomrule"),
        *(r"\end{tabular}", r"\end{table}"),
    ]
    return "\n".join(lines)
