"""What a final answer may get wrong in content: facts, citations, claims. Each is a function of text and a number.

The marks of our reports are all it knows: inline `[n]`, and lines `[n] Title - URL` at the end.
"""

import random
import re

_REFERENCE = re.compile(r"^\s*\[(\d+)\]\s.*?(https?://\S+)\s*$", re.MULTILINE)
_CITED = re.compile(r"[^\n.!?。！？]+(?:\s?\[\d+\])+[.!?。！？]?")
_FIRST_SENTENCE = re.compile(r"\s*(?:#.*\n\s*)*[^\n]+?(?:[.!?](?=\s)|[。！？]|$)", re.MULTILINE)
_FACT = re.compile(
    r"(?<![\d\[/.\-])\d(?:[\d,]*\d)?(?![\d\]/\-]|\.\d)"  # a number, not a citation mark or part of a date or URL
    r"|(?<=[a-z,] )[A-Z][a-z]{3,}|\A[A-Z][a-z]{3,}(?=\.)"  # a capitalised word within a sentence, or alone in the first
)
_ENDINGS = ("dane", "mell", "wick", "aro")

_CLAIMS = (
    "Independent observers regard it as the largest of its kind in the region",
    "Three earlier reviews had come to the opposite conclusion",
    "The figure is expected to double within five years",
)


def make(name: str, text: str, asked: str, seed: int) -> str:
    """The text with one mistake of that name in it; unchanged where there is nothing to spoil.

    `asked` is what the user said: a wrong fact is none of what was given.
    """
    return _MAKERS[name](text, asked, random.Random(seed))


def _body_end(text: str) -> int:
    """Where the reference list begins, or the text's end."""
    heading = re.search(r"^#{1,6}\s*(references|sources|参考文献|来源)\s*$", text, re.MULTILINE | re.IGNORECASE)
    first = _REFERENCE.search(text)
    return min(heading.start() if heading else len(text), first.start() if first else len(text))


def _wrong_fact(text: str, asked: str, rng: random.Random) -> str:
    """One number or name becomes another throughout the body, so that the report agrees with itself.

    Those of the first sentence come first, because the answer stands there; names that the question
    gave stay, where there is anything else to get wrong.
    """
    end = _body_end(text)
    body = text[:end]
    facts = list(dict.fromkeys(match.group() for match in _FACT.finditer(body)))
    facts = [fact for fact in facts if fact not in asked] or facts
    first = _FIRST_SENTENCE.match(body)
    answers = [fact for fact in facts if first and _whole(fact).search(first.group())]
    if not facts:
        return text
    fact = rng.choice(answers or facts)
    return _whole(fact).sub(_another(fact, rng), body) + text[end:]


def _whole(fact: str) -> re.Pattern[str]:
    """The fact where it is no part of a longer one; Chinese is written without spaces around it."""
    return re.compile(rf"(?<![0-9A-Za-z\[]){re.escape(fact)}(?![0-9A-Za-z])")


def _another(fact: str, rng: random.Random) -> str:
    """A number with one of its last two digits changed, or a name with another ending."""
    places = [i for i, c in enumerate(fact) if c.isdigit()][-2:]
    if not places:
        return fact[: -(-len(fact) // 2)] + rng.choice([ending for ending in _ENDINGS if not fact.endswith(ending)])
    place = rng.choice(places)
    return fact[:place] + str((int(fact[place]) + rng.randint(1, 8)) % 10) + fact[place + 1 :]


def _fabricated_citation(text: str, _: str, rng: random.Random) -> str:
    """A reference to a page that no tool returned, cited by one sentence of the body."""
    references = list(_REFERENCE.finditer(text))
    sentences = list(_CITED.finditer(text, 0, _body_end(text)))
    if not references or not sentences:
        return text
    number = max(int(reference.group(1)) for reference in references) + 1
    sentence = rng.choice(sentences)
    at = sentence.end() - (1 if sentence.group()[-1] not in "]" else 0)
    line = f"\n[{number}] Annual survey - https://archive.offline.example/survey-{rng.randrange(10**6):06d}"
    end = references[-1].end()
    return text[:at] + f" [{number}]" + text[at:end].rstrip() + line + text[end:]


def _garbled_citation(text: str, _: str, rng: random.Random) -> str:
    """One reference's URL loses a letter of its path and gains another."""
    references = list(_REFERENCE.finditer(text))
    if not references:
        return text
    chosen = rng.choice(references)
    url = chosen.group(2)
    letters = [
        i for i in range(url.index("//") + 2, len(url)) if url[i].isalpha() and "/" in url[url.index("//") + 2 : i]
    ]
    place = rng.choice(letters) if letters else len(url) - 1
    garbled = url[:place] + ("x" if url[place] != "x" else "y") + url[place + 2 :]
    return text[: chosen.start(2)] + garbled + text[chosen.end(2) :]


def _unsupported_claim(text: str, _: str, rng: random.Random) -> str:
    """A sentence that no source says, with the citation of the sentence before it."""
    sentences = list(_CITED.finditer(text, 0, _body_end(text)))
    if not sentences:
        return text
    sentence = rng.choice(sentences)
    mark = re.findall(r"\[\d+\]", sentence.group())[-1]
    return text[: sentence.end()] + f" {rng.choice(_CLAIMS)} {mark}." + text[sentence.end() :]


_MAKERS = {
    "wrong_fact": _wrong_fact,
    "fabricated_citation": _fabricated_citation,
    "garbled_citation": _garbled_citation,
    "unsupported_claim": _unsupported_claim,
}
