"""Short answers with citations, from what was found: the answer first, then the sentences that carry it."""

import re

from aiq.offline.reading import comparisons, premises, searching
from aiq.offline.reading.assignment import Assignment
from aiq.offline.reading.chain import Progress, Step
from aiq.offline.reading.comparisons import Comparison
from aiq.offline.reading.compose import Citations, cite, happens, pick, shorten
from aiq.offline.reading.evidence import Evidence
from aiq.offline.reading.premises import Contradiction
from aiq.offline.reading.text import contains_name, is_chinese

GUESSES = 40
"""Percent of (seed, question) in which an incomplete chain ends in a guess although the prompt allows to admit it."""

ALSO = 0.3
"""A second sentence is told where it is nearly as good as the first and no single phrase is the answer."""

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
    if comparison := comparisons.listed(work.question.text):
        return _compared(work, comparison, cited) + cited.references()
    state = searching.progress(work)
    unsettled = comparisons.of_group(work.question.text) and work.instructions.admits
    if unsettled and not happens(GUESSES, work.seed, "guess", work.question.text):
        return _admitted(work, "all that would have to be compared", [])
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
        close = [e for e in last.more[:1] if e.score > last.found.score - ALSO]
        told += [_quoted(piece, cited, titled=True) for piece in close]
        return " ".join([*_verdict(work, last.found), *dict.fromkeys(told)])
    language = "zh" if work.question.chinese else "en"
    lead = pick(_LEADS[language], work.seed, "lead", work.question.text)
    stated = last.found.answer
    if last.stale(work.instructions.now) and last.found.when is not None and language == "en":
        stated = f"{stated} (as of {last.found.when:%B %Y})"
    space = "" if language == "zh" else " "
    return space.join([lead.format(a=stated), *dict.fromkeys(told)])


def _told(step: Step, cited: Citations) -> str:
    assert step.found is not None
    return _quoted(step.found, cited, titled=step.hop.relation is None)


def _quoted(found: Evidence, cited: Citations, *, titled: bool = False) -> str:
    """The sentence with its citation, behind the page's title where it does not name what the page is about.

    Without `titled` only where it begins with a pronoun.
    """
    sentence = shorten(found.sentence)
    title = re.split(r"\s*[(（|]", found.document.title)[0]
    unclear = titled or _VAGUE.match(sentence) is not None
    if title and unclear and not contains_name(sentence, title) and not is_chinese(sentence):
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


def _compared(work: Assignment, comparison: Comparison, cited: Citations) -> str:
    """Which of the listed things wins, with the value of each that is known."""
    found = comparisons.follow(comparison, work.documents, now=work.instructions.now, seed=work.seed)
    best = comparisons.winner(comparison, found)
    known = [_told(step, cited) for state in found for step in state.steps if step.found]
    if best is None:
        return _admitted(work, "enough of what is to be compared", known)
    last = found[best].steps[-1]
    return " ".join([f"{last.subject} ({found[best].answer}).", *dict.fromkeys(known)])


def _admitted(work: Assignment, missing: str, known: list[str]) -> str:
    """The lack of evidence, in the words that the prompt gives for it, and what is known all the same."""
    wording = work.instructions.admits or "The sources at hand do not say"
    return " ".join([f"{wording}: the sources found do not give {missing}.", *dict.fromkeys(known)])


def _incomplete(work: Assignment, state: Progress, cited: Citations) -> str:
    """A guess, or what is known and what is missing, in the words that the prompt gives for it."""
    open_step = state.steps[-1]
    known = [_told(step, cited) for step in state.steps if step.found]
    guess = searching.guess(work, open_step)
    admits = work.instructions.admits
    if guess is not None and (not admits or happens(GUESSES, work.seed, "guess", work.question.text)):
        lead = [] if guess.answer == guess.sentence else [f"Most likely {guess.answer}."]
        return " ".join([*lead, *dict.fromkeys([*known, _quoted(guess, cited)])])
    if work.question.chinese:
        missing = f"没有找到{open_step.subject}的{open_step.hop.noun}" if open_step.subject else "没有找到相关资料"
        return "".join([f"{admits}: {missing}。" if admits else f"{missing}。", *dict.fromkeys(known)])
    known_relation = open_step.hop.relation is not None and open_step.subject
    missing = f"the {open_step.hop.noun} of {open_step.subject}" if known_relation else "what the question asks"
    return _admitted(work, missing, known)
