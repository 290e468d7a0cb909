"""The notebooks in docs/: their code runs from the first cell to the last, and they are stored without outputs.

The cells run as one program in a child process, which needs no Jupyter; a cell tagged with a module that is not
installed is left out.
"""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
RESULTS = {
    "analysis": """
assert list(frames.runs.experiment) == ["budget_1", "budget_2", "budget_3"]
assert list(bounded.metric.unique()) == [METRIC, "citations.valid_rate", "citations.exact_rate"]
assert set(by_slice.index.get_level_values("tag")) == {"num_hops", "false_premise"}
assert len(flipped) and not flipped.join(questions).question.isna().any()
assert curve.cents.is_monotonic_increasing and list(curve.experiment) == list(frames.runs.experiment)
assert ((curve.ci_low <= curve["mean"]) & (curve["mean"] <= curve.ci_high)).all()
"""
}
"""What must hold after the last cell."""


def cells(notebook: Path) -> list[dict[str, Any]]:
    document = json.loads(notebook.read_text(encoding="utf-8"))
    return [cell for cell in document["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(notebook: Path) -> None:
    assert {(len(cell["outputs"]), cell["execution_count"]) for cell in cells(notebook)} == {(0, None)}
    assert not re.search(r"/(?:home|root|tmp|work|Users)/", notebook.read_text(encoding="utf-8"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.whole
def test_a_notebook_runs(notebook: Path, tmp_path: Path) -> None:
    absent = [
        tag
        for cell in cells(notebook)
        for tag in cell["metadata"].get("tags", ())
        if importlib.util.find_spec(tag) is None
    ]
    code = ["".join(cell["source"]) for cell in cells(notebook) if not {*cell["metadata"].get("tags", ())} & {*absent}]
    program = "\n\n".join([*code, RESULTS[notebook.stem]])
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert (result.returncode, result.stderr) == (0, "")
