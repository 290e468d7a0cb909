"""The reports of a run as their agents wrote them, to be audited again with the sources they had."""

from aiq.citations.files import AuditCase
from aiq.core.errors import UserError
from aiq.core.run_settings import CitationSettings
from aiq.runs.folder import RunFolder, natural
from aiq.runs.reader import read_samples


def cases_of_run(folder: RunFolder) -> list[AuditCase]:
    """Every answered (sample, epoch) of a run, by sample and epoch, with the settings that the run was verified by.

    Raises UserError where the run has no answer, or a manifest without these settings.
    """
    settings = folder.read_manifest().section("citations", CitationSettings)
    cases = [
        AuditCase(text, row.sources, settings, row.sample_id, row.epoch, row.question)
        for row in read_samples(folder).values()
        if row.answered and (text := row.raw_report or row.report) is not None
    ]
    if not cases:
        raise UserError(f"{folder.path}: the run has no answered sample, so there is nothing to audit")
    return sorted(cases, key=lambda case: (natural(case.sample_id or ""), case.epoch or 0))
