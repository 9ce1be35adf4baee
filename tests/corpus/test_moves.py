"""A former id leads to one case: what is taken twice is refused, and templates fill it."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.corpus.cases import load_corpus
from conformance.corpus.index import summaries
from conformance.corpus.language.document import CaseFileError
from conformance.corpus.language.loader import load_text
from conformance.corpus.moves import ids_of_today
from tests.cases import UNCONNECTED, entry, file_of, make_corpus, move

TAKEN = {
    "basics/squares/square": "is the id of basics/squares/square",
    "unconnected/other/other_source": "is the id of unconnected/other/other_source",
    "powers/first/line": "is formerly that of basics/squares/square",
}


@pytest.mark.parametrize("former", TAKEN)
def test_a_former_id_that_names_another_case_is_refused(tmp_path: Path, former: str) -> None:
    corpus = make_corpus(tmp_path)
    squares = corpus / "basics" / "squares.yaml"
    moved = "  square:\n    formerly: powers/first/line\n"
    squares.write_text(squares.read_text().replace("  square:\n", moved))
    summaries(corpus)  # remembered: the clash is with a file that is not read again
    text = UNCONNECTED.replace("source:\n", f"source:\n    formerly: {former}\n", 1)
    (corpus / "unconnected" / "other.yaml").write_text(text)
    for read in (load_corpus, summaries):
        with pytest.raises(CaseFileError) as raised:
            read(corpus)
        (fault,) = str(raised.value).splitlines()
        assert fault.startswith("cases/unconnected/other.yaml:4:5 $.cases.other_source: formerly: ")
        assert f"{former} {TAKEN[former]}: an id names one case" in fault


def test_each_case_of_a_table_has_its_own_former_id() -> None:
    table = entry(each="{n: [1.0, 2.0]}", formerly="basics/tables/row_${n}", inputs="{x: '${n}'}")
    with pytest.raises(CaseFileError, match=r"'basics/tables/row_1\.0' is no id"):
        load_text(file_of(**{"of_${n}": table}))
    table = entry(each="{n: [a, b]}", title="${n}", formerly="basics/tables/row_${n}")
    cases = load_text(file_of(**{"of_${n}": table}), "powers/tables")
    assert ids_of_today(cases) == {
        "basics/tables/row_a": "powers/tables/of_a",
        "basics/tables/row_b": "powers/tables/of_b",
    }


def test_a_summary_knows_the_former_id(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path)
    move(corpus)
    for _ in range(2):  # read, then remembered
        assert ids_of_today(summaries(corpus))["basics/squares/square"] == "powers/second/square"
