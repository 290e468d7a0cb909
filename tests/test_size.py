"""The project stays within the size budget in pyproject.toml; a change that needs more must raise it there."""

from pathlib import Path

from scripts.size import Size, budgets, excesses, measured


def test_every_part_is_within_its_budget() -> None:
    assert list(excesses(measured(), budgets())) == []


def test_an_exceeded_budget_names_the_part_the_figures_and_where_to_change_them(tmp_path: Path) -> None:
    for folder in ("aiq/core", "aiq/offline", "tests", "benchmarks", "scripts"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "aiq" / "core" / "one.py").write_text("# a comment\nif x:\n    y = f(1)\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[tool.aiq.size]\naiq = { lines = 2, tokens = 9 }\n", encoding="utf-8")
    sizes = measured(tmp_path)
    assert sizes["aiq"] == sizes["aiq/core"] == Size(files=1, lines=3, tokens=9, longest=3)
    assert list(excesses(sizes, budgets(tmp_path))) == [
        "aiq: 3 lines where 2 are allowed ([tool.aiq.size] of pyproject.toml)"
    ]
