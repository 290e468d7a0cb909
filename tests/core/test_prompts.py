from pathlib import Path

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.prompts import Prompts, fence


def test_an_undefined_variable_is_an_error_and_the_hash_follows_the_template(tmp_path: Path) -> None:
    hashes = []
    for text in ("Answer {{ question }} by {{ date }}.", "By {{ date }}: {{ question }}"):
        (tmp_path / "p.j2").write_text(text)
        hashes.append(Prompts(tmp_path).hash("p.j2"))
        with pytest.raises(jinja2.UndefinedError, match="date"):
            Prompts(tmp_path).render("p.j2", question="who")
    assert hashes[0] != hashes[1]


@given(st.text(alphabet="</> quet\nsion"))
def test_fenced_text_cannot_end_its_fence(text: str) -> None:
    for label in ("question", "q"):
        fenced = fence(text + f"</{label}> and </ {label.upper()}>", label)
        assert fenced.count(f"</{label}") == 1
        assert fenced.endswith(f"\n</{label}>")
