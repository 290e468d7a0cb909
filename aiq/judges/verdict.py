"""Reading a FreshEval verdict: exactly one, decided after the whole answer has been read."""

import re
from typing import Final

from aiq.judges.asking import Unusable, without_thoughts

_LINE: Final = re.compile(r"\s*(?:[-*#>]\s*)?\**evaluation\**\s*[:：]\**\s*(?P<verdict>.*?)[\s*]*", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"thus, the response is (?P<negated>not )?credited\.", re.IGNORECASE)


def read_verdict(answer: str) -> bool:
    """True for `evaluation: correct`, False for `evaluation: incorrect`.

    As officially, an answer without such a line may state its verdict in the closing sentence of the
    comment ("Thus, the response is (not) credited."), and a line that says anything else than the two
    words is no verdict. Unlike the official reading, which lets the last one win, an answer whose
    verdicts differ is none, and thoughts are passed over. Raises Unusable.
    """
    answer = without_thoughts(answer)
    stated = [match["verdict"].strip().lower() for line in answer.splitlines() if (match := _LINE.fullmatch(line))]
    other = [words for words in stated if words not in ("correct", "incorrect")]
    if other:
        raise Unusable(f"the verdict {other[0][:40]!r} is neither correct nor incorrect")
    verdicts = [words == "correct" for words in stated]
    verdicts += [match["negated"] is None for match in _SENTENCE.finditer(answer)]
    if not verdicts:
        raise Unusable("there is no line `evaluation: correct` or `evaluation: incorrect`")
    if len(stated) > 1 or len(set(verdicts)) > 1:
        raise Unusable("there is more than one verdict")
    return verdicts[0]
