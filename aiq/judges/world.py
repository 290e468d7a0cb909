"""`world.coverage`: the share of a sample's needed facts that a report states (closed world; asks no model).

A fact is given as forms: fragments joined by ` & `, all of which one sentence must contain.
A sentence is read in its context: the headings above, the bullet it belongs to, a line before it that ends
in a colon or is bold, and, if it opens with a pronoun, the sentence before. At least one fragment must be
in the sentence itself. Case, emphasis, citation marks and thousands separators are ignored; Latin words
and numbers must match whole. The reference list does not count. Negations are not understood.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pydantic import JsonValue

from aiq.citations.passages import without_citations
from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import NeededFact, Sample
from aiq.core.session import Session
from aiq.judges.base import Judge, scores_of

_SEPARATOR = re.compile(r"(?<=\d)[,'’\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")
_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.*)$")
_BULLET = re.compile(r"^(\s*)(?:[-*+•]|\d+[.)、])\s+(.*)$")
_TEXT = 7  # the rank of a line that is neither a heading (1 to 6) nor a bullet (8 and its indent)
_PRONOUN = re.compile(
    r"^(?:it|its|they|their|he|his|she|her|the (?:company|firm|institute|university|festival|club|city|book|novel|"
    r"founder|author|director)|该|其|它|他|她|这家|这座|这所|这部|本)\b|^[该其它他她这本]",
    re.IGNORECASE,
)


def stated_forms(report: str, forms: Iterable[str]) -> set[str]:
    """The forms whose fragments are all in one sentence or its context, at least one of them in the sentence itself."""
    sentences = [(normal(sentence), normal(above)) for sentence, above in passages(without_citations(report))]

    def is_stated(form: str) -> bool:
        patterns = [_pattern(fragment) for fragment in form.split(" & ")]
        return any(
            any(pattern.search(sentence) for pattern in patterns)
            and all(pattern.search(sentence) or pattern.search(context) for pattern in patterns)
            for sentence, context in sentences
        )

    return {form for form in forms if is_stated(form)}


def passages(body: str) -> Iterator[tuple[str, str]]:
    """Each sentence with its context: the nearest lines above of each lower rank, and what a pronoun refers to."""
    open_above: list[tuple[int, str]] = []
    for line in filter(str.strip, body.splitlines()):
        rank, text = _TEXT, line.strip()
        if heading := _HEADING.match(line):
            rank, text = len(heading[1]), heading[2]
        elif bullet := _BULLET.match(line):
            rank, text = _TEXT + 1 + len(bullet[1].expandtabs(4)), bullet[2]
        open_above = [item for item in open_above if item[0] < rank]
        above = " ".join(text for _, text in open_above)
        before = ""
        for sentence in [text] if heading else _SENTENCE_END.split(text):
            pronoun = _PRONOUN.match(sentence.lstrip("*_ "))
            yield sentence, f"{above} {before}" if pronoun else above
            before = f"{before} {sentence}" if pronoun else sentence
        if rank != _TEXT or text.endswith((":", "：")) or re.fullmatch(r"\*\*[^*]+\*\*[:：]?", text):
            open_above.append((rank, text))


def normal(text: str) -> str:
    """The text as compared: without differences of case, emphasis, white space and thousands separators."""
    text = _SEPARATOR.sub("", text)
    text = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"\s+", " ", re.sub(r"[*_`《》]", "", text))


def _pattern(fragment: str) -> re.Pattern[str]:
    text = normal(fragment).strip()
    before = r"(?<![a-z0-9])" if re.match(r"[a-z0-9]", text) else ""
    after = r"(?![a-z0-9])" if re.search(r"[a-z0-9]$", text) else ""
    return re.compile(before + re.escape(text) + after)


class World(Judge):
    """Looks up each fact's forms in the report, as `aiq.judges.world` explains.

    The detail lists the facts not stated, and counts needed and missing ones by depth (`d1/...`: pages on the way).
    """

    metrics = (Metric.share("world.coverage", notices=("sections", "facts", "roles", "numbers", "nonsense")),)

    def metrics_for(self, sample: Sample) -> tuple[Metric, ...]:
        """No metrics for a sample that needs no facts."""
        return self.metrics if sample.truth and sample.truth.facts else ()

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        if sample.truth is None:
            return scores_of(self.metrics, ["the dataset has no truth for this sample"])
        facts = sample.truth.facts
        if not facts:
            return scores_of(self.metrics, ["the sample needs no facts"])
        stated = stated_forms(report.text, {form for fact in facts for form in fact.forms})
        missing = [fact for fact in facts if stated.isdisjoint(fact.forms)]
        detail: dict[str, JsonValue] = {
            "missing": [fact.id for fact in missing],
            "needed": _depths(facts),
            "lacked": _depths(missing),
        }
        return scores_of(self.metrics, [(len(facts) - len(missing)) / len(facts)], detail)


def _depths(facts: Sequence[NeededFact]) -> dict[str, JsonValue]:
    """How many facts of each depth, by the first part of their ids."""
    return dict(sorted(Counter(fact.id.split("/")[0] for fact in facts).items()))
