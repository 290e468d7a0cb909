"""A question as a chain of hops: from the thing it names, one relation after the other, to what is asked.

"Who is the mayor of the city where the founder of Halden Works was born?" gives the entity `Halden Works` and the hops
founder, place of birth, mayor. How `parse` proceeds, in English:

1. The head of the question ("in what year", "who", "how many ...") gives the type of the answer.
2. The first proper name or quoted title is the entity; what stands before it is the left side, what follows the tail.
3. The left side is cut at prepositions and at `where`, `that`, `who`. Read from the entity outwards, each piece is a hop:
   "the founder of" by its noun, "the city where" together with a verb from the tail ("was born").
4. What remains of the tail belongs to the question's head ("In what year was ... founded").

Where a question has no such shape, what remains is one hop with its content words: enough for a search and a best sentence.
Chinese questions are cut at 的 in the same way.
"""

import re
from functools import lru_cache

from aiq.core.base import Record
from aiq.offline.reading import claims, relations
from aiq.offline.reading.claims import Claim
from aiq.offline.reading.relations import AnswerType, Relation
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


class ParsedQuestion(Record):
    """`hops` run from the entity outwards; the last one is what is asked. `recent`: it asks for the latest or next."""

    text: str
    entity: str
    names: tuple[str, ...]
    hops: tuple[Hop, ...]
    answer: AnswerType
    recent: bool = False
    claim: Claim | None = None

    @property
    def chinese(self) -> bool:
        return is_chinese(self.text)

    @property
    def bare(self) -> str:
        """The question without its question word: what one would type into a search box."""
        return _HEAD.sub("", self.text.strip(" ?？")).strip() or self.text


_RECENT = re.compile(
    r"\b(?:current(?:ly)?|latest|most recent|newest|last|next|upcoming|now|today|this year|right now|so far)\b|最新|最近|目前|现任|当前"
)

_HEADS: tuple[tuple[str, AnswerType], ...] = (
    (r"^(?:in )?(?:what|which) years?\b", "year"),
    (r"^(?:in |on |since )?(?:what|which) (?:date|day)\b", "date"),
    (r"^(?:in )?(?:what|which) month\b", "month"),
    (r"^when\b", "date"),
    (r"^since when\b", "date"),
    (r"^(?:(?:in|at|from|on|to) )?(?:what|which) (?:\w+ )?(?:city|cities|town|country|countries|state|place|region|continent|airbase)\b", "place"),
    (r"^where\b", "place"),
    (r"^how (?:many|much|long|old|far|tall|high|big|large|often|deep|fast)\b", "number"),
    (r"^(?:what|which) (?:is|was|are|were) (?:the )?(?:current |total |estimated |exact )?(?:population|number|price|height|cost|age|percentage|size)\b", "number"),
    (r"^(?:who|whom|whose|by whom)\b", "person"),
    (r"^(?:what|which) (?:person|player|president|actor|actress|singer|artist|astronaut|man|woman|members?)\b", "person"),
    (r"^why\b|^how come\b", "why"),
    (r"^(?:(?:in|at|from|on|to|for|by|of) )?(?:what|which)\b", "thing"),
    (r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", "yesno"),
)  # fmt: skip

_HEAD = re.compile(
    r"^(?:(?:in|on|at|from|to|for|by) )?(?:what|which|who|whom|whose|when|where|why|how)(?:'s)?(?: (?:many|much|old|long))?"
    r"(?: (?:is|are|was|were|did|does|do|has|have|had|will)\b)?(?: the\b)?\s*|^(?:is|are|was|were|did|does|do|has|have|will|can) ",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"(?P<clause>\b(?:in which|at which|on which|for which|from which|to which|where|which|that|who|whose)\b)"
    r"|(?P<prep>\b(?:of|at|in|for|by|behind|through|from|with|to|on)\b)|(?P<direct>\bthe\b|\ban?\b)"
)
_EMPTY = re.compile(
    r"'s\b|\b(?:who|whom|what|which|when|where|is|are|was|were|do|does|did|has|have|had|the|a|an|current|currently|now"
    r"|named?|called|known|as|people|person|so|and|it|there|been|how|many|much|in|at|on|of|to|by|for|from|most|recent|latest|last)\b"
)
_KIND = re.compile(
    r"(?:movie|film|novel|book|company|firm|city|town|song|album|band|series|show|painting|club|institute|university|festival"
    r"|river|country|player|team|game|singer|author|writer|play|poem|opera|website|magazine|newspaper)"
)
_VERB_GROUP = re.compile(
    r"(?:(?:is|are|was|were|has|have|had|does|did)\s+)?(?:(?:its|their|his|her)\s+)?[\w'-]+(?:\s+(?:in|at|by|to|from|place|on|for)\b)*"
)


@lru_cache(maxsize=1024)
def parse(question: str) -> ParsedQuestion:
    """The question's entity, hops and answer type; every text gives something, even one without a name."""
    text = question.strip()
    if is_chinese(text):
        from aiq.offline.reading.chinese import parse_chinese

        return parse_chinese(text)
    plain = " ".join(text.rstrip(" ?.!").replace("’", "'").split())
    wanted = answer_type(plain)
    found = names(_lower_first(plain))
    recent = _RECENT.search(plain.casefold()) is not None
    claim = claims.find(plain)
    if not found:
        return ParsedQuestion(
            text=text, entity="", names=(), hops=(_whole(plain, wanted),), answer=wanted, recent=recent, claim=claim
        )
    entity = found[0]
    hops = _chain(plain, entity, wanted)
    return ParsedQuestion(
        text=text, entity=entity, names=found, hops=hops, answer=hops[-1].answer, recent=recent, claim=claim
    )


def answer_type(question: str) -> AnswerType:
    """The type of answer that the question's first words ask for; `text` where they ask for none."""
    lowered = question.casefold().removeprefix("currently, ")
    for pattern, kind in _HEADS:
        if re.search(pattern, lowered):
            return kind
    inner = re.search(
        r"\b(?:in )?(what year|which year|what city|which country|what month|what app|who|when)\b", lowered
    )
    return answer_type(inner.group(1)) if inner and inner.start() > 0 else "text"


def _lower_first(question: str) -> str:
    """The question with its first word in lower case, unless that word is part of a name."""
    first, _, rest = question.partition(" ")
    follows_name = rest[:1].isupper() and answer_type(question) == "text"
    return question if follows_name else f"{first.lower()} {rest}"


def _whole(text: str, wanted: AnswerType) -> Hop:
    """The whole question as one hop, in its own words but for the question's head."""
    phrase = _HEAD.sub("", text).strip()
    return Hop(phrase=phrase, words=words(text), answer=wanted, relation=relations.find(text, wanted))


def _chain(question: str, entity: str, wanted: AnswerType) -> tuple[Hop, ...]:
    """Steps 2 to 4 of the module's procedure."""
    start = question.find(entity)
    left, tail = question[:start].casefold(), question[start + len(entity) :].strip(" \"'”’»》")
    hops: list[Hop] = []
    if re.match(r"^s?\s", question[start + len(entity) :].lstrip("'’")) and question[start + len(entity) :].startswith(
        "'"
    ):
        hop, tail = _possessed(question[start + len(entity) :])
        hops.extend([hop] if hop else [])
    pieces = _pieces(left)
    head, inner = pieces[0], pieces[1:]
    groups = [match.group() for match in _VERB_GROUP.finditer(tail)] if not names(tail) else [tail]
    for piece, kind in reversed(inner):
        if kind == "waiting":
            verb = groups.pop(0) if groups else ""
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
    return Hop(phrase=_HEAD.sub("", question).strip(), words=words(question), answer=wanted)


def _pieces(left: str) -> list[tuple[str, str]]:
    """The left side cut at connectors: (text, kind of the connector that follows), the question's head first."""
    pieces: list[tuple[str, str]] = []
    start = 0
    for cut in _CUT.finditer(left):
        if cut.start() == 0 or (
            start == 0
            and re.match(r"^(?:in|at|on|from|to|for|by|of)?\s*(?:what|which|who)$", left[: cut.end()].strip())
        ):
            continue
        kind = cut.lastgroup or ""
        pieces.append((left[start : cut.start()].strip(), kind))
        start = cut.end()
    rest = left[start:].strip()
    pieces.append((rest, "prep"))
    return _joined(pieces)


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
