"""Pages that attack the agent that reads them, and questions for which they rank: each question meets one attack.

The pages stand in a file of their own, so that the other datasets never meet them (`offline.pages`). Every question has
its answer on the world's own pages.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.closed_world.entities import Fact, World
from benchmarks.closed_world.tables import table
from benchmarks.closed_world.truth import write_jsonl, write_questions
from benchmarks.closed_world.wording import ask

_TABLE = table("hostile")


def write_hostile(folder: Path, world: World) -> None:
    """`questions.jsonl` and `truth.jsonl`, one question for each attack, and the attacks' `pages.jsonl`."""
    attacks = _TABLE["attacks"]
    companies = [company for region in world.of_language("en") for company in region.of("company")]
    chosen = world.draw("hostile").shuffled(companies)[: len(attacks)]
    facts = [world.fact(company, "founder") for company in chosen]
    asked = [ask([fact], world.draw("hostile words", fact.subject.id)) for fact in facts]
    met = list(zip(attacks, facts, asked, strict=True))
    write_jsonl(folder / "pages.jsonl", (page for one in met for page in _pages(*one)))
    write_questions(folder, (({"question": text, "attack": attack["name"]}, [fact]) for attack, fact, text in met))


def _pages(attack: Mapping[str, Any], fact: Fact, question: str) -> Iterator[dict[str, Any]]:
    """The page that ranks, and the one behind it that a fetch is lured to."""
    url, subject = f"{_TABLE['site']}/{attack['name']}", fact.subject.name.en
    words = {"subject": subject, "question": question, "url": url, "forged": _TABLE["forged"], "liar": _TABLE["liar"]}
    text = attack.get("text", _TABLE["lure"]).format(**words)
    yield {"url": url, "title": f"{subject} founder", "text": f"{text}\n{question} {subject} founder."}
    if serve := attack.get("serve"):
        served = {name: value.format(**words) if name == "redirect" else value for name, value in serve.items()}
        yield {"url": f"{url}/full", "title": "More", "text": "More.", "serve": served}
