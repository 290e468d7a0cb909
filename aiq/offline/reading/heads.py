"""The head of an English question: what type of answer its first words ask for, and the question without them."""

import re

from aiq.offline.reading.relation_table import AnswerType

_HEADS: tuple[tuple[str, AnswerType], ...] = (
    (r"^(?:in )?(?:what|which) years?\b", "year"),
    (r"^(?:in |on |since )?(?:what|which) (?:date|day)\b", "date"),
    (r"^(?:in )?(?:what|which) month\b", "month"),
    (r"^when\b", "date"),
    (r"^since when\b", "date"),
    (
        r"^(?:(?:in|at|from|on|to) )?(?:what|which) (?:\w+ )?"
        r"(?:city|cities|town|country|countries|state|place|region|continent|airbase)\b",
        "place",
    ),
    (r"^where\b", "place"),
    (r"^how (?:many|much|long|old|far|tall|high|big|large|often|deep|fast)\b", "number"),
    (
        r"^(?:what|which) (?:is|was|are|were) (?:the )?(?:current |total |estimated |exact )?"
        r"(?:population|number|price|height|cost|age|percentage|size)\b",
        "number",
    ),
    (r"^(?:who|whom|whose|by whom)\b", "person"),
    (
        r"^(?:what|which) (?:person|player|president|actor|actress|singer|artist|astronaut|man|woman|members?)\b",
        "person",
    ),
    (r"^why\b|^how come\b", "why"),
    (r"^(?:(?:in|at|from|on|to|for|by|of) )?(?:what|which)\b", "thing"),
    (r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", "yesno"),
)

_AUXILIARY = r"(?:is|are|was|were|did|does|do|has|have|had|will)"
_HEAD = re.compile(
    r"^(?:(?:in|on|at|from|to|for|by) )?(?:what|which|who|whom|whose|when|where|why|how)(?:'s)?"
    rf"(?: (?:many|much|old|long))?(?: {_AUXILIARY}\b)?(?: the\b)?\s*|^(?:{_AUXILIARY}|can) ",
    re.IGNORECASE,
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


def bare(question: str) -> str:
    """The question without its question word: what one would type into a search box."""
    stripped = question.strip(" ?？")
    return _HEAD.sub("", stripped).strip() or stripped
