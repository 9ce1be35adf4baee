"""cases/README.md: every block of it loads, and its tables name every form."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.corpus.cases import data_folder
from conformance.corpus.language import expectations, inputs
from conformance.corpus.language.case import MODES
from conformance.corpus.language.document import CaseFileError
from conformance.corpus.language.loader import CASE_KEYS, SOURCES, load_text
from tests.cases import whole_catalogue, whole_corpus

README = (data_folder("cases") / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_loads(block: str) -> None:
    assert load_text(block)


def test_there_are_blocks() -> None:
    assert len(BLOCKS) == 7
    assert README.count("```yaml") == len(BLOCKS)


def test_the_template_becomes_four_cases() -> None:
    (template,) = [block for block in BLOCKS if "dtype: [float32" in block]
    names = [case.id.rsplit("/", 1)[1] for case in load_text(template)]
    assert names == ["sin_float32", "sin_float64", "exp_float32", "exp_float64"]


def test_a_query_finds_the_calls_of_the_catalogue() -> None:
    (table,) = [block for block in BLOCKS if "operations:" in block]
    calls = {case.title.split()[3] for case in load_text(table)}
    assert calls == {"tf.math.atan2(y,", "tf.maximum(x,"}


@pytest.mark.parametrize("word", [*CASE_KEYS, *MODES])
def test_a_key_is_explained(word: str) -> None:
    assert f"`{word}`" in README


@pytest.mark.parametrize("word", [*expectations.EXPECTATION_FORMS, *inputs.INPUT_FORMS])
def test_a_form_is_shown(word: str) -> None:
    assert f"{{{word}: " in README


def test_every_folder_says_what_goes_there() -> None:
    told = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", README, re.MULTILINE)
    assert sorted({*told} - {*CASE_KEYS}) == sorted({case.area for case in whole_corpus()})


def test_operations_stand_in_the_files_of_their_families() -> None:
    files = {case.id.split("/")[1] for case in whole_corpus() if case.area == "operations"}
    families = {operation.family for operation in whole_catalogue().values()}
    assert files - families == {"broadcasting", "refused"}


@pytest.mark.parametrize("pattern", SOURCES.values(), ids=SOURCES)
def test_a_form_of_source_is_shown(pattern: str) -> None:
    prose = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
    shown = re.findall(r"`([^`]+)`", prose)
    assert "https" in pattern or any(re.fullmatch(pattern, text) for text in shown)


def test_the_faults_that_it_shows_are_what_a_writer_sees() -> None:
    text = """\
introduction: For the page.
cases:
  frozen:
    title: A fact
    source: contract/s4
    inputs:
      x: {variable: 3.0}
      k:
          3
    run: |
      with tf.GradientTape() as tape:
          y = x**2 * (kk + k)
      grad = tape.gradient(y, [k, x])
    expect: {gradient: {list: [null, 30.0]}}
"""
    with pytest.raises(CaseFileError) as raised:
        load_text(text, "watching/default", str(Path("cases/watching/default.yaml")))
    for fault in raised.value.faults:
        assert str(fault) in README
    assert len(raised.value.faults) == 3
