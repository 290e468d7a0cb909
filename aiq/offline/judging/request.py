"""What a request to a judge contains and asks for: its labelled material, its instructions, the form of the reply."""

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aiq.core.seeds import derive
from aiq.offline.chat import ChatRequest
from aiq.offline.engine.material import elements
from aiq.offline.judging.facts import DATA

_LABEL = {role: re.compile(f"(?:the |your )?(?:{words})", re.IGNORECASE) for role, words in DATA["labels"].items()}
_LINE = re.compile(
    r"^[#*\[ ]*(?P<label>[A-Za-z_\u4e00-\u9fff][\w -]{0,60}?)[\]* ]*(?:[:：]|(?<=列表)$)[* ]*(?P<text>.*)$",
    re.MULTILINE,
)
_INTRODUCTION = re.compile(
    r"(?:here|below|the following) (?:is|are) (?:the )?(?:(?:main )?text of the |list of )?(?:research )?"
    r"|下面是",
    re.IGNORECASE,
)
_IMPERATIVES = "Please|Begin|Answer|Return|Reply|Respond|Output|Grade|Score|Rate|Judge|Decide|List|Remove|Extract"
_CLOSING = re.compile(
    r"\n(?:```|---|\*\*\*|\[END)"
    rf"|\n\s*\n(?=(?:Your|You|Is|Does|After|Now|{_IMPERATIVES})\b|请|下面|现在)|\n(?=(?:Is|Does|{_IMPERATIVES})\b)"
)
_LAST_ORDER = re.compile(rf"\n\s*\n(?=(?:(?:{_IMPERATIVES})\b|请|下面)[^\n]*(?:\n[^\n]+)*\s*\Z)")
_FORM_LINE = re.compile(r"^\W{0,3}([A-Za-z]\w{1,24})\**\s*[:：]\s*(?:<[^>\n]+>|Answer .*)$", re.MULTILINE)
_SCALE = re.compile(
    r"(?:from|of|between|scale|打|给|分|\()\D{0,24}?([01])\s*(?:\([^()]*\)\s*)?(?:to|[-–~]|and|到|至)\s*"
    r"([34579]|10|20|100)\b",
    re.I,
)
_KEYS = {role: re.compile(words, re.IGNORECASE) for role, words in DATA["keys"].items()}


class Case(NamedTuple):
    """A parsed request. `material`: texts by role, in order, never taken as instructions. `wanted`: the rest.

    `keys`: the keys of the innermost entry in the requested form; `outer`: those of the lists and objects around it;
    `example`: the form itself, empty if it is lines or bare words.
    """

    request: ChatRequest
    material: Mapping[str, list[str]]
    wanted: str
    example: str
    keys: tuple[str, ...]
    outer: tuple[str, ...]

    def last(self, role: str) -> str:
        """The last material with a role, or empty."""
        return self.material.get(role, [""])[-1]

    def asks(self, words: str) -> bool:
        """Whether the instructions match a pattern."""
        return re.search(words, self.wanted, re.IGNORECASE) is not None

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and highest score that the instructions allow; 0 to 5 if they give no scale."""
        match = _SCALE.search(self.wanted)
        return (float(match[1]), float(match[2])) if match else (0.0, 5.0)

    def rng(self, *parts: object) -> random.Random:
        """A judge's mood, drawn from the seed, the model name (panel members differ), and what is judged."""
        return random.Random(derive(self.request.seed or 0, self.request.model, *parts))

    def entry(self, **values: Any) -> dict[str, Any]:
        """The values under the keys of the form that mean them; a key that means none of them gets `other`, if any."""
        roles = {key: next((r for r in values if r in _KEYS and _KEYS[r].search(key)), "other") for key in self.keys}
        return {key: values[role] for key, role in roles.items() if role in values}

    def as_list(self, entries: Sequence[Any]) -> str:
        """The entries as JSON: under the key of the form that holds them, else as a list, or a single one by itself."""
        single = len(entries) == 1 and not self.example.startswith("[")
        reply = {self.outer[0]: entries} if self.outer else entries[0] if single else entries
        return json.dumps(reply, ensure_ascii=False)

    def as_entry(self, bare: str, **values: Any) -> str:
        """One entry in the requested form: JSON, labelled lines, or the bare word."""
        entry = self.entry(**values)
        lines = "\n".join(f"{label}: {value}" for label, value in entry.items())
        return json.dumps(entry, ensure_ascii=False) if self.example else lines or bare


def read_case(request: ChatRequest) -> Case:
    """The request as a judge reads it; text in tags or after labels that name material is never an instruction."""
    text = "\n\n".join(message.text for message in request.messages if message.role != "assistant")
    passages, wanted = _tagged(text)
    if not passages:
        passages, wanted = _labelled(text)
    material = {role: [text.strip('" \n') for text in texts] for role, texts in passages.items()}
    example = _example(wanted)
    keys = re.findall(r'"([\w -]+)"\s*:\s*(\[\s*[\[{.]|\{)?', example) or [
        (label, "") for label in _FORM_LINE.findall(wanted)
    ]
    outer = tuple(dict.fromkeys(key for key, opening in keys if opening))
    inner = tuple(dict.fromkeys(key for key, _ in keys if key not in outer))
    return Case(request, material, wanted, example, inner, outer)


def _role(label: str) -> str | None:
    return next((role for role, words in _LABEL.items() if words.fullmatch(label.strip())), None)


def _tagged(text: str, levels: int = 5) -> tuple[dict[str, list[str]], str]:
    """The texts in tags that name material, by role, and the remaining text. `levels`: how deep to read other tags."""
    passages, remainder, end = dict[str, list[str]](), "", 0
    for element in elements(text) if levels else ():
        role = _role(element.label)
        inner, rest = ({role: [element.text]}, "\n") if role else _tagged(element.text, levels - 1)
        for name, texts in inner.items():
            passages.setdefault(name, []).extend(texts)
        remainder, end = f"{remainder}{text[end : element.start]}{rest}", element.end
    return passages, remainder + text[end:]


def _labelled(text: str) -> tuple[dict[str, list[str]], str]:
    """The texts after labels ("Question: ...", "Here is the report:"), by role, and the remaining text."""
    lines = [(role, line) for line in _LINE.finditer(text) if (role := _role(_INTRODUCTION.sub("", line["label"], 1)))]
    multiline = next((n for n, (_, line) in enumerate(lines) if not line["text"]), len(lines))
    lines = lines[: multiline + 1]  # a text of many lines ends them: its own lines are not labels
    passages, remainder = dict[str, list[str]](), text
    for (role, line), end in zip(lines, [*(line.start() for _, line in lines[1:]), len(text)], strict=False):
        closing = _CLOSING if line["text"] else _LAST_ORDER
        body = closing.split(text[line.start("text") : end].lstrip())[0]
        passages.setdefault(role, []).append(body)
        remainder = remainder.replace(body, " ", 1) if len(body) > 3 else remainder
    return passages, remainder


def _example(text: str) -> str:
    """The last outermost brackets that show JSON: with a quoted key, or a list of numbers on its own line."""
    example, depth, start = "", 0, 0
    for mark in re.finditer(r"[\[{]|[\]}]", text):
        if mark[0] in "[{":
            start, depth = start if depth else mark.start(), depth + 1
        elif depth:
            depth -= 1
            form = text[max(0, start - 1) : mark.end()] if not depth else ""
            example = form.strip("\n ") if re.search(r'"\s*:', form) or re.match(r"\n\[\d+, ", form) else example
    return example
