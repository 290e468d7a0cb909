"""What of a model's reply is an answer: no thoughts, no tool call written as text, nothing blank or cut off.

Thoughts are the text between tags of any usual spelling, outside of code. A reply may begin within its thoughts (the
endpoint's template wrote the opening tag), so a closing tag alone ends them. A tool call that a model wrote as text is
never run and answers nothing.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_MARK = re.compile(r"\[\d+\]")

_NAME = r"(?:think(?:ing)?|thoughts?|reasoning)"
_OPEN = rf"<(?:\w+:)?{_NAME}(?:\s[^<>\n]*)?>|<\|(?:begin_of_|start_)?{_NAME}\|>|◁{_NAME}▷|(?-i:\[THINK\])"
_CLOSE = rf"</(?:\w+:)?{_NAME}\s*>|<\|(?:end_of_|end_|/){_NAME}\|>|◁/{_NAME}▷|(?-i:\[/THINK\])"
_CODE = r"^[ \t]*(?P<fence>```+|~~~+).*?(?:^[ \t]*(?P=fence)[ \t]*$|\Z)|(?<!`)(?P<tick>`{1,2})(?!`)[^`\n]+(?P=tick)"
_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL

CODE = re.compile(_CODE, _FLAGS)
"""Fenced code and code spans of Markdown; tags inside them are not the model's own markup."""

_IN_TAGS = ("<", "◁", "THINK]")
_CLOSING = re.compile(_CLOSE, _FLAGS)
_TOKEN = re.compile(f"(?:{_CODE})|(?P<open>{_OPEN})|(?P<close>{_CLOSE})", _FLAGS)

_JOINED = re.compile(r"\W*|\s\w+\s")
"""Between two tags on one line: nothing, or one word as in `<think> and </think>`; then a sentence names the tags."""

_QUOTES = "\"'“”‘’«»"
_GOES_ON = re.compile(r"[ \t]+\w")
_PARAGRAPH_ENDS = re.compile(r"[ \t]*\n[ \t]*\n")


def without_thoughts(text: str) -> str:
    """The text without its closed thoughts; one that never ends is kept, see `ends_in_thought`."""
    return _split_thoughts(text)[0]


def ends_in_thought(text: str) -> bool:
    """Whether a thought begins on a line of its own and never ends."""
    return _split_thoughts(text)[1]


def _split_thoughts(text: str) -> tuple[str, bool]:
    """(the text without closed thoughts, whether one is left open)."""
    if not any(part in text for part in _IN_TAGS):  # true of nearly every report
        return text, False
    last_close = max((match.start() for match in _CLOSING.finditer(text)), default=-1)
    pieces: list[str] = []
    position = search = 0
    unfinished = False
    while match := _TOKEN.search(text, search):
        start, search = match.span()
        if match["close"] and _ends_a_thought(text, start, search):
            pieces, position = [], search
        elif match["open"] and not _quoted(text, start, search):
            before = text[position:start]
            starts_line = not text[text.rfind("\n", 0, start) + 1 : start].strip()  # on its line
            close = _CLOSING.search(text, search) if search <= last_close else None
            if close is None:
                if starts_line and not unfinished:  # a paragraph of a report may begin with the tag's name
                    unfinished = not ("".join([*pieces, before]).strip() and _GOES_ON.match(text, search))
                continue
            content, search = text[search : close.start()], close.end()
            if _is_thought(content, starts_line, bool(_GOES_ON.match(text, search))):
                pieces.append(before.rstrip(" \t") if text[search : search + 1].isspace() else before)
                position = search
    if not position:
        return text, unfinished
    return "".join([*pieces, text[position:]]).strip(), unfinished


def _is_thought(content: str, starts_line: bool, goes_on: bool) -> bool:
    """Whether two tags enclose a thought, not part of a sentence about tags. `goes_on`: their line does after them."""
    joined = _JOINED.fullmatch(content) is not None
    if starts_line:
        return not (joined and goes_on and content.strip())
    return "\n\n" not in content and not joined


def _quoted(text: str, start: int, end: int) -> bool:
    return start > 0 and end < len(text) and text[start - 1] in _QUOTES and text[end] in _QUOTES


def _ends_a_thought(text: str, start: int, end: int) -> bool:
    """Whether a closing tag without an opening one is real: a tag mentioned in a sentence has words around it."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    before = line.rstrip(" \t")
    attached = before == line and before[-1:].isalnum()
    return not before or attached or before[-1] in ".!?…。！？" or _PARAGRAPH_ENDS.match(text, end) is not None


ANNOUNCEMENT = 200
"""Characters: at most this much text before a tool call announces it (`Let me search.`); a longer text is an answer."""

_CALL_TAG = re.compile(
    r"<[|｜/]*(?:[\w▁]*[_▁:])?(?:tool|function|invoke|parameter|python_tag)s?(?:call\w*|[^a-z<>\n][^<>\n]{0,200})?(?:>|\Z)"
    r"|\[/?TOOL_[A-Z_]+\]",
    re.IGNORECASE,
)
"""A call's tag in any spelling: `<tool_call>`, `<function=NAME>`, `<|python_tag|>`, `<｜tool▁calls▁begin｜>`."""

_MENTIONED_BEFORE = re.compile(r"\w[ \t]+[\"'“(]?\Z")
_CALLED_AFTER = re.compile(r"\s*[\[{<]")
_MENTIONED_AFTER = re.compile(r"[ \t]+[a-z]+[ \t]+[a-z]")

_ARGUMENTS = re.compile(
    r"[\s\[{(]{0,9}(?:[\"']?[\w./-]+[\"']?\s*[:,]\s*(?:[\[{]\s*)?){0,12}[\"']"
    r"(?:(?:arguments|parameters|args)[\"']\s*:\s*(?=[\"']?\s*\{|[\"']?\Z)|(?:tool_input|action_input)[\"']\s*:\s*)"
)
"""The beginning of what is left of a JSON call, up to its arguments: an object, or one encoded as JSON."""

_CUT_CALL = re.compile(
    r"[\s\[{]*[\"'](?:(?:tool|tool_name|function|function_name|function_call|tool_calls?)[\"']\s*:\s*(?:[\[{]|[\"']?[a-z_]|\Z)"
    r"|name[\"']\s*:\s*(?:[\"'](?:[a-z_][\w.:/-]*(?:[\"'](?:\s*,\s*[\"']?\w*)?)?)?)?\s*\Z)"
)
"""The beginning of what is left of a JSON call that breaks off before its arguments."""

_NAME_KEYS = (
    *("tool_calls", "tool_call", "function_call", "function"),
    *("tool", "tool_name", "function_name", "name", "action"),
)
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "tool_input", "action_input")
_TOOL_NAME = re.compile(r"[A-Za-z_][\w.:/-]*")

_CALL_SYNTAX = re.compile(
    r"\[?\s*(?!print\(\s*[\"'])(?:print\()?[A-Za-z_][\w.]*\((?:\s*\w+\s*=|\s*[\"'])[^\n]*\)\s*\]?"  # Python
    r"|(?:Thought:[^\n]*\n+)?Action:[^\n]+\n\s*Action Input:(?!.*Final Answer:).*",  # ReAct
    re.DOTALL,
)
_FENCE = re.compile(r"(```++|~~~++)[^\n`]*\n")


@lru_cache(maxsize=32)  # the agent asks about its report, and then the harness
def is_tool_call(text: str) -> bool:
    """Whether a text is nothing but a tool call (or a piece of one) that the model wrote as text.

    A code fence around it all and a few words that announce the call are part of it; words after it are an answer.
    """
    text = text.strip()
    if fence := _FENCE.match(text):
        text = text[fence.end() :].removesuffix(fence[1]).strip()
    prose = CODE.sub(lambda code: " " * len(code[0]), text) if _CALL_TAG.search(text) else ""
    if tags := [tag for tag in _CALL_TAG.finditer(prose) if not _mentioned(text, tag)]:
        before, after = text[: tags[0].start()].strip(), text[tags[-1].end() :]
        closed = re.search(r"/|end", tags[-1][0], re.IGNORECASE)
        return (is_announcement(before) or _in_json(before)) and not (closed and _has_answer(after))
    return _in_json(text) or _CALL_SYNTAX.fullmatch(text) is not None


def is_announcement(text: str) -> bool:
    """Whether what a reply says beside its tool calls is no more than a word on them."""
    return len(text.strip()) <= ANNOUNCEMENT and not _MARK.search(text)


def _mentioned(text: str, tag: re.Match[str]) -> bool:
    """Whether the tag is only named in a sentence: words surround it, and no call follows."""
    before, after = text[max(0, tag.start() - 9) : tag.start()], text[tag.end() : tag.end() + 99]
    if _CALLED_AFTER.match(after):
        return False
    return bool(_MENTIONED_BEFORE.search(before) or _MENTIONED_AFTER.match(after))


def _in_json(text: str) -> bool:
    """Whether the text is one or several JSON calls, or a piece of one."""
    if text[:1] in ("{", "[") and (parsed := _json(text, 0)):
        value, end = parsed
        calls = value if isinstance(value, list) else [value]
        return bool(calls) and all(map(_is_call, calls)) and not _has_answer(text[end:])
    if match := _ARGUMENTS.match(text):
        arguments = _json(text, match.end())
        return arguments is None or not _has_answer(text[arguments[1] :])
    return _CUT_CALL.match(text) is not None


def _is_call(value: Any) -> bool:
    """Whether a JSON value is a call: an object that names a tool, or holds only the arguments of one."""
    if not isinstance(value, dict):
        return False
    key = next((key for key in _NAME_KEYS if key in value), "")
    tool, arguments = value.get(key), next((value[name] for name in _ARGUMENT_KEYS if name in value), None)
    if isinstance(tool, dict | list):
        return all(map(_is_call, tool if isinstance(tool, list) else [tool]))
    has_arguments = isinstance(arguments, dict) or (isinstance(arguments, str) and arguments.lstrip()[:1] in ("", "{"))
    if not key:
        return has_arguments and not value.keys() - {"id", "type", *_ARGUMENT_KEYS}
    if not isinstance(tool, str) or not _TOOL_NAME.fullmatch(tool):
        return False
    if "action_input" in value or "tool_input" in value or (has_arguments and "arguments" in value):
        return True
    if key == "action" or tool[0].isupper():  # a name that an answer states (`Oslo`, `BERT`) begins with a capital
        return False
    return has_arguments or key != "name" or not value.keys() - {key, "id", "type"}


def _json(text: str, start: int) -> tuple[Any, int] | None:
    """The JSON value that begins here and where it ends; None if it breaks off."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def _has_answer(rest: str) -> bool:
    """Whether what follows a call has words of an answer and is not another call."""
    rest = rest.lstrip('}]);," \t\r\n')
    call_starts = (_CALL_TAG, _ARGUMENTS, _CUT_CALL)
    return re.search(r"\w", rest) is not None and not any(call.match(rest) for call in call_starts)


_CUT = re.compile("length|max_tokens")
_FILTERED = re.compile("content_filter|safety|recitation|blocklist|prohibited_content|spii|refusal")
_FAILED = re.compile("error|malformed_function_call|insufficient_system_resource")
"""In finish reasons of endpoints, in lower case: the token limit, their filter of content, and a failure of theirs.

OpenAI's, Mistral's (`model_length`), Gemini's, Anthropic's, OpenRouter's (`error`), DeepSeek's.
"""

_TAIL = 20
"""How many of a reply's last words locate it in a report."""

_SHOWN = 80


@dataclass(frozen=True, slots=True)
class RawReply:
    """A model's reply as the endpoint sent it. `text` is None if there is none; `reasoning`: whether it came beside."""

    role: str
    text: str | None
    finish_reason: str
    refusal: str
    reasoning: bool
    calls_tools: bool

    @property
    def why_cut(self) -> str | None:
        """What cut the reply off, None if nothing did."""
        cause = cut_by(self.finish_reason)
        return f"{self.role}: {cause}" if cause else None

    @property
    def why_blank(self) -> str:
        """Why the reply leaves nothing to show."""
        thoughts = " after its thoughts" if self.reasoning or (self.text or "").strip() else ""
        if self.why_cut:
            return f"{self.why_cut}{thoughts}"
        if self.refusal:
            return f"{self.role}: the model refused: {_excerpt(self.refusal)}"
        if self.calls_tools:
            return f"{self.role}: the model called tools and said nothing"
        kind = "content is null" if self.text is None else "content is blank"
        return f"{self.role}: {f'the model sent no answer{thoughts}' if thoughts else f'the reply has no text: {kind}'}"


def cut_by(finish_reason: str | None) -> str | None:
    """What cut off a reply with this finish reason, None if nothing did."""
    reason = (finish_reason or "").lower()
    if _FILTERED.search(reason):
        cause = "the endpoint's filter"
    elif _CUT.search(reason):
        cause = "the token limit (llm.max_tokens, or the endpoint's own)"
    else:
        return None
    return f"{cause} cut the reply off (finish_reason {finish_reason})"


def failed(finish_reason: object) -> bool:
    """Whether a reply that ended for this reason is none, because the endpoint or its model broke off."""
    return isinstance(finish_reason, str) and _FAILED.search(finish_reason.lower()) is not None


def read_reply(role: str, message: Mapping[str, Any], finish_reason: str | None) -> RawReply:
    """Parse the message of a chat completion in OpenAI's format."""
    return RawReply(
        role=role,
        text=message.get("content"),
        finish_reason=finish_reason or "",
        refusal=message.get("refusal") or "",
        reasoning=bool(message.get("reasoning_content") or message.get("reasoning")),
        calls_tools=bool(message.get("tool_calls")),
    )


def why_no_answer(text: str, replies: Sequence[RawReply]) -> str | None:
    """Why a text (without closed thoughts) is not an answer, None if it is one. `replies`: those it was made of."""
    if not text.strip():
        blanks = (reply for reply in reversed(replies) if not without_thoughts(reply.text or "").strip())
        return "the text is empty" + next((f" ({reply.why_blank})" for reply in blanks), "")
    if refused := next((reply for reply in replies if reply.text is None and reply.refusal == text), None):
        return refused.why_blank
    cause = f" ({replies[-1].why_cut})" if replies and replies[-1].why_cut else ""
    if ends_in_thought(text):
        return f"the text ends within the model's thoughts{cause}"
    if is_tool_call(text):
        hint = "a server's tool-call parser would have made it one"
        return f"the model wrote a tool call as text ({hint}): {_excerpt(text)}{cause}"
    return None


def why_cut_off(text: str, replies: Sequence[RawReply]) -> str | None:
    """What cut a report off, None if it is whole: decided by the reply that it ends with.

    That is the reply whose last words come latest in the report, or that ends with the whole of a short report; of
    several, the one with the most of these words, and of equal ones the last.
    """
    if not any(reply.why_cut for reply in replies):
        return None
    report = _words(text)
    report_text, best, cause = f" {' '.join(report)} ", (-1, 0), None
    for reply in replies:
        words = _words(without_thoughts(reply.text or ""))[-min(_TAIL, len(report) or 1) :]
        ending = f" {' '.join(words)} "
        place = report_text.rfind(ending)
        rank = (place + len(ending), len(words))
        if words and not reply.calls_tools and place >= 0 and rank >= best:
            best, cause = rank, reply.why_cut
    return cause


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", _MARK.sub(" ", text).casefold())


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN else f"{line[:_SHOWN]}...")
