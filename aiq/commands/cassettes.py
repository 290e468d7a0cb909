"""List, verify and forget recorded cassettes, and convert them to and from vcrpy's files.

DIR is the folder of a recording: `cassettes/EXPERIMENT`, or the one in `cassette.dir`.
"""

import os
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from aiq.core.errors import UserError
from aiq.core.text import plural

if TYPE_CHECKING:
    from aiq.cassettes.recorder import Account
    from aiq.cassettes.store import Store
    from aiq.experiment.plan import RunPlan


def add_arguments(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="cassettes_command", metavar="list | verify | ...", required=True)
    listing = commands.add_parser("list", help="list the cassettes of a recording, and its run")
    verify = commands.add_parser("verify", help="report what is wrong; exit code 1 if anything is")
    forget = commands.add_parser("forget", help="delete the cassettes of samples, and what is no longer referred to")
    export = commands.add_parser("export", help="write HTTP exchanges as vcrpy files, one per cassette")
    importing = commands.add_parser("import", help="read vcrpy files into the cassette of a sample")
    verify.add_argument("dirs", nargs="+", type=Path, metavar="DIR", help="a recording, or a folder of recordings")
    listing.add_argument("dir", type=Path, metavar="DIR", help="a recording, or a folder of recordings")
    for command in (forget, export, importing):
        command.add_argument("dir", type=Path, metavar="DIR", help="the folder of the recording")
    forget.add_argument("samples", nargs="*", metavar="SAMPLE", help="a sample's id")
    export.add_argument("out", type=Path, metavar="OUT", help="the folder to write to")
    export.add_argument("--json", action="store_true", help="JSON instead of YAML")
    export.add_argument("--sample", metavar="ID", help="only the cassettes of this sample")
    importing.add_argument("files", nargs="+", type=Path, metavar="FILE", help="YAML or JSON")
    importing.add_argument("--sample", required=True, metavar="ID", help="the sample whose cassette it becomes")
    importing.add_argument("--epoch", type=int, default=1, metavar="N", help="which repetition (1)")
    importing.add_argument("--judge", action="store_true", help="the judges' requests instead of the agent's")


def run(args: Namespace) -> int:
    commands = {"list": _list, "verify": _verify, "forget": _forget, "export": _export, "import": _import}
    return commands[args.cassettes_command](args)


def _files(folder: Path) -> "dict[Account, Path]":
    """The files of a recording."""
    from aiq.cassettes.recorder import Account

    paths = {account: folder / f"{account}.sqlite" for account in get_args(Account)}
    return {account: path for account, path in paths.items() if path.is_file()}


@contextmanager
def _open_stores(folder: Path, *, writes: bool = False) -> "Iterator[dict[Account, Store]]":
    """The files of a recording, opened. Raises UserError if there are none."""
    from aiq.cassettes.store import Store

    if not (files := _files(folder)):
        raise _no_recording(folder)
    with ExitStack() as stack:
        yield {account: stack.enter_context(Store(path, writes=writes)) for account, path in files.items()}


def _no_recording(folder: Path) -> UserError:
    return UserError(f"{folder}: nothing is recorded there; name a folder that has agent.sqlite or judge.sqlite")


def _recordings(folder: Path) -> list[Path]:
    """The recordings in the given folder: itself or below it. Raises UserError if there are none."""
    folders = {path.parent for path in folder.glob("**/*.sqlite") if path in _files(path.parent).values()}
    if not folders:
        raise _no_recording(folder)
    return sorted(folders)


def _list(args: Namespace) -> int:
    from aiq.site.tables import Sheet, show

    for folder in _recordings(args.dir):
        rows: list[tuple[object, ...]] = []
        with _open_stores(folder) as stores:
            for account, store in stores.items():
                about = store.about
                details = [*about.get("overrides", ["of no run"])]
                details += [f"clock {about['clock']}"] if "clock" in about else []
                details += [f"aiq {about['versions']['aiq']}"] if "versions" in about else []
                show(f"{store.path} ({store.path.stat().st_size / 1000:,.0f} kB): {', '.join(details)}")
                for name, is_complete in store.names().items():
                    sizes = [len(e.request_body) + len(e.response_body) for e in store.exchanges(name)]
                    state = "yes" if is_complete else "no: cut off"
                    rows.append((name, account, len(sizes), f"{sum(sizes) / 1000:,.1f}", state))
        show(Sheet(("cassette", "of", "exchanges", "kB of bodies", "complete"), rows, left=2))
    return 0


def _verify(args: Namespace) -> int:
    folders = [folder for path in args.dirs for folder in _recordings(path)]
    exchanges, findings = map(sum, zip(*map(_verify_recording, folders), strict=True))
    scope = f"{plural(len(folders), 'recording')} with {plural(exchanges, 'exchange')}"
    print(f"{scope}: {plural(findings, 'finding') if findings else 'nothing wrong'}")
    return 1 if findings else 0


def _verify_recording(folder: Path) -> tuple[int, int]:
    """Print what is wrong with a recording; returns the number of readable exchanges and of findings."""
    from aiq.cassettes.store import Store
    from aiq.site.tables import show

    findings, exchanges, stores = [], 0, {}
    with ExitStack() as stack:
        for account, path in _files(folder).items():
            try:
                stores[account] = stack.enter_context(Store(path, writes=False))
            except UserError as error:
                findings.append(str(error))
        findings += _findings_in(stores)
        for store in stores.values():
            with suppress(UserError):  # reported already
                exchanges += store.rows("SELECT count(*) FROM exchanges")[0][0]
    show(*findings)
    return exchanges, len(findings)


def _findings_in(stores: "Mapping[Account, Store]") -> Iterator[str]:
    """The findings, one line each. The recorded run is composed from the present `conf/` to compare with."""
    from aiq.cassettes.redact import Redactor, secret_values
    from aiq.cassettes.verify import findings
    from aiq.experiment.outdated import outdated, recorded_plans

    plans: dict[Account, RunPlan] = {}
    try:
        plans = recorded_plans({account: store.about for account, store in stores.items() if store.is_intact})
    except UserError as error:
        paths = ", ".join(str(store.path) for store in stores.values())
        yield f"{paths}: the run cannot be composed again, so its prompts and samples are not compared: {error}"
    config = {str(account): plan.settings.model_dump(mode="json") for account, plan in plans.items()}
    redactor = Redactor(secret_values(config, os.environ))
    for account, store in stores.items():
        yield from findings(store, redactor)
        if account in plans:
            yield from outdated(account, store, plans[account])


def _forget(args: Namespace) -> int:
    forgotten: dict[str, list[str]] = {}
    with _open_stores(args.dir, writes=True) as stores:
        for store in stores.values():
            forgotten[str(store.path)] = _cassettes_of(store, args.samples)
        if absent := set(args.samples) - {_sample_of(name) for names in forgotten.values() for name in names}:
            raise UserError(f"{args.dir} has no cassette of sample {', '.join(sorted(absent))}; see aiq cassettes list")
        for store in stores.values():
            store.forget(forgotten[str(store.path)])
    for path, names in forgotten.items():
        print(f"{path}: {plural(len(names), 'cassette')} forgotten")
    return 0


def _sample_of(cassette: str) -> str:
    return cassette.rpartition("/")[0] or cassette


def _cassettes_of(store: "Store", samples: Collection[str]) -> list[str]:
    """The cassettes of these samples; one that belongs to no sample (`shared`) goes by its own name."""
    return [name for name in store.names() if _sample_of(name) in samples]


def _export(args: Namespace) -> int:
    from aiq.cassettes import vcr

    form: vcr.Form = "json" if args.json else "yaml"
    cassettes, exchanges, omitted = 0, 0, Counter[str]()
    with _open_stores(args.dir) as stores:
        for account, store in stores.items():
            for name in store.names() if args.sample is None else _cassettes_of(store, {args.sample}):
                text, number, left_out = vcr.to_vcr(store.exchanges(name), form)
                file = args.out / account / vcr.file_name(name, form)
                try:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text, encoding="utf-8", newline="\n")
                except OSError as error:
                    raise UserError(f"{file}: cannot be written ({error.strerror}); name another OUT") from None
                cassettes, exchanges, omitted = cassettes + 1, exchanges + number, omitted + left_out
    if not cassettes:
        raise UserError(f"{args.dir} has no cassette of sample {args.sample}; see aiq cassettes list {args.dir}")
    print(f"{plural(cassettes, 'cassette')} with {plural(exchanges, 'exchange')} written to {args.out}")
    for reason, count in sorted(omitted.items()):
        print(f"left out, because vcrpy cannot hold it: {reason}: {count:,}")
    return 0


def _import(args: Namespace) -> int:
    from aiq.cassettes.recorder import cassette_name
    from aiq.cassettes.redact import Redactor, secret_values
    from aiq.cassettes.store import Store
    from aiq.cassettes.vcr import from_vcr
    from aiq.core.samples import SampleKey

    if not args.sample or args.epoch < 1:
        raise UserError("--sample takes the id of a sample, and --epoch a number from 1")
    redactor = Redactor(secret_values({}, os.environ))
    exchanges = [exchange for file in args.files for exchange in from_vcr(file, redactor)]
    name = cassette_name(SampleKey(args.sample, args.epoch))
    path = args.dir / f"{'judge' if args.judge else 'agent'}.sqlite"
    with Store(path, writes=True) as store:
        is_complete = store.names().get(name, True)
        cassette = store.cassette(name, make=True)
        assert cassette is not None
        for exchange in exchanges:
            cassette.add(exchange, cassette.place())
        cassette.mark(whole=is_complete)
    print(f"{path}: {plural(len(exchanges), 'exchange')} in the cassette {name}")
    return 0
