"""The phrases of a sentence that could be an answer of a wanted type: names, numbers, years, dates, months."""

import re
from functools import lru_cache

from aiq.offline.reading import dates
from aiq.offline.reading.relation_table import AnswerType
from aiq.offline.reading.text import Span, is_chinese, name_spans

INSTITUTION = re.compile(
    r"\b(?:Institute|University|College|Academy|Polytechnic|School|Festival|Contest|Open|Regatta|Award|Prize|Cup|League"
    r"|Company|Inc|Ltd|Corp|Corporation|Group|Works|Club|Rovers|United|Athletic|Wanderers|Stadium|Park|Ground|Museum|Library"
    r"|Church|Council|Ministry|Party|Times|Post|Herald|Gazette|News|Press)\b"
)
_WATER = re.compile(
    r"\s+(?:river|lake|sea|bay)\b|\s+(?:Coast|Valley|Highlands|Basin|Islands|Delta|Peninsula|Plain)\b", re.IGNORECASE
)
_DEMONYM = re.compile(r"[A-Z][a-z]+(?:ish|ese|ean|ian|ican|man|ch)")
_LANDSCAPE = re.compile(r"\b(?:Coast|Valley|Highlands|Basin|Islands|Delta|Peninsula|Plain|River|Lake|Sea)$")
_WORD_NUMBER = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    r"|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|once|twice)"
)
_NUMBER = re.compile(
    rf"(?:US)?[$€£¥]?\s?\d[\d,]*(?:\.\d+)?(?:\s*(?:million|billion|trillion|thousand|万|亿))?(?:\s?%|\s?percent)?"
    rf"|\b{_WORD_NUMBER}(?:-{_WORD_NUMBER})?\b(?:\s+(?:million|billion|hundred|thousand))?",
    re.IGNORECASE,
)
_MONTH = re.compile(rf"\b(?:{'|'.join(dates.MONTHS)})\b|(?<!\d)1?\d月")
_HAN_CUT = re.compile(
    r"[，。；：、！？（）()“”\s\d]|目前|现任|由|是|为|在|于|的|和|与|了|至|从|自|并|被|该|这|其|他|她|位于|设在|坐落|担任|出生|毕业|就读|学习|创办|创立"
    r"|市长|首席执行官|主教练|院长|校长|所长|作者|创始人|总部|获得|夺得|赢得|举行|举办|流经|流过|河畔|国家|城市|员工|人口|居民|主场|公司|职务|之一|一座"
)


@lru_cache(maxsize=8192)
def candidates(sentence: str, kind: AnswerType) -> tuple[Span, ...]:
    """What could answer, in order of appearance; for `why`, `text` and `yesno` the whole sentence."""
    if kind in ("why", "text", "yesno"):
        return (Span(0, len(sentence), sentence),)
    if kind == "year":
        return tuple(Span(d.start, d.end, str(d.year)) for d in dates.find(sentence))
    if kind == "date":
        return tuple(Span(d.start, d.end, sentence[d.start : d.end]) for d in dates.find(sentence))
    if kind == "month":
        return tuple(Span(m.start(), m.end(), m.group()) for m in _MONTH.finditer(sentence))
    if kind == "number":
        return _numbers(sentence)
    if is_chinese(sentence):
        return _chinese(sentence, kind)
    return tuple(span for span in name_spans(sentence) if _fits(sentence, span, kind))


def _fits(sentence: str, span: Span, kind: AnswerType) -> bool:
    """Whether a name can be of this kind, judged by its words alone."""
    if dates.find(span.text) or _is_adjective(sentence, span):
        return False
    if kind == "person":
        return INSTITUTION.search(span.text) is None and _LANDSCAPE.search(span.text) is None
    if kind == "place":
        water = _WATER.match(sentence[span.end :]) or re.search(r"\briver\s+$", sentence[: span.start], re.IGNORECASE)
        return not water and INSTITUTION.search(span.text) is None and _LANDSCAPE.search(span.text) is None
    return True


def _is_adjective(sentence: str, span: Span) -> bool:
    """`British history`, `a Colombian cyclist`: a nationality and no name."""
    return _DEMONYM.fullmatch(span.text) is not None and re.match(r"\s+[a-z]", sentence[span.end :]) is not None


def _numbers(sentence: str) -> tuple[Span, ...]:
    """Numbers that are no part of a date."""
    taken = [(stated.start, stated.end) for stated in dates.find(sentence)]
    found = []
    for match in _NUMBER.finditer(sentence):
        if any(start < match.end() and match.start() < end for start, end in taken):
            continue
        text = match.group().strip().rstrip(",")
        glued = re.match(r"[A-Za-z]", sentence[match.end() : match.end() + 1]) and text[-1].isdigit()
        if not glued:
            found.append(Span(match.start(), match.end(), text))
    return tuple(found)


def _chinese(sentence: str, kind: AnswerType) -> tuple[Span, ...]:
    """Runs of characters between grammatical words; people's names have a dot inside."""
    found = []
    quoted = [Span(m.start(1), m.end(1), m.group(1)) for m in re.finditer(r"《([^》]+)》", sentence)]
    start = 0
    for cut in [*_HAN_CUT.finditer(sentence), None]:
        end = cut.start() if cut else len(sentence)
        run = sentence[start:end].strip("《》")
        if 2 <= len(run) <= 14 and (kind != "person" or "·" in run or len(run) <= 4):
            found.append(Span(start, end, run))
        start = cut.end() if cut else end
    return tuple(sorted({*found, *quoted}))
