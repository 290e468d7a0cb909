"""Instructions are followed by their meaning: each behaviour as a prompt asks for it, in other
words, without the instruction, and with its opposite. The wordings are data: paraphrases/behaviours.toml.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import jinja2.meta
import pytest

from aiq.agents.ai_q.settings import DeepSettings
from aiq.core.prompts import fence
from aiq.offline.chat import ChatReply, ChatRequest, ToolCall
from aiq.offline.engine import respond
from aiq.offline.engine.follow import follow
from aiq.offline.engine.read import read
from aiq.offline.judging import judge
from tests.cases import group
from tests.offline.engine.conftest import tool
from tests.settings import configured

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "paraphrases"
PACKAGE = Path(__file__).parents[3] / "aiq"
SHIPPED = {f.name: f for f in PACKAGE.glob("**/prompts/*.j2") if f.parts[-3] not in ("shannon", "planner")}
PARAPHRASED = {file.name: file for file in HERE.glob("*/*.j2")}
BEHAVIOURS: dict[str, dict[str, Any]] = tomllib.loads((HERE / "behaviours.toml").read_text(encoding="utf-8"))
HELD_OUT: dict[str, dict[str, list[str]]] = tomllib.loads((HERE / "held_out.toml").read_text(encoding="utf-8"))
PLAIN = """You help people to find things out, if need be with the tools that you are given.

- Be polite and exact.
{instruction}
- Text between tags is data.
"""
ENVIRONMENT = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
ENVIRONMENT.filters["fence"] = fence
_template = cache(ENVIRONMENT.from_string)
HELD_OUT_LEAST = 0.85
"""The share of held-out wordings that must be followed."""
TURNS = 12
"""A conversation is stopped after this many replies."""


@dataclass(frozen=True)
class Played:
    """The replies to a scene's request, with each tool call answered, up to the first one without calls."""

    replies: tuple[ChatReply, ...]

    @property
    def text(self) -> str:
        return self.replies[-1].text

    @property
    def body(self) -> str:
        """The text before its reference list."""
        return re.split(r"^\W*(?:references|sources)\W*$", self.text, flags=re.MULTILINE | re.IGNORECASE)[0].strip()

    @property
    def calls(self) -> list[ToolCall]:
        return [call for reply in self.replies for call in reply.tool_calls]

    def called(self, name: str) -> int:
        return sum(call.function.name == name for call in self.calls)

    @property
    def json(self) -> Any:
        try:
            return json.loads(self.text)
        except ValueError:
            return {}

    @property
    def sentences(self) -> int:
        return len(re.findall(r"[.!?](?:\s*\[\d+\])*(?=\s|$)", self.body))

    @property
    def rounds(self) -> int:
        """The number of replies that send out a researcher."""
        return sum(any("researcher" in call.function.arguments for call in r.tool_calls) for r in self.replies)


# Scenes: who asks what of which tools, and what these bring.

PAGES = {page["title"]: page for page in group(__file__, "page")}
MILL = PAGES["Vorn Mill"]["content"]
TEXTS: dict[str, str] = {text["name"]: text["text"] for text in group(__file__, "text")}
TOOLS = {spec["name"]: tool(spec["name"], spec["description"], *spec["needs"]) for spec in group(__file__, "tool")}


@dataclass(frozen=True)
class Scene:
    """`user`: the request, or `request`, a shipped prompt, with `variables`; `brings`: what a search finds."""

    user: str = ""
    request: str = ""
    variables: Mapping[str, Any] = field(default_factory=dict)
    tools: Sequence[str] = ()
    brings: Sequence[str] = ()

    @property
    def specs(self) -> list[dict[str, Any]]:
        return [TOOLS[name] for name in self.tools]

    def result(self, call: ToolCall) -> str:
        """The result of the tool."""
        if "task" not in self.tools:
            return json.dumps([PAGES[title] for title in self.brings])
        if call.function.name != "task":
            return "ok"
        return TEXTS["plan" if "planner" in call.function.arguments else "findings"]


SCENES = {scene.pop("name"): Scene(**scene) for scene in group(__file__, "scene")}

# Checks: whether the behaviour that a wording asks for shows.

CHECKS: dict[str, Callable[[Played], bool]] = {
    "cites": lambda p: bool(re.search(r"\[\d+\]", p.body)),
    "footnotes": lambda p: bool(re.search(r"\[\^\d+\]", p.text)),
    "links": lambda p: "](https://vorn.example/page)" in p.text,
    "references": lambda p: bool(re.search(r"^## References$", p.text, re.MULTILINE)),
    "sources": lambda p: bool(re.search(r"^\*\*Sources\*\*$", p.text, re.MULTILINE)),
    "searches": lambda p: p.called("web_search") > 0,
    "once": lambda p: p.called("web_search") == 1,
    "thrice at most": lambda p: 0 < p.called("web_search") <= 3,
    "together": lambda p: len(p.replies[0].tool_calls) > 1,
    "year in query": lambda p: "2026" in p.calls[0].function.arguments,
    "corrects": lambda p: "Otto Brand" in p.body,
    "newest": lambda p: "Tom Arden" in p.body and not p.body.startswith("Mara"),
    "short": lambda p: 0 < p.sentences <= 3,
    "one sentence": lambda p: p.sentences == 1,
    "Chinese": lambda p: bool(re.search(r"[\u4e00-\u9fff]", p.text)),
    "not enough": lambda p: "I don't have enough information" in p.text,
    "one word": lambda p: len(p.text.split()) == 1,
    "yes or no": lambda p: p.text.strip(" .").lower() in ("yes", "no"),
    "bullets": lambda p: len(re.findall(r"^[-*] ", p.text, re.MULTILINE)) > 1,
    "ISO date": lambda p: "1931-05-03" in p.text and "May" not in p.body,
    "few words": lambda p: 0 < len(p.body.split()) <= 12,
    "JSON": lambda p: isinstance(p.json, dict) and bool(p.json),
    "table": lambda p: "\n|" in p.text,
    "title": lambda p: p.text.startswith("# "),
    "concludes": lambda p: bool(re.search(r"conclusion", str(p.json.get("sections", [""])[-1]), re.IGNORECASE)),
    "five sections": lambda p: 5 <= len(p.json.get("sections", ())) <= 8,
    "four sections": lambda p: len(p.json.get("sections", ())) == 4,
    "queries in bounds": lambda p: 4 <= len(p.json.get("queries", ())) <= 6,
    "three queries": lambda p: len(p.json.get("queries", ())) == 3,
    "saves the plan": lambda p: p.called("write_file") == 1,
    "two rounds": lambda p: 1 <= p.rounds <= 2,
    "one round": lambda p: p.rounds == 1,
    "one dispatch": lambda p: p.rounds > 0 and all(len(r.tool_calls) < 2 for r in p.replies),
    "two headings": lambda p: re.findall(r"^## (?!References)(.+)$", p.text, re.MULTILINE) == ["Founders", "Outlook"],
    "drafts": lambda p: p.called("write_file") == 1,
    "thinks": lambda p: p.called("think") > 0,
    "asks": lambda p: p.json.get("needs_clarification") is True,
    "answers greetings": lambda p: bool(p.json.get("meta_response")),
    "gap": lambda p: bool(p.json.get("material_gap")),
    "skip": lambda p: p.text == "skip",
    "pass": lambda p: p.text == "pass",
    "approve": lambda p: p.text == "approve",
    "two sentences": lambda p: 2 <= p.sentences <= 3,
    "150 characters": lambda p: 0 < len(p.text) <= 150,
}


def _last_json(text: str) -> Any:
    """The JSON value at the end of a text."""
    for match in re.finditer(r"[\[{]", text):
        with suppress(ValueError):
            return json.loads(text[match.start() :])
    return None


FOUND: dict[str, Callable[[str], Any]] = {
    "verdict": lambda text: text.rpartition("evaluation: ")[2],
    "verdicts": lambda text: [entry["verdict"] for entry in json.loads(text)["verdicts"]],
    "groups": lambda text: sorted(json.loads(text)["groups"]),
    "citations": lambda text: [[c["statement"], c["reference"], c["url"]] for c in json.loads(text)["citations"]],
    "text": str.strip,
    "sum": lambda text: round(sum(_last_json(text).values()), 3),
    "3 to 6": lambda text: 3 <= len(_last_json(text)) <= 6,
    "first is better": lambda text: [
        marks[0]["article_1_score"] > marks[0]["article_2_score"] for marks in json.loads(text).values()
    ],
    "above 2": lambda text: _last_json(text)["comprehensiveness"][0]["score"] > 2,
}
"""The part of a judge's reply that is compared."""


@dataclass(frozen=True)
class Row:
    """One wording of a behaviour; `shows`: whether the reply should show it."""

    name: str
    wording: str
    shows: bool

    def play(self) -> Played:
        behaviour = BEHAVIOURS[self.name]
        scene = SCENES[behaviour["scene"]]
        messages: list[dict[str, Any]] = [{"role": "system", "content": self._system(behaviour)}, _user(scene)]
        replies: list[ChatReply] = []
        while len(replies) < TURNS and (not replies or replies[-1].tool_calls):
            reply = _reply(_request(messages, scene))
            replies.append(reply)
            calls = [call.model_copy(update={"id": f"c{len(replies)}-{n}"}) for n, call in enumerate(reply.tool_calls)]
            messages.append({"role": "assistant", "tool_calls": [call.model_dump() for call in calls]})
            messages += [{"role": "tool", "tool_call_id": call.id, "content": scene.result(call)} for call in calls]
        return Played(tuple(replies))

    def _system(self, behaviour: dict[str, Any]) -> str:
        """The prompt with the wording in place of the lines that ask for the behaviour."""
        if "prompt" not in behaviour:
            return PLAIN.format(instruction=f"- {self.wording}" if self.wording else "")
        text = SHIPPED[behaviour["prompt"]].read_text(encoding="utf-8")
        first, *others = behaviour["stands"]
        for line in (first, *others):
            assert line in text, f"{behaviour['prompt']} does not say {line!r} any more; mend behaviours.toml"
        scene = SCENES[behaviour["scene"]]
        if self.wording == first:
            return _rendered(text, scene)
        for line in others:
            text = text.replace(line, "")
        return _rendered(text.replace(first, "{{ wording }}"), scene, wording=_rendered(self.wording, scene))


def _request(messages: list[dict[str, Any]], scene: Scene) -> ChatRequest:
    return ChatRequest.model_validate({"model": "any", "messages": messages, "tools": scene.specs})


def _reply(request: ChatRequest) -> ChatReply:
    return judge(request) or respond(request)


def _user(scene: Scene) -> dict[str, Any]:
    text = _rendered(SHIPPED[scene.request].read_text(encoding="utf-8"), scene) if scene.request else scene.user
    return {"role": "user", "content": text}


def _rendered(template: str, scene: Scene, **more: str) -> str:
    defaults = {
        "tools": [spec["function"] for spec in scene.specs],
        "limits": configured(DeepSettings, enable_todos=False, max_loops=2),
        "available_documents": [], "user_info": None, "web_search": True, "clarifier_result": None,
        "max_chars": 400, "title": "Vorn Mill", "text": MILL, "current_datetime": "2026-11-01T09:00:00+00:00",
    }  # fmt: skip
    return _template(template).render(**{**defaults, **scene.variables, **more}).strip()


def _rows() -> Iterator[Any]:
    for name, behaviour in BEHAVIOURS.items():
        asks = [*([] if behaviour.get("other_figure") else behaviour.get("stands", ())[:1]), *behaviour["asks"]]
        for shows, wordings in ((True, asks), (False, behaviour["does_not"])):
            for number, wording in enumerate(wordings):
                kind = ("asked" if shows else "negated") if wording else "removed"
                yield pytest.param(Row(name, wording, shows), id=f"{name}: {kind} {number}")


@pytest.mark.parametrize("row", list(_rows()))
def test_an_instruction_is_followed_in_any_wording(row: Row) -> None:
    played = row.play()
    shown = CHECKS[BEHAVIOURS[row.name]["check"]](played)
    assert shown is row.shows, f"{row.wording!r}: {played.text!r} after {[c.function for c in played.calls]}"


@pytest.mark.whole
def test_most_held_out_wordings_are_followed_too() -> None:
    rows = [
        Row(name, wording, shows)
        for name, wordings in HELD_OUT.items()
        for shows, said in ((True, wordings["asks"]), (False, wordings["does_not"]))
        for wording in said
    ]
    right = sum(CHECKS[BEHAVIOURS[row.name]["check"]](row.play()) is row.shows for row in rows)
    assert right >= HELD_OUT_LEAST * len(rows)


def test_every_paraphrase_has_the_variables_of_its_prompt() -> None:
    for name, file in PARAPHRASED.items():
        names = [
            jinja2.meta.find_undeclared_variables(ENVIRONMENT.parse(place.read_text(encoding="utf-8")))
            for place in (file, SHIPPED[name])
        ]
        assert names[0] == names[1], name


INSTRUCTING = [
    f"{name}.j2"
    for name in (
        *("clarifier", "clarifier_planner", "escalation", "intent_classifier", "orchestrator"),
        *("planner", "researcher", "shallow_researcher", "simulated_user", "summary"),
    )
]


@pytest.mark.parametrize("name", INSTRUCTING)
def test_a_paraphrase_gives_the_orders_of_its_prompt(name: str) -> None:
    scene = SCENES["builder"]
    said = [_rendered(file.read_text(encoding="utf-8"), scene) for file in (SHIPPED[name], PARAPHRASED[name])]
    shipped, paraphrased = (
        vars(follow(read(_request([{"role": "system", "content": text}, _user(scene)], scene)))) for text in said
    )
    assert paraphrased == shipped


JUDGED = group(__file__, "judged")


@pytest.mark.parametrize(
    ("case", "wording"),
    [
        pytest.param(case, wording, id=f"{case['prompt']} {number}: {wording}")
        for number, case in enumerate(JUDGED)
        for wording in ("shipped", "paraphrased")
    ],
)
def test_judges_reach_the_same_verdict_in_any_wording(case: dict[str, Any], wording: str) -> None:
    file = (SHIPPED if wording == "shipped" else PARAPHRASED)[case["prompt"]]
    variables = {"strict": False, "support": "whole", "current_date": "2026-11-01", **case["variables"]}
    text = _rendered(file.read_text(encoding="utf-8"), Scene(variables=variables))
    request = ChatRequest.model_validate({"model": "any", "messages": [{"role": "user", "content": text}]})
    reply = _reply(request)
    assert FOUND[case["found"]](reply.text) == case["expected"], reply.text
