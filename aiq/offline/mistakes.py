"""What a final answer may get wrong in content: facts, citations, claims. Each follows from the text and a seed.

The marks of our reports are all it knows: inline `[n]`, and lines `[n] Title - URL` at the end.
"""

import random
import re

_REFERENCE = re.compile(r"^\s*\[(\d+)\]\s.*?https?://[^/\s]+/?(\S*)\s*$", re.MULTILINE)
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


def make(name: str, text: str, asked: str, rng: random.Random) -> str:
    """The text with one mistake in it; unchanged where there is nothing to spoil. `asked` is what the user said.

    wrong_fact           a number or name becomes another throughout
    fabricated_citation  a sentence cites a page that no tool returned
    garbled_citation     a reference's URL has another letter after the host
    unsupported_claim    a sentence follows a cited one, with its citation
    """
    references = list(_REFERENCE.finditer(text))
    end = min((match.start() for match in (_HEADING.search(text), *references) if match), default=len(text))
    if name == "wrong_fact":
        return _wrong_fact(text[:end], asked, rng) + text[end:]
    cited = list(_CITED.finditer(text, 0, end))
    if not cited or not references:
        return text
    sentence, reference = rng.choice(cited), rng.choice(references)
    if name == "unsupported_claim":
        return _inserted(text, sentence.end(), f" {rng.choice(_CLAIMS)} [{sentence[1]}].")
    if name == "garbled_citation":
        place = min(rng.randint(*reference.span(2)), reference.end(2) - 1)
        return text[:place] + ("y" if text[place] == "x" else "x") + text[place + 1 :]
    number = max(int(reference[1]) for reference in references) + 1
    page = f"https://archive.offline.example/survey-{rng.randrange(10**6):06d}"
    listed = _inserted(text, references[-1].end(), f"\n[{number}] Annual survey - {page}")
    return _inserted(listed, sentence.end(1) + 1, f" [{number}]")


def _inserted(text: str, place: int, more: str) -> str:
    return text[:place] + more + text[place:]


def _wrong_fact(body: str, asked: str, rng: random.Random) -> str:
    """The body with one fact of its first sentence, where the answer stands, replaced wherever it is.

    What the question gave stays where there is anything else to get wrong.
    """
    first, facts = _FIRST_SENTENCE.match(body), _FACT.findall(body)
    facts = [fact for fact in facts if fact not in asked] or facts
    facts = [fact for fact in facts if first and fact in first[0]] or facts
    if not facts:
        return body
    fact = rng.choice(facts)
    if fact[-1].isdigit():
        other = fact[:-1] + str((int(fact[-1]) + rng.randint(1, 9)) % 10)
    else:
        other = fact[: -(-len(fact) // 2)] + rng.choice(_ENDINGS)
    whole = rf"(?<![0-9A-Za-z\[]){re.escape(fact)}(?![0-9A-Za-z])"  # Chinese is written without spaces around it
    return re.sub(whole, other, body)
