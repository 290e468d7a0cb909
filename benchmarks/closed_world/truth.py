"""The ground truth of a sample: the facts it needs, in forms to search for in a report; and writing rows.

A form is one or more fragments joined by ` & `, all of which must be in one sentence (`aiq.judges.world` searches for
them). A fact's id is `d<depth>/<subject>/<relation>`; depth is the number of pages to read, each leading to the next.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from aiq.core.samples import NeededFact, TruthRow
from benchmarks.closed_world.entities import Entity, Fact, Value
from benchmarks.closed_world.tables import Language


def answers(value: Value, language: Language = "en") -> tuple[str, ...]:
    """Accepted spellings of the value in a short answer, the fullest first; in Chinese also its English name."""
    if isinstance(value, int):
        spellings = [f"{value:,}" if value > 2100 else str(value), str(value)]
    else:
        spellings = [value.text(language), value.short(language)]
        spellings += [value.name.en] if isinstance(value, Entity) else []
    return tuple(dict.fromkeys(spellings))


def path_truth(number: int, facts: Sequence[Fact], *, needs_depth: bool = False) -> TruthRow:
    """The truth of a short answer: the steps to it, of which only the values count; a comparison takes two steps."""
    steps = tuple(
        _needed(fact, depth, answers(fact.value, fact.subject.language)) for depth, fact in enumerate(facts, start=1)
    )
    hops = 2 if needs_depth else len(steps)
    return TruthRow(sample_id=str(number), hops=hops, needs_depth=needs_depth, facts=steps)


def stated(fact: Fact, depth: int) -> NeededFact:
    """A fact that a research report should state, with subject and value in one sentence."""
    subject, value = fact.subject, fact.value
    # a report on a scene says "the sector"; the landscape is in a heading
    name = subject.region.name if subject.kind == "scene" else subject
    languages: tuple[Language, ...] = ("zh", "en") if subject.language == "zh" else ("en",)
    values = [str(value) if isinstance(value, int) else value.short(lang) for lang in languages]
    return _needed(fact, depth, (f"{name.short(lang)} & {text}" for lang, text in zip(languages, values, strict=True)))


def _needed(fact: Fact, depth: int, forms: Iterable[str]) -> NeededFact:
    return NeededFact(id=f"d{depth}/{fact.subject.id}/{fact.name}", forms=tuple(dict.fromkeys(forms)))


Asked = tuple[Mapping[str, Any], Sequence[Fact]]
"""The columns of a question, and the facts leading to its answer, which is the value of the last one."""


def write_questions(folder: Path, samples: Iterable[Asked]) -> None:
    """Write `questions.jsonl`, in the format of `aiq.datasets.questions`, and `truth.jsonl`; ids count from 1."""
    numbered = list(enumerate(samples, start=1))
    rows = (
        {"id": str(number), **row, "answers": answers(facts[-1].value, facts[-1].subject.language)}
        for number, (row, facts) in numbered
    )
    write_jsonl(folder / "questions.jsonl", rows)
    write_jsonl(folder / "truth.jsonl", (path_truth(number, facts) for number, (_, facts) in numbered))


def write_jsonl(path: Path, rows: Iterable[BaseModel | Mapping[str, Any]]) -> None:
    """One object per line, UTF-8, ending in `\\n`, keys in the order of the model or mapping; models without None."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            value = row.model_dump(mode="json", exclude_none=True) if isinstance(row, BaseModel) else row
            file.write(json.dumps(value, ensure_ascii=False) + "\n")
