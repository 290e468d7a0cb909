"""The base class of everything that is written to disk, sent over a wire or passed between packages."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen value whose fields are all declared and whose numbers are finite; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
