"""The parts of a question that describe something to be found first: "the city where X is held"."""

import re
from dataclasses import dataclass, replace

from aiq.offline.engine.lexicon import kind_of, listed
from aiq.offline.engine.question import FUNCTION_WORDS, PARTICLES_PATTERN, Ask, parse, tidy
from aiq.offline.engine.text import is_chinese, name_spans

_LINKS, _PREPOSITIONS, _AUXILIARIES, _AFTERTHOUGHTS = (
    listed(name) for name in ("links", "prepositions", "auxiliaries", "afterthoughts")
)
_OWN = frozenset(("its", "their", "his", "her"))
_ARTICLES = _OWN | {"the", "a", "an"}
_THINGS = ("person", "place", "organisation", "work", "thing")
_PARTICIPLE = re.compile(r"(?:ed|ing|wn|en|ought|aught|ept|elt|uilt|ade|eld|et|un|ung|old|ent)$")
_WORD = re.compile(r"⟦\d+⟧|[^\W_]+(?:['’-][^\W_]+)*|[,;:?]")
_ASKED_ITSELF = re.compile(
    r"(?:(?:who|what|which)(?:'s| is| are| was| were| has been)?(?: currently| now)?|name)?|.*\bwhich of"
)


@dataclass(frozen=True)
class Description:
    """A description in a question: its place in `rewritten(question)`, and what it asks."""

    start: int
    end: int
    ask: Ask


def rewritten(question: str) -> str:
    """The question with possessives as "the ... of", as the places of `descriptions` count in it."""
    text = tidy(question)
    return text if is_chinese(text) else _without_possessives(text)


def descriptions(question: str) -> list[Description]:
    """The innermost description and the next outer one; none where the question is plain."""
    text = rewritten(question)
    if is_chinese(text):
        return _in_chinese(text)
    masked = _Masked(text)
    found = (masked.description(i) for i in range(len(masked.tokens) - 2, -1, -1))
    return [description for description in found if description][:2]


def _without_possessives(text: str) -> str:
    """ "X's founder's birthplace" as "the birthplace of the founder of X"."""
    for span in reversed(name_spans(text)):
        chain: list[str] = []
        stop = span.end
        while owned := re.match(r"['’]s?((?:\s+[a-z][\w-]*)+)", text[stop:]):
            run: list[str] = []
            for word in owned[1].split():
                if word in FUNCTION_WORDS or (run and kind_of(run[-1]) and not kind_of(word)):
                    break
                run.append(word)
            if not run:
                break
            chain.insert(0, " ".join(run))
            stop += text[stop:].index(run[-1], text[stop:].index(run[0])) + len(run[-1])
        if chain:
            article = re.search(r"\b(?:the|an?)\s+$", text[: span.start], re.IGNORECASE)
            start = article.start() if article else span.start
            owner = f"{'the ' if article else ''}{span.text}"
            text = f"{text[:start]}the {' of the '.join(chain)} of {owner}{text[stop:]}"
    return text


class _Masked:
    """A question as tokens, each name one of them."""

    def __init__(self, text: str) -> None:
        self.text = text
        masked = text
        for number, span in reversed([*enumerate(name_spans(text))]):
            masked = f"{masked[: span.start]}⟦{number}⟧{masked[span.end :]}"
        self.tokens = [m.group() for m in _WORD.finditer(masked)]
        spans = name_spans(text)
        self.starts, self.ends, at = [], [], 0
        for token in self.tokens:  # where the tokens stand in the text itself
            plain = spans[int(token[1:-1])].text if token[0] == "⟦" else token
            at = text.index(plain, at)
            self.starts.append(at)
            at += len(plain)
            self.ends.append(at)

    def word(self, k: int) -> str:
        return self.tokens[k].lower() if 0 <= k < len(self.tokens) else ""

    def is_name(self, k: int) -> bool:
        return self.word(k)[:1] == "⟦"

    def is_content(self, k: int) -> bool:
        word = self.word(k)
        vague = word in FUNCTION_WORDS and word not in ("current", "latest", "newest", "recent")
        return word[:1].isalnum() and not vague and word not in _PREPOSITIONS

    def nouns(self, k: int) -> int:
        """The token after the content words that begin at k."""
        while self.is_content(k) and not self.is_name(k):
            k += 1
        return k

    def participle(self, k: int) -> bool:
        """Whether token k opens a shortened clause: "founded by ...", "making ..."."""
        word, after = self.word(k), self.word(k + 1)
        if not _PARTICIPLE.search(word) or (kind_of(word) and not word.endswith(("ed", "ing"))):
            return False
        return after in _PREPOSITIONS - {"of"} or (
            word.endswith("ing") and (self.is_name(k + 1) or after in ("the", "a"))
        )

    def description(self, i: int) -> Description | None:
        """The description whose article, or "which", is token i."""
        if self.word(i) not in _ARTICLES and self.word(i - 1) not in ("which", "what"):
            return None
        j = i + 1
        while j - i <= 5 and self.is_content(j) and not self.is_name(j) and not (j > i + 1 and self.participle(j)):
            j += 1
        link, kind = self.word(j), kind_of(self.word(j - 1))
        clause = link in _LINKS or self.participle(j) or (link in _PREPOSITIONS and self.word(j + 1) in _LINKS)
        if j == i + 1 or not (clause or (link in _PREPOSITIONS and kind in _THINGS)):
            return None
        if self.word(i) in ("a", "an") and link not in _LINKS:
            return None
        end = self.end(j, clause)
        if end <= j + 1 or not any(self.is_name(k) or len(self.word(k)) > 3 for k in range(j + 1, end)):
            return None
        before = self.text[: self.starts[i]].strip().lower()
        rest = [w for k in range(end, len(self.tokens)) if (w := self.word(k)) not in _AFTERTHOUGHTS]
        if before.endswith("which of") or (not rest and _ASKED_ITSELF.fullmatch(before)):
            return None
        asked = parse("Which " + self.text[self.starts[i + 1] : self.ends[end - 1]])
        current = asked.current or kind == "person"
        asked = replace(asked, kind=kind or "name", head=self.word(j - 1), units="", current=current)
        return Description(self.starts[i], self.ends[end - 1], asked)

    def end(self, j: int, clause: bool) -> int:
        """The token after the last of the description whose linking word is token j."""
        k, seen = j + 1, False
        while self.word(k) and self.word(k) not in ",;:?":
            if not self.is_name(k):
                if not clause and self.word(k) in _AUXILIARIES:
                    break
                k += 1
                continue
            if seen and not clause and self.word(k - 1) not in _PREPOSITIONS | {"the", "and", "a"}:
                break
            seen = True
            k += 1
            if self.word(k) in _PREPOSITIONS and self.is_name(k + 1):
                continue
            while self.is_content(k) and (kind_of(self.word(k)) in _THINGS[:3] + _THINGS[4:] or self._owned(k)):
                k += 1
            return self.verb(k) if clause and self._opens_subject(j) else self.place(k)
        return k

    def _owned(self, k: int) -> bool:
        return self.word(k).endswith(("'s", "’s")) or self.word(k - 1).endswith(("'s", "’s"))

    def _opens_subject(self, j: int) -> bool:
        """Whether the clause opened at j has its subject first, its verb still to come."""
        link = self.word(j)
        if link in ("where", "whose", "when", "whom") or self.word(j + 1) in _LINKS:
            return True
        return link in ("that", "which", "who") and (self.is_name(j + 1) or self.word(j + 1) == "the")

    def verb(self, k: int) -> int:
        """The token after the verb that begins at k, with its object "its ..." and a place or time."""
        while self.word(k) in _AUXILIARIES | {"not", "still", "currently", "now", "first"}:
            k += 1
        if self.word(k) in _ARTICLES:
            k = self.nouns(k + 1)
        elif self.word(k).isalpha():
            k = self.nouns(k + 2) if self.word(k + 1) in _OWN else k + 1
        return self.place(k)

    def place(self, k: int) -> int:
        """The token after a preposition at k with its name or year; k where there is none."""
        if self.word(k) not in _PREPOSITIONS:
            return k
        if self.is_name(k + 1) or self.word(k + 1).isdigit():
            return k + 2
        return k + 1 if not self.word(k + 1) or self.word(k + 1) in "?," else k


_OF = re.compile(r"(?P<of>[^，。？、,?]{2,40}?)的(?P<head>[^，。？、,?的是]{1,6})")
_ASKED_IN_CHINESE = re.compile(r"(?:是|叫|为|在)?(?:谁|什么|哪里|哪.{0,4}|什么名字|何人|何处)(?:呢|啊)?")


def _in_chinese(text: str) -> list[Description]:
    """The first link of a chain "X的A的B": what "X的A" stands for, when something is asked of it."""
    for match in _OF.finditer(text):
        first = re.split(r"[有多少几哪什谁，]|" + PARTICLES_PATTERN, match["head"])[0]
        noun = next((first[:n] for n in range(len(first), 0, -1) if kind_of(first[:n])), "")
        end = match.start("head") + len(noun)
        rest = re.sub(r"[？?。\s]", "", text[end:])
        if kind_of(noun) in ("", "number", "time") or _ASKED_IN_CHINESE.fullmatch(rest):
            continue
        if re.search(r"哪|谁|什么", match["of"]):
            continue
        ask = parse(text[match.start() : end])
        current = ask.current or kind_of(noun) == "person"
        return [Description(match.start(), end, replace(ask, kind=kind_of(noun), head=noun, units="", current=current))]
    return []
