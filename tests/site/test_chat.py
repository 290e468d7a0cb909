"""What `aiq chat` shows while an agent works."""

import pytest

from aiq.core.events import Round
from aiq.site.chat import show_progress


def test_a_round_is_shown_with_its_counts(capsys: pytest.CaptureFixture[str]) -> None:
    show_progress(Round(number=2, queries=("a",), new_sources=("x", "y")))
    assert capsys.readouterr().err == "  · round 2: 1 query, 2 new sources\n"
