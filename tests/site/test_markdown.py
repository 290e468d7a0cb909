"""Foreign Markdown becomes HTML that is safe to open, whatever it says and wherever pieces are inserted."""

import time

from hypothesis import given
from hypothesis import strategies as st

from aiq.site.markdown import Piece, annotated, render
from tests.site.seen import Seen


@given(st.text(alphabet=st.sampled_from(list("<>&\"'`[]()!#*_|\\ \nahtp:/.javscriptonerimg=")), max_size=80))
def test_markdown_only_becomes_text_and_web_links(text: str) -> None:
    seen = Seen(render(text))
    assert seen.is_harmless()
    assert not [tag for tag, _ in seen.tags if tag in ("script", "style")]
    assert all(set(attrs) <= {"href", "title", "rel", "class", "style", "start"} for _, attrs in seen.tags)


def test_many_pieces_of_text_are_rendered_in_time() -> None:
    start = time.process_time()
    render("**a" * 10_000)
    assert time.process_time() - start < 4


def test_pieces_are_inserted_only_into_text() -> None:
    html = annotated("```[1]\nx\n```\n\na [1] b\n", [Piece(3, 6, "<b>1</b>"), Piece(17, 20, "<i>2</i>")])
    assert "<i>2</i>" in html
    assert 'class="language-<b>' not in html
