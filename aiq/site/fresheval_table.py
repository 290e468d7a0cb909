"""FreshEval's official table on the terminal: percent with one decimal, and the number of questions."""

from rich.table import Table

from aiq.analysis.fresheval import SPLITS, Accuracy, FreshEvalTable


def fresheval_table(found: FreshEvalTable) -> Table:
    table = Table(title=found.metric, title_justify="left", box=None, pad_edge=False)
    table.add_column("accuracy, %")
    for split in SPLITS:
        table.add_column(split, justify="right")
        table.add_column("n", justify="right")
    for kind, cells in found.accuracies.items():
        shown = [_cells(cells.get(split)) for split in SPLITS]
        table.add_row(kind, *(text for pair in shown for text in pair))
    return table


def _cells(accuracy: Accuracy | None) -> tuple[str, str]:
    return ("-", "0") if accuracy is None else (f"{accuracy.percent:.1f}", str(accuracy.n))
