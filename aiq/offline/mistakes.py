"""What a final answer may get wrong in content: facts, citations, claims. Each follows from the text and a number.

The marks of our reports are all it knows: inline `[n]`, and lines `[n] Title - URL` at the end.
"""

import random
import re

_REFERENCE = re.compile(r"^\s*\[(\d+)\]\s.*?(https?://\S+)\s*$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}\s*(references|sources|参考文献|来源)\s*$", re.MULTILINE | re.IGNORECASE)
_CITED = re.compile(r"[^\n.!?。！？]+(?:\s?\[(\d+)\])+[.!?。！？]?")
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
    rng = random.Random(seed)
    references = list(_REFERENCE.finditer(text))
    end = min((match.start() for match in (_HEADING.search(text), *references) if match), default=len(text))
    cited = list(_CITED.finditer(text, 0, end))
    if name == "wrong_fact":
        return _wrong_fact(text[:end], asked, rng) + text[end:]
    if name == "garbled_citation":
        return _garbled_citation(text, rng.choice(references), rng) if references else text
    if name == "unsupported_claim" and cited:
        sentence = rng.choice(cited)
        claim = f" {rng.choice(_CLAIMS)} [{sentence.group(1)}]."
        return text[: sentence.end()] + claim + text[sentence.end() :]
    if name == "fabricated_citation" and cited and references:
        return _fabricated_citation(text, rng.choice(cited), references, rng)
    return text


def _wrong_fact(body: str, asked: str, rng: random.Random) -> str:
    """One number or name becomes another throughout the body, so that the report agrees with itself.

    Those of the first sentence come first, because the answer stands there; names that the question
    gave stay, where there is anything else to get wrong.
    """
    facts = list(dict.fromkeys(_FACT.findall(body)))
    facts = [fact for fact in facts if fact not in asked] or facts
    first = _FIRST_SENTENCE.match(body)
    facts = [fact for fact in facts if first and _whole(fact).search(first.group())] or facts
    if not facts:
        return body
    fact = rng.choice(facts)
    return _whole(fact).sub(_another(fact, rng), body)


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


def _fabricated_citation(
    text: str, sentence: re.Match[str], references: list[re.Match[str]], rng: random.Random
) -> str:
    """A reference to a page that no tool returned, cited by one sentence of the body."""
    number = max(int(reference.group(1)) for reference in references) + 1
    at = sentence.end() - (not sentence.group().endswith("]"))
    line = f"\n[{number}] Annual survey - https://archive.offline.example/survey-{rng.randrange(10**6):06d}"
    end = references[-1].end()
    return text[:at] + f" [{number}]" + text[at:end].rstrip() + line + text[end:]


def _garbled_citation(text: str, reference: re.Match[str], rng: random.Random) -> str:
    """The reference's URL has another letter for two of its path."""
    url = reference.group(2)
    path = re.search("//[^/]*/", url)
    places = [i for i in range(path.end() if path else len(url), len(url)) if url[i].isalpha()]
    place = rng.choice(places or [len(url) - 1])
    garbled = url[:place] + ("y" if url[place] == "x" else "x") + url[place + 2 :]
    return text[: reference.start(2)] + garbled + text[reference.end(2) :]
