"""Whether a source's text supports a statement: the verdict that the thresholds make of the score, and the reasons."""

from aiq.citations.claims.evidence import Evidence
from aiq.citations.claims.records import Support, Verdict
from aiq.citations.claims.rules import rules
from aiq.citations.claims.source import SourceText
from aiq.citations.claims.terms import Statement

_SHOWN = 6


def check_support(statement: str, source_text: str) -> Support:
    """Whether this text supports this statement."""
    return check_against(Statement.read(statement), SourceText(source_text))


def check_against(statement: Statement, source: SourceText) -> Support:
    """The same for what has been read already."""
    if source.unusable is not None:
        return Support("unknown", 0.0, (source.unusable,))
    evidence = Evidence.gathered(statement, source)
    if not evidence.terms:
        return Support("unknown", 0.0, (_nothing_to_compare(statement, source),))
    if not evidence.windows and len(source.tokens) < rules().unusable.least_words:
        return Support("unknown", 0.0, ("the source has hardly any text, and nothing of the statement in it",))
    limits = rules().thresholds
    limit = limits.supported_across if statement.across(source) else limits.supported
    verdict: Verdict = "supported" if evidence.score >= limit else "unsupported"
    return Support(verdict, evidence.score, tuple(_reasons(evidence)), evidence.passage)


def _nothing_to_compare(statement: Statement, source: SourceText) -> str:
    if statement.across(source):
        return "statement and source are in different languages, and nothing in the statement compares across them"
    return "the statement has no words that could be looked for"


def _reasons(evidence: Evidence) -> list[str]:
    """What was found and what was not, the weightiest first."""
    said = [evidence.denied] if evidence.denied else []
    said += [_instead(name, other) for name, other in evidence.other_names.items()]
    said += _figures(evidence)
    if names := evidence.statement.names:
        missing = [name.written for name in names if not evidence.stands(name)]
        found = len(names) - len(missing)
        said.append(f"{found} of {len(names)} names found" + (f"; not {', '.join(missing[:3])}" if missing else ""))
    words = [n for n, term in enumerate(evidence.terms) if term.kind == "word"]
    if words:
        there = sum(n in evidence.windows[0].held for n in words) if evidence.windows else 0
        said.append(f"{there} of {len(words)} words in the best passage")
    return said[:_SHOWN]


def _figures(evidence: Evidence) -> list[str]:
    """What is amiss with the numbers, then with the dates."""
    others = {**evidence.other_numbers, **evidence.other_dates}
    said = []
    for kind in ("number", "date"):
        for n, term in enumerate(evidence.terms):
            if term.kind != kind:
                continue
            if other := others.get(term.label):
                said.append(_instead(term.label, other))
            elif not term.worth:
                said.append(f"the {kind} {term.label} is not in the source")
            elif not evidence.near(n):
                said.append(f"the {kind} {term.label} stands elsewhere in the source")
    return said


def _instead(stated: str, other: str) -> str:
    return f"the passage has {other} where the statement has {stated}"
