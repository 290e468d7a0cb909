"""Edits upon edits: composed ones do at once what two rounds do, and keep each stretch's rule."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.repair import Edit, apply_edits, composed, moved


def edit(start: int, end: int, replacement: str = "", rule: str = "r") -> Edit:
    return Edit(start=start, end=end, replacement=replacement, rule=rule)


@st.composite
def edits_of(draw: st.DrawFn, length: int) -> tuple[Edit, ...]:
    """Edits of a text of this length, in order and apart."""
    cuts = sorted(draw(st.lists(st.integers(0, length), max_size=8)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return tuple(
        edit(start, end, draw(st.text("xyz", max_size=3)), draw(st.sampled_from("pq"))) for start, end in pairs
    )


@given(st.text("abcdef", max_size=12), st.data())
def test_composed_edits_do_at_once_what_two_rounds_do(text: str, data: st.DataObject) -> None:
    first = data.draw(edits_of(len(text)))
    between = apply_edits(text, first)
    second = data.draw(edits_of(len(between)))
    whole = composed(text, first, second)
    assert apply_edits(text, whole) == apply_edits(between, second)
    assert all(one.end <= other.start for one, other in pairwise(whole))
    assert all(text[one.start : one.end] != one.replacement for one in whole)


@given(st.text("abcdef", max_size=12), st.data())
def test_offsets_move_with_what_stands_there(text: str, data: st.DataObject) -> None:
    edits = data.draw(edits_of(len(text)))
    after = apply_edits(text, edits)
    places = moved(range(len(text)), edits)
    assert places == sorted(places)
    for offset, place in enumerate(places):
        if not any(one.start <= offset < one.end for one in edits):
            assert after[place] == text[offset]


def test_each_stretch_keeps_the_rule_that_took_it_out() -> None:
    first = (edit(2, 5, rule="dangling"),)  # `[1[9]]` becomes `[1]`
    second = (edit(0, 3, rule="url_not_in_registry"),)
    assert composed("[1[9]]", first, second) == (
        edit(0, 2, rule="url_not_in_registry"),
        edit(2, 5, rule="dangling"),
        edit(5, 6, rule="url_not_in_registry"),
    )


def test_a_replacement_that_is_replaced_is_one_edit_by_the_later_rule() -> None:
    assert composed("[3]", (edit(1, 2, "2", "renumbered"),), (edit(0, 3, "", "dangling"),)) == (
        edit(0, 1, rule="dangling"),
        edit(1, 2, rule="dangling"),
        edit(2, 3, rule="dangling"),
    )


def test_what_comes_back_as_it_was_is_no_edit() -> None:
    assert composed("[3]", (edit(1, 2, "2"),), (edit(1, 2, "3"),)) == ()
