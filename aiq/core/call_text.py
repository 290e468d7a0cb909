"""Tool calls that a model wrote out as text, in any usual spelling: nobody runs them, and they answer nothing."""

import json
import re

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

_ARGUMENTS = re.compile(
    r"[\s\[{(]{0,9}(?:[\"']?[\w./-]+[\"']?\s*[:,]\s*(?:[\[{]\s*)?){0,12}"
    r"[\"'](?:arguments|parameters|args|tool_input|action_input)[\"']\s*:\s*"
)
"""The beginning of a call in JSON, or of what is left of one, up to its arguments."""

_NAMED = re.compile(r"[\s\[{]*[\"'](name|tool|tool_name|function|function_name|function_call|tool_calls?)[\"']\s*:")
_WORDED = re.compile(
    r"\[?\s*(?:print\()?[A-Za-z_][\w.]*\((?:\s*\w+\s*=|\s*[\"'])[^\n]*\)\s*\]?"  # of Python
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
    if tags := list(_CALL_TAG.finditer(shown)):
        before, after = text[: tags[0].start()].strip(), text[tags[-1].end() :]
        closed = re.search(r"/|end", tags[-1][0], re.IGNORECASE)
        announced = len(before) <= ANNOUNCEMENT and not _MARK.search(before)
        return (announced or _in_json(before)) and not (closed and _says(after))
    return _in_json(text) or _WORDED.fullmatch(text) is not None


def _in_json(text: str) -> bool:
    """Whether it is a call in JSON, several, or a piece of one."""
    if found := _ARGUMENTS.match(text):
        end = _end_of_json(text, found.end())
        return end is None or not _says(text[end:])
    if not (found := _NAMED.match(text)):
        return False
    end = _end_of_json(text, 0)
    if end is None:
        return True
    given = json.loads(text[:end])
    only = isinstance(given, dict) and not given.keys() - {"name", "id", "type"}
    return (found[1] != "name" or only) and not _says(text[end:])


def _end_of_json(text: str, start: int) -> int | None:
    """Where the JSON value that begins here ends; None where it is broken off."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None


def _says(rest: str) -> bool:
    """Whether what follows a call has words of an answer, and is no further call."""
    rest = rest.lstrip('}]);," \t\r\n')
    further = (_CALL_TAG, _ARGUMENTS, _NAMED)
    return re.search(r"\w", rest) is not None and not any(call.match(rest) for call in further)
