"""Planted claims as summaries: findings in free words, without figures or names, beside abstracts on the same topic.

Reports mostly cite like this, and words are all there is to compare: a finding said otherwise, with an author and a
remark around it, two findings in a sentence, a finding that the abstract does not have, the contrary, a judgement.
"""

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from aiq.core.base import Record
from aiq.offline.world.claims.claim import Claim, Part, Verdict
from aiq.offline.world.claims.wear import worn
from aiq.offline.world.claims.wording import ADDITIONS, ATTRIBUTIONS, JOINTS, JUDGEMENTS, LEAD_INS
from aiq.offline.world.draw import Draw

_ROUNDS = 6
_TABLE = Path(__file__).with_name("topics.toml")


class Finding(Record):
    """Wordings of one finding, and a sentence that says the contrary."""

    says: tuple[str, ...]
    contrary: str


class Topic(Record):
    """What an abstract is made of."""

    language: Literal["en", "zh"]
    title: str
    background: tuple[str, ...]
    findings: tuple[Finding, ...]


@cache
def topics() -> tuple[Topic, ...]:
    """The topics of `topics.toml`."""
    return tuple(Topic.model_validate(row) for row in tomllib.loads(_TABLE.read_text(encoding="utf-8"))["topics"])


def summary_claims(seed: int) -> Iterator[Claim]:
    """Claims about every finding of every topic; a topic is in one half only."""
    for language in ("en", "zh"):
        every = [topic for topic in topics() if topic.language == language]
        for number, topic in enumerate(every):
            part: Part = "check" if number % 2 else "choose"
            others = every[:number] + every[number + 1 :]
            for turn in range(_ROUNDS):
                yield from _Summaries(topic, others, part, Draw(seed, "summaries", topic.title, turn)).claims()


class _Summaries:
    """Makes the claims about one topic."""

    def __init__(self, topic: Topic, others: Sequence[Topic], part: Part, draw: Draw) -> None:
        self._topic, self._others, self._part, self._draw = topic, others, part, draw

    def claims(self) -> Iterator[Claim]:
        findings, draw = self._topic.findings, self._draw
        for finding in findings:
            rest = [other for other in findings if other is not finding]
            shown, absent = draw.shuffled(rest)[:2], rest
            written, said = draw.shuffled(finding.says)[:2]
            page = self._abstract([written, *(draw.pick(other.says) for other in shown)])
            without = self._abstract([draw.pick(other.says) for other in absent])
            yield self._claim("finding", said, page, "supported")
            yield self._claim("finding, embroidered", self._embroidered(said), page, "supported")
            both = self._joined(said, draw.pick(shown[0].says))
            yield self._claim("findings, joined", self._embroidered(both), page, "supported")
            yield self._claim("finding not there", self._embroidered(said), without, "unsupported")
            yield self._claim("finding denied", finding.contrary, page, "unsupported")
            yield self._claim("finding, other topic", said, self._other_abstract(), "unsupported")
            other = next(other for other in rest if other not in shown)
            partly = self._joined(said, draw.pick(other.says))
            yield self._claim("findings, one there", self._embroidered(partly), page, "half")
        yield self._claim("judgement", self._judgement(), page, "unsupported")

    def _claim(self, kind: str, statement: str, page: str, verdict: Verdict) -> Claim:
        around = [_page(topic, [finding.says[0] for finding in topic.findings]) for topic in self._others]
        text = worn(page, self._draw, around)
        return Claim(kind, statement, text, verdict, self._topic.language, self._topic.title, self._part, summary=True)

    def _abstract(self, sentences: Sequence[str]) -> str:
        return _page(self._topic, self._draw.shuffled(sentences))

    def _other_abstract(self) -> str:
        topic = self._draw.pick(self._others)
        return _page(topic, [self._draw.pick(finding.says) for finding in topic.findings])

    def _embroidered(self, sentence: str) -> str:
        """With an author, a lead-in or a remark that no abstract has."""
        draw, language = self._draw, self._topic.language
        stop = "。" if language == "zh" else "."
        if draw.chance(60):
            sentence = sentence.rstrip(stop) + draw.pick(ADDITIONS[language]) + stop
        if draw.chance(70):
            frame = draw.pick((*ATTRIBUTIONS[language], *LEAD_INS[language]))
            sentence = frame.format(x=_inside(sentence))
        return sentence

    def _joined(self, one: str, other: str) -> str:
        stop = "。" if self._topic.language == "zh" else "."
        two = {"a": one.rstrip(stop), "b": _inside(other.rstrip(stop))}
        joint = self._draw.pick(JOINTS[self._topic.language])
        return joint.format(**two if joint.startswith("{a}") else {**two, "a": _inside(two["a"])}) + stop

    def _judgement(self) -> str:
        return self._draw.pick(JUDGEMENTS[self._topic.language]).format(topic=self._topic.title)


def _inside(sentence: str) -> str:
    """As it is written behind other words; no finding begins with a name."""
    return sentence[0].lower() + sentence[1:]


def _page(topic: Topic, sentences: Sequence[str]) -> str:
    between = "" if topic.language == "zh" else " "
    return f"{topic.title}\n\n{between.join([*topic.background, *sentences])}"
