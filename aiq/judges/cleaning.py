"""Reports without their citations, so that judges of content are not swayed by how much is cited.

By rules, or by a model as the official RACE has it. What is a mark, a list or a URL is decided by `aiq.citations`;
the report itself is never changed.
"""

import re
from functools import partial
from typing import Final

from aiq.citations.passages import without_citations
from aiq.core.session import Session
from aiq.judges.race_criteria import TaskSettings
from aiq.judges.structured import Unusable, ask_once, without_thoughts
from aiq.judges.wording import Wording, wordings

ROLE: Final = "judge.race_clean"

_OWN_WORDS: Final = 0.9
"""Share of a cleaned report's words that must be in the report: cleaning takes out and adds nothing."""

_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W_]+")
_FENCED: Final = re.compile(r"\A```(?:markdown|md|text)?[ \t]*\n(.*)\n```\Z", re.DOTALL)


class Cleaner:
    """Cleans for the judge `name`. By model a text is cleaned once a run, whoever needs it (references above all)."""

    def __init__(self, name: str, settings: TaskSettings) -> None:
        self._settings = settings
        self._prompts: dict[str, Wording] = {}
        if settings.cleaning == "model":
            constant, places = "clean_article_prompt_{language}", {"article": "article"}
            self._prompts = wordings(
                name, "race_clean_{language}.j2", settings.official_dir, "prompt/clean_prompt.py", constant, places
            )
        self.roles = (ROLE,) if self._prompts else ()
        self.wordings = tuple(self._prompts.values())

    async def clean(self, text: str, language: str, session: Session) -> str:
        """The report without citations. Raises JudgeError where no answer of the model is that."""
        by_rules = without_citations(text)
        if not self._prompts or not by_rules:
            return by_rules
        prompt = self._prompts[language].render({"article": text})
        read = partial(read_cleaned, report=text, at_least=self._settings.cleaning_share * len(by_rules))
        return await ask_once(session, ROLE, prompt, read, tries=self._settings.tries)


def read_cleaned(answer: str, report: str, at_least: float) -> str:
    """The cleaned report in an answer; raises Unusable if it has under `at_least` characters or adds something."""
    cleaned = without_thoughts(answer).strip()
    if not report.lstrip().startswith("```") and (fenced := _FENCED.match(cleaned)):
        cleaned = fenced[1].strip()
    if len(cleaned) < at_least:
        raise Unusable(f"a cleaned report of {len(cleaned)} characters has lost more than citations")
    if len(cleaned) > len(report):
        raise Unusable("the cleaned report is longer than the report")
    words, known = _WORD.findall(cleaned.casefold()), set(_WORD.findall(report.casefold()))
    if sum(word in known for word in words) < _OWN_WORDS * len(words):
        raise Unusable("the cleaned report says what the report does not")
    return cleaned
