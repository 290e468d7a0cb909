"""Filling a schema from the request: every value is copied, counted or computed from it, null, or refused."""

from collections.abc import Mapping
from typing import Any

from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Situation


class Unsupported(Exception):
    """The request does not support a value that the schema demands; the message says which and why."""


def asked_schema(situation: Situation) -> Mapping[str, Any] | None:
    """The JSON schema of the reply: of `response_format`, or read from a JSON example in the prose; else None."""
    return situation.request.json_schema


def fill(schema: Mapping[str, Any], situation: Situation, orders: Orders) -> Any:
    """A value of the schema. Raises Unsupported where a required field that may not be null has no support."""
    raise Unsupported("nothing in the request supports this schema")
