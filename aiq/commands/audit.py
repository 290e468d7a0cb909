"""Check a report's citations against the sources of its run: what is valid, what is removed, and where to look.

REPORT is a report in Markdown (`-`: standard input), a run folder (every answered sample's report as the
agent wrote it, against the sources that it retrieved), or a Deep Research Bench file of reports
(.jsonl or .jsonl.gz with rows {"id", "prompt", "article"}; safety and structure only).
SOURCES is a JSONL file (gzipped or not) with a row {"url" or "citation_key", "title", "text", "kind"} per
source; kind is `retrieved` (the default), `mentioned` or `echoed`.

Exit code 1: an entry is not valid, a number has no entry, or a URL in the text is unsafe.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING

from aiq.core.errors import UserError

if TYPE_CHECKING:
    from aiq.citations.files import AuditCase
    from aiq.core.settings import CitationSettings

_OUTPUTS = ("json", "repaired", "html")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("report", metavar="REPORT", help="a report, a run folder, or a file of reports")
    parser.add_argument("--sources", type=Path, metavar="FILE", help="what was retrieved; without it, structure only")
    parser.add_argument("--sample", metavar="ID", help="only this sample of a run, or this row of a file of reports")
    parser.add_argument("--epoch", type=int, metavar="N", help="which repetition of a run's sample, with --sample (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the whole audit here")
    parser.add_argument("--repaired", type=Path, metavar="FILE", help="write the verified report here")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the report here with its citations in colour")
    parser.add_argument(
        "--pages",
        choices=("ignore", "window", "exact"),
        help="how far pages of documents must agree (window; of a run: its own)",
    )
    parser.add_argument(
        "--accept",
        action="append",
        choices=("mentioned", "echoed"),
        default=[],
        help="let sources of this kind verify too; may be repeated",
    )


def run(args: Namespace) -> int:
    _check_outputs(args)
    cases, several = _cases(args)
    return _audit_all(cases, args) if several else _audit_one(cases[0], args)


def _audit_one(case: "AuditCase", args: Namespace) -> int:
    from rich.console import Console

    from aiq.citations.files import as_json, audited, write_text
    from aiq.site.audit_table import print_audit

    audit = audited(case, passages=args.json is not None or args.html is not None)
    if args.json is not None:
        write_text(args.json, as_json(audit.record.model_dump(mode="json")))
    if args.repaired is not None:
        write_text(args.repaired, audit.verified.text)
    if args.html is not None:
        from aiq.site.audit_page import audit_page

        write_text(args.html, audit_page(audit))
    print_audit(audit.record, Console())
    return 0 if audit.record.clean else 1


def _audit_all(cases: Sequence["AuditCase"], args: Namespace) -> int:
    """Several reports: a line each, and all together."""
    from rich.console import Console

    from aiq.citations.files import as_json, audited, together_json, write_text
    from aiq.site.audit_table import print_audits

    for option in ("repaired", "html"):
        if getattr(args, option) is not None:
            raise UserError(f"--{option} is for one report, and {args.report} has several; choose one with --sample ID")
    audits = [audited(case, passages=args.json is not None) for case in cases]
    if args.json is not None:
        write_text(args.json, as_json(together_json(audits)))
    print_audits(audits, Console())
    return 0 if all(audit.record.clean for audit in audits) else 1


def _cases(args: Namespace) -> tuple[list["AuditCase"], bool]:
    """What REPORT means, and whether these are the reports of a collection."""
    from aiq.citations.files import STDIN, AuditCase, read_report, read_sources
    from aiq.runs.folder import LATEST, find_run

    path = Path(args.report)
    if args.report == LATEST:
        path = find_run(LATEST).path
    run = args.report != STDIN and path.is_dir()
    _check_options(args, run=run)
    if run:
        return _chosen(_of_run(path, args), args)
    if args.report != STDIN and path.name.endswith((".jsonl", ".jsonl.gz")):
        return _chosen(_of_file(path, args), args)
    if args.sample is not None:
        raise UserError(f"--sample chooses from a run or a file of reports; {args.report} is a single report")
    sources = read_sources(args.sources) if args.sources else None
    return [AuditCase(read_report(args.report), sources, _settings(args), title=path.name)], False


def _of_run(path: Path, args: Namespace) -> list["AuditCase"]:
    from dataclasses import replace

    from aiq.analysis.audits import cases_of_run
    from aiq.runs.folder import RunFolder

    if not (path / "manifest.json").is_file():
        raise UserError(f"{path} is no run folder (it holds no manifest.json); name one, results/EXPERIMENT/RUN_ID")
    if args.sources is not None:
        raise UserError(f"{path} is a run, which has its own sources; leave --sources out")
    return [replace(case, settings=_settings(args, case.settings)) for case in cases_of_run(RunFolder(path))]


def _of_file(path: Path, args: Namespace) -> list["AuditCase"]:
    from aiq.citations.files import AuditCase, read_reports, read_sources

    if (path.parent / "manifest.json").is_file():
        raise UserError(f"{path} belongs to a run; name its folder, {path.parent}")
    if args.sources is not None and args.sample is None:
        raise UserError(f"--sources are those of one report; choose it from {path} with --sample ID")
    sources = read_sources(args.sources) if args.sources else None
    settings = _settings(args)
    return [AuditCase(row.article, sources, settings, row.id, title=row.prompt) for row in read_reports(path)]


def _chosen(cases: list["AuditCase"], args: Namespace) -> tuple[list["AuditCase"], bool]:
    """The one that --sample names, or all."""
    if args.sample is None:
        return cases, True
    epoch = 1 if args.epoch is None else args.epoch
    chosen = [case for case in cases if case.sample_id == args.sample and case.epoch in (None, epoch)]
    if len(chosen) == 1:
        return chosen, False
    if chosen:
        raise UserError(
            f"{args.report} has {len(chosen)} reports of sample {args.sample}; give each row an id of its own"
        )
    epochs = [str(case.epoch) for case in cases if case.sample_id == args.sample]
    if epochs:
        raise UserError(f"sample {args.sample} of {args.report} has no epoch {epoch}; it has {', '.join(epochs)}")
    known = ", ".join(case.name for case in cases[:8]) + (", ..." if len(cases) > 8 else "")
    raise UserError(f"{args.report} has no report of sample {args.sample}; it has {known}")


def _settings(args: Namespace, given: "CitationSettings | None" = None) -> "CitationSettings":
    """The settings of a run, or the defaults, with what the command line changes."""
    from aiq.experiment.compose import compose, settings_from

    settings = given or settings_from(compose(["name=audit"])).citations
    accept = tuple(dict.fromkeys((*settings.accept, *args.accept)))
    return settings.model_copy(update={"accept": accept, "pages": args.pages or settings.pages})


def _check_options(args: Namespace, *, run: bool) -> None:
    """Raises UserError for options that would change nothing."""
    if args.epoch is not None and not (run and args.sample is not None):
        raise UserError("--epoch chooses a repetition of one sample of a run: name a run folder, and --sample ID")
    for option in ("pages", "accept"):
        if getattr(args, option) and not run and args.sources is None:
            raise UserError(f"--{option} says which sources verify, and there are none; name them with --sources FILE")


def _check_outputs(args: Namespace) -> None:
    """Raises UserError before any work where an output cannot be written or lies over another file of the command."""
    taken = {realpath(args.report): "REPORT"}  # unlike Path.resolve it bears links that lead in a circle
    if args.sources is not None:
        taken[realpath(args.sources)] = "--sources"
    for option in _OUTPUTS:
        path: Path | None = getattr(args, option)
        if path is None:
            continue
        if str(path) == "-":
            raise UserError(f"--{option} -: standard output has the table; name a file")
        other = taken.setdefault(realpath(path), f"--{option}")
        if other != f"--{option}":
            raise UserError(f"--{option} {path} is the same file as {other}; choose another name")
        if path.is_dir():
            raise UserError(f"--{option} {path} is a folder; name a file")
        if not path.parent.is_dir():
            raise UserError(f"--{option} {path}: there is no folder {path.parent}; make it first")
