"""Reports without their citations, as RACE's judges read them: by rules, or by a model as the official way has it.

A report taken apart for judging: its prose without any trace of citations.

Judges of content must not be swayed by how much is cited (the official RACE lets a model take
citations out). What is a mark, a list or a URL is decided by `aiq.citations`; the report itself is
never changed.
"""

import re
from functools import partial
from typing import Final

from aiq.citations.passages import without_citations
from aiq.core.session import Session
from aiq.judges.race_criteria import TaskSettings, wordings
from aiq.judges.structured import Unusable, ask_once, without_thoughts
from aiq.judges.wording import Wording

ROLE: Final = "judge.race_clean"

_OWN_WORDS: Final = 0.9
"""Share of a cleaned report's words that must stand in the report: cleaning takes out and adds nothing."""

_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W_]+")
_FENCED: Final = re.compile(r"\A```(?:markdown|md|text)?[ \t]*\n(.*)\n```\Z", re.DOTALL)


class Cleaner:
    """Cleans for the judge `name`. By model a text is cleaned once a run, whoever needs it (references above all)."""

    def __init__(self, name: str, settings: TaskSettings) -> None:
        self._tries = settings.tries
        self._share = settings.cleaning_share
        self._wordings: dict[str, Wording] = {}
        if settings.cleaning == "model":
            self._wordings = wordings(
                name,
                "race_clean_{language}.j2",
                settings.official_dir,
                "prompt/clean_prompt.py",
                "clean_article_prompt_{language}",
                {"article": "article"},
            )

    @property
    def roles(self) -> tuple[str, ...]:
        return (ROLE,) if self._wordings else ()

    @property
    def wordings(self) -> tuple[Wording, ...]:
        return tuple(self._wordings.values())

    async def clean(self, text: str, language: str, session: Session) -> str:
        """The report without citations. Raises JudgeError where no answer of the model is that."""
        by_rules = without_citations(text)
        if not self._wordings or not by_rules:
            return by_rules
        prompt = self._wordings[language].render({"article": text})
        read = partial(read_cleaned, report=text, at_least=self._share * len(by_rules))
        return await ask_once(session, ROLE, prompt, read, tries=self._tries)


def read_cleaned(answer: str, report: str, at_least: float) -> str:
    """The cleaned report in an answer; raises Unusable if it has under `at_least` characters or adds something."""
    cleaned = without_thoughts(answer).strip()
    if not report.lstrip().startswith("```") and (fenced := _FENCED.match(cleaned)):
        cleaned = fenced[1].strip()
    if len(cleaned) < at_least:
        raise Unusable(f"a cleaned report of {len(cleaned)} characters has lost more than citations")
    if len(cleaned) > len(report):
        raise Unusable("the cleaned report is longer than the report")
    words, there = _WORD.findall(cleaned.casefold()), set(_WORD.findall(report.casefold()))
    if sum(word in there for word in words) < _OWN_WORDS * len(words):
        raise Unusable("the cleaned report says what the report does not")
    return cleaned
