"""The schema for editors: what loads conforms to it, a misspelt key does not."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.corpus.cases import data_folder
from conformance.corpus.language.document import Node, parse_document
from tests.corpus.schema import json_schema, schema_text
from tests.corpus.test_readme import BLOCKS

jsonschema = pytest.importorskip("jsonschema")

FILES = sorted(data_folder("cases").rglob("*.yaml"))


def plain(node: Node) -> Any:
    if isinstance(node.value, dict):
        return {key: plain(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [plain(child) for child in node.value]
    return node.value


def faults_of(text: str) -> list[str]:
    validator = jsonschema.Draft202012Validator(json_schema())
    return [error.message for error in validator.iter_errors(plain(parse_document(text, "a")))]


def test_the_published_file_is_what_the_loader_reads_by() -> None:
    """Where it is not: `python -m tests.corpus.schema`."""
    published = data_folder("docs") / "schemas" / "case.json"
    assert published.read_text("utf-8") == schema_text()


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_file_of_the_corpus_conforms(path: Any) -> None:
    assert faults_of(path.read_text("utf-8")) == []


@pytest.mark.parametrize("block", BLOCKS)
def test_an_example_conforms(block: str) -> None:
    assert faults_of(block) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("introduction:", "intro:"),
        ("title:", "titel:"),
        ("run:", "program:"),
        ("trainable:", "trainabel:"),
        ("{variable: 3.0}", "{variabel: 3.0}"),
        ("{list: [null, 30.0]}", "{lst: [null, 30.0]}"),
        ("{list: [null, 30.0]}", "{list: [{vlaue: 1.0}]}"),
        ("expect:", "expect_in: {grahp: {grad: 1.0}}\n    expect:"),
        ("expect:", "tags: [kinks]\n    expect:"),
        ("contract/s4", "contrat/s4"),
        ("frozen_variable:", "Frozen:"),
    ],
)
def test_a_misspelling_does_not(old: str, new: str) -> None:
    assert old in BLOCKS[0]
    assert faults_of(BLOCKS[0].replace(old, new))
