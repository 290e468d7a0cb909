"""Check a report's citations against the sources of its run: what is valid, what is removed, and where to look.

REPORT is a report in Markdown (`-`: standard input), a run (the report of every answered sample as the
agent wrote it, against the sources that it retrieved), or a Deep Research Bench file of reports
(.jsonl or .jsonl.gz with rows {"id", "prompt", "article"}; safety and structure only).
SOURCES is a JSONL file (gzipped or not) with a row {"url" or "citation_key", "title", "text", "kind"} per
source; kind is `retrieved` (the default), `mentioned` or `echoed`. For a file of reports, "id" in a row
names the report that the source belongs to.

Exit code 1: an entry is invalid, a number has no entry, or a URL in the text is unsafe.
"""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from os.path import lexists, realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiq.core.errors import UserError
from aiq.core.text import join_first

if TYPE_CHECKING:
    from aiq.citations.files import AuditCase, AuditedReport
    from aiq.core.run_settings import CitationSettings


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "report", metavar="REPORT", help="a report, a run (folder, id, experiment or `latest`), or a file of reports"
    )
    parser.add_argument("--sources", type=Path, metavar="FILE", help="retrieved sources; without them, structure only")
    parser.add_argument("--sample", metavar="ID", help="only this sample of a run, or this row of a file of reports")
    parser.add_argument("--epoch", type=int, metavar="N", help="which repetition of a run's sample, with --sample (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the full audit to this file")
    parser.add_argument("--repaired", type=Path, metavar="FILE", help="write the verified report to this file")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the report with citations in colour here")
    parser.add_argument(
        "--pages",
        choices=("ignore", "window", "exact"),
        help="how closely cited pages of documents must match (window; for a run, its own setting)",
    )
    parser.add_argument(
        "--accept",
        action="append",
        choices=("mentioned", "echoed"),
        default=[],
        help="let sources of this kind count as well; may be repeated",
    )


def run(args: Namespace) -> int:
    _check_outputs(args)
    cases = _cases(args)
    several = args.sample is None and cases[0].sample_id is not None
    if several and (args.repaired or args.html):
        raise UserError(f"--repaired and --html take one report; choose it from {args.report} with --sample ID")
    from aiq.citations.files import audited
    from aiq.core.files import write_text
    from aiq.site.audit_table import print_audit, print_audits

    audits = [audited(case, passages=args.json is not None or args.html is not None) for case in cases]
    if args.json is not None:
        write_text(args.json, json.dumps(_as_data(audits, several=several), ensure_ascii=False, indent=2) + "\n")
    if args.repaired is not None:
        write_text(args.repaired, audits[0].verified.text)
    if args.html is not None:
        from aiq.site.audit_page import audit_page

        write_text(args.html, audit_page(audits[0]))
    if several:
        print_audits(audits)
    else:
        print_audit(audits[0].record)
    return 0 if all(audit.record.clean for audit in audits) else 1


def _as_data(audits: Sequence["AuditedReport"], *, several: bool) -> dict[str, Any]:
    """One audit as plain data, or several under `reports` with their overall metrics."""
    from aiq.citations.files import total

    rows = [audit.record.model_dump(mode="json") for audit in audits]
    if not several:
        return rows[0]
    items = [{"sample_id": a.case.sample_id, "epoch": a.case.epoch, **row} for a, row in zip(audits, rows, strict=True)]
    return {"reports": items, "metrics": total(audits)}


def _cases(args: Namespace) -> list["AuditCase"]:
    """The reports that REPORT means: a single report, or all (or the one of --sample) from a run or a file of reports.

    Raises UserError for options that do not fit.
    """
    from aiq.citations.files import STDIN, AuditCase, read_report, read_sources
    from aiq.runs.folder import find_run

    path = Path(args.report)
    if args.report != STDIN and not path.suffix and not lexists(path):
        path = find_run(args.report).path
    run = args.report != STDIN and path.is_dir()
    if args.epoch is not None and not (run and args.sample is not None):
        raise UserError("--epoch chooses a repetition of one sample of a run; name a run folder and --sample ID")
    for option in ("pages", "accept"):
        if getattr(args, option) and not run and args.sources is None:
            raise UserError(f"--{option} says which sources count, but there are none; name them with --sources FILE")
    if run:
        return _select(_cases_of_run(path, args), args)
    several = path.name.endswith((".jsonl", ".jsonl.gz"))
    if several and (path.parent / "manifest.json").is_file():
        raise UserError(f"{path} belongs to a run; name its folder, {path.parent}")
    if not several and args.sample is not None:
        raise UserError(f"--sample chooses from a run or a file of reports; {args.report} is a single report")
    if several:
        return _select(_cases_of_file(path, args), args)
    sources = read_sources(args.sources, by_report=False).get(None, ()) if args.sources else None
    return [AuditCase(read_report(args.report), sources, _settings(args), title=path.name)]


def _cases_of_file(path: Path, args: Namespace) -> list["AuditCase"]:
    """Every report of a file. Raises UserError for a source that names no report, or one that is not in the file."""
    from aiq.citations.files import AuditCase, read_reports, read_sources

    rows, settings = read_reports(path), _settings(args)
    if args.sources is None:
        return [AuditCase(row.article, None, settings, row.id, title=row.prompt) for row in rows]
    sources, ids = read_sources(args.sources, by_report=True), [row.id for row in rows]
    if None in sources and args.sample is None:
        raise UserError(f"--sources: a row without `id` fits only a single report; choose one from {path}: --sample ID")
    if unknown := [report for report in sources if report not in (None, *ids)]:
        raise UserError(f"--sources: {path} has no report {unknown[0]}; it has {join_first(ids)}")
    by_report = {report: (*sources.get(None, ()), *sources.get(report, ())) for report in ids}
    return [AuditCase(row.article, by_report[row.id], settings, row.id, title=row.prompt) for row in rows]


def _cases_of_run(path: Path, args: Namespace) -> list["AuditCase"]:
    """The report of every answered (sample, epoch), in order, as the agent wrote it, with the settings of the run.

    Raises UserError if there is none.
    """
    from aiq.citations.files import AuditCase
    from aiq.core.run_settings import CitationSettings
    from aiq.runs.folder import RunFolder, natural
    from aiq.runs.reader import read_samples

    if not (path / "manifest.json").is_file():
        raise UserError(f"{path} is not a run folder (it has no manifest.json); name one, results/EXPERIMENT/RUN_ID")
    if args.sources is not None:
        raise UserError(f"{path} is a run, which has its own sources; leave out --sources")
    folder = RunFolder(path)
    settings = _settings(args, folder.read_manifest().section("citations", CitationSettings))
    cases = [
        AuditCase(text, row.known_sources, settings, row.sample_id, row.epoch, row.question)
        for row in read_samples(folder).values()
        if row.answered and (text := row.raw_report or row.report) is not None
    ]
    if not cases:
        raise UserError(f"{path}: the run has no answered sample, so there is nothing to audit")
    return sorted(cases, key=lambda case: (natural(case.sample_id or ""), case.epoch or 0))


def _select(cases: list["AuditCase"], args: Namespace) -> list["AuditCase"]:
    """The report that --sample and --epoch name, or all."""
    if args.sample is None:
        return cases
    candidates = [case for case in cases if case.sample_id == args.sample]
    epoch = 1 if args.epoch is None else args.epoch
    matches = [case for case in candidates if case.epoch in (None, epoch)]
    if len(matches) > 1:
        raise UserError(f"{args.report} has {len(matches)} reports of sample {args.sample}; give each row its own id")
    if not matches:
        target = f"epoch {epoch} of sample {args.sample}" if candidates else f"report of sample {args.sample}"
        names = [case.name for case in candidates or cases]
        raise UserError(f"{args.report} has no {target}; it has {join_first(names)}")
    return matches


def _settings(args: Namespace, base: "CitationSettings | None" = None) -> "CitationSettings":
    """The settings of a run, or the defaults, with what the command line changes."""
    from aiq.experiment.compose import compose, settings_from

    settings = base or settings_from(compose(["name=audit"])).citations
    accept = tuple(dict.fromkeys((*settings.accept, *args.accept)))
    return settings.model_copy(update={"accept": accept, "pages": args.pages or settings.pages})


def _check_outputs(args: Namespace) -> None:
    """Raises UserError if an output would overwrite another file of the command."""
    owners = {realpath(args.report): "REPORT"}  # unlike Path.resolve, it tolerates circular links
    for option in ("sources", "json", "repaired", "html"):
        path: Path | None = getattr(args, option)
        if str(path) == "-":
            raise UserError(f"--{option} -: standard output is used for the table; name a file")
        if path is not None and (owner := owners.setdefault(realpath(path), f"--{option}")) != f"--{option}":
            raise UserError(f"--{option} {path} is the same file as {owner}; choose another name")
