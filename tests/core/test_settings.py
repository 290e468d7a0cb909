from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from aiq.core.errors import ConfigError
from aiq.core.plugins import validate
from aiq.core.settings import DatasetSettings, LlmSettings, Plugin, RunSettings
from tests.settings import configured


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


def test_a_plugin_carries_its_own_settings_untouched() -> None:
    assert run().agent.given == {"depth": 3}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T09:00:00+00:00", datetime(2026, 11, 1, 9, tzinfo=UTC)),
    ],
)
def test_the_clock_is_a_setting(written: str, meant: datetime) -> None:
    assert run(clock=written).clock == meant


def test_the_clock_may_be_now() -> None:
    assert abs((run(clock="now").clock - datetime.now(UTC)).total_seconds()) < 60


@pytest.mark.parametrize("change", [{"epochs": 0}, {"clock": "soon"}, {"limits": {"sample_usd": -1}}, {"nmae": "x"}])
def test_values_out_of_range_and_unknown_keys_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        run(**change)


@pytest.mark.parametrize(
    "change",
    [
        {"pages": "near"},
        {"page_window": -1},
        {"page_window": True},
        {"accept": []},
        {"accept": ["guessed"]},
        {"verfy": True},
    ],
)
def test_citation_settings_are_checked(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        run(citations=change)


@pytest.mark.parametrize(("written", "ids"), [([58, 59], ("58", "59")), (58, ("58",)), ("x1", ("x1",)), (None, None)])
def test_ids_are_text_however_yaml_read_them(written: object, ids: tuple[str, ...] | None) -> None:
    assert configured(DatasetSettings, target="a:C", name="d", ids=written).ids == ids


@pytest.mark.parametrize(("written", "names"), [("a.jsonl", ("a.jsonl",)), (["a", "b"], ("a", "b")), (None, ())])
def test_a_single_name_needs_no_brackets(written: object, names: tuple[str, ...]) -> None:
    settings = run(offline={"pages": written}, knowledge={"documents": written})
    assert settings.offline.pages == settings.knowledge.documents == names


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:8000",
        "ftp://models.example/v1",
        "https://me:secret@models.example/v1",
        "https://me:secret/pass@models.example/v1",
        "https://models.example/v1?api-key=secret",
        "https://models.example/v1#secret",
        "https://models.example:port/v1",
        "https://models.example:70000/v1",
        "",
    ],
)
def test_an_endpoint_is_a_web_address_without_a_secret_and_the_error_shows_none(address: str) -> None:
    with pytest.raises(ConfigError) as raised:
        validate(LlmSettings, {"base_url": address, "model": "m"}, "llm")
    assert str(raised.value).startswith("llm.base_url=")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("known_as", "endpoint"), [(None, "https://models.example/v1"), ("mine", "mine"), ("  ", ValidationError)]
)
def test_an_endpoint_goes_by_its_name_or_its_address(known_as: str | None, endpoint: Any) -> None:
    given = {"base_url": "https://models.example/v1/", "model": "m", "known_as": known_as}
    if endpoint is ValidationError:
        with pytest.raises(ValidationError):
            configured(LlmSettings, **given)
    else:
        assert configured(LlmSettings, **given).endpoint == endpoint
