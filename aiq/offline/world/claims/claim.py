"""A planted claim: a statement and a page with the verdict that is known of them."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["supported", "unsupported", "unknown", "half"]
Part = Literal["choose", "check"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement and the page that it cites.

    `half` as a verdict: one of two facts is on the page; what that is worth is a matter of the rule, so
    such claims choose nothing. `entity` is what the claim is about (an entity or a topic), `part` is `choose`
    or `check`: an entity is in one of them only. `summary`: a finding in free words, no single fact.
    """

    kind: str
    statement: str
    page: str
    verdict: Verdict
    language: str
    entity: str
    part: Part
    summary: bool = False
