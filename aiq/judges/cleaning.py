"""Removes citations from reports, so that judges of content are not swayed by how much is cited.

Cleans by rules, or by a model as the official RACE does. `aiq.citations` decides what is a mark, a list or a URL;
the report itself is never changed.
"""

import re
from functools import partial
from typing import Final

from aiq.citations.passages import without_citations
from aiq.core.session import Session
from aiq.judges.race_criteria import TaskSettings
from aiq.judges.structured import SharedQuestion, Unusable, without_thoughts
from aiq.judges.wording import wordings

_KNOWN_SHARE: Final = 0.9
"""Share of a cleaned report's words that must be in the report: cleaning only removes, and adds nothing."""

_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W_]+")
_FENCED: Final = re.compile(r"\A```(?:markdown|md|text)?[ \t]*\n(.*)\n```\Z", re.DOTALL)


class Cleaner:
    """Cleans for the judge `name`. A model cleans each text, references above all, only once per run."""

    def __init__(self, name: str, settings: TaskSettings) -> None:
        self._share = settings.cleaning_share
        self.questions: tuple[SharedQuestion, ...] = ()
        if settings.cleaning == "model":
            file, constant, places = "prompt/clean_prompt.py", "clean_article_prompt_{language}", {"article": "article"}
            prompts = wordings(name, "race_clean_{language}.j2", settings.official_dir, file, constant, places)
            self.questions = (SharedQuestion("judge.race_clean", prompts, settings.tries),)

    async def clean(self, text: str, language: str, session: Session) -> str:
        """The report without citations. Raises JudgeError if the model gives no usable answer."""
        by_rules = without_citations(text)
        if not self.questions or not by_rules:
            return by_rules
        read = partial(read_cleaned, report=text, at_least=self._share * len(by_rules))
        return await self.questions[0].ask(session, language, read, {"article": text})


def read_cleaned(answer: str, report: str, at_least: float) -> str:
    """The cleaned report in an answer; raises Unusable if it has fewer than `at_least` characters or adds anything."""
    cleaned = without_thoughts(answer).strip()
    if not report.lstrip().startswith("```") and (fenced := _FENCED.match(cleaned)):
        cleaned = fenced[1].strip()
    if len(cleaned) < at_least:
        raise Unusable(f"a cleaned report of {len(cleaned)} characters has lost more than citations")
    words, known = _WORD.findall(cleaned.casefold()), set(_WORD.findall(report.casefold()))
    if len(cleaned) > len(report) or sum(word in known for word in words) < _KNOWN_SHARE * len(words):
        raise Unusable("the cleaned report says what the report does not")
    return cleaned
