"""What a run will do, made and checked before anything is spent: the agent, the judges, the samples.

What the questions of a run may look into: its documents are added, its collections checked and listed.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiq.agents.base import Agent
from aiq.analysis.calibration import read as read_calibration
from aiq.core import plugins
from aiq.core.errors import ConfigError
from aiq.core.files import resolve
from aiq.core.reports import Metric
from aiq.core.samples import Document, Question, Sample, SampleKey
from aiq.core.settings import KnowledgeSettings, LlmSettings, Plugin, RunSettings
from aiq.core.tools import Toolbox
from aiq.judges.base import Judge, make_judge
from aiq.runs.rows import SweepPlace
from aiq.tools.knowledge.adding import add_files
from aiq.tools.knowledge.store import Collections

DATA_SOURCE = "documents"


def with_documents(samples: Sequence[Sample], settings: KnowledgeSettings) -> tuple[Sample, ...]:
    """The samples, each question listing the documents of its collection where its row lists none.

    Adds `knowledge.documents` first. Raises UserError for a file or collection, ConfigError for a setting.
    """
    _add(settings)
    listed: dict[str, tuple[Document, ...]] = {}
    for sample in samples:
        name = sample.question.collection_name or settings.collection
        if name is not None and name not in listed:
            listed[name] = _documents(name, settings)
    return tuple(sample.model_copy(update={"question": _with(sample.question, settings, listed)}) for sample in samples)


def collections_of(samples: Sequence[Sample]) -> tuple[str, ...]:
    """The collections that questions name, each once, in order."""
    return tuple(dict.fromkeys(name for sample in samples if (name := sample.question.collection_name)))


def check_data_sources(samples: Sequence[Sample], tools: Toolbox) -> None:
    """Raises ConfigError where a question names a data source that no tool of the run serves."""
    known = {tool.data_source for tool in tools.select(None) if tool.data_source}
    for sample in samples:
        for name in sample.question.data_sources or ():
            if name not in known:
                remedy = {"papers": "; set papers.provider", DATA_SOURCE: "; set knowledge.collection"}.get(name, "")
                raise ConfigError(
                    f"sample {sample.id}: no tool of this run serves the data source '{name}' "
                    f"(there are: {', '.join(sorted(known)) or 'none'}){remedy}"
                )


def _add(settings: KnowledgeSettings) -> None:
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


def _documents(name: str, settings: KnowledgeSettings) -> tuple[Document, ...]:
    stored = Collections(settings.dir).existing(name).documents
    return tuple(Document(file_name=document.file_name, summary=document.summary) for document in stored)


def _with(question: Question, settings: KnowledgeSettings, listed: Mapping[str, tuple[Document, ...]]) -> Question:
    """The question with its collection and documents; one that may not search documents is told of none."""
    name = question.collection_name or settings.collection
    barred = question.data_sources is not None and DATA_SOURCE not in question.data_sources
    if name is None or barred or question.documents:
        return question
    return question.model_copy(update={"documents": listed[name]})


if TYPE_CHECKING:
    from aiq.datasets import Dataset


@dataclass(frozen=True)
class JudgePlan:
    """A judge, ready, and the hash that tells its scores from those of other settings, prompts or models."""

    name: str
    judge: Judge
    hash: str
    model: str | None

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return self.judge.metrics


@dataclass(frozen=True)
class Plan:
    """Everything a run needs that costs no money and opens no connection."""

    settings: RunSettings
    overrides: tuple[str, ...]
    agent: Agent
    agent_settings: Any
    judges: tuple[JudgePlan, ...]
    dataset: "Dataset"
    sweep: SweepPlace | None = None

    @cached_property
    def keys(self) -> tuple[SampleKey, ...]:
        """Every (sample, epoch), sample by sample."""
        epochs = range(1, self.settings.epochs + 1)
        return tuple(SampleKey(sample.id, epoch) for sample in self.dataset.samples for epoch in epochs)


def make_plan(settings: RunSettings, overrides: tuple[str, ...] = (), sweep: SweepPlace | None = None) -> Plan:
    """Load and check the parts. Raises ConfigError or DatasetError, one line."""
    if settings.judge_reliability is not None:
        read_calibration(resolve(settings.judge_reliability))
    agent, agent_settings = plugins.make(settings.agent, "agent")
    judges = tuple(_plan_judge(name, plugin, settings) for name, plugin in settings.judge.items())
    _check_metrics(judges)
    from aiq import datasets

    dataset = datasets.load(settings.dataset, seed=settings.seed, limit=settings.limit)
    if not dataset.samples:
        raise ConfigError(f"dataset {dataset.name}: the filters leave none of its {dataset.size} samples")
    dataset = dataset.model_copy(update={"samples": with_documents(dataset.samples, settings.knowledge)})
    for planned in judges:
        planned.judge.check(dataset.samples)
    return Plan(settings, overrides, agent, agent_settings, judges, dataset, sweep)


def _plan_judge(name: str, plugin: Plugin, run: RunSettings) -> JudgePlan:
    judge, settings = make_judge(name, plugin)
    llm = run.llm
    digest = digest_of(
        {
            "target": plugin.target,
            "settings": settings.model_dump(mode="json"),
            "version": judge.version,
            "prompt": judge.prompt_hash,
            "models": {role: llm.setup(role) for role in judge.roles},
            **({"endpoint": llm.endpoint} if judge.roles else {}),
            **({"web": web_of(run)} if judge.reads_web else {}),
        }
    )
    models = {model for role in judge.roles for model in models_of_role(judge, llm, role)}
    return JudgePlan(name, judge, digest, ", ".join(sorted(models)) or None)


def web_of(settings: RunSettings) -> tuple[str, str | None]:
    """Where pages come from: the kind of web, and the corpus where it is one."""
    return settings.web.kind, settings.search.corpus if settings.web.kind == "corpus" else None


def models_of_role(judge: Judge, llm: LlmSettings, role: str) -> tuple[str, ...]:
    """The models that a judge asks in a role: the panel it names, or the role's own."""
    return judge.panels.get(role) or (model_of(llm, role),)


def _check_metrics(judges: tuple[JudgePlan, ...]) -> None:
    owners: dict[str, str] = {}
    for planned in judges:
        for metric in planned.metrics:
            if owners.setdefault(metric.name, planned.name) != planned.name:
                raise ConfigError(f"judge: {owners[metric.name]} and {planned.name} both yield {metric.name}; keep one")


def model_of(llm: LlmSettings, role: str) -> str:
    """The model that serves a role, as `RunModels.name` has it."""
    return llm.role(role).model or llm.model


def digest_of(value: Any) -> str:
    """First 16 hex digits of the SHA-256 of a JSON value, keys sorted."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def prompts_digest(plan: Plan) -> str | None:
    """Digest of every template in the `prompts` folder beside the agent's module; None without any.

    A template in the agent's `prompts_dir`, where it has that setting, takes the place of its namesake.
    """
    import importlib

    module = importlib.import_module(plan.settings.agent.target.partition(":")[0])
    folder, variants = Path(module.__file__ or "").parent / "prompts", getattr(plan.agent_settings, "prompts_dir", None)
    files = {str(file.relative_to(folder)): file for file in sorted(folder.glob("**/*.j2"))}
    if variants is not None:
        files |= {name: file for name in files if (file := resolve(variants) / name).is_file()}
    return digest_of({name: file.read_text(encoding="utf-8") for name, file in files.items()}) if files else None


def agent_digest(plan: Plan) -> str:
    """Tells agents apart: class, settings with all defaults, and prompts."""
    target = plan.settings.agent.target
    settings: Mapping[str, Any] = plan.agent_settings.model_dump(mode="json")
    return digest_of({"target": target, "settings": settings, "prompts": prompts_digest(plan)})
