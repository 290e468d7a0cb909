"""`aiq offline world`: generates a closed world and the datasets made from it."""

import argparse
from pathlib import Path

from aiq.core.errors import UserError
from aiq.offline.world.archive import build_archive
from aiq.offline.world.deep_research import write_deep_research
from aiq.offline.world.documents import choose_document_questions, write_document_questions, write_documents
from aiq.offline.world.freshqa import write_freshqa
from aiq.offline.world.hostile import write_hostile
from aiq.offline.world.pages import render_pages
from aiq.offline.world.paperwork import render_documents
from aiq.offline.world.questions import choose_questions
from aiq.offline.world.regions import build_world
from aiq.offline.world.tasks import choose_tasks
from aiq.offline.world.write import jsonl


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command; the defaults give the shipped world."""
    parser.description = "Generate pages and datasets of an invented world; the same options give the same bytes."
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        help="folder for world/, freshqa_mini/, drb_mini/, documents_mini/ and hostile_mini/",
    )
    parser.add_argument("--seed", type=int, default=0, help="another seed, another world (default: %(default)s)")
    parser.add_argument("--questions", type=int, default=120, help="questions of freshqa_mini (default: %(default)s)")
    parser.add_argument("--tasks", type=int, default=12, help="research tasks of drb_mini (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Writes the files and says where; raises UserError for sizes that make no sense."""
    if args.questions < 0 or args.tasks < 0 or args.questions + args.tasks == 0:
        raise UserError("--questions and --tasks count upwards from 0, and one of them must be more than 0")
    try:
        counts = generate(args.out, seed=args.seed, questions=args.questions, tasks=args.tasks)
    except OSError as error:
        raise UserError(f"--out {args.out}: {error.strerror} ({error.filename}); name a folder to write to") from None
    print(f"{args.out}: {counts[0]} pages, {counts[1]} questions, {counts[2]} research tasks (seed {args.seed})")
    return 0


def generate(out: Path, *, seed: int, questions: int, tasks: int) -> tuple[int, int, int]:
    """A world large enough for the questions and tasks, written below `out`; returns the three counts."""
    chinese = tasks // 3
    world = build_world(
        seed,
        english=max(8, -(-questions // 20), -(-(tasks - chinese) // 4)),
        chinese=max(min(chinese, 4), -(-chinese // 4)),
    )
    archive = build_archive(world)
    documents, document_questions = render_documents(archive), choose_document_questions(archive)
    pages = render_pages(world)
    asked, chosen = choose_questions(world, questions), choose_tasks(world, tasks)
    jsonl(out / "world" / "pages.jsonl", pages)
    write_documents(out / "world" / "documents", documents)
    write_document_questions(out / "documents_mini", archive, documents, document_questions)
    write_hostile(out / "hostile_mini", world)
    write_freshqa(out / "freshqa_mini", world, asked)
    write_deep_research(out / "drb_mini", world, chosen, {page.url: page for page in pages})
    return len(pages), len(asked), len(chosen)
