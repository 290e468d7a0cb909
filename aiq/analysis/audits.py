"""The reports of a run as their agents wrote them, to be audited again with the sources they had."""

from collections.abc import Iterator

from aiq.citations.files import AuditCase
from aiq.core.errors import UserError
from aiq.core.samples import SampleKey
from aiq.core.settings import CitationSettings
from aiq.runs.folder import RunFolder, natural
from aiq.runs.journal import read_rows
from aiq.runs.rows import SampleRow


def cases_of_run(folder: RunFolder) -> list[AuditCase]:
    """Every answered (sample, epoch) of a run, by sample and epoch, with the settings that the run was verified by.

    Raises UserError where the run has no answer.
    """
    settings = CitationSettings.model_validate(folder.read_manifest().config.get("citations", {}))
    rows: dict[SampleKey, SampleRow] = {}
    for path in sorted(folder.path.glob("samples*.jsonl")):
        rows.update((row.key, row) for row in read_rows(path, SampleRow))
    cases = list(_cases(rows, settings))
    if not cases:
        raise UserError(f"{folder.path}: the run has no answered sample, so there is nothing to audit")
    return sorted(cases, key=lambda case: (natural(case.sample_id or ""), case.epoch or 0))


def _cases(rows: dict[SampleKey, SampleRow], settings: CitationSettings) -> Iterator[AuditCase]:
    for row in rows.values():
        text = row.raw_report or row.report
        if row.answered and text is not None:
            yield AuditCase(text, row.sources, settings, row.sample_id, row.epoch, row.question)
