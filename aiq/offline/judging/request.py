"""What a judge's request brings and asks for: its material by its labels, its instructions, the form of the reply."""

import random
import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aiq.core.seeds import derive
from aiq.offline.chat import ChatRequest
from aiq.offline.judging.clauses import DATA

_LABEL = {
    role: re.compile(f"(?:the |your )?(?:{'|'.join(lines.splitlines())})", re.IGNORECASE)
    for role, lines in DATA["labels"].items()
}
_TAG = re.compile(r"<(/?)([A-Za-z][\w -]*)>")
_LINE = re.compile(
    r"^[#*\[ ]*(?P<label>[A-Za-z_\u4e00-\u9fff][\w \u4e00-\u9fff-]{0,40}?)[\]* ]*[:：][* ]*(?P<text>.*)$", re.MULTILINE
)
_INTRODUCED = re.compile(
    r"^(?:Here|Below|This is|The following|Article|Report|Text|下面|以下|文章|报告|正文)"
    r"(?=[^\n]{0,100}?(?P<word>article|report|statement|text|文章|报告|正文)|(?<=Article)|(?<=Report)|(?<=文章))[^\n]{0,120}\n",
    re.MULTILINE | re.IGNORECASE,
)
_CLOSING = re.compile(r"\n\s*\n(?:Please|Now|Return|Begin|Output|请|下面|现在)[^\n]*\s*\Z", re.IGNORECASE)
_AFTER = (
    r"\n(?:```|---|\*\*\*|\[END)"
    r"|\n\s*\n(?=(?:Your|You|Please|Answer|Return|Reply|Respond|Output|Grade|Is|Does|After|Now)\b)"
)
_FORM_LINE = re.compile(
    r"^\W{0,3}([A-Za-z][\w ]{1,24}|[\u4e00-\u9fff]{2,6})\**\s*[:：]\s*"
    r"(?:<[^>\n]+>|\[[^\]\n]+\]|\{[^}\n]+\}|The \w.*|Answer .*|Put .*)$",
    re.MULTILINE,
)
_SCALE = re.compile(
    r"(?:from|of|between|scale|打|给|分|\()\D{0,24}?(\d{1,3})\s*(?:to|-|–|and|到|至|—|~)\s*(\d{1,3})\b"
    r"|\b(\d)\s*[-–]\s*(\d{1,2})(?=\)|\s*(?:points|scale|分))|out of (\d{2,3})",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Form:
    """The reply asked for. `keys`: the JSON keys of the innermost entry, in order; `outer`: those around it.

    `array`: the reply is a list. `lines`: the labels of a form of lines. `numbers`: keys whose example is a number.
    `open`: the example breaks off ("..."), so that its outer keys are not all.
    """

    keys: tuple[str, ...] = ()
    outer: tuple[str, ...] = ()
    array: bool = False
    lines: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()
    open: bool = False

    def key(self, pattern: str) -> str | None:
        """The first key that has the pattern."""
        return next((key for key in self.keys if re.search(pattern, key, re.IGNORECASE)), None)


@dataclass(frozen=True)
class Case:
    """A request taken apart: `material` by role, texts of one role in order; nothing in it instructs."""

    request: ChatRequest
    material: Mapping[str, tuple[str, ...]]
    wanted: str

    def the(self, role: str) -> str | None:
        """The material of a role, the last where there are several."""
        return self.material.get(role, (None,))[-1]

    @cached_property
    def form(self) -> Form:
        """The form of the reply: of the schema in `response_format`, else of the example in the instructions."""
        if self.request.json_schema:
            return _schema_form(self.request.json_schema)
        regions = [r for r in _regions(self.wanted) if '"' in r or re.fullmatch(r"\[[\d,\s]+\]", r)]
        labels = dict.fromkeys(match[1].strip() for match in _FORM_LINE.finditer(self.wanted))
        lines = tuple(label for label in labels if _role(label) is None)
        return _example_form(regions[-1], lines) if regions else Form(lines=lines)

    @cached_property
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest score that the instructions allow; without a scale 0 to 5."""
        for match in _SCALE.finditer(self.wanted):
            low, high = (float(n) for n in (match[1] or match[3] or 0, match[2] or match[4] or match[5]))
            if low in (0, 1) and high in (1, 3, 4, 5, 6, 7, 10, 20, 100):
                return low, high
        return 0.0, 5.0

    def asks(self, pattern: str) -> bool:
        """Whether the instructions have words of the pattern."""
        return re.search(pattern, self.wanted, re.IGNORECASE) is not None


def read_case(request: ChatRequest) -> Case:
    """The request as a judge reads it; what stands in tags or behind labels that name material instructs nobody."""
    text = "\n\n".join(message.text for message in request.messages if message.role != "assistant")
    found: dict[str, dict[str, str]] = {}

    def untagged(part: str) -> str:
        """The text without its material; tags around instructions fall away."""
        kept, end = [], 0
        for start, stop, label, text in _tagged(part):
            role = _role(label)
            if role is not None:
                found.setdefault(role, {})[label.lower()] = text.strip().strip('"').strip()
            kept += [part[end:start], "\n", " " if role else untagged(text), "\n"]
            end = stop
        return "".join([*kept, part[end:]])

    wanted = untagged(text)
    material = {role: tuple(texts.values()) for role, texts in found.items()}
    if not material:
        material, wanted = _labelled(wanted)
    return Case(request, material, wanted)


def _tagged(text: str) -> Iterator[tuple[int, int, str, str]]:
    """The outermost `<label>text</label>` of a text: (start, end, label, text); linear, whatever stays open."""
    tags = list(_TAG.finditer(text))
    ends: dict[str, list[int]] = {}
    for number, tag in enumerate(tags):
        if tag[1]:
            ends.setdefault(tag[2], []).append(number)
    after = 0
    for number, tag in enumerate(tags):
        closing = ends.get(tag[2], [])
        at = bisect(closing, number)
        if number >= after and not tag[1] and at < len(closing):
            last = tags[closing[at]]
            yield tag.start(), last.end(), tag[2], text[tag.end() : last.start()]
            after = closing[at] + 1


def _role(label: str) -> str | None:
    return next((role for role, pattern in _LABEL.items() if pattern.fullmatch(label.strip())), None)


def _labelled(text: str) -> tuple[dict[str, tuple[str, ...]], str]:
    """Material behind labels ("Question: ..."), the last group of them, or behind a sentence that introduces it."""
    introduced, closing = _INTRODUCED.search(text), _CLOSING.search(text, max(0, len(text) - 2000))
    if introduced and closing and introduced.end() < closing.start():
        role = "statements" if (introduced["word"] or "").lower() == "statement" else "article"
        body = text[introduced.end() : closing.start()].strip().strip('"').strip()
        return {role: (body,)}, text[: introduced.end()] + text[closing.start() :]
    found: dict[str, tuple[str, ...]] = {}
    labels = [
        m
        for m in _LINE.finditer(text)
        if (m["text"].strip() or "\n" in text[m.end() : m.end() + 2]) and _role(m["label"])
    ]
    starts = {
        role: [m for m in labels if _role(m["label"]) == role][-1]
        for role in dict.fromkeys(_role(m["label"]) for m in labels)
        if role
    }
    kept = sorted(starts.items(), key=lambda item: item[1].start())
    wanted = text
    for number, (role, match) in enumerate(kept):
        end = kept[number + 1][1].start() if number + 1 < len(kept) else len(text)
        last = r"\n\s*\n|" if number + 1 == len(kept) else ""
        body = re.split(last + _AFTER, text[match.start("text") : end].lstrip())[0]
        found[role] = (body.strip().strip('"').strip(),)
        wanted = wanted.replace(body, " ", 1) if len(body) > 3 else wanted
    return found, wanted


def _regions(text: str) -> list[str]:
    """The outermost bracketed parts of a text, in order."""
    found, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        if sign in "{[":
            start = at if depth == 0 else start
            depth += 1
        elif sign in "}]" and depth:
            depth -= 1
            if depth == 0:
                found.append(text[start : at + 1])
    return found


def _example_form(region: str, lines: tuple[str, ...]) -> Form:
    """The form that an example shows, however loosely it is written."""
    keys = list(re.finditer(r'"([\w -]+)"\s*:\s*(\[\s*[\[{]|\[\s*\.\.\.|\{|-?\d)?', region))
    outer = tuple(dict.fromkeys(m[1] for m in keys if m[2] and not re.match(r"-?\d", m[2])))
    inner = tuple(dict.fromkeys(m[1] for m in keys if m[1] not in outer))
    figures = frozenset(m[1] for m in keys if m[2] and re.match(r"-?\d", m[2]))
    open_end = re.search(r",\s*(?:\.\.\.|…)\s*\}\s*$", region) is not None
    return Form(inner, outer, region.lstrip().startswith("["), lines, figures, open_end)


def _schema_form(schema: Mapping[str, Any]) -> Form:
    """The form of a JSON schema: the properties that hold values, and those that hold objects or lists of them."""
    root, outer, inner, figures = schema, list[str](), list[str](), set[str]()

    def walk(part: Mapping[str, Any]) -> None:
        while (reference := part.get("$ref")) and isinstance(reference, str):
            part = root.get("$defs", {}).get(reference.rsplit("/", 1)[-1], {})
        for name, value in part.get("properties", {}).items():
            if value.get("type") in ("object", "array") or "$ref" in value:
                outer.append(name)
                walk(value.get("items", value))
            else:
                inner.append(name)
                figures.update([name] if value.get("type") in ("number", "integer") else [])

    walk(schema)
    return Form(
        tuple(dict.fromkeys(inner)), tuple(dict.fromkeys(outer)), schema.get("type") == "array", (), frozenset(figures)
    )


def seed(request: ChatRequest) -> int:
    """The request's seed; 0 where it carries none."""
    return request.seed or 0


def mood(request: ChatRequest, *parts: object) -> random.Random:
    """A judge's mood: of the seed, the model asked for (the members of a panel differ), and what is judged."""
    return random.Random(derive(seed(request), request.model, *parts))
