"""Making a run's manifest: hashes of what decides the numbers, and the versions of the code that made them."""

import importlib.metadata
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from aiq import __version__
from aiq.experiment import sessions as users
from aiq.experiment.compose import config_of
from aiq.experiment.plan import Plan, agent_digest, digest_of, model_of, models_of_role, prompts_digest
from aiq.runs.rows import DatasetIdentity, Hashes, Manifest

_NOT_IN_THE_HASH = ("output_dir", "judge_reliability", "runner", "cassette")
_PACKAGES = ("openai", "httpx2", "langchain-core", "langgraph", "deepagents", "pydantic", "bm25s", "trafilatura")


def new_manifest(plan: Plan, run_id: str, *, offline: bool) -> Manifest:
    """A manifest of status `running`."""
    settings = plan.settings
    config = config_of(settings)
    return Manifest(
        run_id=run_id,
        experiment=settings.name,
        status="running",
        started=utc_now(),
        config=config,
        overrides=plan.overrides,
        hashes=hashes_of(plan, config),
        models=models_of(plan),
        dataset=DatasetIdentity(
            name=plan.dataset.name,
            fingerprint=plan.dataset.fingerprint,
            size=plan.dataset.size,
            samples=len(plan.dataset.samples),
        ),
        clock=settings.clock.isoformat(),
        offline=offline,
        versions=package_versions(),
        git_revision=git_revision(),
        sweep=plan.sweep,
    )


def hashes_of(plan: Plan, config: dict[str, JsonValue]) -> Hashes:
    prompts = {planned.name: planned.judge.prompt_hash for planned in plan.judges}
    prompts["agent"] = prompts_digest(plan)
    prompts["user"] = users.prompt_hash(plan.settings.user)
    return Hashes(
        config=digest_of({key: value for key, value in config.items() if key not in _NOT_IN_THE_HASH}),
        agent=agent_digest(plan),
        judges={planned.name: planned.hash for planned in plan.judges},
        prompts={name: digest for name, digest in sorted(prompts.items()) if digest is not None},
    )


def models_of(plan: Plan, used_roles: tuple[str, ...] = ()) -> dict[str, str]:
    """Model by role: the default, the roles with a model of their own, and those that were really used."""
    llm = plan.settings.llm
    judged = {
        role: ", ".join(models_of_role(planned.judge, llm, role))
        for planned in plan.judges
        for role in planned.judge.roles
    }
    roles = {*llm.roles, *used_roles, *judged}
    return {"default": llm.model, **{role: judged.get(role) or model_of(llm, role) for role in sorted(roles)}}


def package_versions() -> dict[str, str]:
    """Versions of aiq and of the packages that shape requests and answers."""
    found: dict[str, str] = {"aiq": __version__}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def git_revision() -> str | None:
    """The commit of the checkout that aiq runs from, `+` where files differ from it; None outside of one."""
    folder = Path(__file__).resolve().parent

    def git(*arguments: str) -> str | None:
        command: list[Any] = ["git", "-C", folder, *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    if git("ls-files", "--error-unmatch", "provenance.py") is None:
        return None  # an installed copy inside somebody else's repository
    revision = git("rev-parse", "HEAD")
    changed = git("status", "--porcelain", "--untracked-files=no", "--", str(folder.parent))
    return f"{revision}+" if revision and changed else revision


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
