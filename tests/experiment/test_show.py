"""`aiq show`: one attempt of a real run, readable."""

import io

from rich.console import Console

from aiq.__main__ import main
from aiq.site.pages import data_records
from aiq.site.transcript import outline, render_events, shortener
from tests.experiment.conftest import Captured, Workplace


def test_an_attempt_is_shown_with_everything_that_happened(here: Workplace, capsys: Captured) -> None:
    here.write_samples(
        {"s1": "question with [brackets] and [/markup]", "s2": "fail", "s3": "unjudgeable", "s4": "miscount"},
        answers=["the gold", "another"],
    )
    run = here.ran("agent.ask=true", "judge.letters.ask=true", "epochs=2", "agent.words=80")
    capsys.readouterr()

    def show(*arguments: str, code: int = 0) -> str:
        assert main(["show", *arguments]) == code
        output = capsys.readouterr()
        return output.err if code else output.out

    out = show("latest", "s1", "--epoch", "2")
    parts = ["s1, epoch 2", "question with [brackets] and [/markup]", "model echo.writer", "reply:", "> completed"]
    parts += [
        "report",
        "accepted answers",
        "the gold; another",
        "sources that are not cited (1)",
        "A page  https://example.org/s1",
    ]
    parts += ["scores", "letters.vowels: "]
    places = [out.find(part) for part in parts]
    assert -1 not in places, parts[places.index(-1)]
    assert places == sorted(places)
    assert "model judge.letters" not in out
    judge_text = show(run.name, "s1", "--judge")
    assert all(part in judge_text for part in ("> judge letters", "model judge.letters", "characters ..."))
    assert "characters ..." not in show(str(run), "s1", "--judge", "--full")
    assert "AgentError: this question fails" in show("latest", "s2")
    run_lines = show("latest").splitlines()
    assert run_lines[2].split()[:2] == ["s2.1", "failed"]
    assert "AgentError: this question fails" in run_lines[2]
    assert {line.partition(" ")[0] for line in run_lines[2:10]} == {
        f"s{n}.{epoch}" for n in range(1, 5) for epoch in (1, 2)
    }
    assert "4 samples, 8 attempts: 6 completed, 2 failed" in run_lines
    assert "letters.count, letters.vowels, letters.pages: error  this report" in show("latest", "s3")
    bug = show("latest", "s4", "--judge", "--full")
    assert all(part in bug for part in ("Traceback", "in score", "KeyError: 'a bug of the judge'"))
    manifest = (run / "manifest.json").read_text()
    for name, text in {
        "damaged": manifest[:20],
        "newer": manifest.replace('"schema_version": 2', '"schema_version": 3'),
    }.items():
        (here.path / name).mkdir()
        (here.path / name / "manifest.json").write_text(text)
    for arguments, message in (
        (["latest", "s9"], "has no sample s9; it has 4: s1, s2, s3, s4"),
        (["latest", "s1", "--epoch", "7"], "no epoch 7 in results/tiny/"),
        (["latest", "--epoch", "2"], "--epoch, --judge and --full need a sample: aiq show RUN SAMPLE"),
        (["nowhere", "s1"], "nowhere is not a run folder"),
        (["damaged"], "damaged/manifest.json: Invalid JSON: EOF while parsing"),
        (["newer"], "schema_version=3: Input should be 1 or 2; another version of aiq wrote it"),
        (["latest", "s1", "--results", "elsewhere"], "no runs in elsewhere/"),
    ):
        err = show(*arguments, code=2)
        assert message in err
        assert err.count("\n") == 1
    (run / "samples.jsonl").unlink()
    assert main(["show", "latest"]) == 0
    assert "no longer has a samples.jsonl; restore it from a copy, or" in capsys.readouterr().err


def test_earlier_turns_are_shown_before_the_question(here: Workplace, capsys: Captured) -> None:
    here.write_samples({"s1": "the third"}, turns=["the first", "the second"])
    run = here.ran("agent.words=90", "agent.plain=true")
    capsys.readouterr()
    assert main(["show", "latest", "s1"]) == 0
    out = capsys.readouterr().out
    parts = ["turn 1", "the first", "characters ...", "turn 2", "the second", "s1, epoch 1", "the third", "> started"]
    parts += ["== turn", "number: 1", "number: 2", "number: 3", "report"]
    place = 0
    for part in parts:
        assert part in out[place:], part
        place = out.index(part, place)
    (record,) = data_records(run / "site/samples-0.js")
    assert [(question, route) for question, _, route in record["turns"]] == [
        ("the first", "echo"),
        ("the second", "echo"),
    ]
    assert "the second the second" in record["turns"][1][1]
    assert record["question"] == "the third"


def test_long_texts_are_cut_in_the_middle() -> None:
    short = shortener(30)
    assert short(" as it is ") == "as it is"
    assert short("a" * 50 + "b" * 50) == "a" * 20 + " [... 70 characters ...] " + "b" * 10
    assert len(shortener(None)("x" * 5000)) == 5000


def test_json_is_outlined_for_reading() -> None:
    vote = {"model": "m", "vote": 1, "value": 1 / 3, "none": None, "answer": "comment: no\nevaluation: wrong"}
    detail = {
        "tries": 2,
        "ok": True,
        "empty": {},
        "levels": {"exact": 1},
        "ids": ["a", "b"],
        "judgements": [vote, vote],
        "facts": [{"id": "d1"}],
    }
    vote_lines = ["  - model: m, vote: 1, value: 0.333", "    answer:", "      comment: no", "      evaluation: wrong"]
    assert outline(detail).split("\n") == [
        "tries: 2, ok: yes, levels (exact: 1), ids: a; b",
        "judgements:",
        *vote_lines,
        *vote_lines,
        "facts:",
        "  - id: d1",
    ]


def test_a_changed_dataset_has_no_gold_answer(here: Workplace, capsys: Captured) -> None:
    run = here.ran("judge=[]")
    here.write_samples({"s0": "another question"})
    assert main(["show", str(run), "s0"]) == 0
    assert "the gold answer is unknown: the dataset tiny has changed since the run" in capsys.readouterr().out
    assert main(["show", str(run)]) == 0
    assert "nothing was scored" in capsys.readouterr().out


def test_a_call_without_an_answer_names_no_status() -> None:
    call = {"type": "model_called", "role": "a.b", "model": "m", "latency_ms": 120023.0, "error": "no answer in time"}
    console = Console(record=True, width=80, file=io.StringIO())
    console.print(render_events([{**call, "status": status} for status in (None, 500)], shortener(None)))
    text = console.export_text()
    assert "error (no answer):" in text
    assert "error (HTTP 500):" in text
