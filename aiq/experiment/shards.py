"""A run in several processes: each does one shard of it, with its own files in a shared folder.

Shards share nothing but the folder. The first to start writes the manifest, the last to end writes the summary; a
shard that is started again continues where it stopped.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from aiq.core.errors import AiqError, ConfigError, RunAborted, UserError
from aiq.core.samples import Shard
from aiq.core.settings import dotted
from aiq.experiment.launchers.base import Launcher, ShardEnd
from aiq.experiment.plan import RunPlan
from aiq.experiment.provenance import NOT_HASHED, new_manifest
from aiq.experiment.runner import Observer, RunOutcome, read_numbers, stop_on_signal, write_end_of_shards
from aiq.runs.folder import RunFolder
from aiq.runs.follow import FollowedRun
from aiq.runs.manifest import Manifest, RunStatus

POLL_SECONDS = 0.5
RESTARTS = 3
"""How often a shard whose process is killed is started before the run gives up on it."""


def join_run(plan: RunPlan, folder: RunFolder) -> tuple[RunPlan, Manifest]:
    """The run that the plan's shard belongs to, created if this is the first shard, whose clock all of them use.

    Raises ConfigError if the folder's run has other settings.
    """
    folder.create()
    manifest = new_manifest(plan, folder.run_id)
    with folder.for_shard(plan.settings.shard).shared_lock():
        if not folder.manifest_path.exists():
            folder.write_manifest(manifest)
        first = folder.read_manifest()
    plan = replace(plan, settings=plan.settings.model_copy(update={"clock": datetime.fromisoformat(first.clock)}))
    manifest = new_manifest(plan, folder.run_id)
    if manifest.hashes != first.hashes:
        old, new = (dotted({k: v for k, v in m.config.items() if k not in NOT_HASHED}) for m in (first, manifest))
        key = next((name for name in {**old, **new} if old.get(name) != new.get(name)), None)
        difference = f"{key} is {old.get(key)!r} there and {new.get(key)!r} here" if key else "code or prompts differ"
        raise ConfigError(
            f"{folder.path} is a different run: {difference}; give all shards the same settings, or use another run_id"
        )
    return plan, first


async def run_shards(
    plan: RunPlan, folder: RunFolder, observer: Observer, earlier: Manifest | None = None
) -> RunOutcome:
    """As `execute`, but start `runner.processes` shards and wait for them."""
    runner, start = plan.settings.runner, time.monotonic()
    launcher: Launcher = runner.launcher.make("runner.launcher")[0]
    shards = [Shard(number, runner.processes) for number in range(1, runner.processes + 1)]
    async with launcher.opened(len(shards)):
        folder.create()
        with folder.lock():  # nobody is at work here
            previous = read_numbers(folder)
            manifest = earlier.with_judges(plan.spec.judges) if earlier else new_manifest(plan, folder.run_id)
            folder.write_manifest(manifest.model_copy(update={"status": "running", "finished": None}))
        followed, error, stop = FollowedRun(folder, plan.spec.keys), None, asyncio.Event()
        followed.poll()
        status: RunStatus = "failed"
        try:
            with stop_on_signal(stop, folder.path):
                observer.started(followed.state)
                work = asyncio.ensure_future(_run_all(launcher, folder, shards))
                stop_task = asyncio.create_task(stop.wait())
                try:
                    while not (work.done() or stop.is_set()):
                        await asyncio.wait({work, stop_task}, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                        notify(followed, observer)
                finally:
                    stop_task.cancel()
                    work.cancel()
                    await asyncio.wait({work})
                status, error = ("interrupted", None) if work.cancelled() else combined_end(work.result())
        except asyncio.CancelledError:
            status = "interrupted"
            raise
        except AiqError as raised:
            error = raised if isinstance(raised, UserError) else RunAborted(str(raised))
        finally:
            seconds = (previous.timing.run_seconds if previous else 0.0) + time.monotonic() - start
            state, summary, changed = write_end_of_shards(plan, folder, folder.read_manifest(), status, seconds)
    exit_code, excesses = state.exit_code(summary.status), state.excess_failures()
    return RunOutcome(summary, summary.status, exit_code, excesses, error, changed)


async def _run_all(launcher: Launcher, folder: RunFolder, shards: Sequence[Shard]) -> list[ShardEnd]:
    async def run_one(shard: Shard) -> ShardEnd:
        for _ in range(RESTARTS):
            end = await launcher.run(folder.path.absolute(), shard)
            if end.code >= 0:
                break
        return end

    return await asyncio.gather(*map(run_one, shards))


def combined_end(ends: Sequence[ShardEnd]) -> tuple[RunStatus, UserError | None]:
    """How a run ends whose shards ended like this: what stopped one of them stopped the run."""
    for number, end in enumerate(ends, 1):
        if end.code < 0:
            message = f"the process of shard {number}/{len(ends)} was killed {RESTARTS} times: {end.error}"
            return "interrupted", RunAborted(message)
        if end.code in (2, 130):
            return ("failed" if end.code == 2 else "interrupted"), UserError(
                end.error.partition("; finished work is kept")[0]
            )
    return "finished", None


def notify(followed: FollowedRun, observer: Observer) -> None:
    """Pass on what is new in a run."""
    finished, retried = followed.poll()
    for key in retried:
        observer.retrying(key)
    for key in finished:
        observer.finished(key)
