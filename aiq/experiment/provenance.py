"""Where a run comes from: digests that tell agents, judges and configs apart, versions, and the first manifest."""

import functools
import hashlib
import importlib
import importlib.metadata
import json
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aiq import __version__
from aiq.agents.base import OwnModels
from aiq.core.files import resolve
from aiq.core.llm_settings import LlmSettings
from aiq.experiment.resources import is_offline_model, is_offline_name
from aiq.experiment.sessions import user_prompt_hash
from aiq.judges.base import Judge
from aiq.runs.manifest import DatasetIdentity, Hashes, Manifest

if TYPE_CHECKING:
    from aiq.experiment.plan import RunPlan

NOT_HASHED: Final = (
    "output_dir",
    "run_id",
    "shard",
    "judge_reliability",
    "intervals",
    "runner",
    "cassette",
    "telemetry",
)
_PACKAGES: Final = ("openai", "httpx2", "langchain-core", "langgraph", "deepagents", "pydantic", "bm25s", "trafilatura")


def new_manifest(plan: "RunPlan", run_id: str) -> Manifest:
    """A manifest with status `running`, the same for the whole run and for each of its shards."""
    settings, dataset = plan.settings.model_copy(update={"shard": None}), plan.dataset
    config = settings.model_dump(mode="json")
    excluded = NOT_HASHED if settings.tools.mcp else (*NOT_HASHED, "tools")  # limits for servers that do not exist
    manifest = Manifest(
        run_id=run_id,
        experiment=settings.name,
        status="running",
        started=utc_now(),
        config=config,
        overrides=tuple(text for text in plan.overrides if not text.startswith("shard=")),
        options=plan.options,
        hashes=Hashes(
            config=digest_of({key: value for key, value in config.items() if key not in excluded}),
            agent=agent_digest(plan),
            judges={},
            prompts=prompts_of(plan),
        ),
        models=models_of(plan),
        dataset=DatasetIdentity(
            name=dataset.name, fingerprint=dataset.fingerprint, size=dataset.size, samples=len(dataset.samples)
        ),
        clock=settings.clock.isoformat(),
        offline=is_offline_model(settings),
        elsewhere=tuple(role for role, model in _own_models(plan).items() if not is_offline_name(model)),
        versions=_package_versions(),
        git_revision=_git_revision(),
        sweep=plan.sweep,
    )
    return manifest.with_judges(plan.spec.judges)


def digest_of(value: Any) -> str:
    """The first 16 hex digits of the SHA-256 of a JSON value with sorted keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def agent_digest(plan: "RunPlan") -> str:
    """The digest that tells agents apart: class, settings with all defaults, and prompts."""
    target, settings = plan.settings.agent.target, plan.agent_settings.model_dump(mode="json")
    return digest_of({"target": target, "settings": settings, "prompts": prompts_digest(plan)})


def prompts_digest(plan: "RunPlan") -> str | None:
    """The digest of all templates in the `prompts` folder beside the agent's module; None if there are none.

    A template in the agent's `prompts_dir`, if it has that setting, replaces the one of the same name.
    """
    module = importlib.import_module(plan.settings.agent.target.partition(":")[0])
    folder, variants = Path(module.__file__ or "").parent / "prompts", getattr(plan.agent_settings, "prompts_dir", None)
    files = {str(file.relative_to(folder)): file for file in sorted(folder.glob("**/*.j2"))}
    if variants is not None:
        files |= {name: file for name in files if (file := resolve(variants) / name).is_file()}
    return digest_of({name: file.read_text(encoding="utf-8") for name, file in files.items()}) if files else None


def prompts_of(plan: "RunPlan") -> dict[str, str]:
    """The digests of the prompts of the agent, the simulated user and each judge, if they have any."""
    prompts = {planned.spec.name: planned.judge.prompt_hash for planned in plan.judges}
    prompts |= {"agent": prompts_digest(plan), "user": user_prompt_hash(plan.settings.user)}
    return {name: digest for name, digest in sorted(prompts.items()) if digest is not None}


def models_of(plan: "RunPlan", used_roles: Iterable[str] = ()) -> dict[str, str]:
    """Model by role: the default, the roles with their own model, and the roles actually used."""
    llm = plan.settings.llm
    models = {role: llm.role(role).model or llm.model for role in (*llm.roles, *used_roles)}
    for judge in (planned.judge for planned in plan.judges):
        models |= {role: ", ".join(models_of_role(judge, llm, role)) for role in judge.roles}
    return {"default": llm.model, **dict(sorted({**models, **_own_models(plan)}.items()))}


def _own_models(plan: "RunPlan") -> Mapping[str, str]:
    """Model by role, for models that the agent reaches by itself."""
    return plan.agent.models if isinstance(plan.agent, OwnModels) else {}


def models_of_role(judge: Judge, llm: LlmSettings, role: str) -> tuple[str, ...]:
    """The models that a judge asks in a role: its panel, or the role's own model."""
    return judge.panels.get(role) or (llm.role(role).model or llm.model,)


@functools.cache
def _package_versions() -> dict[str, str]:
    """The versions of aiq and of the packages that affect requests and answers."""
    versions = {"aiq": __version__}
    for name in _PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


@functools.cache
def _git_revision() -> str | None:
    """The commit of the checkout that aiq runs from, with a `+` if files differ from it; None outside a checkout."""
    folder = Path(__file__).resolve().parent

    def git(*arguments: str) -> str | None:
        command: list[Any] = ["git", "-C", folder, *arguments]
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return result.stdout.strip() if result.returncode == 0 else None

    if git("ls-files", "--error-unmatch", "provenance.py") is None:
        return None  # an installed copy inside another repository
    revision = git("rev-parse", "HEAD")
    changes = git("status", "--porcelain", "--untracked-files=no", "--", str(folder.parent))
    return f"{revision}+" if revision and changes else revision


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
