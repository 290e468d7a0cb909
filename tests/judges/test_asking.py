"""Asking a judge model: strict JSON, tries with other seeds, and an error that says what was wrong."""

import json

import pytest
from conftest import ScriptedMaker  # type: ignore[import-not-found]
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.errors import JudgeError
from aiq.judges.asking import Unusable, ask, each_bounded, read_object


def upper(answer: str) -> str:
    if not answer.isupper():
        raise Unusable("it is not in capitals")
    return answer
