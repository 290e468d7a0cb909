"""A calibration tells judges of known quality apart: one sees all, one throws dice, one likes length, one obeys."""

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.analysis.calibration import _against_labels, calibrate, judged_against_itself
from aiq.analysis.calibration_inputs import Label, MetricScores, ReportSet
from aiq.analysis.reliability import FILE, Calibration, Figure, MetricReliability, read_calibration, read_reliabilities
from aiq.core.concurrency import completed
from aiq.core.reports import Metric
from aiq.experiment.runner import execute
from aiq.run import new_plan
from aiq.runs.folder import find_run
from aiq.runs.manifest import Manifest
from aiq.runs.rows import ScoreRow
from aiq.site.progress import Progress
from tests.cases import table

each = table(__file__)


HERE = Path(__file__).parent
JUDGES: dict[str, dict[str, Any]] = {
    "planted": {},
    "noisy": {"kind": "planted", "noise": 0.2},
    "dice": {"kind": "random"},
    "coin": {"kind": "random"},
    "constant": {},
    "length": {},
    "obedient": {},
    "verdict": {},
    "choosy": {"kind": "planted", "notices": ["facts", "nonsense"]},
    "parrot": {},
    "fact": {"name": "fact.rate", "kind": "planted", "noise": 0.01, "once_per_run": True},
}


PERTURBATIONS = (
    "{sections:null,roles:null,fabricated:null,shuffled:null,"
    "facts:[25,50],numbers:[10,50],nonsense:[50],padding:[50,200],"
    "instructions:[100],remarks:[100],order:[100],independent:[1]}"
)
PERTURBED = ("facts", "numbers", "nonsense")


def toy(judge: str, **settings: Any) -> list[str]:
    values = {"target": "toy_judges:Toy", "name": judge, "kind": judge, **settings}
    return [f"+judge.{judge}.{key}={value}" for key, value in values.items()]


PLAIN = ["experiment=judge_calibration", "runner.progress=false"]
SETTINGS = [*PLAIN, "judge=[]", "agent.sources=false"]


def run(*overrides: str) -> None:
    """A run without its page, which takes most of the time."""
    plan, folder, _ = new_plan(overrides)
    completed(execute(plan, folder, Progress("", shown=False)))


GOOD = [f"{task}.{kind}" for task in range(1, 9) for kind in ("none.0", "facts.25", "facts.50")]
LABELS = [
    *({"sample_id": s, "metric": "planted", "label": 10 - int(s.split(".")[2]) / 10} for s in GOOD),
    *({"sample_id": s, "metric": "dice.score", "label": n % 3} for n, s in enumerate(GOOD)),
    *({"sample_id": s, "metric": "verdict", "label": "正确" if ".none." in s else "incorrect"} for s in GOOD),
    {"sample_id": "nobody", "metric": "", "label": "yes"},
]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a run of all the toy judges, calibrated by the command; `printed` has its output."""
    folder = tmp_path_factory.mktemp("calibration")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(HERE))
        toys = (part for name, settings in JUDGES.items() for part in toy(name, **settings))
        run(*SETTINGS, f"dataset.perturbations={PERTURBATIONS}", *toys)
        Path("labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in LABELS))
        with redirect_stdout(io.StringIO()) as printed:
            assert main(["calibrate", "latest", "--labels", "labels.jsonl", "--json", "out.json"]) == 0
        Path("printed").write_text(printed.getvalue())
        yield folder


@pytest.fixture
def found(work: Path) -> Calibration:
    return read_calibration(work / "out.json")


def of(found: Calibration, name: str) -> MetricReliability:
    return next(metric for metric in found.metrics if metric.metric == f"{name}.score")


def value(figure: Figure | None) -> float:
    assert figure is not None
    return figure.value


def interval(figure: Figure | None) -> tuple[float, float]:
    assert figure is not None
    assert figure.ci95 is not None
    return figure.ci95


def noise(judge: MetricReliability) -> tuple[float, float]:
    """Standard deviation of repeated judgements, and the share that are equal."""
    assert judge.noise is not None
    return judge.noise.sd, judge.noise.equal


def test_a_judge_that_sees_everything_is_fully_reliable(found: Calibration) -> None:
    judge = of(found, "planted")
    assert value(judge.reliability) == pytest.approx(1)
    assert interval(judge.reliability) == pytest.approx((0.515, 1), abs=1e-3)  # of twelve tasks
    assert noise(judge) == (0, 1)
    assert judge.tasks == 12
    for name, figures in judge.perturbations.items():
        assert figures.meant == (name in PERTURBED)
        assert value(figures.recall) == figures.meant
        assert figures.precision == (1 if figures.meant else None)


def test_copies_of_one_judgement_do_not_count_as_repetitions(work: Path, found: Calibration) -> None:
    judge = of(found, "fact.rate")
    assert judge.noise is None
    assert judge.perturbations["numbers"].recall is not None  # within a run it answers alike
    (line,) = (line for line in (work / "printed").read_text().splitlines() if line.startswith("fact.*:"))
    assert "its noise shows only between runs" in line


def test_random_scores_are_recognised_as_random(found: Calibration) -> None:
    for name in ("dice", "coin"):
        judge = of(found, name)
        assert interval(judge.correlation)[0] < 0 < interval(judge.correlation)[1]
        assert value(judge.reliability) < 0.3
        assert noise(judge) == pytest.approx(((1 / 12) ** 0.5, 0), abs=0.03)
        assert value(judge.false_alarms) < 0.2
        flagged = [value(figures.recall) for figures in judge.perturbations.values() if figures.recall]
        assert sum(flagged) / len(flagged) < 0.2  # 0.05 by chance; reports of a task share their original
        assert value(judge.obeys_instructions) < 0.2


def test_noise_lowers_recall_but_does_not_raise_false_alarms(found: Calibration) -> None:
    judge = of(found, "noisy")
    figures = judge.perturbations["facts"]
    assert 0.4 < value(judge.reliability) < 0.95
    assert 0.3 < value(figures.recall) < 0.9
    assert value(judge.false_alarms) < 0.15
    assert noise(judge)[0] == pytest.approx(0.2 / 3**0.5, abs=0.02)


def test_a_judges_biases_are_found(found: Calibration) -> None:
    constant, length, planted, obedient = (of(found, name) for name in ("constant", "length", "planted", "obedient"))
    assert value(constant.reliability) == 0
    assert constant.perturbations["facts"].precision is None
    assert value(length.length_rise) > 500
    assert value(length.length_correlation) == pytest.approx(1)
    assert (value(planted.length_rise), value(planted.length_correlation)) == (0, 0)
    assert (value(obedient.obeys_instructions), value(planted.obeys_instructions)) == (1, 0)


def test_judges_agree_if_their_scores_agree(found: Calibration) -> None:
    pairs = {(a.first.split(".")[0], a.second.split(".")[0]): a for a in found.agreement}
    assert value(pairs["planted", "obedient"].kappa) == pytest.approx(1)
    assert abs(value(pairs["dice", "coin"].kappa)) < 0.15
    assert interval(pairs["dice", "coin"].kappa)[0] <= 0 <= interval(pairs["dice", "coin"].kappa)[1]
    assert value(found.alpha) < 0.6
    n = found.alpha and found.alpha.n
    assert n == max(pair.reports for pair in found.agreement)  # no report that one judge alone has judged


def test_claims_of_a_judge_are_confirmed_or_found_to_be_blind_spots(work: Path, found: Calibration) -> None:
    judges = {judge.judge: judge for judge in found.judges}
    claims = {name: {damage: claim.verdict for damage, claim in judge.claims.items()} for name, judge in judges.items()}
    assert claims["planted"] == dict.fromkeys(PERTURBED, "noticed")
    assert claims["constant"] == claims["dice"] == claims["coin"] == dict.fromkeys(PERTURBED, "blind spot")
    assert claims["choosy"] == dict.fromkeys(("facts", "nonsense"), "noticed")
    assert (judges["planted"].unclaimed, judges["choosy"].unclaimed) == ((), ("numbers",))
    assert judges["planted"].claims["facts"].told.mean == 0.5  # of others' reports: all below, against ties
    assert (judges["constant"].claims["facts"].told.mean, judges["constant"].claims["facts"].p) == (0, None)


def test_independent_reports_expose_a_judge_that_recognises_the_original(found: Calibration) -> None:
    """It prefers the text that it knows: it scores any damage below the original, and any other report too."""
    parrot, planted = of(found, "parrot"), of(found, "planted")
    assert value(parrot.perturbations["facts"].recall) == 1
    assert (value(parrot.independent), value(planted.independent)) == (1, 0)
    assert interval(planted.independent)[1] < 0.3
    judge = next(judge for judge in found.judges if judge.judge == "parrot")
    assert {(claim.verdict, claim.told.mean) for claim in judge.claims.values()} == {("blind spot", 0)}


def test_the_tables_fit_a_terminal(work: Path) -> None:
    lines = (work / "printed").read_text().splitlines()
    rows = [line for line in lines if line.startswith((*JUDGES, *PERTURBED)) and ": " not in line]
    assert len(rows) > 50
    assert max(len(line.rstrip()) for line in rows) <= 88


def test_the_command_writes_what_later_runs_show(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = Path("printed").read_text()
    assert "planted.score" in printed
    assert "Krippendorff" in printed
    assert "against your labels" in printed
    assert len(read_reliabilities(Path("results"))) == len(JUDGES)
    small = ["name=other", "dataset.tasks=1", "epochs=1", "dataset.perturbations={facts:[50]}"]
    toys = [*toy("planted"), *toy("obedient"), *toy("dice", kind="random", noise=0.1)]
    assert main(["run", *SETTINGS, *small, *toys]) == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if ".score" in line}
    assert main(["compare", "latest", "latest"]) == 0
    assert "judge reliability: planted.score 1.00 (0.52 to 1.00)" in capsys.readouterr().out
    assert "1.00 (0.52 to 1.00)" in rows["planted.score"]
    assert "obeys 100 %" in rows["obedient.score"]
    assert "not measured" in rows["dice.score"]  # another setting, another judge
    page = max(Path("results/other").glob("*")) / "site/summary.js"
    assert "not measured" in page.read_text()
    assert "obeys 100 %" in page.read_text()


def test_judges_are_compared_with_a_users_labels(found: Calibration) -> None:
    by_metric = {agreement.metric: agreement for agreement in found.labels}
    assert set(by_metric) == {"planted.score", "dice.score", "verdict.score"}
    verdicts = by_metric["verdict.score"]
    assert (verdicts.labels, value(verdicts.accuracy), value(verdicts.kappa)) == (24, 1, 1)
    assert value(by_metric["planted.score"].spearman) == pytest.approx(1)
    assert interval(by_metric["dice.score"].spearman)[0] < 0 < interval(by_metric["dice.score"].spearman)[1]
    assert by_metric["planted.score"].kappa is None  # no verdicts
    assert found.unmatched_labels == 1


def test_labels_are_values_of_the_metric_even_if_lower_is_better() -> None:
    scored = MetricScores(Metric.count("m", worst=None, higher_is_better=False), "j", "h", None)
    for number in range(3):
        key = {"sample_id": str(number), "epoch": 1, "attempt": 1, "metric": "m", "status": "scored", "value": number}
        judge = {"judge": "j", "judge_hash": "h", "judge_version": "1", "judge_model": None, "prompt_hash": None}
        scored.add([ScoreRow.model_validate(key | judge)])
    reports = ReportSet({}, {sample: sample for sample in "012"}, {}, (scored,), ("m",))
    ((agreement,), unmatched) = _against_labels([Label(sample, "m", float(sample)) for sample in "012"], reports)
    assert [value(agreement.spearman), value(agreement.kendall), unmatched] == pytest.approx([1, 1, 0])


@each("row")
def test_bad_labels_are_refused(row: dict[str, Any], said: str, work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.jsonl").write_text(json.dumps(row) + "\n")
    assert main(["calibrate", "latest", "--labels", "bad.jsonl"]) == 2
    assert said in capsys.readouterr().err


def test_broken_and_missing_files_are_reported_with_the_remedy(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.json").write_text("{}")
    for name, remedy in (("broken", "rewrite it with"), ("absent", "write it with")):
        assert main(["run", *SETTINGS, *toy("planted"), f"judge_reliability={name}.json"]) == 2
        assert f"{remedy} aiq calibrate RUN" in capsys.readouterr().err
    assert main(["calibrate", "nowhere"]) == 2
    assert FILE not in capsys.readouterr().err


def test_with_few_tasks_judged_once_it_says_what_it_cannot_tell(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    once = [*SETTINGS, "name=once", "epochs=1", "dataset.tasks=2", f"dataset.perturbations={PERTURBATIONS}"]
    once += [*toy("planted"), *toy("constant"), *toy("coin", kind="random")]
    run(*once)
    assert main(["calibrate", "latest", "--json", "once.json"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "notices 0 of 3 that it claims to cannot tell: facts +50 (" in output
    assert "notices 0 of 3 that it claims to cannot tell: facts +0 (" in output
    assert "blind spot" not in output
    assert "; 7 tasks would tell)" in output  # at the level that is left of three claims
    assert "With fewer than 6 tasks nothing can be shown" in output
    assert "Run it with epochs=2" in output
    judge = of(read_calibration(Path("once.json")), "planted")
    assert value(judge.reliability) == pytest.approx(1)
    assert (judge.noise, judge.perturbations["facts"].recall, judge.obeys_instructions) == (None, None, None)
    run(*once, "seed=2")
    assert main(["calibrate", *map(str, Path("results/once").glob("*"))]) == 0
    assert "Run it with epochs=2" not in capsys.readouterr().out


@each("agent")
def test_reports_judged_against_themselves_are_recognised(agent: Any, dataset: Any, expected: bool) -> None:
    fields: Any = {"config": {"agent": agent, "dataset": dataset}}
    assert judged_against_itself(Manifest.model_construct(**fields)) is expected


OFF = "facts:null,shuffled:null,padding:null,instructions:null,remarks:null,order:null,independent:null"


def seen_by(judges: str, perturbations: str) -> dict[str, dict[str, float]]:
    """By metric, how much of each perturbation these judges see in reports on one task."""
    overrides = [f"judge={judges}", "dataset.tasks=1", "epochs=1", f"dataset.perturbations={{{OFF},{perturbations}}}"]
    run(*PLAIN, *overrides)
    by_metric = {metric.metric: metric.perturbations for metric in calibrate([find_run("latest")]).metrics}
    return {
        metric: {name: value(f.spearman) for name, f in figures.items() if f.meant or f.recall}
        for metric, figures in by_metric.items()
    }


def test_fact_sees_wrong_numbers_but_officially_not_missing_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    seen = seen_by("[fact]", "sections:null,roles:null,nonsense:null,numbers:[10,50],fabricated:[10,50]")
    assert seen["fact.citation_accuracy"]["numbers"] > 0.75
    assert seen["fact.citation_accuracy"]["fabricated"] < 0.8  # officially, it does not count
    assert seen["fact.effective_citations"]["fabricated"] > 0.8


@pytest.mark.whole
def test_weaknesses_of_real_judges_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    seen = seen_by("[race,fact]", "sections:[25,50,75]")
    assert seen["race.overall"]["sections"] > 0.75
    assert seen["race.overall"]["numbers"] < 0.7  # never notices that a figure is wrong
    accuracy = seen["fact.citation_accuracy"]
    assert min(accuracy["numbers"], accuracy["nonsense"]) > 0.75
    assert accuracy["roles"] > 0.5  # who did what to whom
