from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from aiq.core.errors import ConfigError
from aiq.core.llm_settings import LlmSettings
from aiq.core.plugins import validate
from aiq.core.run_settings import RunSettings
from aiq.core.settings import Plugin
from tests.cases import table
from tests.settings import configured

each = table(__file__)


def run(**changes: object) -> RunSettings:
    values: dict[str, object] = {
        "name": "trial",
        "agent": Plugin.model_validate({"target": "a:B", "depth": 3}),
        "dataset": {"target": "a:C", "name": "d"},
        "llm": {"base_url": "http://model.offline.example/v1", "model": "offline-1"},
        "search": {"provider": "corpus", "corpus": "pages.jsonl"},
        "web": {"kind": "corpus"},
    }
    return configured(RunSettings, **{**values, **changes})


def test_a_plugin_carries_its_own_settings_and_the_clock_may_be_now() -> None:
    assert run().agent.given == {"depth": 3}
    assert run(clock="2026-11-01").clock == datetime(2026, 11, 1, tzinfo=UTC)
    assert run(clock="2026-11-01T09:00:00+00:00").clock == datetime(2026, 11, 1, 9, tzinfo=UTC)
    assert abs((run(clock="now").clock - datetime.now(UTC)).total_seconds()) < 60


@pytest.mark.parametrize(
    "change",
    [
        {"epochs": 0},
        {"clock": "soon"},
        {"limits": {"sample_usd": -1}},
        {"limits": {"sample_usd": float("nan")}},
        {"limits": {"run_usd": float("inf")}},
        {"nmae": "x"},
        {"citations": {"pages": "near"}},
        {"citations": {"page_window": True}},
        {"citations": {"accept": []}},
        {"citations": {"accept": ["guessed"]}},
        {"citations": {"verfy": True}},
    ],
)
def test_values_out_of_range_and_unknown_keys_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        run(**change)


@pytest.mark.parametrize(
    ("pages", "ids", "names"),
    [("x1", "x1", ("x1",)), (["58", "59"], [58, 59], ("58", "59")), ("58", 58, ("58",)), (None, [], ())],
)
def test_a_single_name_needs_no_brackets_and_ids_are_text(pages: object, ids: object, names: tuple[str, ...]) -> None:
    settings = run(offline={"pages": pages}, dataset={"target": "a:C", "name": "d", "ids": ids})
    assert settings.offline.pages == settings.dataset.ids == names


@each("address")
def test_an_endpoint_is_a_url_without_secrets_and_the_error_shows_none(address: str) -> None:
    with pytest.raises(ConfigError) as raised:
        validate(LlmSettings, {"base_url": address, "model": "m"}, "llm")
    assert str(raised.value).startswith("llm.base_url=")
    assert "secret" not in str(raised.value)


def test_an_endpoint_is_known_by_its_name_or_its_url() -> None:
    values = {"base_url": "https://models.example/v1/", "model": "m"}
    assert configured(LlmSettings, **values).endpoint == "https://models.example/v1"
    assert configured(LlmSettings, **values, known_as="mine").endpoint == "mine"
    with pytest.raises(ValidationError):
        configured(LlmSettings, **values, known_as="  ")


def test_quirks_that_change_requests_are_part_of_a_roles_setup() -> None:
    values: dict[str, Any] = {"base_url": "http://127.0.0.1:1/v1", "model": "m"}
    default = configured(LlmSettings, **values)
    quirky = configured(LlmSettings, **values, quirks={"structured": "prose", "seed": False})
    assert "quirks" not in default.setup("judge.race")
    assert quirky.setup("judge.race") == {**default.setup("judge.race"), "quirks": {"structured": "prose"}}
