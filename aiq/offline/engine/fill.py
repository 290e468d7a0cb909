"""Filling a schema from the request: every value is copied, counted or computed from it, null, or refused.

A field is understood by its name, description, type and options: its kind says which things of the request it holds
(queries, sections, claims, sources, gaps ...), a measure (`weigh`) which of several values holds. What no rule gives is
asked of the reader ("<name> of <subject>"). What the reader does not find stays null, empty or absent; where the schema
forbids that, the whole is refused.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from aiq.offline.engine import dates, research, schema
from aiq.offline.engine.answer import answer, rank
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Situation, Source
from aiq.offline.engine.schema import Schema
from aiq.offline.engine.text import contains_name, is_chinese, names, sentences, stem, stems, words
from aiq.offline.engine.weigh import Weighing, spoken
from aiq.offline.engine.write import small_talk, write

_MOST = 8
"""Members of a list where neither schema nor prompt says how many."""

_KINDS = """
clarify: clarify clarification clarifying 澄清
gap: gap missing limitation unanswered unresolved open weakness issue problem concern lacking suggestion improvement feedback 不足 缺口 缺失 局限 问题点
conflict: conflict contradiction disagreement inconsistency discrepancy 矛盾 冲突
dependency: depend dependency prerequisite requires parent 依赖
constraint: constraint requirement condition restriction 约束 限制 要求
reason: reasoning reason rationale explanation justification why thought thinking analysis comment strategy approach note insight 理由 原因 说明 分析
verdict: verdict label judgement judgment evaluation assessment rating 判断 评价
query: query search lookup keywordquery 查询 检索 搜索
question: question subquestion inquiry 问题
section: section outline heading chapter 章节 大纲
facet: area theme topic aspect facet dimension perspective focus subject scope category 主题 领域 方面 角度
step: step task subtask action todo plan 步骤 任务
quote: quote quotation excerpt support snippet passage evidence 引文 证据 原文
claim: claim finding fact statement point observation takeaway highlight detail information 结论 事实 发现 要点 论点
source: source url link reference citation website doc document page href uri 来源 链接 引用 网址
date: date day published updated timestamp 日期 时间
language: language lang locale 语言
keyword: keyword tag term 关键词 标签
summary: summary abstract overview synopsis 摘要 总结 概述
answer: answer response reply report text content result output message body article draft conclusion final 答案 回答 报告 内容 回复
id: id identifier index key number ref 编号 序号
title: title headline 标题
description: description definition desc 描述
type: type kind role class 类型
entity: entity name person people organization organisation 实体 名称 名字
"""
_FIRST = ("clarify", "gap", "conflict", "dependency", "constraint")
"""Kinds that one word of a name settles, wherever it stands; else the last word with a kind counts."""
_ITSELF = frozenset(("description", "answer", "entity", "title", "claim", "facet", "step"))
"""Kinds that mean the thing itself inside an object about it: its text, name, title, description."""
_FACTS = frozenset(
    ("claim", "quote", "source", "entity", "answer", "summary", "date", "description", "type", "conflict")
)
"""Kinds that say something of the world, which has to be found first."""
_COUNT = re.compile(r"^(?:num|number|count|total|n)\b|\b(?:count|total|processed|scanned|number)$|数量|总数|^number of")
_CONSTRAINT = re.compile(
    r"\b(?:must|only|at most|at least|no more than|up to|exclud\w+|except|do not|don't|avoid|within|without|limit\w*|should"
    r"|since \d|from \d{4}|before \d|after \d|in (?:english|chinese|german|french|spanish)|words)\b|必须|只|不要|至少|至多|不超过|以内",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_SCALED = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "万": 1e4, "亿": 1e8}
_WORD_NUMBERS = dict(zip("one two three four five six seven eight nine ten".split(), range(1, 11), strict=True))
_GRADES = (("none", "no", "无"), ("low", "weak", "minor", "small", "低"), ("partial", "medium", "moderate", "mixed", "normal", "中"),
           ("high", "strong", "major", "large", "full", "critical", "高"))  # fmt: skip
_LANGUAGES = (("en", "English", "英语", "英文", "eng"), ("zh", "Chinese", "中文", "汉语", "zho"))
_FALLBACK = frozenset(stem(w) for w in "other unknown general default none neutral unsure misc 其他 未知".split())


class Unsupported(Exception):
    """The request does not support a value that the schema demands; the message says which and why."""


def _read_kinds() -> dict[str, str]:
    lines = (line.partition(":") for line in _KINDS.strip().splitlines())
    return {stem(word): kind for kind, _, listed in lines for word in listed.split()}


_KIND_OF = _read_kinds()


@dataclass(frozen=True)
class _Thing:
    """What an object of the reply is about. `number` counts from 1; `record` holds what the prompt gives of it."""

    kind: str
    text: str
    number: int = 1
    query: str = ""
    source: Source | None = None
    record: Mapping[str, Any] = field(default_factory=dict)


def asked_schema(situation: Situation) -> Schema | None:
    """The JSON schema of the reply: of `response_format`, or read from a JSON example in the prose; else None.

    A property of `response_format` that is a free string takes the options that the prose gives for the same key.
    """
    wanted = situation.request.response_format or {}
    told = "\n\n".join(m.text for m in situation.request.messages if m.role not in ("assistant", "tool"))
    prose = schema.from_prose(situation.instructions) or schema.from_prose(told[:40_000])
    given = situation.request.json_schema
    if given is not None:
        return _with_options(given, prose or {})
    return prose or (
        {"type": "object", "properties": {"answer": {"type": "string"}}}
        if wanted.get("type") == "json_object"
        else None
    )


def _with_options(given: Schema, prose: Schema) -> Schema:
    properties = {}
    for key, wanted in (given.get("properties") or {}).items():
        shown = (prose.get("properties") or {}).get(key, {})
        kinds = {form["type"] for form in schema.branches(schema.resolve(wanted, given), given)}
        free = kinds <= {"string", "null"} and not schema.resolve(wanted, given).get("enum")
        options = {"enum": shown["enum"]} if free and shown.get("enum") else {}
        about = (
            {"description": shown["description"]} if shown.get("description") and "description" not in wanted else {}
        )
        properties[key] = {**wanted, **options, **about}
    return {**given, "properties": properties} if properties else given


def needs_evidence(wanted: Schema, situation: Situation) -> bool:
    """Whether a field wants facts about the world, so that one searches before one replies. False for decisions about
    the request itself, and where the request brings the text to judge."""
    weighing = Weighing(situation, Orders())
    if weighing.draft or weighing.is_talk:
        return False
    return _wants_facts(wanted, wanted, "")


def _wants_facts(part: Schema, root: Schema, name: str) -> bool:
    forms = schema.branches(schema.resolve(part, root), root)
    for form in forms:
        if form["type"] == "object":
            if any(_wants_facts(p, root, f"{name} {key}") for key, p in (form.get("properties") or {}).items()):
                return True
        elif form["type"] == "array":
            kind = _kind(name.split()[-1] if name else "")
            if kind in _FACTS or (kind == "" and _wants_facts(form.get("items") or {}, root, name)):
                return True
        elif (
            form["type"] == "string"
            and "enum" not in form
            and _kind(name.split()[-1] if name else "answer") in (*_FACTS - {"description", "type"}, "")
        ):
            return not any(_kind(w) in ("query", "question", "section", "step", "gap") for w in name.split()[:-1])
    return False


def fill(wanted: Schema, situation: Situation, orders: Orders) -> Any:
    """A value of the schema. Raises Unsupported where a required field that may not be null has no support."""
    return _Filler(wanted, situation, orders).value(wanted, "", None)


def _kind(name: str, description: str = "") -> str:
    """What a field of this name holds, or ""; the description counts where the name says nothing."""
    for told in (spoken(name).lower(), description.lower()[:120]):
        found = [_KIND_OF[stem(w)] for w in re.findall(r"[a-z]+", told) if stem(w) in _KIND_OF]
        found += [kind for word, kind in _KIND_OF.items() if not word.isascii() and word in told]
        if first := next((kind for kind in _FIRST if kind in found), None):
            return first
        if found:
            return found[-1] if told == spoken(name).lower() else found[0]
    return ""


class _Filler:
    """One filling: the schema's root, the request, and what was read of it."""

    def __init__(self, root: Schema, situation: Situation, orders: Orders) -> None:
        self.root = root
        self.situation = situation
        self.orders = orders
        self.w = Weighing(situation, orders)
        self.zh = self.w.chinese

    def value(self, part: Schema, name: str, thing: _Thing | None) -> Any:
        whole = schema.resolve(part, self.root)
        forms = schema.branches(whole, self.root)
        for form in forms:
            if "const" in form:
                return form["const"]
            found = None if form["type"] == "null" else self._of(form, name, thing)
            if found is not None and schema.fits(found, form, self.root):
                return found
        if any(form["type"] == "null" for form in forms) or None in whole.get("enum", ()):
            return None
        raise Unsupported(f"nothing in the request supports {name or 'the reply'!r}")

    def _of(self, form: Schema, name: str, thing: _Thing | None) -> Any:
        kind = form["type"]
        if kind == "object":
            return self._object(form, name, thing)
        if kind == "array":
            return self._array(form, name, thing)
        about = str(form.get("description") or "")
        given = self._given_value(name, form, thing)
        if given is not None:
            return given
        if form.get("enum"):
            return self._option([o for o in form["enum"] if o is not None], name, about, thing)
        if kind == "boolean":
            return self._boolean(name, about, thing)
        return self._text(form, name, about, thing) if kind == "string" else self._number(form, name, about, thing)

    # objects and lists

    def _object(self, form: Schema, name: str, thing: _Thing | None) -> dict[str, Any] | None:
        properties: Mapping[str, Schema] = form.get("properties") or {}
        if not properties:
            return self._map(form, name, thing)
        required = form.get("required", ())
        out: dict[str, Any] = {}
        for key in sorted(properties, key=lambda key: bool(_COUNT.search(spoken(key).lower()))):
            part = properties[key]
            try:
                if self._does_not_apply(key, part, out):
                    out[key] = None
                    continue
                out[key] = self._counted(key, part, out) if thing is None or out else None
                if out[key] is None:
                    out[key] = self.value(part, key, thing)
            except Unsupported:
                out.pop(key, None)
                if key in required:
                    if "default" not in part:
                        raise
                    out[key] = part["default"]
        return {key: out[key] for key in properties if key in out}

    def _does_not_apply(self, key: str, part: Schema, out: Mapping[str, Any]) -> bool:
        """Whether a nullable field belongs to another option than the one chosen beside it: by its name ("meta_reply"
        with "meta"), or by a line of the prompt that names both ("depth (research only)", "for `meta`, ...")."""
        if not schema.fits(None, part, self.root):
            return False
        told = spoken(key).lower().split()
        for other, chosen in out.items():
            options = self._options_of(other)
            if not isinstance(chosen, str) or len(options) < 2:
                continue
            belongs = [o for o in options if o.lower() in told]
            if not belongs:
                lines = [
                    line
                    for line in self.situation.instructions.splitlines()
                    if re.search(rf"\b{told[-1]}\b|\b{re.escape(key)}\b", line, re.I)
                ]
                belongs = [
                    o
                    for line in lines
                    for o in options
                    if re.search(rf"\b{re.escape(o)} only\b|\b(?:for|if|when) [`'\"]?{re.escape(o)}\b", line, re.I)
                ]
            if belongs and chosen not in belongs:
                return True
        return False

    def _options_of(self, key: str) -> list[str]:
        part = (self.root.get("properties") or {}).get(key, {})
        return [o for o in schema.resolve(part, self.root).get("enum", ()) if isinstance(o, str)]

    def _counted(self, key: str, part: Schema, out: Mapping[str, Any]) -> int | None:
        """A count of what another field of the same object lists, or of sources, steps or sentences read."""
        told = spoken(key).lower()
        if not _COUNT.search(told) or not schema.fits(1, {**part, "minimum": 0}, self.root):
            return None
        about = stems(told) - stems("num number count total processed scanned")
        listed = next((v for k, v in out.items() if isinstance(v, list) and stems(spoken(k)) & about), None)
        if listed is not None:
            return len(listed)
        if _kind(told.replace("number", "").replace("num", "")) == "source" or about & stems(
            "pages results documents articles"
        ):
            return len(self.w.sources)
        return len(self.situation.steps) if about & stems("steps calls searches iterations") else None

    def _map(self, form: Schema, name: str, thing: _Thing | None) -> dict[str, Any] | None:
        """An object with open keys: one for each given thing that its name speaks of; a query for arguments."""
        inner = form.get("additionalProperties")
        if isinstance(inner, Mapping):
            listed = self._given(name) or self._things(_kind(spoken(name).split()[-1]), name, None, 1, _MOST)
            return {str(t.record.get("id") or t.text): self.value(inner, name, t) for t in listed}
        if re.search(r"arg|param|input", name) and thing is not None:
            return {"query": thing.query or thing.text}
        return {} if "properties" not in form or not form.get("required") else None

    def _array(self, form: Schema, name: str, thing: _Thing | None) -> list[Any] | None:
        items = schema.resolve(form.get("items") or {"type": "string"}, self.root)
        least, most = self._bounds(name, form)
        about = f"{form.get('description') or ''} {items.get('description') or ''}"
        kind = self._kind_of_items(name, about, items)
        out: list[Any] = []
        for each in self._things(kind, name, thing, least, most):
            try:
                one = self.value(items, name or kind, replace(each, number=len(out) + 1))
            except Unsupported:
                continue
            if one not in out and len(out) < most:
                out.append(one)
        return out if len(out) >= form.get("minItems", 0) else None

    def _kind_of_items(self, name: str, about: str, items: Schema) -> str:
        kind = _kind(name)
        if kind in ("", "answer") and items.get("properties"):
            inner = [
                k for key in items["properties"] if (k := _kind(key)) not in ("", "id", "title", "description", "type")
            ]
            kind = inner[0] if inner else kind or "entity"
        return kind or _kind("", about) or ("query" if not name else "")

    def _bounds(self, name: str, form: Schema) -> tuple[int, int]:
        """How many members: of the schema, and of what the prompt or the user says ("5 to 8 sections", "at most 3")."""
        least, most = form.get("minItems", 0), form.get("maxItems", 0)
        noun = (spoken(name).split() or [_kind("", str(form.get("description") or "")) or "queries"])[-1]
        figure = rf"(\d+|{'|'.join(_WORD_NUMBERS)})"
        head = re.escape(re.sub(r"(?:ies|s|y)$", "", noun.lower()))
        text = f"{self.situation.instructions}\n{self.situation.task}\n{self.w.said}"
        for match in re.finditer(
            rf"(?:(at most|up to|no more than|maximum of|at least)\s+)?{figure}(?:\s*(?:-|–|to|or)\s*{figure})?\s+(?:[\w-]+\s+){{0,3}}?{head}",
            text,
            re.I,
        ):
            low, high = (int(_WORD_NUMBERS.get(g.lower(), 0) or g) if g else 0 for g in match.groups()[1:])
            word = (match[1] or "").lower()
            least, told = (
                (low, high) if high else (low, most) if word == "at least" else (0, low) if word else (low, low)
            )
            most = min(told or most, most or told) or told
        return least, max(most, least) if most else max(_MOST, least)

    # what lists hold

    def _things(self, kind: str, name: str, of: _Thing | None, least: int, most: int) -> list[_Thing]:
        """The things of a kind, in order: those that the prompt lists under the name, else those that are found."""
        if of is not None and kind == "dependency":
            return self._before(of)
        given = self._given(name) or (self._given_any() if kind == "verdict" else [])
        if of is not None and given:
            return [t for t in given if stems(t.text) & stems(of.text)] or given[:0]
        if given:
            return given
        makers = {
            "query": self._queries, "question": self._questions, "step": self._questions, "facet": self._facets,
            "section": lambda: self._sections(least, most), "claim": self._claims, "quote": self._claims, "source": self._sources,
            "gap": self._gaps, "conflict": lambda: [_Thing("conflict", c) for c in self.w.conflicts],
            "constraint": lambda: [_Thing("constraint", s) for s in self._clauses() if _CONSTRAINT.search(s)],
            "keyword": self._keywords, "entity": self._entities, "date": self._dates, "reason": self._claims,
        }  # fmt: skip
        listed = makers[kind]() if kind in makers else self._unknown(name)
        if of is not None and kind in ("quote", "claim", "source", "date", "reason"):
            listed = (
                [t for t in listed if t.source == of.source and of.source is not None]
                if kind == "source"
                else self._claims(of)
            )
        elif of is not None and of.kind != kind:
            near = [t for t in listed if stems(t.text) & stems(of.text)]
            listed = near or (
                [replace(of, kind=kind)] if kind in ("query", "question", "keyword") else listed * (kind == "section")
            )
        return listed

    def _before(self, of: _Thing) -> list[_Thing]:
        """The earlier things of the same list whose words a thing takes up."""
        earlier = [t for t in self._things(of.kind, "", None, 1, _MOST) if t.number < of.number]
        subject = stems(self.w.topic.subject)
        return [t for t in earlier if (stems(t.text) - subject) & (stems(of.text) - subject)]

    def _queries(self) -> list[_Thing]:
        w = self.w
        if w.is_question:
            found = [*w.found.missing, w.task.rstrip("?？. "), w.topic.subject]
        elif self.situation.sources:
            found = [gap.query for gap in research.gaps(w.topic, w.sources, w.asked, w.now)]
        else:
            found = research.queries(w.topic)
        return [
            _Thing("query", q, n, q) for n, q in enumerate((q for q in dict.fromkeys(found) if q not in w.asked), 1)
        ]

    def _questions(self) -> list[_Thing]:
        topic = self.w.topic
        if self.w.is_question or not topic.facets:
            return [_Thing("question", self.w.task, 1, self.w.task)]
        of = "{1}：{0}？" if self.zh else "{0} ({1})?"
        return [
            _Thing("question", of.format(f.title, topic.subject), n, f"{topic.subject} {' '.join(f.words)}")
            for n, f in enumerate(topic.facets, 1)
        ]

    def _facets(self) -> list[_Thing]:
        topic = self.w.topic
        listed = [
            _Thing("facet", f.title, n, f"{topic.subject} {' '.join(f.words)}") for n, f in enumerate(topic.facets, 1)
        ]
        return listed or [_Thing("facet", topic.title, 1, topic.subject)]

    def _sections(self, least: int, most: int) -> list[_Thing]:
        """The sections of a plan that the user has seen, else the outline of the task, both as the user changed them."""
        titles = list(self.situation.sections) or list(research.outline(self.w.topic, max(least, 3), most))
        for remark in sentences(self.w.said):
            about = re.search(
                r"(?P<verb>add|include|also cover|drop|remove|skip|leave out|without|增加|添加|加上|删除|去掉|不要)\W+(?:(?:an?|the|sections?|chapters?|on|about|part|parts|one|一[章节个]|关于)\s*)*(?P<what>[^.,;。，；]+)",
                remark,
                re.I,
            )
            if about is None:
                continue
            if re.match(r"add|include|also|增加|添加|加上", about["verb"], re.I):
                titles.insert(len(titles) - 1, about["what"][:1].upper() + about["what"][1:])
            else:
                titles = [t for t in titles if not stems(t) & stems(about["what"])]
        while len(titles) > most:
            titles.pop(-2)
        return [_Thing("section", t, n, f"{self.w.topic.subject} {t}") for n, t in enumerate(dict.fromkeys(titles), 1)]

    def _claims(self, of: _Thing | None = None) -> list[_Thing]:
        """Sentences of the sources, best first; of the draft where that is all there is."""
        if of is not None and of.source is not None and of.kind in ("claim", "quote"):
            return [of]
        ranked = self.w.ranked if of is None else rank(of.query or of.text, self.w.sources, self.w.now)
        if of is not None:
            ranked = [e for e in ranked if stems(of.text) & stems(e.sentence)]
        found = [_Thing("claim", e.sentence, n, e.sentence, e.source) for n, e in enumerate(ranked, 1)]
        return found or [
            _Thing("claim", s, n, s) for n, s in enumerate(sentences(self.w.draft) if of is None else (), 1)
        ]

    def _sources(self) -> list[_Thing]:
        cited = [e.source for e in self.w.ranked]
        ordered = sorted(
            (s for s in self.w.sources if s.key), key=lambda s: cited.index(s) if s in cited else len(cited)
        )
        return [_Thing("source", s.key, n, s.title or s.key, s) for n, s in enumerate(ordered, 1)]

    def _gaps(self) -> list[_Thing]:
        w = self.w
        if w.draft:
            return [_Thing("gap", fault, n, w.task) for n, fault in enumerate(w.faults, 1)]
        if w.is_question:
            missing = w.found.missing if w.found.kind == "none" or w.found.confidence < 0.5 else ()
            return [_Thing("gap", q, n, q) for n, q in enumerate(missing, 1)]
        return [
            _Thing("gap", g.text, n, g.query)
            for n, g in enumerate(research.gaps(w.topic, w.sources, w.asked, w.now), 1)
        ]

    def _keywords(self) -> list[_Thing]:
        named = [
            *names(self.w.task),
            *(w for w in words(self.w.topic.subject) if not any(w in n.lower() for n in names(self.w.task))),
        ]
        return [_Thing("keyword", k, n, k) for n, k in enumerate(dict.fromkeys(named), 1)]

    def _entities(self) -> list[_Thing]:
        found: dict[str, Source] = {}
        for e in self.w.ranked or [e for s in self.w.sources for e in rank(s.title, [s])]:
            for name in research.things(e.sentence):
                found.setdefault(name, e.source)
        if not found:
            found = {name: Source(self.w.task) for name in names(self.w.task)}
        return [_Thing("entity", name, n, name, source) for n, (name, source) in enumerate(found.items(), 1)]

    def _dates(self) -> list[_Thing]:
        told = [(e.sentence, e.source) for e in self.w.ranked]
        return [_Thing("date", s[d.start : d.end], 1, s, source) for s, source in told for d in dates.find(s)]

    def _clauses(self) -> list[str]:
        return [part for s in sentences(self.w.task) for part in [s]]

    def _unknown(self, name: str) -> list[_Thing]:
        """Members of a class that the sources name in a sentence with its word ("risks", "companies")."""
        wanted = stems(spoken(name))
        hits = [
            e
            for e in rank(f"{spoken(name)} {self.w.topic.subject}", self.w.sources, self.w.now)
            if wanted & stems(e.sentence)
        ]
        named = [(thing, e) for e in hits for thing in research.things(e.sentence) if thing not in self.w.task]
        found = named or [(e.sentence, e) for e in hits]
        return [
            _Thing("entity" if named else "claim", text, n, text, e.source)
            for n, (text, e) in enumerate(dict(found).items(), 1)
        ]

    # what the prompt gives

    @cached_property
    def _lists(self) -> list[tuple[str, list[Any]]]:
        """The JSON lists and numbered lists of the prompt's material, with the label that each stands under."""
        found: list[tuple[str, list[Any]]] = []
        told = [(b.label, b.text) for b in self.situation.blocks]
        told += [("", m.text) for m in self.situation.request.messages if m.role == "user"]
        for label, text in told:
            for match in re.finditer(r"(?:\"?([\w ]{2,40})\"?\s*[:：]\s*)?(?=\[\s*[{\"])", text[:60_000]):
                try:
                    value = json.JSONDecoder().raw_decode(text, match.end())[0]
                except ValueError:
                    continue
                found.append((match[1] or label, value))
            numbered = re.findall(r"^\s*\d+[.)]\s+(.+)$", text, re.MULTILINE)
            if label and len(numbered) > 0:
                found.append((label, numbered))
        return found

    def _given(self, name: str) -> list[_Thing]:
        wanted = stems(spoken(name)) - stems("new relevant key original by coverage scores")
        listed = next((v for label, v in self._lists if stems(spoken(label)) & wanted), [])
        return [t for n, v in enumerate(listed, 1) if (t := self._as_thing(name, v, n))]

    def _given_any(self) -> list[_Thing]:
        return [
            t for n, v in enumerate(next((v for _, v in self._lists), []), 1) if (t := self._as_thing("item", v, n))
        ]

    def _as_thing(self, name: str, item: Any, number: int) -> _Thing | None:
        if isinstance(item, str):
            return _Thing(_kind(name) or "claim", item, number, item)
        texts = [v for k, v in item.items() if isinstance(v, str) and k != "id"] if isinstance(item, Mapping) else []
        return (
            _Thing(_kind(name) or "claim", max(texts, key=len), number, max(texts, key=len), record=item)
            if texts
            else None
        )

    def _given_value(self, name: str, form: Schema, thing: _Thing | None) -> Any:
        """What the thing's record has under the name, or a line "name: value" of the text to be repaired or read."""
        if not name:
            return None
        if thing is not None and thing.record:
            same = next((v for k, v in thing.record.items() if stems(spoken(k)) == stems(spoken(name))), None)
            return same if same is not None and schema.fits(same, form, self.root) else None
        bodies = (
            [self.w.draft] + [s.text for s in (thing.source,) if thing and s]
            if thing
            else [self.w.draft, *(s.text for s in self.w.sources[:3] if not s.key)]
        )
        labelled = rf"(?:^|[{{,;\n])[\s\-*>]*[\"'*`]*{re.escape(spoken(name))}[\"'*`]*\s*[:：=]\s*[\"'*`]*([^\n\"}}]+?)[\"'`*,;.]*\s*(?=$|[\n\"}},;])"
        for body in bodies:
            if match := re.search(labelled, re.sub(r"(?<=\w)_(?=\w)", " ", body), re.IGNORECASE):
                return self._converted(match[1].strip(), form)
        return None

    def _converted(self, text: str, form: Schema) -> Any:
        """A text as the type wants it: a number, a truth value, an option; None where it is none."""
        if form["type"] == "boolean":
            return {"true": True, "yes": True, "false": False, "no": False, "是": True, "否": False}.get(text.lower())
        if form["type"] in ("integer", "number"):
            return _as_number(text, form["type"])
        if form.get("enum"):
            return next((o for o in form["enum"] if isinstance(o, str) and o.lower() == text.lower()), None)
        return None if text.lower() in ("null", "none") else self._shaped(text, form)

    # single values

    def _boolean(self, name: str, about: str, thing: _Thing | None) -> bool | None:
        """By the measure that the name means, else the description; else whether the material mentions what the name
        says; else by a yes or no of the reader."""
        said = thing.text if thing else ""
        value = self.w.measure(name, said)
        if value is None:
            value = self.w.measure(about.split(".")[0], said)
        if value is not None:
            return value >= 0.5
        told = spoken(name).lower()
        if re.match(r"(?:has|have|contain|mention|include|is about)", told):
            wanted = stems(told) - stems("has have contains mentions includes is about")
            return wanted <= stems(f"{said or self.w.task} {self.w.draft}")
        found = answer(
            about if about.endswith("?") else f"Is {said or self.w.topic.subject} {told.removeprefix('is ')}?",
            self.w.sources,
            self.w.now,
        )
        return (
            {"yes": True, "no": False, "是": True, "否": False}.get(found.value.lower())
            if found.kind == "value"
            else None
        )

    def _option(self, options: Sequence[Any], name: str, about: str, thing: _Thing | None) -> Any:
        """The option that weighs most: by the measure its words mean, by its description in the prompt, by its words in
        the request; of grades the one that the field's measure reaches; a fallback option where none is spoken of."""
        if len(options) == 1:
            return options[0]
        texts = [str(o) for o in options]
        said = thing.text if thing else ""
        if {t.lower() for t in texts} <= {"yes", "no", "true", "false", "是", "否", "unknown", "unclear"}:
            decided = self._boolean(name, about, thing)
            return next(
                (o for o, t in zip(options, texts, strict=True) if (t.lower() in ("yes", "true", "是")) is decided),
                None,
            )
        if _kind(name) == "language":
            wanted = _LANGUAGES[self.zh]
            return next(
                (o for o, t in zip(options, texts, strict=True) if t.lower() in {w.lower() for w in wanted}), None
            )
        if (graded := self._graded(texts, name, about, thing)) is not None:
            return options[graded]
        material = stems(f"{said or self.w.task} {self.w.draft}")
        weights = [self._weight(t, about, said, material) for t in texts]
        best = max(weights)
        return options[weights.index(best)] if best > 0.3 else None

    def _weight(self, option: str, about: str, said: str, material: frozenset[str]) -> float:
        measured = self.w.measure(option, said)
        told = self._described(option, about)
        if measured is None and told:
            measured = self.w.measure(told.split(".")[0], said)
        hits = len(stems(spoken(option)) & material) * 3 + len(stems(told) & material)
        default = bool(
            re.search(
                rf"(?:unsure|tie|otherwise|default|in doubt)[^.\n]{{0,40}}[`'\" ]{re.escape(option)}\b",
                self.situation.instructions + about,
                re.I,
            )
        )
        if measured is None:
            fallback = stem(spoken(option).lower().split()[0]) in _FALLBACK if spoken(option) else False
            measured = min(0.9, 0.4 + 0.1 * hits) if hits else 0.4 if fallback or default else 0.3
        return measured + 0.01 * default

    def _described(self, option: str, about: str) -> str:
        """What schema or prompt say of an option: the rest of a line or clause that begins with it."""
        pattern = rf"[`'\"*\-]\s*{re.escape(option)}[`'\"*]*\s*[:：=(–—-]\s*([^\n;]+)"
        match = re.search(pattern, about, re.I) or re.search(pattern, self.situation.instructions, re.I)
        return match[1] if match and not re.match(r"[\"'`]?\w+[\"'`]?\s*,", match[1]) else ""

    def _graded(self, texts: Sequence[str], name: str, about: str, thing: _Thing | None) -> int | None:
        """Among grades (low, medium, high) the one that the field's measure reaches, in equal steps; things of a list
        whose measure is unknown are graded by their order."""
        grades = [next((g for g, listed in enumerate(_GRADES) if spoken(t).lower() in listed), None) for t in texts]
        if None in grades:
            return None
        value = self.w.measure(name, thing.text if thing else "")
        if (
            value is None
            and thing is not None
            and re.search(r"import|priorit|sever|relevan|urgen|重要|优先|严重", name)
        ):
            value = max(0.0, 1 - (thing.number - 1) / 3)
        value = self.w.measure(about) if value is None else value
        if value is None:
            return None
        order = sorted(range(len(texts)), key=lambda n: grades[n] or 0)
        return order[min(len(order) - 1, int(value * len(order)))]

    def _number(self, form: Schema, name: str, about: str, thing: _Thing | None) -> float | int | None:
        kind = str(form["type"])
        told = spoken(name).lower()
        if _kind(name) in ("id", "dependency") and thing is not None:
            return thing.number if "number" in told or "index" not in told else thing.number - 1
        if re.search(r"priorit|rank|order|优先", told) and thing is not None:
            top = form.get("maximum", 5)
            return (
                max(form.get("minimum", 1), top + 1 - thing.number)
                if re.search(r"high\w* (?:is )?first|5 (?:is |= ?)?(?:the )?high", about)
                else min(thing.number, top)
            )
        if (counted := self._counted(name, form, {})) is not None:
            return counted
        value = self.w.measure(name, thing.text if thing else "")
        value = self.w.measure(about) if value is None and about else value
        if value is not None:
            return _scaled(value, form, about)
        if re.search(r"token|length|chars|size", told):
            return len(thing.text if thing else self.w.task) // (4 if "token" in told else 1)
        if re.search(r"limit|max|concurren|batch|top", told):
            return self.orders.most_at_once or len(self._questions())
        found = self._read(name, about, thing)
        return _as_number(found, kind) if found else None

    def _text(self, form: Schema, name: str, about: str, thing: _Thing | None) -> str | None:
        kind = _kind(name, about) if name else "answer"
        found = self._by_kind(kind, form, name, about, thing)
        return self._shaped(found, form) if found else None

    def _by_kind(self, kind: str, form: Schema, name: str, about: str, thing: _Thing | None) -> str | None:
        w = self.w
        if kind == "id":
            return self._identifier(form, name, thing)
        if kind == "language":
            return _LANGUAGES[self.zh][1 if re.search(r"name|full", about) or form.get("minLength", 0) > 2 else 0]
        if thing is not None and (kind == thing.kind or (kind in _ITSELF and thing.kind != "source") or not name):
            if kind == "title" and thing.source and thing.kind in ("claim", "quote"):
                return thing.source.title or None
            if kind == "description" and thing.kind == "entity":
                return next((t.text for t in self._claims(thing)), None)
            return thing.text
        if kind == "reason":
            return self._reason(thing)
        if (
            thing is not None
            and thing.source is not None
            and kind in ("source", "date", "title", "quote", "answer", "summary", "claim")
        ):
            s = thing.source
            day = s.day.isoformat() if s.day else ""
            own = {"source": s.key, "date": day, "title": s.title}
            return own.get(kind, (sentences(s.text) or ("",))[0] if thing.kind == "source" else thing.text) or None
        if kind == "clarify":
            return self._clarification()
        if kind in ("answer", "summary") and thing is None:
            return self._answer(kind, form)
        if kind == "title":
            return w.topic.title
        if kind == "step" and thing is None:
            return w.task
        if (
            kind in ("", "type", "entity", "date", "description", "verdict")
            and thing is None
            or kind in ("", "type", "date")
        ):
            return self._read(name, about, thing)
        if kind == "question" and thing is None:
            return w.task
        return next((t.text for t in self._things(kind, name, thing, 1, 1)), None)

    def _identifier(self, form: Schema, name: str, thing: _Thing | None) -> str | None:
        """A counted id, in the form that the pattern, an example or the description shows ("task-1")."""
        if thing is not None and thing.source is not None and thing.source.key and re.search(r"doc|source|url", name):
            return thing.source.key
        number = thing.number if thing else 1
        shown = " ".join(map(str, form.get("examples") or [form.get("description") or ""]))
        prefix = re.search(r"\b([a-zA-Z]{1,12}[_-]?)\d+\b", shown) or re.match(
            r"\^?([a-zA-Z]{1,12}[_-]?)", str(form.get("pattern", ""))
        )
        return f"{prefix[1] if prefix else ''}{number}" if thing else None

    def _answer(self, kind: str, form: Schema) -> str | None:
        """The answer in prose as the prompt orders it; the value alone where only that fits; null's place where
        nothing was found is taken by the writer's statement of that."""
        w = self.w
        if w.is_talk:
            return small_talk(w.task)
        if form.get("maxLength", 1000) <= 60 and w.found.kind == "value":
            return w.found.value
        if kind == "summary" and w.ranked:
            return ("" if self.zh else " ").join(e.sentence for e in w.ranked[:3])
        return write(self.situation, self.orders) or w.found.value or None

    def _clarification(self) -> str | None:
        w = self.w
        if w.rivals and not w.said:
            listed = "，还是".join(w.rivals) if self.zh else " or ".join(w.rivals)
            return f"您指的是{listed}？" if self.zh else f"Which do you mean: {listed}?"
        if w.vague and not w.said:
            return f"“{w.task}”指的是什么？" if self.zh else f"What is meant in “{w.task}”?"
        return None

    def _reason(self, thing: _Thing | None) -> str:
        """What was read and counted, in a frame."""
        w = self.w
        if thing is not None and thing.source is not None:
            by = thing.source.title or thing.source.key
            return (f"来源：{by}" if self.zh else f"Stated by {by}") if by else thing.text
        if w.draft and (w.faults or w.conflicts):
            return (*w.faults, *w.conflicts)[0]
        if thing is not None:
            return f"任务要求：{thing.text}" if self.zh else f"The task asks for it: {thing.text}"
        if w.sources:
            hits = len({e.source for e in w.ranked})
            return (
                f"{len(w.sources)}个来源中有{hits}个谈到这一点。"
                if self.zh
                else f"{hits} of {len(w.sources)} sources speak to it."
            )
        if w.is_talk:
            return "这不是研究问题。" if self.zh else "The message asks nothing of the world."
        return (
            f"任务包含{w.parts}个部分。"
            if self.zh
            else f"The task asks for {w.parts} thing{'s' * (w.parts > 1)}: {w.topic.subject}."
        )

    def _read(self, name: str, about: str, thing: _Thing | None) -> str | None:
        """The reader's value for "<name> of <thing>", shown by a sentence that names the thing."""
        subject = thing.text if thing else self.w.topic.subject
        asked = [about] if about.endswith(("?", "？")) else [spoken(name).lower(), about]
        for words_ in filter(None, asked):
            question = (
                words_
                if words_.endswith(("?", "？"))
                else f"{subject}的{words_}是什么？"
                if self.zh
                else f"What is the {words_} of {subject}?"
            )
            found = answer(question, self.w.sources, self.w.now)
            if found.kind == "value" and (
                thing is None or any(contains_name(e.sentence + e.source.title, subject) for e in found.evidence)
            ):
                return found.value
        return None

    def _shaped(self, text: str, form: Schema) -> str | None:
        """A text in the asked form: a date as ISO or year, cut at a sentence or word end; None where it cannot be."""
        if (
            form.get("format") in ("date", "date-time")
            or "\\d{4}" in str(form.get("pattern", ""))
            or "YYYY" in str(form.get("description", ""))
        ):
            stated = dates.find(text)
            if not stated:
                return None
            day = stated[0]
            text = "-".join(f"{n:0{4 if n > 31 else 2}d}" for n in (day.year, day.month, day.day) if n)
        longest = form.get("maxLength")
        if longest and len(text) > longest:
            cut = text[:longest]
            ends = [m.end() for m in re.finditer(r"[.!?。！？](?=\s|$)", cut)]
            text = cut[: ends[-1]] if ends else cut if is_chinese(cut) else cut.rsplit(" ", 1)[0]
        return text


def _as_number(text: str, kind: str) -> float | int | None:
    """The first number of a text, its scale word multiplied in; None where there is none or it is no whole number."""
    match = _NUMBER.search(text)
    if match is None:
        return None
    value = float(match.group().replace(",", ""))
    scale = re.match(r"\s*(thousand|million|billion|trillion|万|亿)", text[match.end() :], re.I)
    value = round(value * (_SCALED[scale[1].lower()] if scale else 1), 6)
    if kind == "integer":
        return int(value) if value.is_integer() else None
    return int(value) if value.is_integer() and "." not in match.group() else value


def _scaled(value: float, form: Schema, about: str) -> float | int:
    """A share on the scale that the schema or the description states; percent for whole numbers, else 0 to 1."""
    told = re.search(r"(\d+(?:\.\d+)?)\s*(?:-|–|to|\.\.|and|至|到)\s*(\d+(?:\.\d+)?)", about)
    whole = form["type"] == "integer"
    percent = whole or "percent" in about.lower()
    low, high = (float(told[1]), float(told[2])) if told else (0.0, 100.0 if percent else 1.0)
    low, high = form.get("minimum", low), form.get("maximum", high)
    result = low + value * (high - low)
    return round(result) if whole else round(result, 3)
