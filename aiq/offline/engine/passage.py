"""Material that nothing marks: prose that only states, before or after the sentences that ask something of it."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aiq.offline.engine.lexicon import parts_of_speech
from aiq.offline.engine.source import is_prose
from aiq.offline.engine.text import is_chinese, sentences

_HEAD = re.compile(r"\s*(?:>\s*)*(?:[-*•]\s+)?[\"“”]?(?:\[\d+\]\s*)?")
"""Marks of a quotation or a place in a list, which are no words of the passage."""
SUMS_UP = re.compile(
    r"\b(?:summar(?:y|i[sz]e)|tl;?dr)\b|总结|概括|摘要|\bwhat the (?:above|following|document|text) is\b", re.IGNORECASE
)
_LABEL = re.compile(r"(?P<label>(?:\W*[^\s:：.,，。!?]+){1,9}[:：]\**)(?:\s+(?=[^\sa-z])|(?<=：)(?=\S))")
"""What stands before a colon, where a new sentence follows; in lower case it goes on, in Chinese after a request."""
_COMMAND = re.compile(
    r"(?i)^\W*(?:(?:now|then|and|also|next|first|kindly|briefly|in \w+(?: \w+)?,)\W+)*(?:please|do not|don't|never"
    r"|let's|can you|could you|using|use|based on|according to|given|answer|reply|respond|return|output|extract|tl;?dr"
    r"|translate|classify|label|rewrite|read|tell|say|give|name|list|find|count|quote|cite|pick|choose|decide|define"
    r"|explain|describe|state|summari[sz]e|compare|identify|write|make|show|check|keep|be|consider|analy[sz]e|review"
    r"|outline|discuss|report|research|fill|complete|continue|try"
    r"|(?:the|an?y?) (?:answer|reply|response|output|report)\b.*\b(?:should|must|may|is|are|in)|here (?:is|are))\b"
    r"|^\W*(?:请|回答|用|根据|总结|概括|列出|说明|告诉|翻译|提取|比较)"
)
_ORDER = re.compile(r"\W*([A-Za-z]+[^\Wd])\s+(?:an?|the|all|every|each|some|this|these|what|how|\d+)\b")
"""A sentence that opens with a word, perhaps a verb not of the past, and its object."""
_PERSONAL = re.compile(r"\b(?:I|(?i:me|my|we|our|us|you|your)|[Ii]['’](?:m|ve|d|ll))\b|[我你您]")
_QUESTION = re.compile(r"[?？][\"”’)]*$")
_OF_THE_REPLY = re.compile(
    r"(?i)\b(?:tools?|users?|answers?|repl(?:y|ies)|json|assistant|respon[ds]\w*)\b|用户|回答|工具"
)
_MOST_ASIDE = 0.2
"""The share of a passage's sentences that may ask or address somebody."""


class _Unit(NamedTuple):
    """A sentence or a label, and the number of its line."""

    line: int
    text: str

    @property
    def asks(self) -> bool:
        """Whether it asks, orders, or speaks of the person or the model."""
        ordered = _ORDER.match(self.text)
        return any(p.search(self.text) for p in (_COMMAND, _PERSONAL, _QUESTION)) or (
            ordered is not None and "VERB" in parts_of_speech(ordered[1])
        )

    @property
    def heads(self) -> bool:
        return self.text[-1] in ":：" or self.text[0] in "#="

    @property
    def states(self) -> bool:
        length = len(self.text) / 2 if is_chinese(self.text) else len(self.text.split())
        return length >= 4 and not self.asks and not self.heads


def split(text: str) -> tuple[str, str, str]:
    """(passage, question, the rest) of a text that asks; the passage is empty where there is no telling them apart,
    and the question where the rest asks none, or several.

    A passage that comes last starts a line of its own: "Who built it? The answer is a name." has none.
    """
    units = list(_units(text))
    stating = [at for at, unit in enumerate(units) if unit.states]
    if not stating:
        return "", "", text
    start, end = stating[0], stating[-1] + 1
    while end < len(units) and units[end].line == units[end - 1].line and not units[end].asks:
        end += 1
    before, passage, rest = units[:start], units[start:end], [u for u in units[end:] if re.search(r"\w{2}", u.text)]
    within = bool(before and not before[-1].heads and before[-1].line == passage[0].line)
    while before and not before[-1].asks and (before[-1].heads or before[-1].line < passage[0].line):
        before.pop()
    rest = [*before, *rest]
    aside = sum(unit.asks for unit in passage) > _MOST_ASIDE * len(passage)
    if within or aside or not is_prose(_joined(passage)) or not any(unit.asks for unit in rest):
        return "", "", text
    questions = [unit for unit in rest if _QUESTION.search(unit.text)]
    asked = questions if len(questions) == 1 else []
    return _joined(passage), _joined(asked), _joined([unit for unit in rest if unit not in asked])


def announced(text: str, label: str) -> tuple[str, str]:
    """(passage, the rest) of instructions: the paragraphs after a line, or its start, that ends with a `label` (a
    pattern) and a colon or is a heading, where they only state and speak of no reply."""
    for head in re.finditer(rf"(?im)^(?:#+ *[a-z' ]*?\b(?:{label})\s*$|[a-z', ]*?\b(?:{label})[:：])", text):
        end = head.end()
        for paragraph in re.finditer(r"(?s)\s*(?!\s|#).+?(?=\n\s*\n|\n#|\Z)", text[end:]):
            if head.end() + paragraph.start() != end or any(unit.asks for unit in _units(paragraph[0])):
                break
            end = head.end() + paragraph.end()
        body = text[head.end() : end].strip()
        if is_prose(body) and not _OF_THE_REPLY.search(body):
            return body, f"{text[: head.start()]}\n{text[end:]}".strip()
    return "", text


def _units(text: str) -> Iterator[_Unit]:
    for number, line in enumerate(text.splitlines()):
        for sentence in sentences(_HEAD.sub("", line, count=1)):
            label = _LABEL.match(sentence)
            goes_on = not SUMS_UP.search(sentence) or len(sentences(line)) < 3
            if label and is_chinese(sentence) and goes_on and _Unit(number, label["label"]).asks:
                label = None
            if label:
                yield _Unit(number, label["label"])
            yield _Unit(number, sentence[label.end() :] if label else sentence)


def _joined(units: Sequence[_Unit]) -> str:
    lines: dict[int, list[str]] = {}
    for unit in units:
        lines.setdefault(unit.line, []).append(unit.text)
    return "\n".join(" ".join(parts) for parts in lines.values())
