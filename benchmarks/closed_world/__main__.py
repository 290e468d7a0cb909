"""Generates a closed world and the datasets made from it: `python -m benchmarks.closed_world --out DIR`."""

import argparse
import sys
from pathlib import Path

from benchmarks.closed_world.conversations import make_conversations, write_conversations, write_turns
from benchmarks.closed_world.documents import with_documents, write_document_questions, write_documents
from benchmarks.closed_world.events import make_events, write_events
from benchmarks.closed_world.facts import build_world
from benchmarks.closed_world.hostile import write_hostile
from benchmarks.closed_world.pages import render_pages
from benchmarks.closed_world.questions import choose_questions, write_freshqa
from benchmarks.closed_world.tasks import choose_tasks, write_deep_research
from benchmarks.closed_world.truth import write_jsonl


def main(arguments: list[str] | None = None) -> int:
    """Write the files and print their number; exits with code 2 for invalid sizes and folders."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.closed_world",
        description="Generate pages and datasets of an invented world; the same options give the same bytes.",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for world/ and a folder for each dataset")
    parser.add_argument("--seed", type=int, default=0, help="seed of the world (default: %(default)s)")
    sizes = (("questions", 120, "freshqa_mini"), ("tasks", 12, "drb_mini"), ("events", 600, "events_mini"))
    for size, default, dataset in sizes:
        parser.add_argument(f"--{size}", type=_size, default=default, help=f"of {dataset} (default: %(default)s)")
    args = parser.parse_args(arguments)
    if args.questions + args.tasks + args.events == 0:
        parser.error("--questions, --tasks and --events are all 0; one of them must be more")
    try:
        pages = generate(**vars(args))
    except OSError as error:
        parser.error(f"--out {args.out}: {error.strerror} ({error.filename}); name a folder to write to")
    contents = f"{pages} pages, {args.questions} questions, {args.tasks} research tasks, {args.events} events"
    print(f"{args.out}: {contents} (seed {args.seed})")
    return 0


def _size(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not a size; choose 0 or more")
    return int(text)


def generate(out: Path, *, seed: int, questions: int, tasks: int, events: int) -> int:
    """Write a world large enough for the questions and tasks to `out`; returns the number of its pages."""
    chinese = tasks // 3
    world = build_world(
        seed,
        english=max(8, -(-questions // 20), -(-(tasks - chinese) // 4)),
        chinese=max(min(chinese, 4), -(-chinese // 4)),
    )
    archive, pages = with_documents(world), render_pages(world)
    write_jsonl(out / "world" / "pages.jsonl", pages)
    write_documents(out / "world" / "documents", archive)
    write_document_questions(out / "documents_mini", archive)
    write_hostile(out / "hostile_mini", world)
    conversations = make_conversations(world)
    write_conversations(out / "conversation_mini", conversations)
    write_turns(out / "turns_mini", world, conversations)
    write_freshqa(out / "freshqa_mini", world, choose_questions(world, questions))
    write_deep_research(out / "drb_mini", choose_tasks(world, tasks), {page.url: page for page in pages})
    if events:
        write_events(out / "events_mini", make_events(world, events))
    return len(pages)


if __name__ == "__main__":
    sys.exit(main())
