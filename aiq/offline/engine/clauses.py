"""Splits a prompt's sentences into clauses: whether each wants what it mentions, and how many.

Two negations make a positive ("do not forget to cite"); quoted words are mentioned, not instructions; questions
are not instructions either.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from aiq.offline.engine.lexicon import ordered
from aiq.offline.engine.text import sentences

Limits = tuple[int | None, int | None]
"""(least, most), None if open."""

_NEGATION = re.compile(
    r"\b(?:(?P<other>(?:that|which|who) (?:do|does|did|is|are|have|has)(?: not|n[’']t))|(?:not|no)\b(?! (?:more|fewer"
    r"|less|longer|later|only|just|merely)\b)|cannot|\w+n[’']t|never|neither|nor|none|nothing(?! (?:else|but|more"
    r"|worth))|nobody|without|avoid|forbidden|omit|skip|forget|fail|refrain|leav(?:e|ing)(?=(?: \w+){0,4}? out\b)"
    r"|drop|hide|strip|exclude|zero|free of|instead of|rather than)"
    r"|不要|不得|不可|不需|无需|无须|不必|不用|勿|别|禁止|省略|忘记|没有|不(?=引|使|搜|写|列|附|给|加|含|带)",
    re.IGNORECASE,
)
_AUXILIARY = r"(?:is|are|be|must|should|may|can|will|shall|do|does|has|have|need)"
_REFUSAL = re.compile(
    rf"(?:[^\w,;:]+(?!(?:that|which|who|you|and|or|to)\b)\w+){{0,3}}?[^\w,;:]+{_AUXILIARY}(?:(?: not|n[’']t| never)"
    r" (?:be(?:en)? )?(?:\w+ly )?(?:allow|permit|wanted|need|wish|welcome|appear|use|given|avail|expect|requir|count"
    r"|do\b|necess|for\b|cite|includ|list|mention|add|show|contain|an? source|evidence)| (?:be )?(?:\w+ly )?(?:forbid"
    r"|prohibit|banned|unwelcome|unwanted|undesir|unnecess|unavail|disabled|superfluous|off\b|out of (?:order|place)))"
    r"|[^\w,;:]+(?:the user )?(?:nothing|nobody|none)\b",
    re.IGNORECASE,
)
"""A predicate that refuses what comes before it: "links are not allowed", "ask nothing"."""
_CONDITION = re.compile(
    r"(?:^\W*|[,;:(]\s*|\b(?:and|or|then|but|question|report) )(?:should\b(?= (?:the|there|it|any|no) )|(?:if|when"
    r"|whenever|where|unless|until|in case|as long as|otherwise|once (?:the|you|it|all|every\w*|enough|nothing|no))\b)"
    r"|如果|若|倘若|除非|当",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"[,;:，；：()]|\bbut\b|\bnor\b|\b(?:and|or)\b(?= (?:no|not|never|without|do not|don[’']t)\b)|\binstead\b(?! of)"
    r"|而是",
    re.IGNORECASE,
)
_PIECE = re.compile(r".+?(?:[;；]\s*|(?<=[a-z`一-鿿])[:：]\s+|$)")
_QUOTE = re.compile(
    r"\"([^\"\n]{1,300})\"|“([^”\n]{1,80})”|「([^」\n]{1,80})」|`([^`\n]{1,80})`|(?<!\w)'([^'\n]{2,80})'(?!\w)"
    r"|(?<=\s)(#{1,4} [A-Z][\w ]{1,30}?)(?=[.,;:!]|$| (?:and|with|that|at|in|or)\b)"
)


@dataclass(frozen=True)
class Clause:
    """A part of a sentence of the prompt: `text` with its quotations blanked unless they name things, `quotes` their
    contents, `before` the earlier parts of the sentence."""

    text: str
    quotes: tuple[str, ...] = ()
    before: str = ""

    def part(self, at: int) -> tuple[int, int]:
        """Start and end of the part, between commas and the like, that contains the position."""
        breaks = [match.span() for match in _BREAK.finditer(self.text)]
        starts = [end for _, end in breaks if end <= at]
        return max(starts, default=0), min((start for start, _ in breaks if start > at), default=len(self.text))

    def conditional(self, at: int) -> bool:
        """Whether a condition comes before the position."""
        if self.before.endswith((":", "：")) and _CONDITION.search(self.before):
            return True
        return any(match.end() <= at for match in _CONDITION.finditer(self.text))

    def negated(self, start: int, end: int | None = None) -> bool:
        """Whether what is at the position is not wanted: an odd number of negations come before it in its part of the
        clause or refuse it right after."""
        part_start, part_end = self.part(start)
        negations = [m for m in _NEGATION.finditer(self.text, part_start, part_end) if not m["other"]]
        count = sum(match.start() < start for match in negations)
        count += end is not None and _REFUSAL.match(self.text[end:part_end]) is not None
        return count % 2 == 1


def clauses(told: str) -> Iterator[Clause]:
    """The clauses of a prompt's text, in order, without list markers."""
    for line in told.splitlines():
        after_question = False
        for sentence in sentences(re.sub(r"^\s*(?:[-*•]\s+|\d+[.)]\s+|#+\s+)", "", line)):
            is_question = re.match(r"\W*?[?？]", sentence[::-1]) and not re.match(
                r"\W*(?:could|can|would|will) you\b|请", sentence, re.I
            )
            after_question = after_question or bool(is_question)
            condition = "If so:" if after_question and sentence.startswith("Then ") else ""
            pieces = list(_PIECE.finditer(sentence))
            for match in pieces[:-1] if is_question else pieces:
                quotes = tuple(next(g for g in m.groups() if g) for m in _QUOTE.finditer(match[0]))
                text = _QUOTE.sub(lambda m: f"`{m[4]}`" if m[4] else '""', match[0])
                yield Clause(text, quotes, (condition + sentence[: match.start()]).strip())


# numbers

_NTH = ("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_VALUES = {word: n for words in (ordered("ones"), _NTH, "零一二三四五六七八九十") for n, word in enumerate(words)}
_VALUES |= {word: 10 * n for n, word in enumerate(ordered("tens"), 2)} | {"single": 1, "once": 1, "twice": 2}
_VALUES |= {"两": 2, "couple": 2, "thrice": 3, "dozen": 12, "hundred": 100}
_WORD = "|".join(sorted((word for word in _VALUES if word.isascii()), key=len, reverse=True))
_NUMBER = rf"(?:\d(?:[\d,]*\d)?(?![A-Za-z\d\]]|\.\d)|\b(?:{_WORD})\b|[零一二三四五六七八九十两])"
_FIGURE = re.compile(
    rf"(?<![A-Za-z\d.\[^])(?<![A-Za-z][-_])(?P<a>{_NUMBER})"
    rf"(?:(?:\s*(?:to|or|and|-|–|到|至|或)\s*| \w+ or )(?P<b>{_NUMBER}))?",
    re.IGNORECASE,
)
_TIMES = frozenset(("once", "twice", "thrice"))
_ELLIPTIC = re.compile(
    r"\W*$|\s*[.,;()，。]|\s+(?:of them|only|or|and|at|in|please|is|are|but|for|to|sounds?|more|further)\b",
    re.IGNORECASE,
)
"""What follows a number that does not repeat its unit."""
_TAIL = re.compile(r"[^,;.，。；]{0,60}(?:, (?:and |but )?(?:no|not|never|neither)\b(?!.* than)[^,;.]{0,40})?")
"""Text after a number that may bound it: the rest of its part, and a further part that only denies more."""
_HEDGE = re.compile(r"\b(?:may|might|often|usually|sometimes|normally|can)\b[^#]*\b(?:enough|suffic)|as \w+ as", re.I)
_NOT = r"(?:\bnot|\bno|\bnever|n[’']t|\bneither|\brarely|\bseldom|\bhardly)\b"
_BOUNDS = (
    (r"(?:no|neither|nothing) more\W+(?:\w+ )?(?:no )?(?:less|fewer)|正好|恰好", lambda n: (n, n)),
    (r"(?:about|around|approximately|roughly|some|~|大约|约)\W*#|#.*左右", lambda n: (n * 8 // 10, -(-n * 12 // 10))),
    (rf"#[^#]*{_NOT}[^#]*(?:enough|suffic|\bdo\b)|{_NOT}[^#]* (?:only|just|mere|merely)\W*#|stop at #",
     lambda n: (n + 1, None)),
    (rf"{_NOT}[^,;#]*(?:(?:fewer|less|shorter) than|below|under|stop (?:before|until))|at (?:the )?(?:very )?least"
     rf"|minimum"
     r"|\bmin\b|or more|≥|至少|不少于|以上", lambda n: (n, None)),
    (r"(?:fewer|less|under|below|shorter|smaller)(?: than)?\W*#|(?<!不)少于", lambda n: (None, n - 1)),
    (rf"{_NOT} (?:second|another)\W*#?|{_NOT}[^,;#]*(?:more\b.*than|exceed|over|beyond|above)|{_NOT} (?:more|several"
     rf"|further)"
     r"|at (?:the )?(?:very )?most|up to|maximum|\bmax\b|limit|within|only|just|single|or (?:fewer|less)|enough|suffic"
     r"|allow|budget|granted|stop after|after the #|confin|has to do|≤|至多|最多|不超过|不多于|以内|之内|仅|只",
     lambda n: (None, n)),
    (r"(?:more|longer|often) than|over\W*#|exceed\w*|beyond\W*#|above\W*#|超过", lambda n: (n + 1, None)),
    ("", lambda n: (n, n)),
)  # fmt: skip
"""How the words around a number (#) turn it into limits; the first match wins."""


def amounts(clause: Clause, unit: str) -> Iterator[Limits]:
    """The amounts of a unit that a clause mentions: "at most 3 calls", "sections: 5 to 8", "no more than six". A
    number without a unit has the unit named before it in the sentence."""
    unit_pattern = re.compile(rf"(?<![A-Za-z])(?:{unit})", re.IGNORECASE)
    for match in _FIGURE.finditer(clause.text):
        start, end = match.span()
        after = clause.text[end:]
        if match["a"].lower() not in _TIMES and not re.match(rf"[\s-]*(?:[\w-]+\s+){{0,3}}?(?:{unit})", after, re.I):
            if match["a"].lower() in _NTH:
                continue
            earlier = unit_pattern.search(f"{clause.before} {clause.text[:end]}")
            if not _ELLIPTIC.match(after) or not earlier:
                continue
        elif match["a"].lower() in _TIMES and (not re.search("times", unit) or clause.text[:start].endswith("at ")):
            continue
        before = clause.text[clause.part(start)[0] : start]
        context = f"{before[-48:]}#{_TAIL.match(after)[0]}"  # type: ignore[index]
        values = [_value(word) for word in match.groups() if word]
        least, most = next(make(max(values)) for words, make in _BOUNDS if re.search(words, context, re.IGNORECASE))
        if len(values) > 1 and least:
            least = min(values)
        if not _HEDGE.search(context) and (least != most or not clause.negated(start)):
            yield least, most


def limits(clause: Clause, unit: str) -> Limits:
    """The least (from two upwards) and the most of a unit that a clause wants."""
    pairs = [*amounts(clause, unit)]
    least = max((least for least, _ in pairs if least and least > 1), default=None)
    return least, min((most for _, most in pairs if most is not None), default=None)


def _value(word: str) -> int:
    return int(word.replace(",", "")) if word[0].isdigit() else _VALUES[word.lower()]
