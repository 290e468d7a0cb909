"""How a run uses a recording: opens its cassettes, restores its clock, needs no keys, and reports what has changed."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import get_args

from aiq.cassettes.recorder import Account, Recorder, read_description
from aiq.cassettes.redact import Redactor, secret_values
from aiq.core.concurrency import binding
from aiq.core.errors import say
from aiq.core.run_settings import RunSettings
from aiq.core.secrets import register_secrets
from aiq.llm.models import placeholder_key
from aiq.runs.manifest import Manifest

PLACEHOLDER_KEY = "key-of-nobody"
"""Replaces every key in a replay. It is redacted as the key was, unlike the key under which an answer is stored."""
_RUN_OVERRIDES = ("cassette", "output_dir=", "runner.", "telemetry.")  # overrides that do not affect what is recorded


@contextmanager
def without_keys(settings: RunSettings) -> Iterator[None]:
    """In the block, a replayed run needs no keys."""
    with binding(placeholder_key, PLACEHOLDER_KEY if settings.cassette.mode == "replay" else None):
        yield


@contextmanager
def open_recorder(settings: RunSettings, accounts: Sequence[Account] = get_args(Account)) -> Iterator[Recorder]:
    """The run's cassettes for these accounts; from now on journals and stderr show no secret of the run.

    Reports at its end, on stderr, what was not recorded and what was not requested.
    """
    secrets = secret_values(settings.model_dump(mode="json"), os.environ)
    register_secrets(secrets)
    recorder = Recorder(settings.cassette, _folder(settings), Redactor([*secrets, PLACEHOLDER_KEY]), accounts=accounts)
    try:
        with without_keys(settings):
            yield recorder
    finally:
        for note in recorder.close():
            say(f"aiq: {note}")


def as_recorded(settings: RunSettings, job: int | None = None) -> RunSettings:
    """The settings with the recording's clock, which prompts state; each `job` of a sweep has its own folder.

    Raises UserError for a recording that cannot be read.
    """
    if settings.cassette.mode == "off":
        return settings
    folder = _folder(settings) / ("" if job is None else str(job))
    cassette = settings.cassette.model_copy(update={"dir": str(folder)})
    clock = read_description(cassette.mode, folder).get("clock")
    update = {"cassette": cassette, **({"clock": datetime.fromisoformat(clock)} if clock else {})}
    return settings.model_copy(update=update)


def _folder(settings: RunSettings) -> Path:
    return Path(settings.cassette.dir or f"cassettes/{settings.name}")


def begin_recording(recorder: Recorder, manifest: Manifest) -> None:
    """Describe the run in the recording; report on stderr which prompts have changed since an earlier one.

    Changed prompts are described at the end, if no sample's cassette is left that was recorded with the earlier ones.
    """
    current = manifest.hashes.prompts
    recorded = {name: digest for name, digest in recorder.about.get("prompts", {}).items() if name in current}
    for name in [name for name, digest in recorded.items() if current[name] != digest]:
        say(f"aiq: the prompts of {name} have changed since the recording was made")
    overrides = manifest.rescored.overrides if manifest.rescored else manifest.overrides
    recorder.describe(
        {
            "experiment": manifest.experiment,
            "overrides": [text for text in overrides if not text.startswith(_RUN_OVERRIDES)],
            "clock": manifest.clock,
            "prompts": {**current, **recorded},
            "versions": dict(manifest.versions),
        }
    )
