"""A run as Deep Research Bench's official files, in the folders of its repository.

    data/test_data/raw_data/<name>.jsonl                              the reports
    results/race/<name>/raw_results.jsonl, race_result.txt            RACE
    results/fact/<name>/extracted.jsonl, deduplicated.jsonl,
        scraped.jsonl, validated.jsonl, fact_result.txt               FACT

Files for judges that did not score in the run are not written.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from aiq.analysis.official import RACE_FIGURES, result_file
from aiq.core import plugins
from aiq.core.errors import UserError
from aiq.datasets.deep_research_bench import DeepResearchBench
from aiq.judges.fact import by_url
from aiq.judges.fact_questions import FactCitation
from aiq.judges.fact_scores import CitedPage, official, unread_text
from aiq.judges.race_scores import mean_shares
from aiq.runs.folder import RunFolder, natural
from aiq.runs.reader import read_pages, read_samples, read_scores
from aiq.runs.rows import SampleRow, ScoreRow, StoredPage

_FACT: Final = "fact.citation_accuracy"

ScoredReport = tuple[SampleRow, Mapping[str, ScoreRow]]
"""A report, and its scores by metric."""


def export(folder: RunFolder, out: Path, name: str, *, epoch: int = 1) -> tuple[list[Path], list[SampleRow]]:
    """Write the official files of one epoch below `out`; returns them, and the attempts that have no report to export.

    Raises UserError if the run has no reports, or is over another benchmark: the official tools look tasks up by id.
    """
    _check_dataset(folder)
    attempts = (row for row in read_samples(folder).values() if row.epoch == epoch)
    rows = sorted(attempts, key=lambda row: natural(row.sample_id))
    answered = [row for row in rows if row.answered]
    if not answered:
        raise UserError(f"{folder.path} has no reports of epoch {epoch}; there is nothing to export")
    scores = read_scores(folder, {row.key: row for row in answered})
    reports = [(row, {score.metric: score for score in scores[row.key]}) for row in answered]
    files = {
        out / "data/test_data/raw_data" / f"{name}.jsonl": _json_lines(map(_raw_line, answered)),
        **dict(_race_files(out / "results/race" / name, reports)),
        **dict(_fact_files(out / "results/fact" / name, reports, read_pages(folder))),
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
    return list(files), [row for row in rows if not row.answered]


def _check_dataset(folder: RunFolder) -> None:
    manifest = folder.read_manifest()
    target = plugins.load(str(manifest.raw_section("dataset").get("target")), "dataset.target")
    if not (isinstance(target, type) and issubclass(target, DeepResearchBench)):
        raise UserError(
            f"{folder.path} is a run over {manifest.dataset.name}, not over Deep Research Bench; "
            "export a run of dataset=drb (or another dataset in its format)"
        )


def _raw_line(row: SampleRow) -> dict[str, Any]:
    """A line of the raw data. The benchmark's ids are whole numbers; `article` is the verified report, as judged."""
    key = int(row.sample_id) if row.sample_id.isdecimal() else row.sample_id
    return {"id": key, "prompt": row.question, "article": row.report or ""}


def _race_files(out: Path, reports: Iterable[ScoredReport]) -> Iterator[tuple[Path, str]]:
    lines, shares = [], []
    for row, scores in reports:
        figures = {name: scores[metric].value for name, metric in RACE_FIGURES.items() if metric in scores}
        overall = scores.get("race.overall")
        line = {name: value for name, value in _raw_line(row).items() if name != "article"}
        if overall is not None and overall.status == "scored":
            lines.append({**line, **figures})
            shares.append({name: value or 0.0 for name, value in figures.items()})
        elif overall is not None and overall.status == "error":
            lines.append({**line, "error": overall.error.message if overall.error else "the judge failed"})
    if lines:
        yield out / "raw_results.jsonl", _json_lines(lines)
    if shares:
        yield out / "race_result.txt", result_file(mean_shares(shares))


def _fact_files(
    out: Path, reports: Iterable[ScoredReport], pages: Mapping[str, StoredPage]
) -> Iterator[tuple[Path, str]]:
    stages: dict[str, list[dict[str, Any]]] = {}
    cited_pages = []
    for row, scores in reports:
        detail: Any = scores[_FACT].detail if _FACT in scores else {}
        if "extracted" in detail and "pages" in detail:
            cited_pages.append([CitedPage.model_validate(page) for page in detail["pages"]])
            citations = [FactCitation.model_validate(entry) for entry in detail["extracted"]]
            for stage, line in _fact_stages(_raw_line(row), citations, cited_pages[-1], pages).items():
                stages.setdefault(stage, []).append(line)
    for stage, lines in stages.items():
        yield out / f"{stage}.jsonl", _json_lines(lines)
    if cited_pages:
        yield out / "fact_result.txt", result_file(official(cited_pages))


def _fact_stages(
    raw: dict[str, Any], citations: list[FactCitation], cited_pages: list[CitedPage], pages: Mapping[str, StoredPage]
) -> dict[str, dict[str, Any]]:
    """One report's line in each of the four files; each stage includes the one before.

    A citation without a number has the reference `0`, as in the official files.
    """
    entries = [{"fact": c.statement, "ref_idx": str(c.reference or 0), "url": c.url} for c in citations]
    extracted, statements = {**raw, "citations": entries}, by_url(citations)
    grouped, scraped, validated = {}, {}, {}
    for page in cited_pages:
        url, stored = page.url, pages.get(page.url)
        results = [{"idx": index, "result": fact.verdict} for index, fact in enumerate(page.judged)]
        verdicts = {"validate_res": results if page.error is None else None, "validate_error": page.error}
        grouped[url] = {"facts": [fact.statement for fact in page.judged] or statements.get(url, [])}
        content = unread_text(page.unread) if page.unread else stored.page().content if stored else ""
        scraped[url] = {**grouped[url], "url_content": content}
        validated[url] = {**scraped[url], "article_id": raw["id"], **verdicts}
    stages = {"deduplicated": grouped, "scraped": scraped, "validated": validated}
    return {"extracted": extracted} | {
        stage: {**extracted, "citations_deduped": by_page} for stage, by_page in stages.items()
    }


def _json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
