"""From run folders to a calibration; its file in the run's folder; and finding the latest that fits a judge."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import JsonValue, ValidationError

from aiq.core.errors import UserError
from aiq.core.files import find
from aiq.core.paths import resolve
from aiq.core.plugins import describe
from aiq.experiment.calibration.figures import reliability_of
from aiq.experiment.calibration.judges import between_judges
from aiq.experiment.calibration.labels import against_labels, read_labels
from aiq.experiment.calibration.records import Calibration, MetricReliability
from aiq.experiment.calibration.scored import read_reports
from aiq.experiment.folder import RunFolder, write_whole

FILE: Final = "reliability.json"
EXPERIMENT: Final = "judge_calibration"


def calibrate(folders: Sequence[RunFolder], labels: Path | None = None) -> Calibration:
    """What the runs say of their judges. Further runs add repetitions of the same judges, or other judges.

    Raises UserError where the runs hold neither damaged reports nor, with `labels`, any labelled one.
    """
    reports = read_reports(folders)
    manifests = [folder.read_manifest() for folder in folders]
    given = read_labels(labels) if labels is not None else []
    if not reports.damages and not given:
        raise UserError(
            f"{folders[0].path} holds no damaged reports: take a run of experiment={EXPERIMENT}, or name --labels"
        )
    compared, unmatched = against_labels(given, reports) if given else ((), 0)
    agreement, alpha = between_judges(reports) if reports.damages else ((), None)
    identical = all(judged_against_itself(manifest.config) for manifest in manifests)
    rated = reports.rated if reports.damages else ()
    return Calibration(
        runs=tuple(manifest.run_id for manifest in manifests),
        offline=any(manifest.offline for manifest in manifests),
        metrics=tuple(reliability_of(one, reports, identical=identical) for one in rated),
        agreement=agreement,
        alpha=alpha,
        labels=compared,
        unmatched_labels=unmatched,
    )


def judged_against_itself(config: Mapping[str, JsonValue]) -> bool:
    """Whether the agent gives the very reports that are the dataset's references, and RACE has them as article 1."""
    judges = config.get("judge")
    race = judges.get("race") if isinstance(judges, Mapping) else None
    if isinstance(race, Mapping) and race.get("order") == "swapped":
        return False  # what lies above 0.5 would be what the second place adds
    agent, dataset = config.get("agent"), config.get("dataset")
    if not isinstance(agent, Mapping) or not isinstance(dataset, Mapping):
        return False
    given, references = agent.get("path"), dataset.get("references")
    if references is None and isinstance(folder := dataset.get("path"), str):
        names = (
            "reference.jsonl",
            "data/test_data/cleaned_data/reference.jsonl",
            "test_data/cleaned_data/reference.jsonl",
        )
        references = str(find(resolve(folder), *names))
    if not isinstance(given, str) or not isinstance(references, str):
        return False
    return resolve(given).resolve() == resolve(references).resolve()


def write(folder: RunFolder, calibration: Calibration) -> Path:
    path = folder.path / FILE
    write_whole(path, calibration.model_dump_json(indent=2) + "\n")
    return path


def read(path: Path) -> Calibration:
    """Raises UserError where the file is none of ours."""
    try:
        return Calibration.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); write it with aiq calibrate RUN") from None
    except ValidationError as error:
        raise UserError(f"{path}: {describe(error)}; write it anew with aiq calibrate RUN") from None


def measured(results: Path, given: str | None = None) -> dict[tuple[str, str], MetricReliability]:
    """The latest figures by (judge hash, metric): of the file `given`, else of the calibration runs below `results`."""
    paths = [resolve(given)] if given else sorted((results / EXPERIMENT).glob(f"*/{FILE}"))  # run ids sort by time
    return {(found.judge_hash, found.metric): found for path in paths for found in read(path).metrics}
