"""Following instructions: what the prompt wants of the reply, as data that the other verbs obey."""

from dataclasses import dataclass

from aiq.offline.engine.read import Language, Situation

Cite = str
"""How citations are asked for: `numbered` ([1] and a list), `link` (Markdown links), `url` (bare), `none`."""


@dataclass(frozen=True)
class Orders:
    """What the prompt asks of the reply. A field keeps its default where the prompt says nothing; negations count.

    `cite`: see `Cite`; `reference_heading`: the heading line of the reference list (`## References`, `**Sources**`), or
    None for a list without heading; `reference_form`: a line of it with the placeholders {n}, {title}, {url}.
    `most_calls`: tool calls in the whole conversation; `most_rounds`: replies that delegate; `most_at_once`: calls in
    one reply. `sections`: headings asked for, in order. `sentences`, `words`, `characters`: (least, most) of the reply,
    None where open. `premise_check`, `newest`, `search_first`: whether to check what the question takes for granted,
    to prefer the newest evidence, to search before answering. `abstain`: the words for "not enough evidence".
    `json_only`: the reply is one JSON value and nothing else. `language`: that of the reply.
    """

    cite: Cite = "numbered"
    reference_heading: str | None = "## References"
    reference_form: str = "[{n}] {title} - {url}"
    most_calls: int | None = None
    most_rounds: int | None = None
    most_at_once: int | None = None
    sections: tuple[str, ...] = ()
    sentences: tuple[int | None, int | None] = (None, None)
    words: tuple[int | None, int | None] = (None, None)
    characters: tuple[int | None, int | None] = (None, None)
    premise_check: bool = False
    newest: bool = True
    search_first: bool = True
    abstain: str | None = None
    json_only: bool = False
    language: Language = "en"


def follow(situation: Situation) -> Orders:
    """The orders that stand in the situation's instructions."""
    return Orders(language=situation.language)
