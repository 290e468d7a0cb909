"""A research task as a subject and facets: what a report on it has to speak of, in the task's own words.

English tasks are cut at sentences, list commas, semicolons and verbs of asking ("compare", "identify", "how").
Sentences that only tell why somebody asks give no facets. Chinese tasks: `tasks_chinese`.
"""

import re
from functools import lru_cache

from aiq.core.base import Record
from aiq.offline.reading.text import is_chinese, sentences, words

MOST_FACETS = 7


class Facet(Record):
    """Something that the task wants to know; `title` is its text as a heading, without what refers back ("their")."""

    title: str
    words: tuple[str, ...]


class Task(Record):
    """`subject` is what the report is about, `title` the same as a heading, `context` the field it belongs to.

    `compare`: the task asks for a comparison.
    """

    text: str
    chinese: bool
    subject: str
    title: str
    context: str
    facets: tuple[Facet, ...]
    compare: bool

    @property
    def keys(self) -> tuple[str, ...]:
        """The words that tell whether a text is about the subject at all."""
        telling = tuple(word for word in words(f"{self.context} {self.subject}") if word not in _GENERAL)
        return tuple(dict.fromkeys(telling)) or words(self.subject)


_ASKS = (
    r"analy[sz]e|assess|compare|conclude|conduct|consider|contrast|cover|create|describe|develop|discuss|draft"
    r"|elaborate"
    r"|evaluate|examine|explain|explore|find|focus|give|identify|include|investigate|list|name|outline|prepare"
    r"|present|produce"
    r"|propose|provide|rank|recommend|report|research|review|say|show|state|study|suggest|summari[sz]e|survey|tell"
    r"|trace|write"
)
_QUESTION = r"how|what|which|who|whom|when|where|why|whether"
_PRODUCT = (
    r"(?:(?:short|brief|detailed|comprehensive|in-depth|thorough|full|complete|research|market|design|literature"
    r"|written|sourced) )*"
    r"(?:report|overview|analysis|study|survey|review|paper|essay|guide|picture|account|summary|profile|portrait"
    r"|comparison|explanation|article|research)"
)
_CONTEXT = re.compile(
    r"\((?:working on|about|for|in)\s+([^)]{4,80})\)|(?:^|\. )in (?!order|the )([\w -]{4,40}),"
    r"|(?:focusing|working|specializing|specialising) (?:on|in) ([^,.]{6,90})|in the (?:field|area|context"
    r"|domain) of ([^,.]{4,60})",
    re.IGNORECASE,
)
_AUDIENCE = re.compile(
    r"\s+for (?:a|an|the|my|our) (?:[\w-]+ )?(?:council|board|audience|readers?|class|team)\b", re.IGNORECASE
)
_PURPOSE = re.compile(
    r"^(?:i am|i'm|we are|i want|we want) [\w' -]{4,50}? (?:in|on|about|into|for|of) (?P<what>[^.?!]{4,120})[.?!]",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:as|acting as|while|although|given|because|since|regarding|for) [^,?]{5,120}, |\(?\d{1,2}[).]\s+"
    r"|(?:i'm|i am|we are) (?:also )?interested in "
    r"|(?:i|we) (?:would like|want|need|'d like) (?:you )?(?:to )?(?:have )?|could you |can you |please |you could "
    r"|(?:this|the|your|it) (?:\w+ )?(?:should|must|needs to|has to) (?:also )?|also,? |additionally,? "
    r"|furthermore,? |finally,? |then |and )+",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    rf"^(?:(?:{_ASKS})(?:ing)?(?: (?:and|or) (?:{_ASKS}))?\s+)?(?:me |us |for me )?(?:(?:a|an|the) )?(?:{_PRODUCT}\s+)?"
    r"(?:(?:on|about|of|into|regarding|concerning|covering|exploring|analy[sz]ing|comparing|for)\s+)?",
    re.IGNORECASE,
)
_ASKING = re.compile(rf"\?|^(?:{_ASKS})(?:ing|es|s)?\b|\b(?:should|interested in|would like)\b", re.IGNORECASE)
_CUT = re.compile(
    rf"\s*[;:—]\s+|\s*,\s+(?:and\s+|or\s+|as well as\s+|but\s+also\s+|but\s+)?|\s+as well as\s+"
    rf"|(?:\s+|—)and\s+(?=(?:also\s+)?(?:{_ASKS}|{_QUESTION})\b)|\?\s*|\s+\(?\d\)\s+"
)
_TRAILER = re.compile(
    r"\s+(?:based on|according to|in order to|so that|using|given|such as|including|for example|e\.g\.|i\.e\."
    r"|from the point)\b.*$",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"^(?:(?:alongside|utilizing|specifically|its|their|his|her|these|those|this|that|the|a|an|all|any|each|other"
    r"|of|on|in|to|for|with|about|by)\s+)+",
    re.IGNORECASE,
)
_EMPTY_FACET = re.compile(
    r"^(?:please|also|aspects|there|e\.?g\.?|i\.?e\.?|and so on|etc|other relevant factors|other factors|in \w+"
    r"|respectively|if possible)\W*$"
    r"|^(?:as|for|regarding|while|although|given|when|if|because|since|acting|working|you could|in the field"
    r"|in ecology|are|is|was|were)\b",
    re.IGNORECASE,
)
COMPARE = re.compile(
    r"\bcompar(?:e|ing|ison)|\bcontrast|\bversus\b|\bvs\b|\brank|\bdifferences\b|比较|对比|横向|排名", re.IGNORECASE
)


@lru_cache(maxsize=256)
def parse(text: str) -> Task:
    """The task's subject and facets; every text has at least a subject."""
    if is_chinese(text):
        from aiq.offline.reading.tasks_chinese import parse_chinese  # it stands on this module

        return parse_chinese(text.strip())
    return _english(text.strip())


def _english(text: str) -> Task:
    text = _AUDIENCE.sub("", text)
    asking = [s for s in sentences(text) if _ASKING.search(_LEAD.sub("", s))] or list(sentences(text))[:1] or [text]
    context = next((next(filter(None, found.groups())).strip() for found in _CONTEXT.finditer(text)), "")
    subject = _subject(asking[0])
    purpose = _PURPOSE.match(text)
    if purpose and asking[0] != sentences(text)[0]:
        subject = _shortened(purpose.group("what").strip(), 18)
    elif context and re.search(r"\b(?:utili[sz]ing|using|based on)\b", asking[0], re.IGNORECASE):
        subject = context
    facets: dict[tuple[str, ...], Facet] = {}
    for sentence in asking:
        for piece in _pieces(sentence):
            title = heading(_clean(re.sub(r"\s*\([^)]*\)", "", piece)))
            key = words(f"{title} {' '.join(re.findall(r'[(]([^)]*)[)]', piece))}")
            known = {*words(subject), *(word for other in facets for word in other)}
            if len(title) > 3 and not set(key) <= known:
                facets[key] = Facet(title=title, words=key)
    return Task(
        text=text,
        chinese=False,
        subject=subject,
        title=heading(subject),
        context=context,
        facets=tuple(facets.values())[:MOST_FACETS],
        compare=COMPARE.search(text) is not None,
    )


def _subject(sentence: str) -> str:
    """What the first asking sentence is about: without the words of asking, up to its first list or clause."""
    plain = _LEAD.sub("", re.sub(r"^\([^)]*\)\s*:?\s*", "", sentence)).strip()
    body = _REQUEST.sub("", plain, count=1)
    body = re.sub(r"^in [\w ]{3,40}, (?=\w)", "", body, flags=re.IGNORECASE)
    body = re.split(
        r"\s*[;:?]\s*|\.\s*$|,\s+(?:and|covering|including|with)\b|\s+(?:covering|including)\s"
        rf"|[—,]?\s*and (?:{_ASKS})\b",
        body,
    )[0]
    return _shortened(_POINTING.sub("", _statement(body.strip(" .\"'“”"))), 18) or plain


def _pieces(sentence: str) -> list[str]:
    """The parts of an asking sentence that could be facets of their own; brackets stay with what they explain."""
    plain = _LEAD.sub("", re.sub(r"^\([^)]*\)\s*:?\s*", "", sentence)).strip()
    whole = re.sub(r"\([^)]*\)", lambda inner: inner.group().translate(_HIDDEN), plain)
    parts = [part.translate(_SHOWN).strip(" .?!\"'“”") for part in _CUT.split(whole)]
    return [part for part in parts if part and not _EMPTY_FACET.search(part)]


_HIDDEN = str.maketrans({",": "\ue000", ";": "\ue001", ":": "\ue002"})
_SHOWN = str.maketrans({"\ue000": ",", "\ue001": ";", "\ue002": ":"})


def _clean(piece: str) -> str:
    body = _LEAD.sub("", piece)
    if not re.match(rf"(?:{_QUESTION})\b", body, re.IGNORECASE):
        body = _REQUEST.sub("", body, count=1) or body
    body = _statement(_TRAILER.sub("", body))
    return _shortened(_POINTING.sub("", body).strip(" .,"), 14)


def _statement(question: str) -> str:
    """A question as a phrase, where it has one of the plain forms; else unchanged."""
    for pattern, phrase in _PHRASED:
        question, changed = pattern.subn(phrase, question, count=1)
        if changed:
            break
    return question


_PHRASED = (
    (re.compile(r"^what (?:is|are|was|were) (?=(?:the|its|their|his|her)\b)", re.IGNORECASE), ""),
    (re.compile(r"^what characteri[sz]es ", re.IGNORECASE), ""),
    (re.compile(r"^how (?:do|does|did) ", re.IGNORECASE), "how "),
    (
        re.compile(
            r"^(?:what|which) ([\w ]{3,30}?) (?:can|could|should|may) be (?:employed|used|taken|applied|implemented) ",
            re.IGNORECASE,
        ),
        r"\1 ",
    ),
    (
        re.compile(r"^how (?:can|could|should|may) (.+?) be (?:best |optimally )?(\w+ed|chosen)\b", re.IGNORECASE),
        r"how \1 can be \2",
    ),
    (re.compile(r"^is there ", re.IGNORECASE), ""),
)


def heading(text: str) -> str:
    """A phrase as a heading: with a capital, without closing punctuation."""
    text = text.strip(" .,:;，。；：？?")
    return text[:1].upper() + text[1:]


def _shortened(text: str, most: int) -> str:
    """At most so many words, cut before a small word."""
    parts = text.split()
    if len(parts) <= most:
        return text
    end = most
    while end > 4 and parts[end - 1].lower() in _SMALL:
        end -= 1
    return " ".join(parts[:end])


_SMALL = frozenset(
    "a an the of in on at by for from to with and or as that which where their its is are be into than".split()  # noqa: SIM905
)


_GENERAL = frozenset(
    words(
        """achieve achieved achieving effective efficient approach approaches method methods possible way ways
        precise accurate comprehensive conduct support small large scale capable system systems various current recent
        future result results solve solving real world problem problems use used using different main major important
        key role effect effects influence research study analysis design report instance instances actual performance
        enhance improve application applications development process during relevant practical demonstration projects
        based particularly especially short long term field"""
    )
)
"""Words, in their search form, that say nothing of what a subject is about."""
