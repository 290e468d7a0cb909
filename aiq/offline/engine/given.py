"""What the prompts of a workflow provide besides material: a reference list, an outline, the actions to do next and
those done, and the answers given by the results of others' work."""

import re
from typing import Literal, NamedTuple

from aiq.offline.engine.source import KEY, Source, day_of

ACTION = re.compile(r"(?i)(?P<next>next|下一).*(?:action|step|行动)$|(?:thought|action|思考|行动)s?$")
"""Labels of the next action, and of earlier thoughts and actions."""
_RESULT = re.compile(r"(?i)(?:result|observation|finding|answer)s?$|结果$|发现$")
"""Labels of the results of others' work."""
_REFERENCE = re.compile(
    rf"\s*[\[【(]?(?P<n>\d{{1,3}})[\]】).:：]+\s*(?P<title>\S[^\n]{{0,300}}?)[\s(（<:：|–—-]+"
    rf"(?P<url>{KEY})[)）>]*(?P<rest>[^\n]{{0,100}})"
)
_ANSWER = re.compile(
    r"(?i)(?P<head>\s*(?:#[^\n]*\n)?)(?:[\w ]{1,20}: )?"
    r"(?:(?:the answer is|(?:according to the sources, )?it is|the sources say:|答案是|根据资料，是)\s*"
    r"(?P<value>[^\n]{1,300}?)"
    r"|(?:the premise of the question does not hold\.|问题的前提不成立。)\s*(?P<premise>[^\n]{1,300}?))"
    r"\s*(?:[(（\[][^\n()（）]*[)）\]])*[.。](?=\s|$|(?<=。))"
)


class GivenAnswer(NamedTuple):
    """An answer that someone else gave: the value, or what is true in place of a false premise."""

    kind: Literal["value", "premise"]
    text: str


def references(text: str) -> dict[int, Source]:
    """The sources by number, if the text is nothing but a list of numbered titles and keys."""
    lines = [line for line in text.splitlines() if line.strip()]
    matches = [match for line in lines if (match := _REFERENCE.fullmatch(line))]
    if len(matches) < len(lines):
        return {}
    return {
        int(m["n"]): Source("", m["url"], m["title"], day_of(m["rest"].rpartition(",")[2], exact=True)) for m in matches
    }


def headings(text: str) -> tuple[str, ...]:
    """The lines of a text, if it is nothing but headings."""
    lines = tuple(filter(None, map(str.strip, text.splitlines())))
    return lines if len(lines) > 1 and all(re.match(r"#{1,6} ", line) for line in lines) else ()


def answered(label: str, text: str) -> tuple[GivenAnswer | None, str]:
    """The answer in the first words of a result of others' work ("It is 12 [1]."), and the text without them."""
    match = _ANSWER.match(text) if _RESULT.search(label) else None
    if match is None:
        return None, text
    answer = GivenAnswer("value", match["value"]) if match["value"] else GivenAnswer("premise", match["premise"])
    return answer, f"{match['head']}{text[match.end() :]}"
