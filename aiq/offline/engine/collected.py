"""What the answers of a collection say about a task: numbers from their tables, or counted over all documents, and the
documents that meet its condition."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from aiq.offline.engine import counts, material
from aiq.offline.engine.collection import UNITS, Wanted, arguments, asks, declared, meanings, wanted
from aiq.offline.engine.counts import Facts, Table, head
from aiq.offline.engine.evidence import Evidence, Hit, Material
from aiq.offline.engine.lexicon import stem
from aiq.offline.engine.question import parse
from aiq.offline.engine.read import Situation
from aiq.offline.engine.source import Source
from aiq.offline.engine.text import contains_name, sentences
from aiq.offline.engine.tools import Tool

_DENIAL = re.compile(r"\b(?:not?|never|nobody|none|nothing|neither|without|free|hardly)\b|n['’]t\b|不|没|无|免", re.I)
_MIN_SHARE = 0.5
"""The share of a condition's words that a sentence must contain to meet it; half of that for sentences that name
their document, as findings do."""
_MAX_SENTENCES = 200
"""How many sentences of a document are considered."""
_CALL_KEYS = re.compile(r"(?i)arg(?:ument)?s|parameters|input|filters?|where|query")
"""The keys under which an object repeats the call that it answers."""


class Document(NamedTuple):
    """A document of a collection with its fields."""

    source: Source
    facts: Facts


class Collected:
    """What a request shows of a collection, and what that means for its task."""

    def __init__(self, situation: Situation, tools: Iterable[Tool] = ()) -> None:
        self.situation = situation
        self.tools = [tool for tool in tools if meanings(tool)]

    @cached_property
    def _answers(self) -> list[tuple[Any, str]]:
        """The JSON values in results and marked parts, with the arguments of the call they answer, as JSON."""
        situation = self.situation
        texts = [(step.result or "", step.arguments) for step in situation.steps]
        texts += [(block.text, {}) for block in situation.blocks]
        answers = [(value, call) for text, call in texts for value, *_ in material.objects(text)]
        return [(value, json.dumps(call or _call(value), ensure_ascii=False)) for value, call in answers]

    @cached_property
    def fields(self) -> dict[str, tuple[str, ...]]:
        """The fields of the collection with their known values: from tool definitions, answers and documents."""
        fields: dict[str, tuple[str, ...]] = {}
        for tool in self.tools:
            fields |= declared(tool)
        json_pairs = [pair for value, _ in self._answers for pair in counts.values(value)]
        text_pairs = [(t.field, k) for t in self._text_tables for k in ("", *filter(counts.is_category, dict(t.rows)))]
        for field, value in (*json_pairs, *text_pairs, *counts.categories([d.facts for d in self.documents])):
            if re.fullmatch(r"[\w.]+", field):
                fields[field] = tuple(filter(None, dict.fromkeys((*fields.get(field, ()), value))))
        return fields

    @cached_property
    def _text_tables(self) -> list[Table]:
        return [table for block in self.situation.blocks for table in counts.tables_in_text(block.text)]

    @cached_property
    def documents(self) -> list[Document]:
        """Each document once: the marked parts that state their fields."""
        parts = [(block.whole or block.text, counts.facts(block.text)) for block in self.situation.blocks]
        by_name: dict[str, Document] = {}
        for text, facts in parts:
            sources = material.sources(text) if facts else []
            if len(sources) == 1:
                by_name.setdefault(sources[0].name, Document(sources[0], facts))
        return [*by_name.values()]

    @cached_property
    def wanted(self) -> Wanted:
        names = [str(value["tool"]) for value, _ in self._answers if isinstance(value, dict) and "tool" in value]
        names += [name for tool in self.tools for name in (tool.name, tool.says, *tool.parameters)]
        return wanted(self.situation.task, self.fields, names)

    @cached_property
    def applies(self) -> bool:
        """Whether the task asks something about a collection that the request shows."""
        return asks(self.situation.task) and bool(self.wanted.values or self.wanted.groups or self.calls)

    @cached_property
    def calls(self) -> list[tuple[Tool, dict[str, Any]]]:
        """Calls for the task to the tools over the collection whose parameters can express what it is about."""
        if not asks(self.situation.task):
            return []
        calls = [(tool, arguments(tool, self.wanted, self.fields)) for tool in self.tools]
        return [(tool, args) for tool, args in calls if any(meanings(tool)[name] != "size" for name in args)]

    # numbers

    @cached_property
    def counts_text(self) -> str:
        """The numbers that the task asks for, with their values ("Peru: 3, Chile: 2"), or a single number; "" if no
        table has them or part of the question needs texts."""
        query = self.wanted
        if not query.counts or query.sum or query.textual or not self.applies:
            return ""
        texts = (self._numbers(table) for table in reversed([*self._tables()]) if self._fits(table))
        return next(filter(None, texts), "")

    def _tables(self) -> Iterable[Table]:
        for value, call in self._answers:
            yield from counts.tables(value, call)
        yield from self._text_tables

    def _fits(self, t: Table) -> bool:
        """Whether a table counts by what the task wants, and covers exactly the wanted things."""
        query, keys = self.wanted, [key for key, _ in t.rows]
        text = f"{t.of} {' '.join(keys)}"
        if query.unit:
            fits = query.unit in t.field or any(re.fullmatch(UNITS[query.unit], key) for key in keys)
        else:
            fits = not keys if not query.groups else head(query.groups[0]) in map(stem, re.findall(r"[^\W_]+", t.field))
        known_values = {value for values in self.fields.values() for value in values}
        narrower = any(contains_name(t.of, value) for value in known_values.difference(query.names))
        return fits and not narrower and all(contains_name(text, name) for name in query.names)

    def _numbers(self, table: Table) -> str:
        """A table's numbers, restricted to the values that the task names, if any."""
        query = self.wanted
        if not table.rows:
            return "" if table.total is None else f"{table.total:g}"
        values = query.values.get(query.groups[0], ()) if query.groups and not query.unit else ()
        period_rows = [(key, n) for key, n in table.rows if not query.unit or self._is_within(key)]
        rows = [(key, n) for key, n in period_rows if not values or key in values]
        return self._pairs(rows, table.total or sum(n for _, n in table.rows))

    def _is_within(self, day: str) -> bool:
        query = self.wanted
        return (not query.since or day >= query.since[: len(day)]) and (not query.until or day[:4] <= query.until[:4])

    def _pairs(self, rows: Iterable[tuple[str, float]], total: float) -> str:
        share = f" ({{:.{1}f}}%)" if self.wanted.share else ""
        return ", ".join(f"{key}: {n:g}{share.format(100 * n / (total or 1))}" for key, n in rows)

    # documents

    @cached_property
    def _matching(self) -> list[Document]:
        """The documents whose fields have the values that the task names."""
        query, matches = self.wanted, list[Document]()
        for document in self.documents:
            days = [value[:10] for value in document.facts.values() if re.match(r"\d{4}-\d\d-\d\d", value)]
            in_period = not days or any((query.since or day) <= day <= (query.until or day) for day in days)
            has_values = all(document.facts.get(field, values[0]) in values for field, values in query.values.items())
            matches += [document] if in_period and has_values else []
        return matches

    @cached_property
    def _sources(self) -> Sequence[Source]:
        """The matching documents; if none has fields, all sources."""
        return [document.source for document in self._matching] or self.situation.sources

    @cached_property
    def _hits(self) -> list[Hit]:
        """Their sentences with words of the condition, best first."""
        ask = replace(parse(self.wanted.condition), words=self.wanted.textual, head="")
        return Material(self._sources).find(ask, _MAX_SENTENCES * len(self._sources))

    @cached_property
    def matches(self) -> list[Evidence]:
        """The sentence of each source that meets the condition; one with a negation counts only if the condition has
        one too. Without a condition, the first sentence of each source."""
        if not self.wanted.textual:
            return [Evidence((*sentences(source.text), source.title)[0], source, 1.0) for source in self._sources]
        negated, best = _DENIAL.search(self.wanted.condition) is not None, dict[str, Evidence]()
        for hit in self._hits:
            min_share = _MIN_SHARE / 2 if hit.source.title and hit.source.title in hit.sentence.text else _MIN_SHARE
            if hit.own_share >= min_share and negated == (_DENIAL.search(hit.sentence.text) is not None):
                best.setdefault(hit.source.name, hit.evidence)
        return [best[source.name] for source in self._sources if source.name in best]


def _call(value: Any) -> dict[str, Any]:
    """What an object says about the call that it answers."""
    return {key: item for key, item in value.items() if _CALL_KEYS.fullmatch(key)} if isinstance(value, dict) else {}


def titled(evidence: Evidence) -> str:
    """A sentence, prefixed with its source's title if it does not mention it."""
    title, sentence = evidence.source.title, evidence.sentence
    return sentence if not title or title in sentence else f"{title}: {sentence}"
