"""Add your documents (PDF, Markdown, text) to a collection that agents can search, and list them.

`aiq documents add report.pdf notes/ --collection mine` reads new and changed files only;
`aiq run ... knowledge.collection=mine` lets the agents search them.
"""

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from aiq.core.errors import AiqError, ConfigError, UserError
from aiq.core.text import plural, printable

if TYPE_CHECKING:
    from aiq.core.run_settings import RunSettings
    from aiq.tools.knowledge.store import Collection


def add_arguments(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="documents_command", metavar="add | list", required=True)
    add = commands.add_parser("add", help="read files into a collection")
    add.add_argument("files", nargs="+", metavar="FILE", help="PDF, Markdown or text files, or folders of these")
    add.add_argument(
        "--summarizer", choices=("rules", "model"), help="what writes the summaries (default: knowledge.summarizer)"
    )
    listing = commands.add_parser("list", help="list collections, or the documents of one")
    for command in (add, listing):
        command.add_argument("--collection", metavar="NAME", help="the collection (default: knowledge.collection)")
        command.add_argument("--dir", metavar="DIR", help="the folder of all collections (default: knowledge.dir)")
        command.add_argument(
            "--set", action="append", default=[], metavar="SETTING=VALUE", help="any setting, e.g. --set llm=openai"
        )


def run(args: Namespace) -> int:
    settings = _settings(args)
    return _add(args, settings) if args.documents_command == "add" else _list(settings)


def _settings(args: Namespace) -> "RunSettings":
    from aiq.experiment.compose import compose, settings_from

    settings = settings_from(compose(["name=documents", *args.set]))
    options = {"dir": args.dir, "collection": args.collection, "summarizer": getattr(args, "summarizer", None)}
    return settings.changed("knowledge", **{name: value for name, value in options.items() if value})


def _add(args: Namespace, settings: "RunSettings") -> int:
    from aiq.tools.knowledge.store import Collections

    knowledge = settings.knowledge
    if knowledge.collection is None:
        raise ConfigError("name the collection: --collection NAME")
    collection = Collections(knowledge.dir).collection(knowledge.collection)
    added = collection.add(args.files, knowledge.summary_chars)
    counts = f"{sum(added.values())} read, {len(added) - sum(added.values())} unchanged"
    if knowledge.summarizer == "model":
        counts += f", {asyncio.run(_summarise(collection, settings))}"
    print(f"collection {collection.name}: {counts}; it holds {_documents(collection)}")
    for line in _warnings(collection, added, args.files):
        print(printable(line))
    return 0


def _warnings(collection: "Collection", added: Mapping[str, bool], files: Sequence[str]) -> Iterator[str]:
    """Notes on what no search will find: pages without text in newly read documents, and files of other kinds."""
    from aiq.tools.knowledge.reading import SUFFIXES
    from aiq.tools.knowledge.store import left_out

    for document in collection.documents:
        pages = document.page_count
        if pages and added.get(document.file_name):
            empty = pages - len(collection.text(document.digest).pages)
            if empty:
                yield f"{document.file_name}: {empty} of {plural(pages, 'page')} without text; are they scans?"
    if skipped := left_out(files):
        counts = ", ".join(f"{number} {suffix}" for suffix, number in sorted(skipped.items()))
        yield f"left out of the folders: {counts} (only {', '.join(SUFFIXES)} can be read)"


async def _summarise(collection: "Collection", settings: "RunSettings") -> str:
    """Let the model write summaries; returns what they cost in calls and tokens."""
    from aiq.core.samples import SampleKey
    from aiq.experiment.resources import open_resources
    from aiq.site.tables import dollars
    from aiq.tools.knowledge.summaries import summarise_by_model

    async with open_resources(settings) as resources:
        session = resources.session(settings, key=SampleKey("documents", 1))
        try:
            with session.bind():
                names = await collection.summarise(summarise_by_model, settings.knowledge.summary_chars)
        except UserError:
            raise
        except AiqError as error:
            raise UserError(f"the model gave no summary: {error}; finished summaries are kept, run it again") from None
    usage = session.usage.total()
    cost = f"{plural(usage.calls, 'call')}, {usage.total_tokens} tokens, {dollars(usage)}"
    return f"{len(names)} summarised by {settings.llm.model} ({cost})"


def _list(settings: "RunSettings") -> int:
    from aiq.tools.knowledge.store import Collections

    collections = Collections(settings.knowledge.dir)
    if settings.knowledge.collection is None:
        for name in collections.names():
            print(f"{name}: {_documents(collections.existing(name))}")
        if not collections.names():
            print(f"no collections in {settings.knowledge.dir}; add some with `aiq documents add`")
        return 0
    for document in collections.existing(settings.knowledge.collection).documents:
        pages = "" if document.page_count is None else f" ({plural(document.page_count, 'page')})"
        print(printable(f"{document.file_name}{pages}: {document.summary}"))
    return 0


def _documents(collection: "Collection") -> str:
    return plural(len(collection.documents), "document")
