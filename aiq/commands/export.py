"""Write a run as the official files of its benchmark, for its own tools and leaderboards.

`aiq export drb RUN --out DIR` writes Deep Research Bench's raw_data, and what the judges race and fact
scored of it, in the folders of the official repository. RUN is a run folder, a run id, or `latest`.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("benchmark", choices=("drb",), help="whose files")
    parser.add_argument("run", metavar="RUN", help="a run folder, a run id, or `latest`")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write below")
    parser.add_argument("--name", metavar="MODEL", help="the name of the files (the run's experiment)")
    parser.add_argument("--epoch", type=int, default=1, metavar="N", help="which repetition (1)")
    parser.add_argument("--results", default="results", metavar="DIR", help="where runs are looked for (results)")


def run(args: Namespace) -> int:
    from aiq.analysis.export_drb import export
    from aiq.core.errors import UserError
    from aiq.core.text import counted
    from aiq.runs.folder import find_run

    folder = find_run(args.run, args.results)
    name = folder.read_manifest().experiment if args.name is None else args.name
    if not name or "/" in name or name.startswith("."):
        raise UserError(f"--name {name}: it becomes a file's name, which has no slash and no leading dot")
    exported = export(folder, args.out, name, epoch=args.epoch)
    print("\n".join(str(path) for path in exported.files))
    print(counted(exported.reports, "report"))
    if exported.missing:
        print(f"{len(exported.missing)} samples have no report and stand in no file: {', '.join(exported.missing)}")
    return 0
