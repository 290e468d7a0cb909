"""Thoughts that a model wrote into its reply, between tags of any usual spelling: what they are not is the answer.

A tag counts wherever it is not code. A reply may begin within its thoughts (the endpoint's template wrote the opening
tag), so that a closing tag alone ends them.
"""

import re

_NAME = r"(?:think(?:ing)?|thoughts?|reasoning)"
_OPEN = rf"<(?:\w+:)?{_NAME}(?:\s[^<>\n]*)?>|<\|(?:begin_of_|start_)?{_NAME}\|>|◁{_NAME}▷|(?-i:\[THINK\])"
_CLOSE = rf"</(?:\w+:)?{_NAME}\s*>|<\|(?:end_of_|end_|/){_NAME}\|>|◁/{_NAME}▷|(?-i:\[/THINK\])"
_CODE = r"^[ \t]*(?P<fence>```+|~~~+).*?(?:^[ \t]*(?P=fence)[ \t]*$|\Z)|(?<!`)(?P<tick>`{1,2})(?!`)[^`\n]+(?P=tick)"
_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL

CODE = re.compile(_CODE, _FLAGS)
"""Fenced code and code spans of Markdown; what they show is no markup of the model's."""

_TAG = re.compile(f"{_OPEN}|{_CLOSE}", _FLAGS)
_CLOSING = re.compile(_CLOSE, _FLAGS)
_TOKEN = re.compile(f"(?:{_CODE})|(?P<open>{_OPEN})|(?P<close>{_CLOSE})", _FLAGS)

_JOINED = re.compile(r"\W*|\s\w+\s")
"""Between two tags of one line: nothing, or one word as in `<think> and </think>`. Then a sentence names the tags."""

_QUOTES = "\"'“”‘’«»"
_GOES_ON = re.compile(r"[ \t]+\w")
_PARAGRAPH_ENDS = re.compile(r"[ \t]*\n[ \t]*\n")


def without_thoughts(text: str) -> str:
    """The text without its closed thoughts; one that never ends stays, see `ends_in_thought`."""
    return _read(text)[0] if _TAG.search(text) else text


def ends_in_thought(text: str) -> bool:
    """Whether a thought begins on a line of its own and never ends."""
    return _read(text)[1]


def _read(text: str) -> tuple[str, bool]:
    """(the text without closed thoughts, whether one is left open)."""
    last = max((found.start() for found in _CLOSING.finditer(text)), default=-1)
    kept: list[str] = []
    position = search = 0
    unfinished = False
    while found := _TOKEN.search(text, search):
        start, search = found.span()
        if found["close"] and _ends_a_thought(text, start, search):
            kept, position = [], search
        elif found["open"] and not _quoted(text, start, search):
            before = text[position:start]
            first = not text[text.rfind("\n", 0, start) + 1 : start].strip()  # of its line
            close = _CLOSING.search(text, search) if search <= last else None
            if close is None:
                if first and not unfinished:  # a paragraph of a report may begin with the tag's name
                    unfinished = not ("".join([*kept, before]).strip() and _GOES_ON.match(text, search))
                continue
            inside, search = text[search : close.start()], close.end()
            if _is_thought(inside, first, bool(_GOES_ON.match(text, search))):
                kept.append(before.rstrip(" \t") if text[search : search + 1].isspace() else before)
                position = search
    if not position:
        return text, unfinished
    return "".join([*kept, text[position:]]).strip(), unfinished


def _is_thought(inside: str, first: bool, goes_on: bool) -> bool:
    """Whether what two tags enclose is no part of a sentence about them. `goes_on`: their line does after them."""
    joined = _JOINED.fullmatch(inside) is not None
    if first:
        return not (joined and goes_on and inside.strip())
    return "\n\n" not in inside and not joined


def _quoted(text: str, start: int, end: int) -> bool:
    return start > 0 and end < len(text) and text[start - 1] in _QUOTES and text[end] in _QUOTES


def _ends_a_thought(text: str, start: int, end: int) -> bool:
    """Whether a closing tag without an opening one is real: a tag that a sentence mentions has words around it."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    said = line.rstrip(" \t")
    directly = said == line and said[-1:].isalnum()
    return not said or directly or said[-1] in ".!?…。！？" or _PARAGRAPH_ENDS.match(text, end) is not None
