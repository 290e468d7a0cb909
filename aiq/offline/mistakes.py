"""What a final answer may get wrong in content: facts, citations, claims. Each is a function of text and a number.

The marks of our reports are all it knows: inline `[n]`, and lines `[n] Title - URL` at the end.
"""

import random
import re

_REFERENCE = re.compile(r"^\s*\[(\d+)\]\s.*?(https?://\S+)\s*$", re.MULTILINE)
_CITED = re.compile(r"[^\n.!?。！？]+(?:\s?\[\d+\])+[.!?。！？]?")
_NUMBER = re.compile(r"(?<![\d\[/.\-])\d[\d,]*(?![\d\]/\-]|\.\d)")

_CLAIMS = (
    "Independent observers regard it as the largest of its kind in the region",
    "Three earlier reviews had come to the opposite conclusion",
    "The figure is expected to double within five years",
)


def make(name: str, text: str, seed: int) -> str:
    """The text with one mistake of that name in it; unchanged where there is nothing to spoil."""
    return _MAKERS[name](text, random.Random(seed))


def _body_end(text: str) -> int:
    """Where the reference list begins, or the text's end."""
    heading = re.search(r"^#{1,6}\s*(references|sources|参考文献|来源)\s*$", text, re.MULTILINE | re.IGNORECASE)
    first = _REFERENCE.search(text)
    return min(heading.start() if heading else len(text), first.start() if first else len(text))


def _wrong_fact(text: str, rng: random.Random) -> str:
    """One number of the body becomes another of the same length."""
    numbers = list(_NUMBER.finditer(text, 0, _body_end(text)))
    if not numbers:
        return text
    chosen = rng.choice(numbers)
    digits = chosen.group()
    place = rng.choice([i for i, c in enumerate(digits) if c.isdigit()][-2:])
    new = str((int(digits[place]) + rng.randint(1, 8)) % 10)
    return text[: chosen.start()] + digits[:place] + new + digits[place + 1 :] + text[chosen.end() :]


def _fabricated_citation(text: str, rng: random.Random) -> str:
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


def _garbled_citation(text: str, rng: random.Random) -> str:
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


def _unsupported_claim(text: str, rng: random.Random) -> str:
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
