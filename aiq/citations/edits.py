"""Changes to a text as data: stretches to replace, with the rule that asks for it, and how to apply them."""

from collections.abc import Iterable

from aiq.core.base import Record


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


def removal(text: str, start: int, end: int, rule: str, *, until: int = 0) -> Edit:
    """Take `start:end` out of running text, with the blank or the empty brackets that would be left.

    `until` is where a run of neighbours that go as well ends: what stands there decides on the blank.
    """
    before, after = _blanks_before(text, start), text[end : end + 1]
    if after and text[before - 1 : before] + after in ("()", "（）", "[]", "【】"):
        start, end = before - 1, end + 1
        before = _blanks_before(text, start)
    follows = text[max(until, end) : max(until, end) + 1]
    if before == 0 or text[before - 1] in "\r\n":
        while text[end : end + 1] in (" ", "\t"):
            end += 1
    elif not (follows.isalnum() or follows in tuple("[(【（*_")):
        start = before
    return Edit(start=start, end=end, replacement="", rule=rule)


def _blanks_before(text: str, start: int) -> int:
    while start and text[start - 1] in " \t":
        start -= 1
    return start
