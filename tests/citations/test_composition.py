"""Rounds of edits as one: it does at once what the rounds do one after the other."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.repair import Edit, apply_edits, composed


@st.composite
def edits_of(draw: st.DrawFn, length: int) -> tuple[Edit, ...]:
    """Edits of a text of this length, in order and apart; each takes something out."""
    cuts = sorted(draw(st.sets(st.integers(0, length), max_size=8)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return tuple(Edit(start=a, end=b, replacement=draw(st.text("xyz", max_size=3)), rule="r") for a, b in pairs)


@given(st.text("abcdef", max_size=12), st.data())
def test_composed_edits_do_at_once_what_the_rounds_do(text: str, data: st.DataObject) -> None:
    rounds, after = [], text
    for _ in range(3):
        rounds.append(data.draw(edits_of(len(after))))
        after = apply_edits(after, rounds[-1])
    whole = composed(text, rounds)
    assert apply_edits(text, whole) == after
    assert all(one.end < other.start for one, other in pairwise(whole))
    assert all(text[one.start : one.end] != one.replacement for one in whole)


def test_the_later_rule_says_why() -> None:
    first = Edit(start=1, end=2, replacement="2", rule="renumbered")
    second = Edit(start=0, end=3, replacement="", rule="dangling")
    assert composed("[3]", [(first,), (second,)]) == (second,)
