"""Make docs/schemas/case.json, the JSON Schema of case files, from the tables of the loader.

Run `python -m tests.corpus.schema` where a test says that the file is not what is made here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conformance.corpus import catalogue, rows
from conformance.corpus.language import expectations, inputs
from conformance.corpus.language.case import MODES
from conformance.corpus.language.literals import (
    COMPLEXES,
    DTYPES,
    FLOATS,
    MAX_RANK,
    PYTHON_TYPES,
)
from conformance.corpus.language.loader import (
    CASE_KEYS,
    FILE_KEYS,
    ID,
    NAME,
    REQUIRED_KEYS,
    SOURCES,
    VALUE_NAME,
)
from conformance.corpus.language.vocabulary import TAGS

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
HOLE = r"\$\{[^{}]*\}"
"""What a template fills in: it may stand for any value and inside any text."""


def json_schema() -> Schema:
    """The schema of a whole file; what it accepts is well-formed, not yet sound.

    Programs, names and numbers that contradict each other are the loader's to find.
    """
    return {
        "$schema": DIALECT,
        "title": "gradconf case file",
        "type": "object",
        "properties": {
            "introduction": {"type": "string", "minLength": 1},
            "cases": {
                "type": "object",
                "propertyNames": _named(NAME.pattern),
                "additionalProperties": {"$ref": "#/$defs/case"},
                "minProperties": 1,
            },
        },
        "required": list(FILE_KEYS),
        "additionalProperties": False,
        "$defs": {
            "case": _case(),
            "query": _query(),
            "input": _input(),
            "expectation": _expectation(),
            "expectations": _mapping_of("expectation", _named(VALUE_NAME.pattern)),
            "literal": _literal(),
            "shape": _or_hole(
                {"type": "array", "items": {"type": ["integer", "string"]}, "maxItems": MAX_RANK}
            ),
            "dtype": _or_hole({"enum": list(DTYPES)}),
            "source": _or_hole(
                {"type": "string", "pattern": _any_of_patterns(), "examples": [*SOURCES]}
            ),
        },
    }


def _case() -> Schema:
    text = {"type": "string", "minLength": 1}
    source = {"$ref": "#/$defs/source"}
    properties: Schema = {
        "title": text,
        "source": {"anyOf": [source, {"type": "array", "items": source, "minItems": 1}]},
        "inputs": _or_hole(_mapping_of("input", _named(VALUE_NAME.pattern))),
        "setup": text,
        "run": text,
        "expect": {"$ref": "#/$defs/expectations"},
        "expect_in": _by_mode({"$ref": "#/$defs/expectations"}),
        "each": {
            "type": "object",
            "additionalProperties": {
                "anyOf": [{"type": "array", "minItems": 1}, {"$ref": "#/$defs/query"}]
            },
        },
        "warns": text,
        "isolated": _or_hole({"type": "boolean"}),
        "not_applicable": _by_mode(text),
        "tags": {"type": "array", "items": _or_hole({"enum": list(TAGS)}), "uniqueItems": True},
        "formerly": _or_hole({"type": "string", "pattern": f"^(?:{ID.pattern})$"}),
    }
    assert set(properties) == set(CASE_KEYS)
    return _object(properties, required=REQUIRED_KEYS)


def _query() -> Schema:
    names = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    dtype, family = {"enum": [*FLOATS, *COMPLEXES]}, {"enum": catalogue.families()}
    properties: Schema = {
        "family": {"anyOf": [family, {"type": "array", "items": family, "minItems": 1}]},
        "dtype": {"anyOf": [dtype, {"type": "array", "items": dtype, "minItems": 1}]},
        "variants": {"enum": list(rows.VARIANTS)},
        "second": {"enum": list(catalogue.SECOND)},
        "jacobian": {"type": "boolean"},
        "moved": {"type": "boolean"},
        "named": names,
        "without": names,
        "points": {"enum": list(rows.POINTS)},
    }
    assert set(properties) == {*rows.KEYS, *rows.OF_POINTS}
    return _object({"operations": _object(properties, required=("family",))}, ("operations",))


def _input() -> Schema:
    properties: Schema = {
        "constant": {"$ref": "#/$defs/literal"},
        "variable": {"$ref": "#/$defs/literal"},
        "draw": {"$ref": "#/$defs/shape"},
        "range": {"type": "array", "minItems": 2, "maxItems": 2},
        "seed": _or_hole({"type": "integer"}),
        "dtype": {"$ref": "#/$defs/dtype"},
        "trainable": _or_hole({"type": "boolean"}),
    }
    forms = {
        form: {key: properties[key] for key in keys} for form, keys in inputs.INPUT_FORMS.items()
    }
    forms["draw"] |= {"variable": _or_hole({"type": "boolean"})}
    required = {form: (form, "range") if form == "draw" else (form,) for form in forms}
    return {
        "anyOf": [
            {"type": ["number", "array"]},
            {"type": "string", "pattern": HOLE},
            *(_object(forms[form], required=required[form]) for form in forms),
        ]
    }


def _expectation() -> Schema:
    itself = {"$ref": "#/$defs/expectation"}
    several = _or_hole({"type": "array", "items": itself})
    text = {"type": "string", "minLength": 1}
    bound = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": expectations.MAX_WITHIN}
    size = _or_hole({"type": "number", "exclusiveMinimum": 0})
    slices = {"indices": itself, "values": itself, "dense_shape": {"$ref": "#/$defs/shape"}}
    assert set(slices) == set(expectations.SLICES_KEYS)
    properties: Schema = {
        "value": {"$ref": "#/$defs/literal"},
        "formula": {"type": ["string", "number"]},
        "dtype": {"$ref": "#/$defs/dtype"},
        "shape": {"$ref": "#/$defs/shape"},
        "within": {"anyOf": [{"enum": list(expectations.WITHIN)}, bound, _hole()]},
        "cancels": _object({"terms": size, "reason": text}, required=expectations.CANCELS_KEYS),
        "dense": _or_hole({"const": True}),
        "python": {"type": ["number", "boolean", "string"]},
        "type": _or_hole({"enum": [name.removeprefix("Python ") for name in PYTHON_TYPES]}),
        "list": several,
        "tuple": several,
        "dict": _or_hole({"type": "object", "additionalProperties": itself}),
        "indexed_slices": _or_hole(_object(slices, required=("indices", "values"))),
        "error": text,
        "message": text,
        "at": text,
        "calls": _or_hole({"type": "integer", "minimum": 0}),
        "watched": _or_hole({"type": "array", "items": text}),
        "any_of": _or_hole({"type": "array", "items": itself, "minItems": 2}),
    }
    forms = {form: keys for form, (keys, _) in expectations.EXPECTATION_FORMS.items()}
    return {
        "anyOf": [
            {"type": ["null", "number", "boolean", "array"]},
            {"enum": list(expectations.WORDS)},
            {"type": "string", "pattern": r"j\s*$", "description": "a complex number: 1+2j"},
            _hole(),
            *(
                _object({key: properties[key] for key in keys}, required=(form,))
                for form, keys in forms.items()
            ),
        ]
    }


def _literal() -> Schema:
    return {"type": ["number", "boolean", "string", "array"]}


def _object(properties: Schema, required: tuple[str, ...]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _mapping_of(definition: str, names: Schema) -> Schema:
    values = {"$ref": f"#/$defs/{definition}"}
    return {"type": "object", "propertyNames": names, "additionalProperties": values}


def _by_mode(values: Schema) -> Schema:
    return _object(dict.fromkeys(MODES, values), required=())


def _named(pattern: str) -> Schema:
    return {"anyOf": [{"pattern": f"^(?:{pattern})$"}, {"pattern": HOLE}]}


def _any_of_patterns() -> str:
    return "^(?:" + "|".join(SOURCES.values()) + ")$"


def _hole() -> Schema:
    return {"type": "string", "pattern": HOLE}


def _or_hole(schema: Schema) -> Schema:
    return {"anyOf": [schema, _hole()]}


def schema_text() -> str:
    """The file's text."""
    return json.dumps(json_schema(), indent=2) + "\n"


if __name__ == "__main__":
    Path("docs/schemas/case.json").write_text(schema_text(), encoding="utf-8")
