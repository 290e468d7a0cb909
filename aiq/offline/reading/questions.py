"""A question as a chain of hops: from the thing it names, one relation after the other, to what is asked.

"Who is the mayor of the city where the founder of Halden Works was born?" gives the entity `Halden Works` and the hops
founder, place of birth, mayor. How `parse` proceeds:

1. The head of the question ("in what year", "who", "how many ...") gives the type of the answer (`heads`).
2. The first proper name or quoted title is the entity.
3. The words around it become the chain of hops (`hops`; Chinese questions are cut at 的, `chinese`).
4. A why- or when-question also has a claim that it takes for granted (`claims`).

Where a question has no such shape, all of it is one hop with its content words: enough for a search and a best
sentence.
"""

import re
from functools import lru_cache

from aiq.core.base import Record
from aiq.offline.reading import claims, heads, hops
from aiq.offline.reading.claims import Claim
from aiq.offline.reading.hops import Hop
from aiq.offline.reading.relation_table import AnswerType
from aiq.offline.reading.text import is_chinese, names

__all__ = ["Hop", "ParsedQuestion", "parse"]


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
        return heads.bare(self.text)


_RECENT = re.compile(
    r"\b(?:current(?:ly)?|latest|most recent|newest|last|next|upcoming|now|today|this year|right now|so far)\b"
    r"|最新|最近|目前|现任|当前"
)


@lru_cache(maxsize=1024)
def parse(question: str) -> ParsedQuestion:
    """The question's entity, hops and answer type; every text gives something, even one without a name."""
    text = question.strip()
    if is_chinese(text):
        from aiq.offline.reading.chinese import parse_chinese

        return parse_chinese(text)
    plain = " ".join(text.rstrip(" ?.!").replace("’", "'").split())
    wanted = heads.answer_type(plain)
    found = names(_lower_first(plain))
    recent = _RECENT.search(plain.casefold()) is not None
    claim = claims.find(plain)
    if not found:
        return ParsedQuestion(
            text=text, entity="", names=(), hops=(hops.whole(plain, wanted),), answer=wanted, recent=recent, claim=claim
        )
    entity = found[0]
    chain = hops.around(plain, entity, wanted)
    return ParsedQuestion(
        text=text, entity=entity, names=found, hops=chain, answer=chain[-1].answer, recent=recent, claim=claim
    )


def _lower_first(question: str) -> str:
    """The question with its first word in lower case, unless that word is part of a name."""
    first, _, rest = question.partition(" ")
    follows_name = rest[:1].isupper() and heads.answer_type(question) == "text"
    return question if follows_name else f"{first.lower()} {rest}"
