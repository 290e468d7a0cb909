"""Schemas of many kinds: a value appears with the sentence that supports it, not without it; none is invented."""

import json
import re
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from langchain_core.utils.json_schema import dereference_refs

from aiq.offline.chat import ChatRequest
from aiq.offline.engine.fill import Unsupported, fill
from aiq.offline.engine.follow import follow
from aiq.offline.engine.read import read
from aiq.offline.engine.schema import Schema, asked_schema, fits, forms, scaled
from aiq.offline.engine.weigh import FRAMES
from aiq.offline.engine.write import small_talk
from tests.cases import table

each = table(__file__)

FOLDER = Path(__file__).parent / "schemas"
CASES = [case for path in sorted(FOLDER.glob("*.toml")) for case in tomllib.loads(path.read_text())["case"]]
PLANTED = [case for case in CASES if "plant" in case]
COMPUTED = re.compile(
    r"confiden|score|count|priority|complex|coverage|processed|scanned|tokens|limit|index|total|read|size|statement|supporting|citation"
)


def request(case: dict[str, Any], planted: bool = True) -> ChatRequest:
    user = case["user"].replace("{plant}", case.get("plant", "") if planted else "")
    wanted: dict[str, Any] = {
        "model": "m",
        "messages": [{"role": "system", "content": case["prompt"]}, {"role": "user", "content": user}],
    }
    if "schema" in case:
        schema = json.loads(case["schema"])
        wanted["response_format"] = {"type": "json_schema", "json_schema": {"name": "r", "schema": schema}}
    return ChatRequest.model_validate(wanted)


def filled(asked: ChatRequest) -> Any:
    situation = read(asked)
    schema = asked_schema(situation)
    assert schema is not None
    value = fill(schema, situation, follow(situation))
    assert valid(value, dereference_refs(dict(schema)))
    return value


def valid(value: Any, part: Schema) -> bool:
    """Whether a value, including all its parts, matches a schema."""
    if isinstance(value, list):
        return fits(value, part) and any(all(valid(v, f.get("items", {})) for v in value) for f in forms(part))
    if not isinstance(value, dict):
        return not part or fits(value, part)
    for form in forms(part):
        parts = form.get("properties", {})
        inside = all(valid(item, parts.get(key, {})) for key, item in value.items())
        if inside and value.keys() >= set(form.get("required", ())):
            return True
    return False


def at(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def leaves(value: Any, path: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [leaf for k, v in value.items() for leaf in leaves(v, f"{path}.{k}")]
    if isinstance(value, list):
        return [leaf for v in value for leaf in leaves(v, path)]
    return [(path, value)]


def invented(value: Any, asked: ChatRequest) -> list[tuple[str, Any]]:
    """The leaves of a reply that are neither in the request nor made of its words and the documented frames."""
    text = " ".join([*(m.text for m in asked.messages), json.dumps(asked.response_format, ensure_ascii=False)])
    plain = " ".join(text.replace("\\n", " ").split()).casefold()
    talk = map(small_talk, ("Hello", "你好", "Thanks"))
    frames = " ".join([*FRAMES.values(), *talk, "Background Conclusion 背景 结论"])
    known = set(re.findall(r"\w+", f"{plain} {frames}".casefold()))
    found: list[tuple[str, Any]] = []
    for path, leaf in leaves(value):
        if not path or re.search(
            r"quer|(?:^|[._])ids?$|depends|report$|reason$", path
        ):  # a query (and the reason for it) may hold synonyms, ids are counted, a report has tests of its own
            continue
        if isinstance(leaf, str):
            leaf = re.sub(r"\b(?:19|20)\d\d-\d\d(?:-\d\d)?\b|\b\d\b", "", leaf)  # a date in ISO form, a count
            if " ".join(leaf.split()).casefold() not in plain and not set(re.findall(r"\w+", leaf.casefold())) <= known:
                found.append((path, leaf))
        elif isinstance(leaf, int | float) and not isinstance(leaf, bool):
            figures = {float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", plain)}
            if not COMPUTED.search(path) and float(leaf) not in figures:
                found.append((path, leaf))
    return found


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.mark.parametrize("case", CASES, ids=named)
def test_the_supported_value_appears(case: dict[str, Any]) -> None:
    value = filled(request(case))
    for path, state in case["expect"].items():
        expected = None if state == "null" else state
        above = re.fullmatch(r"> ([\d.]+)", str(expected))
        assert at(value, path) > float(above[1]) if above else at(value, path) == expected


@pytest.mark.parametrize("case", PLANTED, ids=named)
def test_without_its_sentence_the_value_is_absent(case: dict[str, Any]) -> None:
    asked = request(case, planted=False)
    gone = case["gone"]
    if gone == "refused":
        with pytest.raises(Unsupported):
            filled(asked)
        return
    value = filled(asked)
    for path, state in (gone if isinstance(gone, dict) else dict.fromkeys(case["expect"], gone)).items():
        if state == "absent":
            with pytest.raises((KeyError, IndexError)):
                at(value, path)
        else:
            assert at(value, path) == (None if state == "null" else [] if state == "empty" else state)


@pytest.mark.parametrize("planted", [True, False])
@pytest.mark.parametrize("case", CASES, ids=named)
def test_nothing_is_invented(case: dict[str, Any], planted: bool) -> None:
    asked = request(case, planted)
    try:
        value = filled(asked)
    except Unsupported:
        return
    assert invented(value, asked) == []


@each("prose")
def test_a_prompt_for_prose_has_no_schema(prompt: str, user: str) -> None:
    assert asked_schema(read(request({"prompt": prompt, "user": user}))) is None


def test_the_ends_of_a_scale_may_be_explained() -> None:
    assert scaled(0.5, {"type": "integer"}, "score goes from 0 (not at all) to 10 (fully)") == 5


@pytest.mark.parametrize(("order", "marked"), [("", False), (" Cite your sources as [1].", True)])
def test_a_text_has_citations_if_they_are_requested(order: str, marked: bool) -> None:
    schema = '{"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}'
    page = '<results><result url="https://m.example/1">The Morrow Press was founded by Lise Aker.</result></results>'
    case = {"prompt": f"Answer.{order}", "user": f"{page}\n\nQuestion: Who founded the Morrow Press?", "schema": schema}
    answer = filled(request(case))["answer"]
    assert "Lise Aker" in answer
    assert ("[1]" in answer) is marked


@each("null")
def test_a_field_that_no_rule_measures_is_null(user: str, fields: dict[str, Any]) -> None:
    schema = json.dumps({"type": "object", "properties": fields, "required": [*fields]})
    assert [*filled(request({"prompt": "Fill it in.", "user": user, "schema": schema})).values()] == [None]


def test_queries_are_about_the_subject_not_the_instruction() -> None:
    user = "Generate 3 search queries on the history of Vorn Mill. Return a list of strings."
    found = filled(request({"prompt": "You help people.", "user": user}))
    assert found
    assert all("Vorn" in query and not re.search("Generate|queries", query) for query in found)


def test_a_format_in_the_sentence_that_asks_is_that_of_the_reply() -> None:
    user = 'Return JSON like {"builder": "..."}. <page>The Vorn Mill was built by Ada Kestrel.</page> Who built it?'
    assert asked_schema(read(request({"prompt": "You help people.", "user": user}))) is not None


def test_a_long_page_is_read_fast_enough() -> None:
    page = "The Morrow Press was founded by Lise Aker. " + "Boats of the harbour carry salt and tar. " * 25_000
    schema = '{"type": "object", "properties": {"person": {"type": "string"}}, "required": ["person"]}'
    user = f"<text>{page}</text>\n\nQuestion: Who founded the Morrow Press?"
    situation = read(request({"prompt": "Answer.", "user": user, "schema": schema}))
    wanted, orders = asked_schema(situation), follow(situation)
    assert wanted is not None
    start = time.perf_counter()
    assert fill(wanted, situation, orders) == {"person": "Lise Aker"}
    assert time.perf_counter() - start < 2
