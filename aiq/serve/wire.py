"""What goes over the wire: requests, responses and events, as OpenAPI describes them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag, create_model, model_validator
from pydantic.fields import FieldInfo

from aiq.core.base import Record
from aiq.core.reports import Audit, CitationStatus
from aiq.core.usage import Usage
from aiq.serve.events import EventType
from aiq.serve.settings import ServeSettings

TaskStatus = Literal["queued", "running", "waiting", "completed", "limit", "failed", "cancelled"]
UNFINISHED: tuple[TaskStatus, ...] = ("queued", "running", "waiting")


class ApiError(Record):
    """What every response with a status of 400 or above contains."""

    code: str = Field(description="the kind; of a failed task also the type of its error", examples=["not_found"])
    message: str = Field(description="one line", examples=["there is no such task"])


class ErrorBody(Record):
    error: ApiError


class Asked(Record):
    """An approval that a task waits for."""

    approval_id: str
    kind: Literal["plan", "question"]
    prompt: str = Field(description="the plan or the question, in Markdown")


class Citation(Record):
    number: int = Field(description="n of [n] in the report")
    url: str | None = None
    citation_key: str | None = Field(default=None, description="for a document")
    title: str = ""


class TaskUsage(Record):
    """Usage of the task's last attempt: sums over its model calls."""

    total_tokens: int
    input_tokens: int
    output_tokens: int
    calls: int
    estimated_cost: float | None = Field(description="US dollars; null: a model has no price")
    by_role: Mapping[str, Usage] = {}


class TaskSummary(Record):
    """A task in a list."""

    task_id: str
    workflow_id: str = Field(description="the same as task_id")
    query: str
    agent: str
    status: TaskStatus = Field(description="waiting: for an approval; limit: cut off by a limit, with what there was")
    attempt: int = Field(description="counts from 1; after a restart of the server an unfinished task gets another")
    created_at: str
    started_at: str | None = None
    finished_at: str | None = None


class TaskView(TaskSummary):
    """A task with its results."""

    context: Mapping[str, JsonValue] = {}
    turns: tuple[str, ...] = ()
    approval: Asked | None = None
    result: str | None = Field(default=None, description="the verified report, Markdown with [n]")
    route: str | None = None
    citation_status: CitationStatus | None = None
    citations: tuple[Citation, ...] = ()
    audit: Audit | None = Field(default=None, description="what verification kept and removed")
    usage: TaskUsage | None = None
    metadata: Mapping[str, JsonValue] = {}
    error: ApiError | None = None
    run: str | None = Field(default=None, description="id of its run folder, for aiq show")


class TaskList(Record):
    tasks: tuple[TaskSummary, ...]
    next: int | None = Field(description="send it as `before` to get the next page; null: there is none")


class Body(BaseModel):
    """A request's body: no unknown fields, and no conversion between types."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _whole_numbers(cls, body: Any) -> Any:
        """JSON has one kind of number: 3.0 is 3."""
        if not isinstance(body, dict):
            return body
        return {k: int(v) if isinstance(v, float) and v.is_integer() else v for k, v in body.items()}


class DecisionRequest(Body):
    """Of a plan: approved, or what to change, or (neither) rejected. Of a question: the answer, or it is skipped."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "workflow_id": "4f0c1d7e9b2a4c6d8e0f1a2b3c4d5e6f",
                "approval_id": "a1b2c3d4e5f60718",
                "approved": True,
                "feedback": "Looks good",
            }
        },
    )
    workflow_id: str = Field(max_length=64)
    approval_id: str = Field(max_length=64)
    approved: bool
    feedback: str = Field(default="", max_length=20_000)


class DecisionTaken(Record):
    workflow_id: str
    approval_id: str
    approved: bool


class Health(Record):
    status: Literal["ok"]


class TaskEvent(Record):
    """One event of a stream: the `data` of an SSE event whose id is `seq`."""

    workflow_id: str
    seq: int = Field(description="counts from 1 within the task, without gaps")
    type: EventType
    timestamp: str
    attempt: int
    agent_id: str | None = None
    message: str = ""
    payload: Mapping[str, Any] = {}


class NewTask(Body):
    """What every request for a task has; `task_request` adds the settings that a client may choose for its agent."""

    query: str
    agent: str
    turns: list[str]
    context: Any

    def chosen(self) -> dict[str, JsonValue]:
        """The settings given in the request, in its context or beside it (which takes precedence)."""
        top_level = self.model_dump(mode="json", exclude=set(NewTask.model_fields), exclude_unset=True)
        context = {} if self.context is None else self.context.model_dump(mode="json", exclude_unset=True)
        return {**context, **top_level}


def task_request(settings: ServeSettings, choices: Mapping[str, Mapping[str, FieldInfo]]) -> Any:
    """The type of a new task's body: one NewTask per agent, selected by its field `agent`, which may be left out for
    the first. `choices`: by agent, the fields allowed in `context` or beside it.
    """
    first = next(iter(choices))
    models = {name: _task_request(settings, name, name == first, fields) for name, fields in choices.items()}
    if len(models) == 1:  # pydantic does not accept this as a union
        return models[first]

    def agent(body: Any) -> Any:
        return body.get("agent", first) if isinstance(body, dict) else first

    types = tuple(Annotated[model, Tag(name)] for name, model in models.items())
    message = f"agent: should be one of {', '.join(models)}"  # without what was sent, which pydantic would repeat
    return Annotated[
        Union[types], Discriminator(agent, custom_error_type="not_served", custom_error_message=message)  # noqa: UP007
    ]


def _task_request(settings: ServeSettings, agent: str, default: bool, choices: Mapping[str, FieldInfo]) -> Any:
    fields: dict[str, Any] = {name: (field.annotation, field) for name, field in choices.items()}
    context = create_model(f"Context_{agent}", __base__=Body, **fields)
    text_limits: dict[str, Any] = {"min_length": 1, "max_length": settings.query_chars, "pattern": r"\S"}
    base_fields: dict[str, Any] = {
        "query": (str, Field(description="what to research", examples=["What is quantum computing?"], **text_limits)),
        "agent": (Literal[agent], agent if default else ...),
        "turns": (
            list[Annotated[str, Field(**text_limits)]],
            Field(default=[], max_length=settings.turns, description="asked before the query, in order"),
        ),
        "context": (context | None, Field(default=None, description="settings of the agent for this task")),
    }
    top_level = {name: field for name, field in fields.items() if name not in base_fields}
    doc = f"A question for {agent}."
    return create_model(f"TaskRequest_{agent}", __base__=NewTask, __doc__=doc, **base_fields, **top_level)
