"""Cases in 16-bit dtypes: each catches a relative error of 2 % in each of its elements."""

from __future__ import annotations

from conformance.answers.compare import told_by
from conformance.answers.tolerances import bounds_for, floors_of
from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered
from conformance.corpus.language.case import MODES
from conformance.corpus.language.literals import NARROW
from conformance.corpus.language.lowering import lower
from tests.cases import whole_corpus

ERROR = 0.02
WORDS = ("16", "half")


def test_an_error_of_2_percent_in_16_bits_is_caught() -> None:
    texts = {case.id: (case, f"{case.run}{case.inputs}{case.expect}") for case in whole_corpus()}
    named = {id: case for id, (case, text) in texts.items() if any(word in text for word in WORDS)}
    tried = 0
    for event in ask(list(named.values()), [ORACLE]):
        if not isinstance(event, Answered):
            continue
        case = named[event.cell.case]
        told = told_by(event.answer, lower(case, "eager"))
        for mode in MODES:
            bounds = bounds_for(mode, lower(case, mode).operations)
            for name, expected in case.expectations_in(mode).items():
                for found in floors_of(expected, bounds, told.get(name)):
                    if found.dtype in NARROW:
                        assert found.largest <= ERROR, f"{case.id} [{mode}] {name}: {found}"
                        tried += bool(found.array.any())
    assert tried
