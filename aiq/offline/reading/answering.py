"""Short answers with citations, from what was found: the answer first, then the sentences that carry it."""

import re

from aiq.offline.reading import premises, searching
from aiq.offline.reading.chain import Progress, Step
from aiq.offline.reading.compose import Citations, cite, happens, pick, shorten
from aiq.offline.reading.evidence import Evidence
from aiq.offline.reading.premises import Contradiction
from aiq.offline.reading.text import is_chinese, stems
from aiq.offline.reading.assignment import Assignment

GUESSES = 40
"""Percent of (seed, question) in which an incomplete chain ends in a guess although the prompt allows to admit it."""

_OPENINGS = (
    "The question rests on a false premise.",
    "The premise of the question is not supported by the sources.",
    "That is not what the sources say: the premise is incorrect.",
)
_VAGUE = re.compile(r"(?:It|He|She|They|This|These)\b")
_LEADS = {
    "en": ("{a}.", "The answer is {a}.", "It is {a}.", "According to the sources, {a}."),
    "zh": ("{a}。", "答案是{a}。", "根据资料，是{a}。"),
}


def answer(work: Assignment) -> str:
    """The final text of a researcher: a corrected premise, an answer, a guess, or an honest lack of evidence."""
    cited = Citations(work.instructions)
    if against := searching.contradicted(work):
        return _corrected(work, against, cited) + cited.references()
    state = searching.progress(work)
    text = _resolved(work, state, cited) if state.complete else _incomplete(work, state, cited)
    return text + cited.references()


def _corrected(work: Assignment, against: Contradiction, cited: Citations) -> str:
    """Says that the premise does not hold, and what is true instead."""
    told = [_quoted(piece, cited) for piece in against.path]
    claim = work.question.claim
    if work.question.chinese or claim is None:
        return "".join(["这个问题的前提并不成立。", *told])
    opening = pick(_OPENINGS, work.seed, "premise wording", claim.text)
    if claim.value and against.still:
        opening += f" {claim.value} still is: that has not ended."
    elif claim.value:
        opening += f" The sources name {against.path[-1].answer}, not {claim.value}."
    return " ".join([opening, *dict.fromkeys(told)])


def _resolved(work: Assignment, state: Progress, cited: Citations) -> str:
    """The answer, then one sentence for each hop."""
    last = state.steps[-1]
    assert last.found is not None
    told = [_told(step, cited) for step in state.steps if step.found]
    if last.hop.answer in ("why", "text", "yesno") or last.hop.relation is None:
        return " ".join([*_verdict(work, last.found), *told])
    language = "zh" if work.question.chinese else "en"
    lead = pick(_LEADS[language], work.seed, "lead", work.question.text)
    stated = last.found.answer
    if last.stale(work.instructions.now) and last.found.when is not None and language == "en":
        stated = f"{stated} (as of {last.found.when:%B %Y})"
    space = "" if language == "zh" else " "
    return space.join([lead.format(a=stated), *dict.fromkeys(told)])


def _told(step: Step, cited: Citations) -> str:
    assert step.found is not None
    return _quoted(step.found, cited)


def _quoted(found: Evidence, cited: Citations) -> str:
    """The sentence with its citation; with the page's title where the sentence does not say whom it speaks of."""
    title, sentence = found.document.title, shorten(found.sentence)
    if title and not is_chinese(sentence) and not (stems(title) & stems(sentence)) or _VAGUE.match(sentence):
        sentence = f"{title}: {sentence}"
    return cite(sentence, cited.mark(found.document))


def _verdict(work: Assignment, found: Evidence) -> list[str]:
    """Yes or no, for a question that can be answered so."""
    if work.question.answer != "yesno":
        return []
    denied = premises.denies(found.sentence)
    if work.question.chinese:
        return ["否。" if denied else "是。"]
    return ["No." if denied else "Yes."]


def _incomplete(work: Assignment, state: Progress, cited: Citations) -> str:
    """A guess, or what is known and what is missing, in the words that the prompt gives for it."""
    open_step = state.steps[-1]
    known = [_told(step, cited) for step in state.steps if step.found]
    guess = searching.guess(work, open_step)
    admits = work.instructions.admits
    if guess is not None and (not admits or happens(GUESSES, work.seed, "guess", work.question.text)):
        return " ".join([f"Most likely {guess.answer}.", *known, _quoted(guess, cited)])
    if work.question.chinese:
        missing = f"没有找到{open_step.subject}的{open_step.hop.noun}" if open_step.subject else "没有找到相关资料"
        return "".join([f"{admits}: {missing}。" if admits else f"{missing}。", *dict.fromkeys(known)])
    known_relation = open_step.hop.relation is not None and open_step.subject
    missing = f"the {open_step.hop.noun} of {open_step.subject}" if known_relation else "what the question asks"
    wording = admits or "The sources at hand do not say"
    return " ".join([f"{wording}: the sources found do not give {missing}.", *dict.fromkeys(known)])
