"""Says whether a short answer suffices: it reads question and answer, and looks nothing up.

What it takes for a gap: an admission or a guess, a listed thing that the answer does not name, a group compared from
few sources, a value of long ago where the newest is asked for, a number asked for and none given, no citation; most of
them only where the prompt names that kind of gap. It cannot tell a wrong answer that is well cited from a right one,
takes every "it is not known" for an admission, and knows contradictions by their words only.
"""

import json
import re
from collections.abc import Iterator

from aiq.core.base import Record
from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.reading import comparisons, questions
from aiq.offline.reading.questions import ParsedQuestion
from aiq.offline.reading.text import contains_name, sentences

_ADMITS = re.compile(
    r"\b(?:(?:do not|don['’]t) have enough|(?:unable|not able) to (?:find|determine|answer)"
    r"|(?:could|can)(?: ?not|n['’]t) (?:be )?f(?:i|ou)nd|insufficient (?:information|evidence)|need more research"
    r"|do not (?:say|give|state)|(?:is|are) not known)\b|没有找到|无法",
    re.IGNORECASE,
)
_NO_FAULT = re.compile(
    r"(?:find|found) (?:any|a single|no) (?:\w+ )?(?:error|mistake|fault|flaw|problem|contradiction)", re.IGNORECASE
)
_GUESSES = re.compile(r"^(?:most likely|probably|possibly|perhaps|it may be)\b", re.IGNORECASE)
_AS_OF = re.compile(r"\(as of (?:[A-Z][a-z]+ )?(\d{4})\)")
_CONFLICT = re.compile(
    r"\b(?:contradict(?:s|ory)?|conflicting|disagree|inconsistent|different (?:numbers|figures|dates))\b",
    re.IGNORECASE,
)
_SETTLED = re.compile(r"\b(?:newest|most recent|latest|more recent|newer)\b", re.IGNORECASE)
_LIST = re.compile(r"^\W*(?:sources|references|来源|参考文献)\W*$", re.IGNORECASE | re.MULTILINE)
_MARK = re.compile(r"\[\d+\]")

FEW = 3
"""Sources below which it takes a comparison of a group for unfounded."""


class _Work(Record):
    """`body`: the answer without its reference list. `prompt`: what the checker is told to look for."""

    question: ParsedQuestion
    body: str
    prompt: str
    year: int | None

    def told(self, word: str) -> bool:
        return re.search(word, self.prompt, re.IGNORECASE) is not None


def reply(request: ChatRequest) -> ChatReply:
    """The assessment as JSON; plain words where the prompt names no form, or fences no answer."""
    answer, broken = request.fenced("answer"), request.fenced("bad_reply")
    if answer is None and broken is not None:
        return _json(next(iter(_admissions(broken)), None), None)
    if answer is None or "sufficient" not in request.system:
        return ChatReply(text="The answer looks fine.")
    work = _Work(
        question=questions.parse(request.fenced("question") or ""),
        body=_LIST.split(answer)[0],
        prompt=request.system,
        year=request.now.year if request.now else None,
    )
    gap = next(_gaps(work), None) if work.told("material_gap") else None
    conflict = next(_conflicts(work), None) if work.told("material_conflict") else None
    return _json(gap, conflict)


def _json(gap: str | None, conflict: str | None) -> ChatReply:
    fields = {"sufficient": not (gap or conflict), "material_gap": gap, "material_conflict": conflict}
    return ChatReply(text=json.dumps(fields, ensure_ascii=False))


def _gaps(work: _Work) -> Iterator[str]:
    """Gaps in the order of how sure it is of them."""
    if work.told("could not find"):
        yield from _admissions(work.body)
    if work.told("guess"):
        yield from (f"a guess: {said}" for said in sentences(work.body) if _GUESSES.match(said))
    if work.told("compar"):
        yield from _uncompared(work)
    if work.told("out of date"):
        yield from _outdated(work)
    if work.question.answer == "number" and not re.search(r"\d", _MARK.sub("", work.body)):
        yield "no number is given"
    if work.told("citation") and not _MARK.search(work.body):
        yield "no statement is cited"


def _admissions(text: str) -> Iterator[str]:
    for said in sentences(text):
        if _ADMITS.search(said) and not _NO_FAULT.search(said):
            yield said


def _outdated(work: _Work) -> Iterator[str]:
    """A value of before last year where the newest state is asked for."""
    found = _AS_OF.search(work.body) if work.question.recent else None
    if found and work.year is not None and int(found.group(1)) < work.year - 1:
        yield f"the newest value is of {found.group(1)}"


def _uncompared(work: _Work) -> Iterator[str]:
    """What a comparison leaves out: listed things that are not named, or most of a group."""
    if comparison := comparisons.listed(work.question.text):
        for part in comparison.parts:
            if part.entity and not contains_name(work.body, part.entity):
                yield f"nothing is said of {part.entity}"
    elif comparisons.of_group(work.question.text):
        sources = len(set(_MARK.findall(work.body)))
        if sources < FEW:
            yield f"the members of the group are not compared; sources cited: {sources}"


def _conflicts(work: _Work) -> Iterator[str]:
    for said in sentences(work.body):
        if _CONFLICT.search(said) and not _SETTLED.search(work.body):
            yield said
