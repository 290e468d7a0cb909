"""Which sentences of a page can stand in a report, and which of them suit a query best."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from aiq.core.base import Record
from aiq.offline.reading.documents import Document
from aiq.offline.reading.outline import Aspect
from aiq.offline.reading.tasks import Task
from aiq.offline.reading.text import contains_name, is_chinese, words

_JUNK = re.compile(
    r"https?://|www\.|^(?:subjects|comments|keywords|authors?|title|cite as|abstract)\b ?:|\([a-h]\)|`|\b(?:I"
    r"|my)\b|\bdoi\b|@|©|\bcookies?\b|\bclick\b|\bsubscribe\b|\bsign (?:in|up)\b|\bprivacy policy\b"
    r"|all rights reserved|\bet al\.?,? \(?\d{4}.*\bpp?\.|\bISBN\b"
    r"|\b(?:fig(?:ure)?|table|section|chapter|appendix|eq)s?\.? ?\d|\bdownload\b|\bpage updated\b|^published\b"
    r"|更新于|发布于|\bvol\. ?\d|\[\w+ \d+\]|[{}|<>=\\^_]{1,}|\bthis (?:page|website|site)\b"
    r"|\bsee also\b|\bread more\b|\bjournal of\b|\bproceedings\b|\bcreative commons\b|\bmarketing\b"
    r"|\bsupplementary\b|\bet al\b.*\bet al\b.*\bet al\b|\.{3}|…",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|can|could|may|might|will|would|should|must|does|do|did|not)\b"
    r"|\b\w{3,}(?:ed|es|ing)\b|\b\w{3,}s\b",
    re.IGNORECASE,
)
_DANGLING = re.compile(
    r"^(?:this|these|that|those|it|its|they|their|he|she|his|her|such|here|there|then|thus|hence|therefore|however"
    r"|moreover|furthermore|also|but|and|or|so"
    r"|in addition|additionally|similarly|in contrast|for example|for instance|on the other hand|as a result"
    r"|finally|first(?:ly)?|second(?:ly)?|third(?:ly)?|we|our|i|my|you|your)\b",
    re.IGNORECASE,
)


_SPEAKING = re.compile(r"\b(?:we|our|us|you|your)\b", re.IGNORECASE)
"""Authors that speak of themselves, and manuals that speak to a reader, read oddly in somebody else's report."""


_SHORT_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|lies|lived?|plays|flows|belongs|takes|wrote|won|studied|employs|leads?"
    r"|heads?|founded"
    r"|opened|dates?|runs|became|works?|directs|gives?|gave|stands?|comes|came)\b"
)


class Picked(Record):
    """A sentence chosen for a query. `score` compares within one choice."""

    text: str
    document: Document
    score: float


@lru_cache(maxsize=16384)
def readable(sentence: str) -> bool:
    """Whether a sentence reads as one: whole, not too long, with a verb, no reference, caption or page furniture."""
    if is_chinese(sentence):
        return (
            8 <= len(sentence) <= 160
            and sentence[-1] in "。！）"
            and _JUNK.search(sentence) is None
            and "？" not in sentence
        )
    if not 45 <= len(sentence) <= 420 or sentence[-1] not in '.!"”)' or not sentence[0].isupper():
        return _short_statement(sentence)
    letters = sum(c.isalpha() or c == " " for c in sentence)
    capitals = sum(part[:1].isupper() for part in sentence.split())
    return (
        letters > 0.75 * len(sentence)
        and capitals < 0.6 * len(sentence.split())
        and _JUNK.search(sentence) is None
        and _VERB.search(sentence) is not None
    )


def _short_statement(sentence: str) -> bool:
    """Short plain statements ("Halden Works was founded in 1950.") are sentences too."""
    return (
        16 <= len(sentence) < 45
        and sentence[-1] == "."
        and sentence[0].isupper()
        and _JUNK.search(sentence) is None
        and _SHORT_VERB.search(sentence) is not None
    )


Rarity = Mapping[str, float]


def rarity(texts: Sequence[str]) -> Rarity:
    """For each word of the texts, how much it tells: log(1 + texts / texts with the word)."""
    counts = Counter(word for text in texts for word in set(words(text)))
    return {word: math.log(1 + len(texts) / count) for word, count in counts.items()}


def choose(
    documents: Sequence[Document],
    query: str,
    *,
    most: int,
    names: Sequence[str] = (),
    aspect: Aspect | None = None,
    taken: Sequence[str] = (),
    least: float = 0.2,
    task: Task | None = None,
) -> list[Picked]:
    """The `most` sentences that suit the query best, best first, each saying something that the others do not.

    `names`: a sentence, or its page's title, must mention one of them. `taken`: sentences not to repeat.
    `least`: the share of the query, weighted by rarity, that a sentence and its page's title must have.
    `task`: what the whole research is about; pages and sentences that say too little of its subject are left out.
    """
    wanted = dict.fromkeys(words(query))
    vocabulary = frozenset(
        part for d in documents for part in re.findall(r"(?<![\w-])[a-z]{2,}(?![\w-])", d.text.lower())
    )
    keys = task.keys if task is not None else ()
    pages = _pages_about(documents, keys)
    scored = sorted(
        _scored(pages, tuple(wanted), names, aspect, keys), key=lambda picked: (-picked.score, picked.document.rank)
    )
    chosen: list[Picked] = []
    for picked in scored:
        if len(chosen) == most or picked.score < least:
            break
        if not any(alike(picked.text, other) for other in (*taken, *(p.text for p in chosen))):
            chosen.append(picked.model_copy(update={"text": mended(picked.text, vocabulary)}))
    return chosen


def _pages_about(documents: Sequence[Document], keys: Sequence[str]) -> list[Document]:
    """Where a page has the whole subject as its title: pages that mention all of it.

    Else pages with half of the subject's words, one of them in the title, or with three quarters of them.
    """
    if keys and any(_is_about(document.title, keys, 1.0) for document in documents):
        return [d for d in documents if _is_about(f"{d.title} {d.text}", keys, 1.0)]
    return [
        d for d in documents if _is_about(f"{d.title} {d.text}", keys, 0.5 if set(keys) & set(words(d.title)) else 0.75)
    ]


def _is_about(text: str, keys: Sequence[str], share: float) -> bool:
    return not keys or sum(key in set(words(text)) for key in keys) >= share * len(keys)


def mended(sentence: str, vocabulary: frozenset[str]) -> str:
    """The sentence with words joined that a line break in the original had cut (`opti-cal`).

    Cut words are those that stand somewhere else as one, or whose halves both stand nowhere alone.
    """

    def join(cut: re.Match[str]) -> str:
        left, right = cut.group(1).lower(), cut.group(2).lower()
        broken = left + right in vocabulary or not (left in vocabulary or right in vocabulary)
        return cut.group(1) + cut.group(2) if broken else cut.group()

    return _HYPHENED.sub(join, sentence)


_HYPHENED = re.compile(r"\b([A-Za-z]{2,})-([a-z]{2,})\b(?!-)")


def _scored(
    documents: Sequence[Document],
    wanted: Sequence[str],
    names: Sequence[str],
    aspect: Aspect | None,
    keys: Sequence[str],
) -> list[Picked]:
    telling = rarity([s.text for d in documents for s in d.sentences])
    most = sum(telling.get(word, 0.0) for word in wanted) or 1.0
    found = []
    for document in documents:
        titled = set(words(document.title))
        for sentence in document.sentences:
            if names and not any(contains_name(sentence.text, n) or contains_name(document.title, n) for n in names):
                continue
            if not readable(sentence.text):
                continue
            said = set(words(sentence.text))
            here = sum(telling.get(word, 0.0) for word in wanted if word in said)
            around = sum(telling.get(word, 0.0) for word in wanted if word in titled and word not in said)
            if not here or not _is_about(f"{document.title} {sentence.text}", keys, min(1.0, 2 / max(1, len(keys)))):
                continue
            score = (here + 0.4 * around) / most
            if aspect is not None and re.search(aspect.told, sentence.text, re.IGNORECASE):
                score += 0.12
            if _DANGLING.match(sentence.text) or _SPEAKING.search(sentence.text):
                score -= 0.25
            score += min(0.08, 0.02 * len(re.findall(r"\d", sentence.text))) - 0.004 * document.rank
            found.append(Picked(text=sentence.text, document=document, score=score))
    return found


def alike(left: str, right: str) -> bool:
    """Whether two sentences say much the same: most of the shorter one's words, and no number of its own in each."""
    one, other = set(words(left)), set(words(right))
    if all(any(word.isdigit() for word in only) for only in (one - other, other - one)):
        return False
    return len(one & other) > 0.75 * max(1, min(len(one), len(other)))
