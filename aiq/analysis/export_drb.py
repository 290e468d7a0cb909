"""A run as Deep Research Bench's official files, in the folders of its repository.

    data/test_data/raw_data/<name>.jsonl                              the reports
    results/race/<name>/raw_results.jsonl, race_result.txt            RACE
    results/fact/<name>/extracted.jsonl, deduplicated.jsonl,
        scraped.jsonl, validated.jsonl, fact_result.txt               FACT

What the run's judges have not scored is not written.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from aiq.core import plugins
from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.judges.fact_extract import by_url
from aiq.judges.fact_questions import FactCitation
from aiq.judges.fact_scores import CitedPage, official
from aiq.judges.official import RACE_FIGURES, fact_result, race_result
from aiq.judges.race_scores import published
from aiq.runs.folder import RunFolder, natural
from aiq.runs.journal import writable
from aiq.runs.reader import read_pages, read_samples, read_scores
from aiq.runs.rows import SampleRow, ScoreRow, StoredPage

_FACT: Final = "fact.citation_accuracy"

ScoredReport = tuple[SampleRow, Mapping[str, ScoreRow]]
"""A report, and its scores by metric."""


class Exported(Record):
    """What was written, and the samples without a report, which no file mentions."""

    files: tuple[Path, ...]
    reports: int
    missing: tuple[str, ...]


def export(folder: RunFolder, out: Path, name: str, *, epoch: int = 1) -> Exported:
    """Write the official files of one epoch below `out`. Raises UserError where the run has no such reports.

    Reports on questions of another benchmark are none: the official tools look tasks up by their ids.
    """
    _check_dataset(folder)
    samples = {key: row for key, row in read_samples(folder).items() if key.epoch == epoch}
    rows = [samples[key] for key in sorted(samples, key=lambda key: natural(key.sample_id))]
    answered = [row for row in rows if row.answered]
    if not answered:
        raise UserError(f"{folder.path} has no reports of epoch {epoch}; there is nothing to export")
    scores = read_scores(folder, {row.key: row for row in answered})
    judged = [(row, {score.metric: score for score in scores[row.key]}) for row in answered]
    files = [
        (out / "data/test_data/raw_data" / f"{name}.jsonl", _lines(map(_raw, answered))),
        *_race_files(out / "results/race" / name, judged),
        *_fact_files(out / "results/fact" / name, judged, read_pages(folder)),
    ]
    try:
        for path, text in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror}); name another folder with --out") from None
    missing = tuple(row.sample_id for row in rows if not row.answered)
    return Exported(files=tuple(path for path, _ in files), reports=len(answered), missing=missing)


def _check_dataset(folder: RunFolder) -> None:
    from aiq.datasets.deep_research_bench import DeepResearchBench

    manifest = folder.read_manifest()
    dataset = manifest.config.get("dataset")
    target = dataset.get("target") if isinstance(dataset, Mapping) else None
    made = plugins.load(str(target), "dataset.target")
    if not (isinstance(made, type) and issubclass(made, DeepResearchBench)):
        raise UserError(
            f"{folder.path} is a run over {manifest.dataset.name}, not over Deep Research Bench; "
            "export a run of dataset=drb (or another dataset in its form)"
        )


def _raw(row: SampleRow) -> dict[str, Any]:
    """`article` is the verified report, which the judges saw."""
    return {"id": _id(row), "prompt": row.question, "article": row.report or ""}


def _id(row: SampleRow) -> int | str:
    """The benchmark's own ids are whole numbers."""
    return int(row.sample_id) if row.sample_id.isdecimal() else row.sample_id


def _race_files(out: Path, judged: Iterable[ScoredReport]) -> Iterator[tuple[Path, str]]:
    lines = [line for row, scores in judged if (line := _race_line(row, scores)) is not None]
    if not lines:
        return
    yield out / "raw_results.jsonl", _lines(lines)
    scored = [{name: line[name] for name in RACE_FIGURES} for line in lines if "error" not in line]
    if scored:
        yield out / "race_result.txt", race_result(published(scored))


def _race_line(row: SampleRow, scores: Mapping[str, ScoreRow]) -> dict[str, Any] | None:
    found = {name: scores.get(f"race.{name.removesuffix('_score')}") for name in RACE_FIGURES}
    overall = found["overall_score"]
    if overall is None or overall.status not in ("scored", "error"):
        return None
    line: dict[str, Any] = {"id": _id(row), "prompt": row.question}
    if overall.status == "error":
        return {**line, "error": overall.error.message if overall.error else "the judge failed"}
    return {**line, **{name: score.value for name, score in found.items() if score is not None}}


def _fact_files(
    out: Path, judged: Iterable[ScoredReport], pages: Mapping[str, StoredPage]
) -> Iterator[tuple[Path, str]]:
    details = [(row, scores[_FACT].detail) for row, scores in judged if _FACT in scores]
    cited = [(row, detail) for row, detail in details if "extracted" in detail and "pages" in detail]
    if not cited:
        return
    stages = [_fact_stages(row, detail, pages) for row, detail in cited]
    for position, stage in enumerate(("extracted", "deduplicated", "scraped", "validated")):
        yield out / f"{stage}.jsonl", _lines(lines[position] for lines in stages)
    yield out / "fact_result.txt", fact_result(official([_cited(detail) for _, detail in cited]))


def _cited(detail: Mapping[str, Any]) -> list[CitedPage]:
    return [CitedPage.model_validate(page) for page in detail["pages"]]


def _fact_stages(row: SampleRow, detail: Mapping[str, Any], pages: Mapping[str, StoredPage]) -> list[dict[str, Any]]:
    """One report's line in each of the four files; each stage has what the one before has.

    A citation without a number has the reference `0`, as officially.
    """
    citations = [
        {"fact": one["statement"], "ref_idx": str(one["reference"] or 0), "url": one["url"]}
        for one in detail["extracted"]
    ]
    extracted = {**_raw(row), "citations": citations}
    cited = _cited(detail)
    before = by_url(FactCitation.model_validate(one) for one in detail["extracted"])
    facts = {page.url: [judged.statement for judged in page.judged] or before.get(page.url, []) for page in cited}
    grouped = {url: {"facts": statements} for url, statements in facts.items()}
    texts = {url: pages[url].text if url in pages else "" for url in grouped}
    scraped = {url: {**group, "url_content": texts[url]} for url, group in grouped.items()}
    validated = {page.url: {**scraped[page.url], "article_id": _id(row), **_verdicts(page)} for page in cited}
    return [
        extracted,
        {**extracted, "citations_deduped": grouped},
        {**extracted, "citations_deduped": scraped},
        {**extracted, "citations_deduped": validated},
    ]


def _verdicts(page: CitedPage) -> dict[str, Any]:
    results = [{"idx": index, "result": judged.verdict} for index, judged in enumerate(page.judged)]
    return {"validate_res": results if page.error is None else None, "validate_error": page.error}


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(writable(json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)
