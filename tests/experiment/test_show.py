"""`aiq show`: one attempt of a real run, readable."""

from typing import TYPE_CHECKING

import pytest

from aiq.__main__ import main
from aiq.site.transcript import shortener

if TYPE_CHECKING:
    from tests.experiment.conftest import Workplace


@pytest.fixture
def ran(here: "Workplace", capsys: pytest.CaptureFixture[str]) -> "Workplace":
    given = ["experiment=tiny", "agent.ask=true", "judge.letters.ask=true", "epochs=2", "agent.words=80"]
    here.write_samples({"s1": "question with [brackets] and [/markup]", "s2": "fail", "s3": "unjudgeable"})
    assert main(["run", *given]) == 0
    capsys.readouterr()
    return here


def test_a_transcript_has_all_that_happened(ran: "Workplace", capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "latest", "s1", "--epoch", "2"]) == 0
    out = capsys.readouterr().out
    parts = ["s1, epoch 2", "question with [brackets] and [/markup]", "model echo.writer", "reply:", "> completed"]
    parts += ["report", "sources (1)", "not cited  A page  https://example.org/s1", "scores", "letters.vowels: "]
    places = [out.find(part) for part in parts]
    assert -1 not in places, parts[places.index(-1)]
    assert places == sorted(places)
    assert "model judge.letters" not in out


def test_the_judges_side(ran: "Workplace", capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", ran.only_run().name, "s1", "--judge"]) == 0
    out = capsys.readouterr().out
    assert "> judge letters" in out
    assert "model judge.letters" in out
    assert "characters ..." in out
    assert main(["show", str(ran.only_run()), "s1", "--judge", "--full"]) == 0
    assert "characters ..." not in capsys.readouterr().out


def test_failures_say_why(ran: "Workplace", capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "latest", "s2"]) == 0
    assert "AgentError: this question fails" in capsys.readouterr().out
    assert main(["show", "latest", "s3"]) == 0
    assert "letters.count: error  this report cannot be judged" in capsys.readouterr().out


def test_what_is_not_there_is_one_line(ran: "Workplace", capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (["latest", "s9"], "has no sample s9; it has 3: s1, s2, s3"),
        (["latest", "s1", "--epoch", "7"], "no epoch 7"),
        (["nowhere", "s1"], "nowhere is no run folder"),
        (["latest", "s1", "--results", "elsewhere"], "no runs in elsewhere/"),
    ):
        assert main(["show", *arguments]) == 2
        err = capsys.readouterr().err
        assert message in err
        assert err.count("\n") == 1


def test_long_texts_are_cut_in_the_middle() -> None:
    short = shortener(30)
    assert short(" as it is ") == "as it is"
    assert short("a" * 50 + "b" * 50) == "a" * 20 + " [... 70 characters ...] " + "b" * 10
    assert len(shortener(None)("x" * 5000)) == 5000
