"""What a run will do, made and checked before anything is spent, and the first manifest, which says so."""

import hashlib
import importlib
import importlib.metadata
import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aiq import __version__
from aiq.agents.base import Agent
from aiq.core import plugins
from aiq.core.errors import ConfigError
from aiq.core.files import resolve
from aiq.core.samples import Document, Sample, SampleKey
from aiq.core.settings import KnowledgeSettings, LlmSettings, Plugin, RunSettings
from aiq.core.tools import Toolbox
from aiq.experiment.resources import is_offline_model
from aiq.experiment.sessions import user_prompt_hash
from aiq.judges.base import Judge, make_judge
from aiq.runs.manifest import DatasetIdentity, Hashes, JudgeSpec, Manifest, RunSpec, SweepPlace
from aiq.tools.knowledge.adding import add_files
from aiq.tools.knowledge.store import Collections

if TYPE_CHECKING:
    from aiq.datasets import Dataset

DATA_SOURCE: Final = "documents"
_NOT_HASHED: Final = ("output_dir", "judge_reliability", "runner", "cassette")
_PACKAGES: Final = ("openai", "httpx2", "langchain-core", "langgraph", "deepagents", "pydantic", "bm25s", "trafilatura")


@dataclass(frozen=True)
class JudgePlan:
    """A judge, ready, with what it declares. `model`: all that it asks, None for one that asks none."""

    judge: Judge
    spec: JudgeSpec
    model: str | None


@dataclass(frozen=True)
class RunPlan:
    """Everything a run needs that costs no money and opens no connection."""

    settings: RunSettings
    overrides: tuple[str, ...]
    agent: Agent
    agent_settings: Any
    judges: tuple[JudgePlan, ...]
    dataset: "Dataset"
    sweep: SweepPlace | None = None
    options: Mapping[str, str] = field(default_factory=dict)  # see `compose.chosen_options`

    @cached_property
    def spec(self) -> RunSpec:
        """The rules of the run, with every key, sample by sample."""
        epochs = range(1, self.settings.epochs + 1)
        keys = tuple(SampleKey(sample.id, epoch) for sample in self.dataset.samples for epoch in epochs)
        return RunSpec(keys, tuple(planned.spec for planned in self.judges), self.settings.runner)


def make_plan(
    settings: RunSettings,
    overrides: Sequence[str] = (),
    sweep: SweepPlace | None = None,
    options: Mapping[str, str] | None = None,
) -> RunPlan:
    """Load and check the parts. Raises ConfigError or DatasetError, one line."""
    from aiq import datasets

    agent, agent_settings = plugins.make(settings.agent, "agent")
    judges = tuple(_plan_judge(name, plugin, settings) for name, plugin in settings.judge.items())
    owners: dict[str, str] = {}
    for name, metric in [(planned.spec.name, metric.name) for planned in judges for metric in planned.spec.metrics]:
        if owners.setdefault(metric, name) != name:
            raise ConfigError(f"judge: {owners[metric]} and {name} both yield {metric}; keep one")
    dataset = datasets.load(settings.dataset, seed=settings.seed, limit=settings.limit)
    if not dataset.samples:
        raise ConfigError(f"dataset {dataset.name}: the filters leave none of its {dataset.size} samples")
    dataset = dataset.model_copy(update={"samples": with_documents(dataset.samples, settings.knowledge)})
    for planned in judges:
        planned.judge.check(dataset.samples)
    return RunPlan(settings, tuple(overrides), agent, agent_settings, judges, dataset, sweep, options or {})


def _plan_judge(name: str, plugin: Plugin, run: RunSettings) -> JudgePlan:
    """The judge with a hash of all that decides its scores but the reports."""
    judge, settings = make_judge(name, plugin)
    llm = run.llm
    decides: dict[str, Any] = {
        "target": plugin.target,
        "settings": settings.model_dump(mode="json"),
        "version": judge.version,
        "prompt": judge.prompt_hash,
        "models": {role: llm.setup(role) for role in judge.roles},
    }
    decides |= {"endpoint": llm.endpoint} if judge.roles else {}
    decides |= {"web": web_of(run)} if judge.reads_web else {}
    models = {model for role in judge.roles for model in models_of_role(judge, llm, role)}
    spec = JudgeSpec(name=name, version=judge.version, hash=digest_of(decides), metrics=judge.metrics)
    return JudgePlan(judge, spec, ", ".join(sorted(models)) or None)


def web_of(settings: RunSettings) -> tuple[str, str | None]:
    """Where pages come from: the kind of web, and the corpus where it is one."""
    return settings.web.kind, settings.search.corpus if settings.web.kind == "corpus" else None


def with_documents(samples: Sequence[Sample], settings: KnowledgeSettings) -> tuple[Sample, ...]:
    """The samples, each question listing the documents of its collection where its row lists none.

    One that may not search documents is told of none. Adds `knowledge.documents` first. Raises UserError for a file
    or collection, ConfigError for a setting.
    """
    _add_documents(settings)

    @cache
    def listed(collection: str) -> tuple[Document, ...]:
        stored = Collections(settings.dir).existing(collection).documents
        return tuple(Document(file_name=document.file_name, summary=document.summary) for document in stored)

    found = []
    for sample in samples:
        question = sample.question
        name = question.collection_name or settings.collection
        documents = listed(name) if name is not None else ()
        barred = question.data_sources is not None and DATA_SOURCE not in question.data_sources
        documents = question.documents if barred or question.documents else documents
        found.append(sample.model_copy(update={"question": question.model_copy(update={"documents": documents})}))
    return tuple(found)


def _add_documents(settings: KnowledgeSettings) -> None:
    if not settings.documents:
        return
    if settings.collection is None:
        raise ConfigError("knowledge.documents are added to a collection; name it with knowledge.collection")
    if settings.summarizer == "model":
        raise ConfigError(
            "knowledge.summarizer=model: a run summarises by rules only; add the documents before it with "
            f"`aiq documents add FILES --collection {settings.collection} --summarizer model` and leave "
            "knowledge.documents empty"
        )
    add_files(Collections(settings.dir).collection(settings.collection), settings.documents, settings)


def collections_of(samples: Sequence[Sample]) -> tuple[str, ...]:
    """The collections that questions name, each once, in order."""
    return tuple(dict.fromkeys(name for sample in samples if (name := sample.question.collection_name)))


def check_data_sources(samples: Sequence[Sample], tools: Toolbox) -> None:
    """Raises ConfigError where a question names a data source that no tool of the run serves."""
    known = {tool.data_source for tool in tools.select(None) if tool.data_source}
    asked = ((sample.id, name) for sample in samples for name in sample.question.data_sources or ())
    for sample, name in asked:
        if name not in known:
            remedy = {"papers": "; set papers.provider", DATA_SOURCE: "; set knowledge.collection"}.get(name, "")
            raise ConfigError(
                f"sample {sample}: no tool of this run serves the data source '{name}' "
                f"(there are: {', '.join(sorted(known)) or 'none'}){remedy}"
            )


def new_manifest(plan: RunPlan, run_id: str) -> Manifest:
    """A manifest of status `running`."""
    settings, dataset = plan.settings, plan.dataset
    config = settings.model_dump(mode="json")
    prompts = {planned.spec.name: planned.judge.prompt_hash for planned in plan.judges}
    prompts |= {"agent": prompts_digest(plan), "user": user_prompt_hash(settings.user)}
    manifest = Manifest(
        run_id=run_id,
        experiment=settings.name,
        status="running",
        started=utc_now(),
        config=config,
        overrides=plan.overrides,
        options=plan.options,
        hashes=Hashes(
            config=digest_of({key: value for key, value in config.items() if key not in _NOT_HASHED}),
            agent=agent_digest(plan),
            judges={},
            prompts={name: digest for name, digest in sorted(prompts.items()) if digest is not None},
        ),
        models=models_of(plan),
        dataset=DatasetIdentity(
            name=dataset.name, fingerprint=dataset.fingerprint, size=dataset.size, samples=len(dataset.samples)
        ),
        clock=settings.clock.isoformat(),
        offline=is_offline_model(settings),
        versions=_package_versions(),
        git_revision=_git_revision(),
        sweep=plan.sweep,
    )
    return manifest.with_judges(plan.spec.judges)


def digest_of(value: Any) -> str:
    """First 16 hex digits of the SHA-256 of a JSON value, keys sorted."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def agent_digest(plan: RunPlan) -> str:
    """Tells agents apart: class, settings with all defaults, and prompts."""
    target, settings = plan.settings.agent.target, plan.agent_settings.model_dump(mode="json")
    return digest_of({"target": target, "settings": settings, "prompts": prompts_digest(plan)})


def prompts_digest(plan: RunPlan) -> str | None:
    """Digest of every template in the `prompts` folder beside the agent's module; None without any.

    A template in the agent's `prompts_dir`, where it has that setting, takes the place of its namesake.
    """
    module = importlib.import_module(plan.settings.agent.target.partition(":")[0])
    folder, variants = Path(module.__file__ or "").parent / "prompts", getattr(plan.agent_settings, "prompts_dir", None)
    files = {str(file.relative_to(folder)): file for file in sorted(folder.glob("**/*.j2"))}
    if variants is not None:
        files |= {name: file for name in files if (file := resolve(variants) / name).is_file()}
    return digest_of({name: file.read_text(encoding="utf-8") for name, file in files.items()}) if files else None


def models_of(plan: RunPlan, used_roles: Iterable[str] = ()) -> dict[str, str]:
    """Model by role: the default, the roles with a model of their own, and those that were really used."""
    llm = plan.settings.llm
    models = {role: llm.role(role).model or llm.model for role in (*llm.roles, *used_roles)}
    for judge in (planned.judge for planned in plan.judges):
        models |= {role: ", ".join(models_of_role(judge, llm, role)) for role in judge.roles}
    return {"default": llm.model, **dict(sorted(models.items()))}


def models_of_role(judge: Judge, llm: LlmSettings, role: str) -> tuple[str, ...]:
    """The models that a judge asks in a role: the panel it names, or the role's own."""
    return judge.panels.get(role) or (llm.role(role).model or llm.model,)


def _package_versions() -> dict[str, str]:
    """Versions of aiq and of the packages that shape requests and answers."""
    found = {"aiq": __version__}
    for name in _PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def _git_revision() -> str | None:
    """The commit of the checkout that aiq runs from, `+` where files differ from it; None outside of one."""
    folder = Path(__file__).resolve().parent

    def git(*arguments: str) -> str | None:
        command: list[Any] = ["git", "-C", folder, *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    if git("ls-files", "--error-unmatch", "plan.py") is None:
        return None  # an installed copy inside somebody else's repository
    revision = git("rev-parse", "HEAD")
    changed = git("status", "--porcelain", "--untracked-files=no", "--", str(folder.parent))
    return f"{revision}+" if revision and changed else revision


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
