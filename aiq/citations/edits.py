"""Changes to a text as data: stretches to replace, with the rule that asks for it, and how to apply them."""

from collections.abc import Iterable

from aiq.core.base import Record

_BRACKETS = ("()", "（）", "[]", "【】", "``", "<>", "“”")
_EMPHASIS = ("**", "__", "*", "_")
_FIRST_CJK = "\u2e80"
_CLOSING = frozenset(".,;:!?)]}>»”’。，；：！？、）】》」』")


class Edit(Record):
    """Replace `start:end` of the text by `replacement`, because of `rule`."""

    start: int
    end: int
    replacement: str
    rule: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with these edits, which must be in order and apart from each other."""
    pieces, at = [], 0
    for edit in edits:
        pieces += [text[at : edit.start], edit.replacement]
        at = edit.end
    return "".join([*pieces, text[at:]])


def disjoint(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits in order; where two overlap, the later one keeps what lies behind the earlier."""
    kept: list[Edit] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        start = max(edit.start, at)
        if start < edit.end or (start == edit.start == edit.end):
            kept.append(edit.model_copy(update={"start": start}))
            at = edit.end
    return tuple(kept)


def removal(text: str, start: int, end: int, rule: str) -> Edit:
    """Take `start:end` out of running text, with the blank or the empty brackets that would be left."""
    while (wider := _wrapped(text, start, end)) is not None:
        start, end = wider
    before, until = _blanks_before(text, start), end
    while text[until : until + 1] in ("*", "_"):
        until += 1
    follows = text[until : until + 1]
    if before == 0 or text[before - 1] in "\r\n":
        while text[end : end + 1] in (" ", "\t"):
            end += 1
    elif not follows or follows in _CLOSING or follows.isspace() or follows >= _FIRST_CJK:
        start = before
    return Edit(start=start, end=end, replacement="", rule=rule)


def _wrapped(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The stretch with the brackets or the emphasis that hold it and nothing else, if any do."""
    before = _blanks_before(text, start)
    if end < len(text) and text[max(0, before - 1) : before] + text[end] in _BRACKETS:
        return before - 1, end + 1
    for mark in _EMPHASIS:
        first, last = start - len(mark), end + len(mark)
        outside = text[max(0, first - 1) : max(0, first)] + text[last : last + 1]
        if text.endswith(mark, 0, start) and text.startswith(mark, end) and not any(map(str.isalnum, outside)):
            return first, last
    return None


def _blanks_before(text: str, start: int) -> int:
    while start and text[start - 1] in " \t":
        start -= 1
    return start
