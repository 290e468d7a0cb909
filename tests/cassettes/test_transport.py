"""Recorded exchanges are replayed as they were (answers, refusals, broken streams, pages), without waiting."""

import asyncio
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from aiq.cassettes.exchange import GIVEN_UP, TIME_UP, Exchange
from aiq.cassettes.recorder import CassetteMiss, Recorder, shared_slot
from aiq.cassettes.redact import Redactor
from aiq.cassettes.store import Store
from aiq.core.concurrency import gather_bounded
from aiq.core.errors import LimitReached, ModelError, ToolError, ToolErrorKind, UserError
from aiq.core.run_settings import CassetteSettings
from aiq.core.usage import Limits
from tests.cassettes.conftest import CANARY, Deck, DeckMaker, Servers, model_calls, outcome_of
from tests.cassettes.exchanges import unpacked
from tests.llm.endpoint import CUT, OK, chunk, completed, error, http, streamed
from tests.settings import configured

WORDS = [chunk(content=word) for word in ("Hel", "lo ", "there")]
SCRIPTS: dict[str, list[bytes]] = {
    "an answer": [http(200, completed("hello", odd_field={"kept": [1]}))],
    "busy at first": [error(500), error(429, retry_after="0.01"), OK],
    "busy always": [error(503, "come back later")],
    "refused": [error(400, "no such field")],
    "no answer": [CUT, OK],
    "not JSON": [http(200, b"<html>")],
    "no choices": [http(200, {"error": {"message": "overloaded"}}), OK],
    "cut off": [http(200, completed())[:-20], OK],
}
STREAMS: dict[str, list[bytes]] = {
    "whole": [streamed(*WORDS, chunk("stop"), chunk(usage={"prompt_tokens": 3, "completion_tokens": 4}))],
    "without an end": [streamed(*WORDS, done=False)],
    "cut in the middle": [streamed(*WORDS, done=False, cut=True)],
    "an error in it": [streamed(*WORDS, {"error": {"message": "overloaded"}})],
    "nothing": [streamed(done=False), streamed(chunk("stop", content="again"))],
}


def exchanges(folder: Path, account: str = "agent") -> list[Exchange]:
    with Store(folder / "cassettes" / f"{account}.sqlite", writes=False) as store:
        return [exchange for name in store.names() for exchange in store.exchanges(name)]


async def thrice(deck: DeckMaker, serve: Servers, script: list[bytes], work: Callable[[Deck], Any]) -> list[Any]:
    """The outcome and model calls of work done unrecorded, recorded, and replayed with long waits and no endpoint."""
    outcomes = []
    for mode in ("off", "record", "replay"):
        if mode != "replay":
            endpoint = await serve([OK, *script])
        else:
            serve.stop()
        start = time.monotonic()
        async with deck(mode, endpoint.base_url, first_seconds=60 if mode == "replay" else 0.01) as d:
            await d.ask("first")
            outcome = await outcome_of(work(d))
        assert d.notes == []
        kind, text = outcome
        outcomes.append(((kind, text.replace(str(endpoint.port), "PORT")), model_calls(d.events)))
    assert time.monotonic() - start < 50
    return outcomes


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
async def test_a_model_call_is_replayed_with_its_failures_and_without_waiting(
    deck: DeckMaker, serve: Servers, script: list[bytes], tmp_path: Path
) -> None:
    live, recorded, replayed = await thrice(deck, serve, script, Deck.ask)
    assert live == recorded == replayed
    assert {exchange.role for exchange in exchanges(tmp_path)} == {"aiq.planner"}


async def test_embeddings_are_replayed_and_a_miss_shows_the_changed_text(
    deck: DeckMaker, serve: Servers, tmp_path: Path
) -> None:
    vectors = [[0.125, -1.0, 1 / 3], [1e-9, 2.0, 0.5]]
    data = [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]
    script = [error(500), http(200, {"data": data, "usage": {"prompt_tokens": 5, "total_tokens": 5}})]

    async def embed(d: Deck, other: str = "two") -> list[list[float]]:
        return await d.session.models.embed("aiq.memory", ["one", other], model="e")

    live, recorded, replayed = await thrice(deck, serve, script, embed)
    assert live == recorded == replayed
    assert recorded[0] == ("value", str(vectors))
    recordings = [exchange for exchange in exchanges(tmp_path) if exchange.role == "aiq.memory"]
    assert [exchange.status for exchange in recordings] == [500, 200]
    with pytest.raises(CassetteMiss, match=r'input\[1\]: recorded "two", now "three"'):
        async with deck("replay", recordings[0].url.removesuffix("/embeddings")) as d:
            await embed(d, "three")


async def test_an_answer_that_did_not_come_or_end_in_time_times_out_again(
    deck: DeckMaker, serve: Servers, tmp_path: Path
) -> None:
    unending = http(200, completed("never whole"), content_length="100000")
    for script, options, error_ in (
        ([OK], {"delay": 2}, "ReadTimeout: no answer in time (ReadTimeout)"),
        ([unending], {"blank_every": 0.1}, f"{GIVEN_UP}: 0.00"),
    ):
        endpoint = await serve([*script], **options)
        outcomes = []
        for mode in ("off", "record", "replay"):
            if mode == "replay":
                serve.stop()
            async with deck(mode, endpoint.base_url, timeout_seconds=0.3) as d:
                outcomes.append((await outcome_of(d.ask(str(options))), model_calls(d.events)))
        assert outcomes[0] == outcomes[1] == outcomes[2]
        assert outcomes[0][0][0].startswith("ModelError")
        assert [exchange.error for exchange in exchanges(tmp_path)] == [error_] * 3


@pytest.mark.parametrize("script", STREAMS.values(), ids=STREAMS)
async def test_a_stream_is_replayed_with_every_field_up_to_where_it_broke_off(
    deck: DeckMaker, serve: Servers, script: list[bytes]
) -> None:
    live, recorded, replayed = await thrice(deck, serve, script, Deck.stream)
    assert live == recorded == replayed


async def test_an_unreachable_endpoint_is_recorded_and_asked_again_by_auto(deck: DeckMaker, serve: Servers) -> None:
    endpoint = await serve([OK])
    serve.stop()
    for mode in ("record", "replay"):
        async with deck(mode, endpoint.base_url) as d:
            with pytest.raises(ModelError, match="failed after 3 attempts"):
                await d.ask()
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", endpoint.port)
    async with server, deck("auto", endpoint.base_url) as d:
        assert await d.ask() == "hello"
    async with deck("replay", endpoint.base_url) as d:
        assert await d.ask() == "hello"


async def test_auto_asks_only_what_is_new_and_refresh_deletes_what_is_unused(
    deck: DeckMaker, serve: Servers, tmp_path: Path
) -> None:
    endpoint = await serve([OK])
    for mode, texts, calls, count in [
        ("record", "ab", 2, 2),
        ("auto", "abc", 1, 3),
        ("replay", "ca", 0, 3),
        ("refresh", "bd", 1, 2),
        ("record", "bb", 2, 2),
        ("auto", "bbb", 1, 3),
    ]:
        before = len(endpoint.got)
        async with deck(mode, endpoint.base_url) as d:
            for text in texts:
                await d.ask(text)
        assert len(endpoint.got) - before == calls
        assert len(exchanges(tmp_path)) == count
        assert len(d.notes) == (mode == "replay")


async def test_a_resumed_run_deletes_nothing_and_keeps_what_judges_share_complete(
    deck: DeckMaker, serve: Servers, tmp_path: Path
) -> None:
    endpoint = await serve([OK])
    for mode, text in (("record", "own"), ("refresh", "shared")):
        async with deck(mode, endpoint.base_url, account="judge", from_start=False) as d:
            with shared_slot() if text == "shared" else nullcontext():
                await d.ask(text)
    assert len(exchanges(tmp_path, "judge")) == 2
    with Store(tmp_path / "cassettes" / "judge.sqlite", writes=False) as store:
        assert store.names() == {"s1/1": True, "shared": True}


def test_the_ignored_fields_are_fixed_by_the_recording(tmp_path: Path) -> None:
    for mode, ignored in (("record", ["user"]), ("replay", []), ("replay", ["user"]), ("record", ["user"])):
        Recorder(configured(CassetteSettings, mode=mode, ignored=ignored), tmp_path, Redactor([])).close()
    for mode in ("record", "replay"):
        with pytest.raises(UserError, match=r"was recorded with ignored=\['user'\]; drop your own"):
            Recorder(configured(CassetteSettings, mode=mode, ignored=["id"]), tmp_path, Redactor([]))


async def test_an_unrecorded_request_is_compared_with_the_closest_and_ends_the_work(
    deck: DeckMaker, serve: Servers
) -> None:
    endpoint = await serve([OK])
    async with deck("record", endpoint.base_url) as d:
        await d.ask("one word")
    message = (
        "cassette of s1/1 (agent): not recorded: aiq.planner, POST .*\n  the closest of 1 recorded requests differs in"
        '\n  messages.0..content: recorded "one word", now "one wort" .at character 7.\n  record it with cassette=auto'
    )
    with pytest.raises(CassetteMiss, match=message.replace("(agent)", ".agent.")):
        async with deck("replay", endpoint.base_url) as d:
            await d.ask("one wort")
    with pytest.raises(CassetteMiss):  # even if the caller swallows the error
        async with deck("replay", endpoint.base_url) as d:
            await outcome_of(d.ask("one wort"))
    with pytest.raises(CassetteMiss, match="nothing: it was made more often than it was recorded"):
        async with deck("replay", endpoint.base_url) as d:
            await asyncio.gather(d.ask("one word"), d.ask("one word"))


async def test_an_abandoned_request_is_abandoned_again(deck: DeckMaker, serve: Servers) -> None:
    endpoint = await serve([OK], delay=0.4)

    async def impatient(d: Deck) -> str:
        async with asyncio.timeout(0.2):
            return await d.ask()

    async def beside_a_failure(d: Deck) -> list[str]:
        async def part(number: int) -> str:
            if number:
                return await d.ask()
            await asyncio.sleep(0.1)
            raise ToolError(ToolErrorKind.FAILED, "the other one")

        return await gather_bounded([0, 1], part, 2)

    for work, outcome in ((impatient, ("TimeoutError", "")), (beside_a_failure, ("ToolError failed", "the other one"))):
        for mode in ("record", "replay"):
            async with deck(mode, endpoint.base_url) as d:
                assert await outcome_of(work(d)) == outcome


async def test_a_sample_runs_out_of_time_again_without_waiting(deck: DeckMaker, serve: Servers, tmp_path: Path) -> None:
    endpoint = await serve([OK, OK, OK, OK], delay=0.1)

    async def work(d: Deck) -> None:
        endpoint.delay = 0.1
        await d.ask("first")

        async def branch(name: str) -> None:
            for number in range(3):
                await d.ask(f"{name} {number}")
                d.session.keep_draft(f"{name} {number}")
                endpoint.delay = 60

        await asyncio.gather(branch("one"), branch("other"))

    statuses = []
    for mode, seconds in (("record", 1.0), ("replay", 500)):
        start = time.monotonic()
        async with deck(mode, endpoint.base_url, limits=configured(Limits, sample_seconds=seconds)) as d:
            with pytest.raises(LimitReached, match="sample_seconds"):
                await d.session.within_time(work(d))
        d.session.end()
        statuses.append([call[2] for call in model_calls(d.events)])
    assert time.monotonic() - start < 50
    assert statuses[0] == statuses[1]
    assert [exchange.error for exchange in exchanges(tmp_path)].count(TIME_UP) == 2
    async with deck("replay", endpoint.base_url) as d:  # without a limit, the caller gets the error
        assert (await outcome_of(work(d)))[0] != "value"


PAGES: dict[str, dict[str, Any]] = {
    "/article": {},
    "/away?to=/article": {},
    "/loop/0": {},
    "/status/404": {},
    "/status/503": {},
    "/bomb": {"max_bytes": 100_000},
    "/endless": {"max_bytes": 300_000, "timeout_seconds": 20},
    "/slow": {"timeout_seconds": 0.5},
    "/headers": {},
}


@pytest.mark.parametrize(("path", "web"), PAGES.items(), ids=PAGES)
async def test_pages_are_replayed_with_their_redirects_and_failures(
    deck: DeckMaker, pages_port: int, path: str, web: dict[str, Any], tmp_path: Path
) -> None:
    outcomes = []
    for mode in ("off", "record", "replay"):
        async with deck(mode, web={**web, "allow_hosts": [f"127.0.0.1:{pages_port}"]}) as d:
            outcomes.append(await outcome_of(d.fetch(f"http://127.0.0.1:{pages_port}{path}")))
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert sum(len(exchange.response_body) for exchange in exchanges(tmp_path)) < 1_000_000
    assert {exchange.error for exchange in exchanges(tmp_path)} <= {None, f"{GIVEN_UP}: 0.00"}  # so no replay waits


async def test_a_forbidden_page_is_not_fetched_again_and_the_file_is_unchanged(
    deck: DeckMaker, pages_port: int, tmp_path: Path
) -> None:
    contents = []
    for mode in ("record", "refresh"):
        async with deck(mode, web={"allow_hosts": [f"127.0.0.1:{pages_port}"]}) as d:
            assert "403" in (await outcome_of(d.fetch(f"http://127.0.0.1:{pages_port}/status/403")))[1]
        contents.append((tmp_path / "cassettes" / "agent.sqlite").read_bytes())
    assert contents[0] == contents[1]


async def test_a_refused_or_unreachable_address_fails_again(deck: DeckMaker) -> None:
    for url, allowed in (("http://127.0.0.1:1/", ["127.0.0.1:1"]), ("http://localhost:1/", [])):
        outcomes = []
        for mode in ("off", "record", "replay"):
            async with deck(mode, web={"allow_hosts": allowed}) as d:
                outcomes.append(await outcome_of(d.fetch(url)))
        assert outcomes[0][0].startswith("ToolError")
        assert outcomes[0] == outcomes[1] == outcomes[2]


async def test_secrets_are_redacted_before_an_answer_is_read(deck: DeckMaker, serve: Servers, tmp_path: Path) -> None:
    halves = [chunk(content=part) for part in ("key ", CANARY[:8], CANARY[8:], " end")]
    for script, ask in (
        ([http(200, completed(f"it is {CANARY}"), set_cookie=CANARY, x_request_id=f"id-{CANARY}")], Deck.ask),
        ([error(400, f"wrong key {CANARY}")], Deck.ask),
        ([streamed(*halves, chunk("stop"))], Deck.stream),
    ):
        endpoint = await serve([OK, *script])
        outcomes = []
        for mode in ("record", "replay"):
            async with deck(mode, endpoint.base_url) as d:
                await d.ask("first")
                outcomes.append(await outcome_of(ask(d, f"do you know {CANARY}?")))
            assert CANARY not in str(outcomes) + str(d.events).replace(f"do you know {CANARY}", "")
        assert CANARY in str(endpoint.got[1].body)
        assert outcomes[0] == outcomes[1]
    for data in unpacked(tmp_path / "cassettes" / "agent.sqlite"):
        assert CANARY.encode() not in data


async def test_an_abandoned_read_records_how_long_a_replay_waits(
    deck: DeckMaker, serve: Servers, tmp_path: Path
) -> None:
    endpoint = await serve([OK], delay=5)
    async with deck("record", endpoint.base_url) as d:
        await outcome_of(asyncio.wait_for(d.ask(), 0.2))
    ((name, _, seconds),) = [(exchange.error or "").partition(": ") for exchange in exchanges(tmp_path)]
    assert name == GIVEN_UP
    assert 0.1 <= float(seconds) < 2
