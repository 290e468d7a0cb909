"""What a judge's request brings and asks for: its material by its labels, its instructions, the form of the reply."""

import random
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from aiq.core.seeds import derive
from aiq.offline.chat import ChatRequest
from aiq.offline.judging.facts import DATA

_LABEL = {
    role: re.compile(f"(?:the |your )?(?:{'|'.join(lines.splitlines())})", re.IGNORECASE)
    for role, lines in DATA["labels"].items()
}
_TAG = re.compile(r"(?<!`)<([A-Za-z][\w -]*)>")
_LINE = re.compile(
    r"^[#*\[ ]*(?P<label>[A-Za-z_\u4e00-\u9fff][\w -]{0,60}?)[\]* ]*(?:[:：]|(?<=列表)$)[* ]*(?P<text>.*)$",
    re.MULTILINE,
)
_INTRODUCTION = re.compile(
    r"(?:here|below|the following) (?:is|are) (?:the )?(?:(?:main )?text of the |list of )?(?:research )?"
    r"|下面是(?:你需要去重的|研究)?",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"\n(?:```|---|\*\*\*|\[END)"
    r"|\n\s*\n(?=(?:Your|You|Please|Answer|Return|Reply|Respond|Output|Grade|Is|Does|After|Now|Begin)\b|请|下面|现在)"
)
_LAST = re.compile(r"\n\s*\n(?=(?:Please|Begin|请|下面)[^\n]*(?:\n[^\n]+)*\s*\Z)")
_FORM_LINE = re.compile(r"^\W{0,3}([A-Za-z]\w{1,24})\**\s*[:：]\s*(?:<[^>\n]+>|Answer .*)$", re.MULTILINE)
_SCALE = re.compile(
    r"(?:from|of|between|scale|打|给|分|\()\D{0,24}?(\d{1,3})\s*(?:to|[-–~]|and|到|至)\s*(\d{1,3})\b", re.I
)


class Case(NamedTuple):
    """A request taken apart. `material`: texts by role, in order; nothing in them instructs. `wanted`: the rest.

    `keys`: the names of the values in the innermost entry of the form asked for; `outer`: those of the lists and
    objects around it; `example`: that form itself, empty where it is lines or bare words.
    """

    request: ChatRequest
    material: Mapping[str, tuple[str, ...]]
    wanted: str
    example: str
    keys: tuple[str, ...]
    outer: tuple[str, ...]

    def the(self, role: str) -> str:
        """The material of a role, the last where there are several, empty where there is none."""
        return self.material.get(role, ("",))[-1]

    def asks(self, pattern: str) -> bool:
        """Whether the instructions have words of the pattern."""
        return re.search(pattern, self.wanted, re.IGNORECASE) is not None

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest score that the instructions allow; without a scale 0 to 5."""
        found = [(float(match[1]), float(match[2])) for match in _SCALE.finditer(self.wanted)]
        return next(
            (scale for scale in found if scale[0] in (0, 1) and scale[1] in (3, 4, 5, 7, 10, 20, 100)), (0.0, 5.0)
        )


def read_case(request: ChatRequest) -> Case:
    """The request as a judge reads it; what stands in tags or behind labels that name material instructs nobody."""
    text = "\n\n".join(message.text for message in request.messages if message.role != "assistant")
    found, wanted = _tagged(text)
    if not found:
        found, wanted = _labelled(text)
    material = {
        role: tuple(text.strip().strip('"').strip() for text in texts.values()) for role, texts in found.items()
    }
    example = _example(wanted)
    keys = re.findall(r'"([\w -]+)"\s*:\s*(\[\s*[\[{.]|\{)?', example) or [
        (label, "") for label in _FORM_LINE.findall(wanted)
    ]
    outer = tuple(dict.fromkeys(key for key, opens in keys if opens))
    return Case(
        request, material, wanted, example, tuple(dict.fromkeys(key for key, opens in keys if key not in outer)), outer
    )


def _role(label: str) -> str | None:
    return next((role for role, pattern in _LABEL.items() if pattern.fullmatch(label.strip())), None)


def _tagged(text: str) -> tuple[dict[str, dict[str, str]], str]:
    """The texts between tags that name material, by role and label, of each label the last; and what is left."""
    found: dict[str, dict[str, str]] = {}
    kept, end, open_ = "", 0, set[str]()
    for tag in _TAG.finditer(text):
        role, close = _role(tag[1]), f"</{tag[1]}>"
        if role and tag.start() >= end and close not in open_:
            stop = text.find(close, tag.end())
            if stop < 0:
                open_.add(close)  # so that a text full of open tags is read once
            else:
                found.setdefault(role, {})[tag[1]] = text[tag.end() : stop]
                kept, end = f"{kept}{text[end : tag.start()]}\n", stop + len(close)
    return found, kept + text[end:]


def _labelled(text: str) -> tuple[dict[str, dict[str, str]], str]:
    """The texts behind labels ("Question: ...", "Here is the report:"), of each role the last; and what is left."""
    starts: dict[str, re.Match[str]] = {}
    for line in _LINE.finditer(text):
        introduced = _INTRODUCTION.match(line["label"])
        if role := _role(line["label"][introduced.end() if introduced else 0 :]):
            starts[role] = line
            if not line["text"]:
                break  # a text of many lines, whose own lines are no labels
    found: dict[str, dict[str, str]] = {}
    wanted, ends = text, [match.start() for match in starts.values()]
    for role, match in starts.items():
        start, closing = match.start("text"), _CLOSING if match["text"] else _LAST
        body = closing.split(text[start : min((e for e in ends if e > start), default=len(text))].lstrip())[0]
        found[role] = {"": body}
        wanted = wanted.replace(body, " ", 1) if len(body) > 3 else wanted
    return found, wanted


def _example(text: str) -> str:
    """The last outermost part in brackets that shows JSON: with a quoted word, or a list of numbers on its own line."""
    found, depth, start = "", 0, 0
    for mark in re.finditer(r"[\[{]|[\]}]", text):
        if mark[0] in "[{":
            start, depth = start if depth else mark.start(), depth + 1
        elif depth:
            depth -= 1
            shown = text[max(0, start - 1) : mark.end()] if not depth else ""
            found = shown.strip("\n ") if '"' in shown or re.match(r"\n\[\d+, ", shown) else found
    return found


def filled(keys: Iterable[str], *values: tuple[str, Any]) -> dict[str, Any]:
    """An entry with the keys of the form; of several values the first whose pattern the key has."""
    found = {key: [value for pattern, value in values if re.search(pattern, key, re.IGNORECASE)] for key in keys}
    return {key: fitting[0] for key, fitting in found.items() if fitting}


def mood(request: ChatRequest, *parts: object) -> random.Random:
    """A judge's mood: of the seed, the model asked for (the members of a panel differ), and what is judged."""
    return random.Random(derive(request.seed or 0, request.model, *parts))
