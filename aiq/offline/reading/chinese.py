"""Chinese questions as chains of hops: cut at 的 and before the words that name a relation."""

import re

from aiq.offline.reading import claims, relations
from aiq.offline.reading.questions import Hop, ParsedQuestion
from aiq.offline.reading.relation_table import AnswerType
from aiq.offline.reading.text import words

_ASKED = re.compile(
    r"(?:现在|目前|现任)?(?:是|为|有|叫)?(?:谁|什么(?:时候|名字)?|多少(?:人|名)?|几(?:月|年|人)?|在?哪(?:里|儿|座城市|个国家|一?年|家|所|个|位|条河)?|何(?:时|地|处))"
)
_TYPES: tuple[tuple[str, AnswerType], ...] = (
    (r"谁|哪位", "person"),
    (r"哪一?年|何年|年份", "year"),
    (r"什么时候|何时", "date"),
    (r"几月|哪个月", "month"),
    (r"多少|几人|几名", "number"),
    (r"哪里|哪儿|何地|何处|哪座城市|哪个城市|哪个国家", "place"),
    (r"为什么|为何", "why"),
    (r"吗[？?]?$|是否", "yesno"),
    (r"什么|哪", "thing"),
)
_RELATION_WORDS = re.compile(
    r"现任|最新|总部所在|出生的?|就读的?|所在|举办的?|市长|首席执行官|主教练|院长|校长|所长|得主|员工|人口|总部|创始人|创办人|作者|出生|就读|毕业|成立|创立|建于|出版|位于"
    r"|首都|体育场"
)
_OFFICE = re.compile(r"作者|创始人|创办人|市长|首席执行官|院长|校长|所长|得主|主教练")
_FRAME = re.compile(r"[《“「『](?P<title>[^》”」』]+)[》”」』]")


def parse_chinese(text: str) -> ParsedQuestion:
    """The question's entity and hops; the entity is a quoted title, or what stands before the first relation word."""
    plain = text.strip("？?。 ")
    wanted: AnswerType = next((kind for pattern, kind in _TYPES if re.search(pattern, plain)), "text")
    body = _ASKED.sub("", plain)
    entity, rest = _entity(body)
    hops = _hops(rest, wanted)
    return ParsedQuestion(
        text=text,
        entity=entity,
        names=(entity,) if entity else (),
        hops=hops,
        answer=hops[-1].answer,
        recent=re.search(r"最新|最近|目前|现任|当前|现在", text) is not None,
        claim=claims.find_chinese(plain),
    )


def _entity(body: str) -> tuple[str, str]:
    """(name, what follows it)."""
    title = _FRAME.search(body)
    if title:
        return title.group("title"), body[: title.start()] + body[title.end() :]
    cut = _RELATION_WORDS.search(body)
    particle = body.find("的")
    ends = [position for position in (cut.start() if cut else -1, particle) if position > 0]
    if not ends:
        return body.rstrip("是在的"), ""
    end = min(ends)
    return body[:end].strip("是在，, "), body[end:].lstrip("的")


def _hops(rest: str, wanted: AnswerType) -> tuple[Hop, ...]:
    """One hop for each piece between 的; the last one answers the question."""
    cut = _OFFICE.sub(lambda office: office.group() + "的", rest)
    pieces = [piece for piece in cut.split("的") if piece.strip()] or [rest or "介绍"]
    merged: list[str] = []
    for piece in pieces:
        if merged and re.fullmatch(r"(?:城市|地方|学校|学院|国家|公司|人|地点|年份)(?:位于|在)?", piece):
            merged[-1] += piece
        else:
            merged.append(piece)
    hops = []
    for number, piece in enumerate(merged):
        kind = wanted if number == len(merged) - 1 else _inner_type(piece)
        relation = relations.find(piece, kind) or relations.find(piece, "text")
        answer = kind if kind != "text" or relation is None else relation.answer
        hops.append(Hop(phrase=piece, words=tuple(words(piece)), answer=answer, relation=relation))
    return tuple(hops)


def _inner_type(piece: str) -> AnswerType:
    if re.search(r"城市|地方|国家|总部|出生|所在", piece):
        return "place"
    return "text"
