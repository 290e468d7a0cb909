"""Check a run against a committed baseline: exit code 1 if it got worse, naming metrics and samples.

aiq gate RUN --baseline FILE.json --update     (write a baseline from a run)
aiq gate RUN --baseline FILE.json
aiq gate RUN --baseline FILE.json gate.margins.fresheval.relaxed=0.05 gate.limits.rise=1.2

Margins and limits come from gate=NAME, else from conf/gate/EXPERIMENT.yaml, else from the shipped default. Exit codes:
0 passed, 1 failed, 2 misuse.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from aiq.commands import add_json, add_results, add_run, write_json

if TYPE_CHECKING:
    from aiq.analysis.baselines import BaselineFile, RunOrBaseline

_MOST_CHANGES = 20


def add_arguments(parser: ArgumentParser) -> None:
    parser.usage = f"{parser.prog} RUN --baseline FILE [--update] [gate=NAME] [gate.SETTING=VALUE ...]"
    add_run(parser)
    parser.add_argument(
        "overrides", nargs="*", metavar="SETTING=VALUE", help="gate=NAME, gate.margins.METRIC=0.05, ..."
    )
    parser.add_argument("--baseline", required=True, type=Path, metavar="FILE", help="the baseline, a JSON file")
    parser.add_argument("--update", action="store_true", help="rewrite the baseline from RUN, and say what changes")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="append the report, as for a CI job's page")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML to this file")
    add_json(parser)
    add_results(parser)


def run(args: Namespace) -> int:
    from aiq.analysis.baselines import BaselineFile, find_run_or_baseline
    from aiq.analysis.gate import GateSettings, gate
    from aiq.core.files import check_outputs, write_text
    from aiq.core.plugins import validate
    from aiq.core.settings import dotted
    from aiq.experiment.compose import compose_group
    from aiq.site.analysis_tables import comparison_markdown, comparison_text
    from aiq.site.gate_report import gate_parts, junit
    from aiq.site.tables import notes_of, show

    check_outputs(args.json, args.junit, args.markdown)
    candidate, baseline = find_run_or_baseline(args.run, args.results), BaselineFile(args.baseline)
    config = compose_group("gate", candidate.read_manifest().experiment, args.overrides)
    limits = config.get("limits") or {}
    config |= {"margins": dotted(config.get("margins") or {})}
    config |= {"limits": {**limits, "metrics": dotted(limits.get("metrics") or {})}}
    settings = validate(GateSettings, config, "gate")
    if args.update and not args.baseline.exists():
        return _update(candidate, baseline)
    result = gate(baseline, candidate, settings)
    summaries = {"baseline": baseline.read_summary(), "run": candidate.read_summary()}
    parts = [*gate_parts(result), *notes_of(summaries)]
    show(*comparison_text(parts))
    write_json(args.json, result)
    if args.junit is not None:
        write_text(args.junit, junit(result))
    if args.markdown is not None:
        write_text(args.markdown, f"{comparison_markdown(parts)}\n", append=True)  # a CI job's page
    return _update(candidate, baseline) if args.update else 0 if result.passed else 1


def _update(candidate: "RunOrBaseline", baseline: "BaselineFile") -> int:
    """Write the baseline, and print what changes in it."""
    from aiq.analysis.baselines import Baseline, BaselineFile
    from aiq.core.text import plural
    from aiq.site.tables import show

    new = candidate.content if isinstance(candidate, BaselineFile) else Baseline.of(candidate)
    existed = baseline.path.exists()
    changes = list(baseline.content.changes(new)) if existed else []
    new.write(baseline.path)
    print(f"{baseline.path}: {'unchanged' if existed and not changes else 'written'}")
    if failed := sum(attempt.row().failed for attempt in new.attempts):
        print(f"{plural(failed, 'attempt')} of {len(new.attempts)} failed, and are in the baseline as failed")
    show(*(f"  {line}" for line in changes[:_MOST_CHANGES]))
    if len(changes) > _MOST_CHANGES:
        print(f"  and {len(changes) - _MOST_CHANGES:,} more")
    return 0
