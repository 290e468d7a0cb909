"""AI-Q's graphs as Mermaid, drawn from the compiled graphs themselves: the text of `docs/graphs.md`."""

from collections.abc import Mapping
from typing import Any

from aiq.agents.ai_q.chat import ChatResearcher
from aiq.agents.ai_q.clarifier import Clarifier
from aiq.agents.ai_q.deep import SUBAGENTS, DeepResearcher
from aiq.agents.ai_q.settings import AiqSettings
from aiq.agents.ai_q.shallow import ShallowResearcher
from aiq.core.models import Models

HEAD = """# Graphs of AI-Q

Written by `aiq graphs --out docs/graphs.md` (`make graphs`) from the compiled LangGraph graphs; a test compares. Dotted
edges are conditional.
"""

TEXTS = {
    "chat": "`agent.entry=chat`, in `chat.py`. Each of the other graphs runs inside the node of its name.",
    "clarifier": "In `clarifier.py`. `ask_for_clarification` and `plan_preview` interrupt it until the user answers.",
    "shallow_research": "In `shallow.py`.",
    "deep_research": (
        "The orchestrator, in `deep.py`, as deepagents and LangChain compile it. Middleware that only wraps calls of\n"
        "models and tools has no node. `tools` runs `task`, which dispatches a subagent, itself a graph of this kind:\n"
    ),
}


def graphs(settings: AiqSettings, models: Models) -> Mapping[str, Any]:
    """The compiled graphs by name. No model is asked anything."""
    shallow, deep = ShallowResearcher(settings.shallow), DeepResearcher(settings.deep)
    return {
        "chat": ChatResearcher(settings, shallow, deep).build().compile(),
        "clarifier": Clarifier(settings.clarifier).build().compile(),
        "shallow_research": shallow.graph(()),
        "deep_research": deep.graph(models, ()),
    }


def page(settings: AiqSettings, models: Models) -> str:
    """All graphs as one Markdown page."""
    return "\n".join([HEAD, *(_section(name, graph) for name, graph in graphs(settings, models).items())])


def _section(name: str, graph: Any) -> str:
    dispatched = "".join(f"\n* `{agent}`: {does}" for agent, does, _ in SUBAGENTS) if name == "deep_research" else ""
    drawn = graph.get_graph().draw_mermaid().replace("\t", "    ").strip()
    return f"## {name}\n\n{TEXTS[name]}\n{dispatched}\n\n```mermaid\n{drawn}\n```\n".replace("\n\n\n", "\n\n")
