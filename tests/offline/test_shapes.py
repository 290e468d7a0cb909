"""JSON schemas as far as requests use them."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aiq.offline import shapes

SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "integer", "minimum": 1, "maximum": 5},
            {"type": "number"},
            {"type": "boolean"},
            {"type": "null"},
            {"enum": ["a", "b"]},
            {"const": 3},
            {"type": ["string", "null"]},
            {"$ref": "#/$defs/Point"},
        ]
    ),
    lambda inner: st.one_of(
        st.builds(lambda s: {"type": "array", "items": s}, inner),
        st.builds(lambda s: {"anyOf": [s, {"type": "null"}]}, inner),
        st.builds(
            lambda parts: {
                "type": "object",
                "properties": parts,
                "required": list(parts),
                "additionalProperties": False,
            },
            st.dictionaries(st.sampled_from("pqr"), inner, min_size=1),
        ),
    ),
    max_leaves=6,
)


@given(SCHEMAS, st.text(max_size=10))
def test_filled_values_fit_their_schema(schema: Any, text: str) -> None:
    point = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    whole = {"type": "object", "properties": {"v": schema}, "required": ["v"], "$defs": {"Point": point}}
    value = shapes.fill(whole, text)
    assert shapes.fits(whole, value)
    assert not shapes.fits(whole, {})
    assert shapes.fits({"type": "integer"}, True) is False
