"""The three questions that FACT asks, in our wording or the official one, each with the reading of its answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from aiq.judges import fact_answers, fact_official
from aiq.judges.fact_scores import Verdict
from aiq.judges.official import OfficialWording
from aiq.judges.statements import Citation
from aiq.judges.wording import LANGUAGES, OwnWording, Wording

ReadT = TypeVar("ReadT")


@dataclass(frozen=True)
class Asked(Generic[ReadT]):
    """A question: the role that answers it, its prompt by language, and how its answer is read."""

    role: str
    wording: Mapping[str, Wording]
    read: ReadT

    @property
    def wordings(self) -> tuple[Wording, ...]:
        """Every prompt once."""
        return tuple(dict.fromkeys(self.wording.values()))


@dataclass(frozen=True)
class Questions:
    """Values that fill them: `reference_list`, `report_part`, `report` (both); `statements`; `page`, `support`."""

    extract: Asked[Callable[[str], list[Citation]]]
    dedup: Asked[Callable[[str, int], list[int]]]
    validate: Asked[Callable[[str, int], list[Verdict]]]


_EXTRACT: Final = "judge.fact_extract"
_DEDUP: Final = "judge.fact_dedup"
_VALIDATE: Final = "judge.fact_validate"

_OFFICIAL: Final = {"en": "prompt_template_en", "zh": "prompt_template"}
"""The constants of each official file, by the language of the task."""


def questions(official_dir: str | None) -> Questions:
    """Ours, or those of a checkout of the official repository. Raises ConfigError where it does not fit."""
    if official_dir is None:
        return Questions(
            Asked(_EXTRACT, _ours("fact_extract.j2"), fact_answers.read_citations),
            Asked(_DEDUP, _ours("fact_dedup.j2"), fact_answers.read_kept),
            Asked(_VALIDATE, _ours("fact_validate.j2"), fact_answers.read_verdicts),
        )

    def official(file: str, places: Mapping[str, str]) -> dict[str, Wording]:
        setting = f"judge.fact.official_dir={official_dir}"
        return {lang: OfficialWording(setting, official_dir, file, _OFFICIAL[lang], places) for lang in LANGUAGES}

    pages = {"reference": "page", "statements": "statements"}
    return Questions(
        Asked(_EXTRACT, official("utils/extract.py", {"report_text": "report"}), fact_official.read_citations),
        Asked(_DEDUP, official("utils/deduplicate.py", {"statements": "statements"}), fact_official.read_kept),
        Asked(_VALIDATE, official("utils/validate.py", pages), fact_official.read_verdicts),
    )


def _ours(template: str) -> dict[str, Wording]:
    """One prompt serves both languages."""
    return dict.fromkeys(LANGUAGES, OwnWording(template))
