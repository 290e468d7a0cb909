"""The base class of everything that is written to disk, sent over a wire or passed between packages."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen value whose fields are all declared; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
