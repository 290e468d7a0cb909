"""The hops of an English question: how its words around a name become a chain of relations.

"Who is the mayor of the city where the founder of Halden Works was born?" with the entity `Halden Works`:

1. What stands before the entity is the left side, what follows it the tail ("was born").
2. The left side is cut at prepositions, articles and `where`, `that`, `who`: "who is", "mayor", "city where",
   "founder".
3. Read from the entity outwards, each piece is a hop: "founder" by its noun; "the city where" takes the next verb of
   the tail ("was born"), which makes it the place of birth; "mayor".
4. What is left of the tail belongs to the question's head ("In what year was ... founded").
"""

import re

from aiq.core.base import Record
from aiq.offline.reading import heads, relations
from aiq.offline.reading.relation_table import AnswerType, Relation
from aiq.offline.reading.text import is_chinese, names, words


class Hop(Record):
    """One step: `phrase` as the question says it, its content words, and the relation where it is a known one."""

    phrase: str
    words: tuple[str, ...]
    answer: AnswerType
    relation: Relation | None = None

    @property
    def noun(self) -> str:
        """What to search for beside the name."""
        if self.relation is None or is_chinese(self.phrase):
            return self.phrase
        return self.relation.noun

    @property
    def changing(self) -> bool:
        return self.relation is not None and self.relation.changing


_CUT = re.compile(
    r"(?P<clause>\b(?:in which|at which|on which|for which|from which|to which|where|which|that|who|whose)\b)"
    r"|(?P<prep>\b(?:of|at|in|for|by|behind|through|from|with|to|on)\b)|(?P<direct>\bthe\b|\ban?\b)"
)
_EMPTY = re.compile(
    r"'s\b|\b(?:who|whom|what|which|when|where|is|are|was|were|do|does|did|has|have|had|the|a|an|current|currently|now"
    r"|named?|called|known|as|people|person|so|and|it|there|been|how|many|much|large|high|in|at|on|of|to|by|for|from|most|recent|latest|last)\b"
)
_KIND = re.compile(
    r"(?:movie|film|novel|book|company|firm|city|town|song|album|band|series|show|painting|club|institute|university|festival"
    r"|river|country|team|game|play|poem|opera|website|magazine|newspaper)"
)
_QUESTION_WORD = re.compile(r"(?:in|at|on|from|to|for|by|of)?\s*(?:what|which|who)$")
_POSSESSIVE = re.compile(r"['’]s?\s")
_VERB_GROUP = re.compile(
    r"(?:(?:is|are|was|were|has|have|had|does|did)\s+)?(?:(?:its|their|his|her)\s+(?:new\s+)?)?[\w'-]+(?:\s+(?:in|at|by|to|from|place|on|for)\b)*"
)


def around(question: str, entity: str, wanted: AnswerType) -> tuple[Hop, ...]:
    """The chain for a question that names the entity; one hop with all its words where a step is no known relation."""
    start = question.find(entity)
    left, rest = question[:start].casefold(), question[start + len(entity) :]
    tail = rest.strip(" \"'”’»》")
    hops: list[Hop] = []
    if _POSSESSIVE.match(rest):
        hop, tail = _possessed(rest)
        hops.extend([hop] if hop else [])
    pieces = _pieces(left)
    head, inner = pieces[0], pieces[1:]
    groups = [match.group() for match in _VERB_GROUP.finditer(tail)] if not names(tail) else [tail]
    for piece, kind in reversed(inner):
        if kind == "waiting":
            verb = groups.pop(0) if groups else ""
            if groups and groups[0].startswith(("its ", "their ", "his ", "her ")):
                verb += f" {groups.pop(0)}"
            hops.append(_hop(f"{piece} {verb}".strip(), _type_of_kind(piece)))
        elif _content(piece) and not _KIND.fullmatch(_content(piece)):
            hops.append(_hop(piece, "text"))
    tail = " ".join(groups)
    outer = f"{head[0]} {tail}".strip()
    if _content(outer) or not hops:
        hops.append(_hop(outer, wanted))
    last = hops[-1]
    if last.answer != wanted and wanted not in ("text", "thing", "person"):
        last = _hop(last.phrase, wanted)
    chain = (*hops[:-1], last)
    return chain if all(hop.relation for hop in chain) else (_collapsed(question, wanted),)


def _collapsed(question: str, wanted: AnswerType) -> Hop:
    """One hop with everything that the question says: for steps that no relation names."""
    return Hop(phrase=heads.bare(question), words=words(question), answer=wanted)


def _pieces(left: str) -> list[tuple[str, str]]:
    """The left side cut at connectors: (text, kind of the connector that follows), the question's head first."""
    pieces: list[tuple[str, str]] = []
    start = 0
    for cut in _CUT.finditer(left):
        in_head = start == 0 and _QUESTION_WORD.match(left[: cut.end()].strip())
        if cut.start() == 0 or in_head:
            continue
        kind = cut.lastgroup or ""
        pieces.append((left[start : cut.start()].strip(), kind))
        start = cut.end()
    return _joined([*pieces, (left[start:].strip(), "prep")])


def _joined(pieces: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pieces without the empty ones between two connectors.

    What follows `that` at once is the clause's own verb ("the club that hosts") and joins its piece; an article
    after `where` begins another thing, and the clause waits for a verb from the tail.
    """
    joined: list[tuple[str, str]] = []
    for text, kind in pieces:
        if joined and joined[-1][1] == "clause" and text:
            joined[-1] = (f"{joined[-1][0]} {text}", kind)
        elif joined and not text:
            if joined[-1][1] == "clause":
                joined[-1] = (joined[-1][0], "waiting")
            elif kind == "clause":
                joined[-1] = (joined[-1][0], "clause")
        else:
            joined.append((text, kind))
    return [(text, "waiting" if kind == "clause" else kind) for text, kind in joined]


def _content(piece: str) -> str:
    """What a piece says beside question words, auxiliaries and articles."""
    return " ".join(_EMPTY.sub(" ", piece.casefold()).split())


def _possessed(rest: str) -> tuple[Hop | None, str]:
    """The noun that a possessive leads to (`'s chief executive`), as a hop, and the tail after it."""
    body = re.sub(r"^['’]s?\s*", "", rest)
    match = re.match(
        r"(?P<noun>[a-z][\w-]*(?: (?!is|was|are|were|born|live|founded|did|does|do\b)[a-z][\w-]*){0,3})(?P<tail>.*)$",
        body,
    )
    if match is None:
        return None, body
    return _hop(match.group("noun"), "text"), match.group("tail").strip()


def _type_of_kind(piece: str) -> AnswerType:
    """The type of the thing that a clause speaks of: `the city where` is a place."""
    if re.search(r"\b(?:city|town|country|state|place|village|region)\b", piece):
        return "place"
    if re.search(r"\b(?:person|man|woman|player|author|founder|artist|singer|actor|scientist|people)\b", piece):
        return "person"
    if re.search(r"\byear\b", piece):
        return "year"
    return "thing"


def _hop(phrase: str, wanted: AnswerType) -> Hop:
    relation = relations.find(phrase, wanted)
    kind = relation.answer if relation and wanted in ("text", "thing", "place") else wanted
    return Hop(phrase=_content(phrase) or phrase, words=words(phrase), answer=kind, relation=relation)


def whole(text: str, wanted: AnswerType) -> Hop:
    """The whole question as one hop, in its own words but for the question's head."""
    return Hop(phrase=heads.bare(text), words=words(text), answer=wanted, relation=relations.find(text, wanted))
