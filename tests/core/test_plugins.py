from collections.abc import Mapping
from typing import Literal

import pytest
from pydantic import Field

from aiq.core.errors import ConfigError
from aiq.core.plugins import load, validate
from aiq.core.settings import Settings


class Inner(Settings):
    rate: float = Field(default=0.1, ge=0, le=1)
    pace: Literal["slow", "fast"] = "slow"


class Outer(Settings):
    count: int = 1
    inner: Inner = Inner()
    names: tuple[str, ...] = ()
    rates: Mapping[str, Inner] = {}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("aiq.core.usage", "not of the form"),
        ("aiq.nowhere:Agent", "there is no module 'aiq.nowhere'"),
        ("aiq.core.usage:Nothing", "has no 'Nothing'"),
        (":Agent", "not of the form"),
        ("aiq..core:Usage", "not of the form"),
    ],
)
def test_load_names_the_setting_and_what_is_wrong(target: str, message: str) -> None:
    with pytest.raises(ConfigError, match=r"^agent\.target: ") as caught:
        load(target, "agent.target")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["count"], "agent=['count']: is a section; write agent.count=VALUE"),
        ({"count": "x" * 10_000}, f"agent.count='{'x' * 96}...: "),
        ({"cuont": 2}, "agent.cuont: there is no such setting"),
        ({"count": "many"}, "agent.count='many': "),
        ({"count": True}, "agent.count=True: "),
        ({"inner": {"rate": True}}, "agent.inner.rate=True: "),
        ({"inner": {"rate": 7}}, "agent.inner.rate=7: Input should be less than or equal to 1"),
        ({"inner": "fast"}, "agent.inner='fast': is a section; did you mean agent.inner.pace=fast?"),
        ({"inner": 7}, "agent.inner=7: is a section; write agent.inner.rate=VALUE (its settings: rate, pace)"),
        ({"rates": {"a": 7}}, "agent.rates.a=7: is a section; write agent.rates.a.rate=VALUE"),
        ({"rates": 7}, "agent.rates=7: write agent.rates.KEY=VALUE"),
        ({"names": "one"}, "agent.names='one': write a list: agent.names=[...]"),
    ],
)
def test_wrong_settings_are_reported_in_one_line(values: object, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        validate(Outer, values, "agent")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_only_the_first_mistakes_are_listed_with_a_hint_for_missing_settings() -> None:
    class Needed(Settings):
        one: int
        two: int
        three: int
        four: int

    with pytest.raises(ConfigError) as caught:
        validate(Needed, {}, "a")
    assert str(caught.value).startswith(
        "a.one: must be set; a.two: must be set; a.three: must be set (and 1 more); a c"
    )
    assert str(caught.value).endswith("inherits shipped settings with `defaults: [OPTION, _self_]`")
