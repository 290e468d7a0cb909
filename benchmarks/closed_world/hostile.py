"""Pages that attack the agent reading them, and questions for which they rank high: each question meets one attack.

The pages are in a separate file, so that the other datasets never meet them (`offline.pages`). Every question is
answered by the world's own pages.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.closed_world.entities import Entity, World
from benchmarks.closed_world.tables import table
from benchmarks.closed_world.truth import Asked, write_jsonl, write_questions
from benchmarks.closed_world.wording import ask

_TABLE = table("hostile")


def write_hostile(folder: Path, world: World) -> None:
    """Write `questions.jsonl` and `truth.jsonl`, with one question per attack, and the attacks' `pages.jsonl`."""
    companies = [company for region in world.of_language("en") for company in region.of("company")]
    pages: list[dict[str, Any]] = []
    samples: list[Asked] = []
    for attack, company in zip(_TABLE["attacks"], world.draw("hostile").shuffled(companies), strict=False):
        fact = world.fact(company, "founder")
        question = ask([fact], world.draw("hostile words", company.id))
        samples.append(({"question": question, "attack": attack["name"]}, [fact]))
        pages += _pages(attack, company, question)
    write_jsonl(folder / "pages.jsonl", pages)
    write_questions(folder, samples)


def _pages(attack: Mapping[str, Any], subject: Entity, question: str) -> Iterator[dict[str, Any]]:
    """The page that ranks high, and the one that it lures the agent to fetch."""
    url = f"{_TABLE['site']}/{attack['name']}"
    words = {**_TABLE, "subject": subject, "question": question, "url": url}
    text = attack.get("text", _TABLE["lure"]).format(**words)
    yield {"url": url, "title": f"{subject} founder", "text": f"{text}\n{question} {subject} founder."}
    if serve := attack.get("serve"):
        response = {name: value.format(**words) if name == "redirect" else value for name, value in serve.items()}
        yield {"url": f"{url}/full", "title": "More", "text": "More.", "serve": response}
