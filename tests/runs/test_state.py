"""What a run keeps of its attempts is restored unchanged, whatever keys it has."""

from collections.abc import Sequence

import pytest

from aiq.core.run_settings import FailureSettings
from aiq.core.samples import Ids, Keys, SampleKey
from aiq.core.usage import Usage
from aiq.runs.manifest import RunSpec
from aiq.runs.state import AttemptState, RunState
from tests.runs.test_summary import row
from tests.settings import configured

ALL = Keys(Ids(["b", "a", "s10", "s9", "ö"]), epochs=2)
OTHERS = [SampleKey("c", 1), SampleKey("a", 0), SampleKey("a", 3), SampleKey("", 1), SampleKey("öö", 1)]


@pytest.mark.parametrize(
    "keys", [ALL, ALL[1::3], ALL[2:5], ALL.where(lambda key: key.epoch == 2 and key.sample_id != "a")]
)
def test_each_key_is_found_at_its_position_in_any_order(keys: Keys) -> None:
    for order in (list(keys), list(keys)[::-1]):
        assert [keys[place] for key in order if (place := keys.place(key)) is not None] == order
    missing = [key for key in ALL if key not in [*keys]]
    assert {*map(keys.place, [*OTHERS, *missing])} == {None}


@pytest.mark.parametrize("keys", [ALL, tuple(ALL)])
def test_an_attempt_is_restored_unchanged(keys: Sequence[SampleKey]) -> None:
    state, rows = RunState(RunSpec(keys, (), configured(FailureSettings))), {}
    for number, key in enumerate(reversed(ALL[:7])):
        usage = Usage(number, 10**12, 2, 3, 4, None if number % 2 else 0.1 * number, 5, 0.7)
        tools = {"search": {"ok": number % 3}}
        rows[key] = row(key, attempt=2, usage={"agent": usage}, tools=tools, tags={"n": str(number)}, route="deep")
        state.add_attempt(row(key, status="failed", error={"type": "AgentError", "message": "no"}))
        state.add_attempt(rows[key])
    assert dict(state.attempts) == {key: AttemptState.of(r) for key, r in rows.items()}
    assert (len(state.attempts), state.statuses()) == (7, {"completed": 7})
    assert state.tools() == {"search": {"ok": sum(number % 3 for number in range(7))}}
    assert state.attempts.get(ALL[8]) is None
    state.add_attempt(row(OTHERS[0]))  # ignored if the run knows its keys, else added
    assert (OTHERS[0] in state.attempts) is (keys is not ALL)
