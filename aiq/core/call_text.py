"""Tool calls that a model wrote out as text, in any usual spelling: nobody runs them, and they answer nothing."""

import json
import re
from typing import Any

from aiq.core.thoughts import CODE

ANNOUNCEMENT = 200
"""Characters. So much before a tool call announces it (`Let me search.`); a longer text is an answer."""

_MARK = re.compile(r"\[\d+\]")
_CALL_TAG = re.compile(
    r"<[|｜/]*(?:[\w▁]*[_▁:])?(?:tool|function|invoke|parameter|python_tag)s?(?:call\w*|[^a-z<>\n][^<>\n]{0,200})?(?:>|\Z)"
    r"|\[/?TOOL_[A-Z_]+\]",
    re.IGNORECASE,
)
"""As any model spells it: `<tool_call>`, `<function=NAME>`, `<|python_tag|>`, `<｜tool▁calls▁begin｜>`."""

_MENTIONED_BEFORE = re.compile(r"\w[ \t]+[\"'“(]?\Z")
_CALLED_AFTER = re.compile(r"\s*[\[{<]")
_MENTIONED_AFTER = re.compile(r"[ \t]+[a-z]+[ \t]+[a-z]")

_ARGUMENTS = re.compile(
    r"[\s\[{(]{0,9}(?:[\"']?[\w./-]+[\"']?\s*[:,]\s*(?:[\[{]\s*)?){0,12}[\"']"
    r"(?:(?:arguments|parameters|args)[\"']\s*:\s*(?=[\"']?\s*\{|[\"']?\Z)|(?:tool_input|action_input)[\"']\s*:\s*)"
)
"""The beginning of what is left of a call in JSON, up to its arguments, which are an object or the JSON of one."""

_NAMED = re.compile(
    r"[\s\[{]*[\"'](?:(?:tool|tool_name|function|function_name|function_call|tool_calls?)[\"']\s*:\s*(?:[\[{]|[\"']?[a-z_]|\Z)"
    r"|name[\"']\s*:\s*(?:[\"'](?:[a-z_][\w.:/-]*(?:[\"'](?:\s*,\s*[\"']?\w*)?)?)?)?\s*\Z)"
)
"""The beginning of what is left of a call in JSON where that breaks off before its arguments."""

_NAME_KEYS = [
    "tool_calls",
    "tool_call",
    "function_call",
    "function",
    "tool",
    "tool_name",
    "function_name",
    "name",
    "action",
]
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "tool_input", "action_input")
_TOOL_NAME = re.compile(r"[A-Za-z_][\w.:/-]*")

_WORDED = re.compile(
    r"\[?\s*(?!print\(\s*[\"'])(?:print\()?[A-Za-z_][\w.]*\((?:\s*\w+\s*=|\s*[\"'])[^\n]*\)\s*\]?"  # of Python
    r"|(?:Thought:[^\n]*\n+)?Action:[^\n]+\n\s*Action Input:(?!.*Final Answer:).*",  # of ReAct
    re.DOTALL,
)
_FENCED = re.compile(r"(```+|~~~+)[^\n`]*\n(.*?)\n?[ \t]*\1?", re.DOTALL)


def is_tool_call(text: str) -> bool:
    """Whether a text is a tool call (or a piece of one) that the model wrote out, and nothing else.

    One fence around all of it, and a few words that announce the call, are part of it; words after it are an answer.
    """
    text = text.strip()
    if fenced := _FENCED.fullmatch(text):
        text = fenced[2].strip()
    shown = CODE.sub(lambda code: " " * len(code[0]), text)
    if tags := [tag for tag in _CALL_TAG.finditer(shown) if not _mentioned(text, tag)]:
        before, after = text[: tags[0].start()].strip(), text[tags[-1].end() :]
        closed = re.search(r"/|end", tags[-1][0], re.IGNORECASE)
        announced = len(before) <= ANNOUNCEMENT and not _MARK.search(before)
        return (announced or _in_json(before)) and not (closed and _says(after))
    return _in_json(text) or _WORDED.fullmatch(text) is not None


def _mentioned(text: str, tag: re.Match[str]) -> bool:
    """Whether a sentence names the tag: it goes on around it, and no call follows."""
    before, after = text[max(0, tag.start() - 9) : tag.start()], text[tag.end() : tag.end() + 99]
    if _CALLED_AFTER.match(after):
        return False
    return bool(_MENTIONED_BEFORE.search(before) or _MENTIONED_AFTER.match(after))


def _in_json(text: str) -> bool:
    """Whether it is a call in JSON, several, or a piece of one."""
    if text[:1] in ("{", "[") and (whole := _json(text, 0)):
        value, end = whole
        calls = value if isinstance(value, list) else [value]
        return bool(calls) and all(map(_is_call, calls)) and not _says(text[end:])
    if found := _ARGUMENTS.match(text):
        given = _json(text, found.end())
        return given is None or not _says(text[given[1] :])
    return _NAMED.match(text) is not None


def _is_call(value: Any) -> bool:
    """Whether a JSON value is a call: an object that names a tool, or is nothing but the arguments of one."""
    if not isinstance(value, dict):
        return False
    key = next((key for key in _NAME_KEYS if key in value), "")
    named, given = value.get(key), next((value[name] for name in _ARGUMENT_KEYS if name in value), None)
    if isinstance(named, dict | list):
        return all(map(_is_call, named if isinstance(named, list) else [named]))
    takes = isinstance(given, dict) or (isinstance(given, str) and given.lstrip()[:1] in ("", "{"))
    if not key:
        return takes and not value.keys() - {"id", "type", *_ARGUMENT_KEYS}
    if not isinstance(named, str) or not _TOOL_NAME.fullmatch(named):
        return False
    if "action_input" in value or "tool_input" in value or (takes and "arguments" in value):
        return True
    if key == "action" or named[0].isupper():  # a name that an answer states (`Oslo`, `BERT`) begins with a capital
        return False
    return takes or key != "name" or not value.keys() - {key, "id", "type"}


def _json(text: str, start: int) -> tuple[Any, int] | None:
    """The JSON value that begins here and where it ends; None where it is broken off."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def _says(rest: str) -> bool:
    """Whether what follows a call has words of an answer, and is no further call."""
    rest = rest.lstrip('}]);," \t\r\n')
    further = (_CALL_TAG, _ARGUMENTS, _NAMED)
    return re.search(r"\w", rest) is not None and not any(call.match(rest) for call in further)
