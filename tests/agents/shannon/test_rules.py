from inspect import getmembers, isfunction, signature
from types import ModuleType

import pytest

from aiq.agents.shannon import budgets, citations, coverage, entities, loops, planning, rules, urls, verification

FILES = (budgets, citations, coverage, entities, loops, planning, urls, verification)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.__name__.rpartition(".")[2])
def test_every_documented_function_is_a_rule(file: ModuleType) -> None:
    functions = {name: f for name, f in getmembers(file, isfunction) if f.__module__ == file.__name__}
    public = {name for name in functions if not name.startswith("_")} - {"parse"}
    assert public
    assert public <= set(rules.__all__)
    assert all(functions[name].__doc__ for name in public)


def test_every_rule_takes_records_as_mappings() -> None:
    for name in rules.__all__:
        rule = getattr(rules, name)
        parameters = " ".join(map(str, signature(rule).parameters.values()))
        assert ("shannon.records." in parameters) <= hasattr(rule, "raw_function"), name
