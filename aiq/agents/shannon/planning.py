"""Rules for planning: language, repair of the decomposition, order and pattern of the work, model tiers and strategies
(specification 1.2 to 1.5, 1.7, 1.12, 1.17)."""

import re
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Literal

from pydantic import validate_call

from aiq.agents.shannon.records import Subtask

_STANDARD: Mapping[str, bool | int] = {
    "enable_verification": True,
    "max_concurrent_agents": 5,
    "react_max_iterations": 3,
    "gap_filling_enabled": True,
    "gap_filling_max_gaps": 3,
    "gap_filling_max_iterations": 2,
    "gap_filling_check_citations": False,
}
_DEEP = {**_STANDARD, "gap_filling_check_citations": True}

STRATEGIES: Mapping[str, Mapping[str, bool | int]] = {
    "quick": {
        "enable_verification": False,
        "max_concurrent_agents": 3,
        "react_max_iterations": 2,
        "gap_filling_enabled": False,
        "gap_filling_check_citations": False,
    },
    "standard": _STANDARD,
    "deep": {**_DEEP, "max_concurrent_agents": 6, "react_max_iterations": 4, "gap_filling_max_gaps": 5},
    "academic": {**_DEEP, "max_concurrent_agents": 8, "react_max_iterations": 5, "gap_filling_max_gaps": 10},
}
"""Context keys that each strategy presets (specification 1.12)."""

SYNTHESIS_WORDS = ("synthesize", "synthesis", "summarize", "summary", "combine", "aggregate")
"""A task whose description contains one of these is a synthesis."""

_SCRIPTS = {
    "han": r"\u2e80-\u2fd5\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufad9"
    r"\U00020000-\U000323af",
    "kana": r"\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\u31f0-\u31ff\u32d0-\u32fe\u3300-\u3357"
    r"\uff66-\uff6f\uff71-\uff9d",
    "hangul": r"\u1100-\u11ff\u302e\u302f\u3131-\u318e\u3200-\u321e\u3260-\u327e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
    r"\uffa0-\uffdc",
    "cyrillic": r"\u0400-\u0484\u0487-\u052f\u1c80-\u1c88\u1d2b\u1d78\u2de0-\u2dff\ua640-\ua69f",
    "arabic": r"\u0600-\u0604\u0606-\u060b\u060d-\u061a\u061c-\u061e\u0620-\u063f\u0641-\u064a\u0656-\u066f"
    r"\u0671-\u06dc\u06de-\u06ff\u0750-\u077f\u0870-\u08e1\u08e3-\u08ff\ufb50-\ufdff\ufe70-\ufefc",
    "latin": "A-Za-z",
}
"""Character ranges of Unicode scripts; characters that several scripts share are in none."""

_LETTERS = {"Spanish": "ñ¿¡", "French": "çàè", "German": "äöüß"}


def detect_language(
    text: str, cjk_threshold: float = 0.3, *, ignore_urls: bool = False, han_by_kana: float | None = None
) -> str:
    """The English name of a text's language, by the share of each script among its letters; English by default (1.17).

    Chinese, Japanese and Korean letters count together, Latin ones only if ASCII; Spanish, French and German are then
    recognised by single letters.
    `han_by_kana`: Chinese characters per kana above which a text with kana is Chinese; None: it never is.
    """
    text = re.sub(r"https?://\S+", "", text) if ignore_urls else text
    counts = {name: len(re.findall(f"[{ranges}]", text)) for name, ranges in _SCRIPTS.items()}
    total = sum(counts.values())
    if not total:
        return "English"
    if counts["han"] + counts["kana"] + counts["hangul"] > cjk_threshold * total:
        is_chinese = not counts["kana"] or (han_by_kana is not None and counts["han"] > han_by_kana * counts["kana"])
        return "Korean" if counts["hangul"] else "Chinese" if is_chinese else "Japanese"
    for script, language in (("cyrillic", "Russian"), ("arabic", "Arabic")):
        if counts[script] > 0.3 * total:
            return language
    lower = text.lower()
    return next((name for name, letters in _LETTERS.items() if any(letter in lower for letter in letters)), "English")


def peel_quotes(text: str) -> str:
    """The text without any pairs of equal quotes around it (1.2)."""
    text = text.strip()
    while len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1].strip()
    return text


def search_line(
    exact_queries: Sequence[str], official_domains: Sequence[str], disambiguation_terms: Sequence[str]
) -> str:
    """A hint on how to search for an entity, made of the parts that are not empty (1.5)."""
    sites = " OR ".join(f"site:{domain}" for domain in official_domains)
    parts = [
        " OR ".join(exact_queries),
        f"prefer domains ({sites})" if sites else "",
        f"add disambiguation: {', '.join(disambiguation_terms)}" if disambiguation_terms else "",
    ]
    return "; ".join(filter(None, parts))


@validate_call
def repair_subtasks(
    subtasks: Sequence[Subtask], query: str, complexity: float, needed_from: float = 0.3
) -> list[Subtask]:
    """A decomposition, completed where the model left something out (1.3).

    Without subtasks, a query with at least the complexity `needed_from` is itself the only one, cut to 200 characters.
    Missing ids are added, and the type of a synthesis by its description. If tools are suggested, a task without
    dependencies gets the first as its tool; parameters of one with dependencies are dropped, as results determine them.
    """
    if not subtasks:
        return [Subtask(id="task-1", description=query[:200])] if complexity >= needed_from else []
    return [_repair(task, number) for number, task in enumerate(subtasks, start=1)]


def _repair(task: Subtask, number: int) -> Subtask:
    parameters = task.tool_parameters
    if task.suggested_tools and task.dependencies:
        parameters = {}
    elif task.suggested_tools and not parameters.get("tool"):
        parameters = {**parameters, "tool": task.suggested_tools[0]}
    is_synthesis = any(word in task.description.lower() for word in SYNTHESIS_WORDS)
    changes: dict[str, object] = {
        "id": task.id or f"task-{number}",
        "tool_parameters": parameters,
        "task_type": task.task_type or ("synthesis" if is_synthesis else ""),
    }
    return task.model_copy(update=changes)


def agent_role(agent_types: Sequence[str], index: int) -> str:
    """The role for the task at `index`, from 0; `researcher` if none is named (1.4)."""
    return (agent_types[index] if index < len(agent_types) else "") or "researcher"


@validate_call
def topological_order(tasks: Mapping[str, Sequence[str]] | Sequence[Subtask]) -> list[str]:
    """The ids of tasks, each after those it depends on, otherwise in their given order (Kahn's algorithm, 1.7).

    `tasks`: dependencies by id, or subtasks. Raises ValueError, naming an unknown or repeated id or a cycle
    (1.18, row 25).
    """
    if not isinstance(tasks, Mapping):
        ids = [task.id for task in tasks]
        if duplicates := sorted({name for name in ids if ids.count(name) > 1}):
            raise ValueError(f"several subtasks have the id {', '.join(duplicates)}")
        tasks = {task.id: task.dependencies for task in tasks}
    unknown = [f"{task} needs {need}" for task, needs in tasks.items() for need in needs if need not in tasks]
    if unknown:
        raise ValueError(f"dependencies on tasks that do not exist: {', '.join(unknown)}")
    sorter = TopologicalSorter(dict.fromkeys(tasks, ()))  # tasks that may start at the same time keep this order
    for task, needs in tasks.items():
        sorter.add(task, *needs)
    try:
        return list(sorter.static_order())
    except CycleError as error:
        raise ValueError(f"cyclic dependencies: {' -> '.join(reversed(error.args[1]))}") from None


@validate_call
def route_pattern(
    complexity: float,
    subtasks: int | Sequence[Subtask],
    react_per_task: bool = False,
    strategy: str = "",
    dependencies: bool = False,
    react_below: float = 0.5,
    per_task_above: float = 0.7,
) -> Literal["react", "react_per_task", "hybrid", "parallel"]:
    """How to run a plan (1.4), given its subtasks, or their number and whether any has `dependencies`.

    One loop runs a plan with complexity below `react_below` or a single task. Without the setting, `react_per_task` is
    chosen above `per_task_above` for deep and academic research; its loops respect dependencies, if there are any.
    """
    if isinstance(subtasks, int):
        number = subtasks
    else:
        number, dependencies = len(subtasks), any(task.dependencies for task in subtasks)
    if complexity < react_below or number <= 1:
        return "react"
    if react_per_task or (complexity > per_task_above and strategy in ("deep", "academic")):
        return "react_per_task"
    return "hybrid" if dependencies else "parallel"


def model_tier(tier: str | None = None, complexity: float | None = None) -> str:
    """The given tier, else small for a complexity below 0.3, medium below 0.5 or without one, else large (1.4)."""
    if tier or complexity is None:
        return tier or "medium"
    return "small" if complexity < 0.3 else "medium" if complexity < 0.5 else "large"


def strategy_preset(name: str | None) -> dict[str, bool | int]:
    """The context keys that a strategy sets; none without a strategy (1.12). Raises ValueError for an unknown one."""
    name = (name or "").strip().lower()
    if name and name not in STRATEGIES:
        raise ValueError(f"research_strategy={name}: one of {', '.join(STRATEGIES)}")
    return dict(STRATEGIES.get(name, {}))
