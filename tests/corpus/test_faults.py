"""Every fault of a case file: found at its place, in one line, with what to do about it.

In the tables, `«` stands before the character that the fault must point at.
"""

from __future__ import annotations

import pytest

from conformance.corpus.language.document import MAX_FAULTS, CaseFileError, Fault
from conformance.corpus.language.loader import load_text

MARK = "«"


def faults_of(text: str, topic: str = "local/text") -> list[Fault]:
    with pytest.raises(CaseFileError) as raised:
        load_text(text, topic)
    assert all("\n" not in str(fault) for fault in raised.value.faults)
    return raised.value.faults


def check(text: str, path: str, message: str) -> None:
    """One fault, exactly at the mark, with this path and message."""
    before = text[: text.index(MARK)]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    (fault,) = faults_of(text.replace(MARK, ""))
    assert str(fault).startswith(f"text.yaml:{line}:{column} {path}: ")
    assert message in fault.message


DOCUMENTS = [
    ("«", "$", "the file is empty"),
    ("introduction: a\n«\tcases: {}\n", "$", "not YAML"),
    ("introduction: a\ncases: [1, 2\n«", "$", "not YAML"),
    ("«introduction: a\n", "$", "missing cases"),
    ("«[1, 2]\n", "$", "expected a mapping, got a list"),
    ("introduction: a\ncases:« \n", "$.cases", "expected a mapping, got null"),
    ("«introduction: a\ncases: {}\n", "$", "no cases"),
    ("introduction: a\ncases: {}\n«cases: {}\n", "$.cases", "duplicate key 'cases'"),
    ("introduction: «&a text\ncases: {}\n", "$.introduction", "anchors and aliases"),
    ("introduction: «!!str a\ncases: {}\n", "$.introduction", "tags are not used here"),
    ("introduction: a\n? «[1]\n: 2\n", "$", "a key must be a plain name"),
    ("introduction: a\ncases: {}\n--- «\nb: 1\n", "$", "a second document"),
    ("a: " + "[" * 39 + "«[", "$.a" + "[0]" * 39, "nested deeper than 40 levels"),
    ("«" + "k" * 201 + ": 1\n", "$", "a key of more than 200 characters"),
]


@pytest.mark.parametrize(("text", "path", "message"), DOCUMENTS)
def test_a_document_that_cannot_be_read(text: str, path: str, message: str) -> None:
    if "second document" in message:
        text = text.replace("--- «", "«---")
    check(text, path, message)


GOOD = {
    "title": "A fact",
    "source": "contract/84",
    "inputs": "{x: 3.0}",
    "run": "|\n      g = x * x",
    "expect": "{g: 9.0}",
}


def entry(**changes: str) -> str:
    """A file of one case with some of its lines replaced, added or (None) left out."""
    given = {**GOOD, **changes}
    lines = [f"    {key}: {value}" for key, value in given.items() if value]
    return "\n".join(["introduction: For a test.", "cases:", "  example:", *lines, ""])


DEF = "|\n      def g():\n          return x"
VALUES = [
    # the entry
    ({"«titel": "A"}, "titel", "unknown key 'titel' (did you mean title?)"),
    ({"title": "«[a]"}, "title", "expected text, got a list"),
    ({"title": '«""'}, "title", "expected text, got nothing"),
    ({"title": '«"two\\nlines"'}, "title", "expected text of one line"),
    ({"isolated": "«no"}, "isolated", "expected true or false, got text"),
    ({"tags": "[«kinks]"}, "tags[0]", "no tag named 'kinks' (did you mean kink?)"),
    ({"tags": "[kink, «kink]"}, "tags[1]", "the tag 'kink' twice"),
    ({"tags": "«kink"}, "tags", "expected a list, got text"),
    ({"formerly": "«ties/one"}, "formerly", "'ties/one' is no id such as area/topic/name"),
    ({"formerly": "«[a/b/c]"}, "formerly", "expected text, got a list"),
    ({"expect_in": "{«grahp: {g: 1.0}}"}, "expect_in.grahp", "no mode named 'grahp'"),
    ({"expect_in": "{«graph: {}}"}, "expect_in.graph", "nothing is expected in graph"),
    ({"not_applicable": "{«jit: no}"}, "not_applicable.jit", "(known: call, eager, graph, xla)"),
    (
        {"«not_applicable": "{eager: a, graph: a, xla: a, call: a}"},
        "not_applicable",
        "no mode is left",
    ),
    (
        {"expect_in": "{«xla: {g: 1.0}}", "not_applicable": "{xla: no strings}"},
        "expect_in.xla",
        "xla is not applicable: nothing is expected there",
    ),
    # sources
    ({"source": "«contract/x9"}, "source", "(written like contract/84 or contract/s4"),
    ({"source": "[«guide/autodif]"}, "source[0]", "guide/autodiff#section"),
    ({"source": "«issue/x"}, "source", "(written like issue/12345)"),
    ({"source": "«http://example.org"}, "source", "https://..."),
    ({"source": "«[]"}, "source", "names the source of its fact"),
    # inputs
    ({"inputs": "{x: «3}"}, "inputs.x", "a bare integer: write 3.0"),
    ({"inputs": "{x: «text}"}, "inputs.x", "neither a float nor a list of floats"),
    ({"inputs": "{x: «1e39}"}, "inputs.x", "beyond the range of float32"),
    ({"inputs": "{x: «1e999}"}, "inputs.x", "neither a float"),
    ({"inputs": "{x: «[[1.0], [2.0, 3.0]]}"}, "inputs.x", "ragged"),
    ({"inputs": "{x: [1.0, «null]}"}, "inputs.x[1]", "null inside a tensor"),
    ({"inputs": "{x: «{value: 1.0}}"}, "inputs.x", "an input is a number, a list"),
    ({"inputs": "{x: {constant: 1.0, «dype: int32}}"}, "inputs.x.dype", "did you mean dtype?"),
    ({"inputs": "{x: {constant: 1, dtype: «int23}}"}, "inputs.x.dtype", "no dtype named 'int23'"),
    ({"inputs": "{x: {constant: «300, dtype: int8}}"}, "inputs.x.constant", "300 is no int8"),
    ({"inputs": "{x: {constant: «-1, dtype: uint8}}"}, "inputs.x.constant", "-1 is no uint8"),
    ({"inputs": "{x: {constant: «1.5, dtype: int32}}"}, "inputs.x.constant", "1.5 is no int32"),
    ({"inputs": "{x: {constant: «1e6, dtype: float16}}"}, "inputs.x.constant", "is no float16"),
    ({"inputs": "{x: {constant: «1, dtype: bool}}"}, "inputs.x.constant", "write true or false"),
    ({"inputs": "{x: {constant: «1+k, dtype: complex64}}"}, "inputs.x.constant", "like 1+2j"),
    ({"inputs": "{x: {constant: 1.0, «trainable: true}}"}, "inputs.x.trainable", "unknown key"),
    ({"inputs": "{«tf: 1.0, x: 1.0}"}, "inputs.tf", "cannot name an input"),
    ({"inputs": "{«_x: 1.0, x: 1.0}"}, "inputs._x", "cannot name an input"),
    ({"inputs": "{x: 1.0, «w: 1.0}"}, "inputs.w", "never reads the input 'w': remove it"),
    # draws
    ({"inputs": "{x: «{draw: [2]}}"}, "inputs.x", "missing range"),
    ({"inputs": "{x: {draw: [«-1], range: [0.0, 1.0]}}"}, "inputs.x.draw[0]", "a size is"),
    ({"inputs": "{x: {draw: «[200, 200], range: [0.0, 1.0]}}"}, "inputs.x.draw", "10,000"),
    ({"inputs": "{x: {draw: «[99999999, 0], range: [0.0, 1.0]}}"}, "inputs.x.draw", "10,000"),
    ({"inputs": f"{{x: {{draw: «{[1] * 13}, range: [0.0, 1.0]}}}}"}, "inputs.x.draw", "12 sizes"),
    ({"inputs": "{x: {draw: [], range: «[1.0, 0.0]}}"}, "inputs.x.range", "a range is [low, high]"),
    ({"inputs": "{x: {draw: [], range: «[0.0, .inf]}}"}, "inputs.x.range", "a range is"),
    ({"inputs": "{x: {draw: [], range: «[0.0, 0.001]}}"}, "inputs.x.range", "three decimals"),
    ({"inputs": "{x: {draw: [], range: [0, 1], seed: «a}}"}, "inputs.x.seed", "an integer"),
    ({"inputs": "{x: {draw: [], range: [0, 1], dtype: «int32}}"}, "inputs.x.dtype", "of floats"),
    (
        {"inputs": "{x: {draw: [], range: [0, 1], trainable: «false}}"},
        "inputs.x.trainable",
        "add variable: true",
    ),
    # expectations
    ({"expect": "«{}"}, "expect", "expects something of one name at least"),
    ({"expect": "{«h: 9.0}"}, "expect.h", "the program binds no value named 'h'"),
    ({"expect": "{g: «word}"}, "expect.g", "'word' is no number"),
    ({"expect": "{g: [«null]}"}, "expect.g[0]", "a bare list is a TENSOR"),
    ({"expect": "{g: «[true, 1.0]}"}, "expect.g", "booleans and numbers"),
    ({"expect": f"{{g: «{10**30}}}"}, "expect.g", "an integer beyond 64 bits"),
    ({"expect": "{g: «{values: 9.0}}"}, "expect.g", "exactly one of: value, formula"),
    ({"expect": "{g: «{value: 9.0, list: []}}"}, "expect.g", "got value, list"),
    ({"expect": "{g: {value: 9.0, «tolerance: 1}}"}, "expect.g.tolerance", "unknown key"),
    ({"expect": "{g: {value: 9.0, shape: «[1]}}"}, "expect.g.shape", "contradicts the value's, []"),
    ({"expect": "{g: {value: 9.0, within: «0.5}}"}, "expect.g.within", "below 0.001"),
    ({"expect": "{g: {value: 9.0, dense: «false}}"}, "expect.g.dense", "write true, or leave"),
    (
        {"expect": "{g: {value: 0.0, «cancels: {terms: 1.0}}}"},
        "expect.g.cancels",
        "missing reason",
    ),
    (
        {"expect": "{g: {value: 0.0, cancels: {terms: «0.0, reason: a}}}"},
        "expect.g.cancels.terms",
        "a number above 0",
    ),
    (
        {"expect": "{g: {value: 9.0, «cancels: {terms: 1.0, reason: a}}}"},
        "expect.g.cancels",
        "nothing cancels",
    ),
    (
        {"expect": "{g: {value: 0.0, within: element, «cancels: {terms: 1.0, reason: a}}}"},
        "expect.g.cancels",
        "within and cancels are two bounds",
    ),
    (
        {"expect": "{g: {value: 0, dtype: int32, «cancels: {terms: 1.0, reason: a}}}"},
        "expect.g.cancels",
        "int32 is exact",
    ),
    ({"expect": "{g: {python: «[1, 2], type: int}}"}, "expect.g.python", "is one value"),
    ({"expect": "{g: {python: «[1, 2]}}"}, "expect.g.python", "no type 'list' of a Python"),
    ({"expect": "{g: {python: 1, type: «number}}"}, "expect.g.type", "no type 'number'"),
    ({"expect": "{g: {value: 9.0, «numpy: true}}"}, "expect.g.numpy", "unknown key 'numpy'"),
    ({"expect": "{g: {value: «9.0, dtype: int32}}"}, "expect.g.value", "9.0 is no int32"),
    ({"expect": "{g: {error: «tf.errors.E}}"}, "expect.g.error", "no class name"),
    ({"expect": "{«g: {error: E, at: h}}"}, "expect.g", "at: the program has no step 'h'"),
    ({"expect": "{g: {calls: «-1}}", "run": DEF}, "expect.g.calls", "calls is a count"),
    ({"expect": "{«g: {calls: 1}}"}, "expect.g", "defines no function named 'g'"),
    ({"expect": "{g: {list: [«{error: E}]}}"}, "expect.g.list[0]", "no place inside a structure"),
    ({"expect": "{g: {list: «9.0}}"}, "expect.g.list", "expected a list, got a number"),
    ({"expect": "{g: {any_of: «[9.0]}}"}, "expect.g.any_of", "two answers at least"),
    ({"expect": "{g: {any_of: «[9.0, oracle]}}"}, "expect.g.any_of", "no place in it"),
    (
        {"expect": "{g: {indexed_slices: {values: «null, indices: [0]}}}"},
        "expect.g.indexed_slices.values",
        "are tensors",
    ),
    (
        {"expect": "{g: {«indexed_slices: {values: [1.0]}}}"},
        "expect.g.indexed_slices",
        "missing indices",
    ),
    (
        {"expect": "{g: oracle}", "expect_in": "{graph: {«g: 9.0}}"},
        "expect_in.graph.g",
        "oracle is for modes that agree",
    ),
    # formulas
    ({"expect": "{g: {formula: «cos(}}"}, "expect.g.formula", "cannot be evaluated"),
    ({"expect": "{g: {formula: «y + 1}}"}, "expect.g.formula", "no input named 'y' (known: e, inf"),
    ({"expect": "{g: {formula: «sine(x)}}"}, "expect.g.formula", "no function named 'sine'"),
    ({"expect": "{g: {formula: «x.real}}"}, "expect.g.formula", "is not part of a formula"),
    ({"expect": "{g: {formula: «1 / 0}}"}, "expect.g.formula", "division by zero"),
    ({"expect": "{g: {formula: «10.0 ** 9 ** 9}}"}, "expect.g.formula", "cannot be evaluated"),
    ({"expect": "{g: {formula: «(-1) ** 0.5}}"}, "expect.g.formula", "not a real number"),
]


@pytest.mark.parametrize(("changes", "path", "message"), VALUES)
def test_a_value(changes: dict[str, str], path: str, message: str) -> None:
    check(entry(**changes), f"$.cases.example.{path}", message)


def test_a_missing_key_is_told_at_the_case() -> None:
    text = entry(title="").replace("  example:", "  «example:")
    check(text, "$.cases.example", "missing title")


PROGRAMS = [
    # not Python
    ("g = (x\n«", "not Python"),
    ("g = x *« ", "not Python"),
    ("«return x", "not Python: 'return' outside function"),
    ("«def f(a, a):\n    return a\ng = f(x, x)", "not Python: duplicate argument"),
    ("«g = x is 3", "not Python"),
    # not in the subset
    ("«import os\ng = x", "import is not part of the case language"),
    ("«from os import path\ng = x", "import is not part"),
    ("«assert x\ng = x", "assert is not part"),
    ("«try:\n    g = x\nfinally:\n    pass", "try is not part"),
    ("«raise x\ng = x", "raise is not part"),
    ("«global g\ng = x", "global is not part"),
    ("g = «[y for y in x]", "a comprehension is not part"),
    ('g = «f"{x}"', "an f-string is not part"),
    ("g = («y := x)", "the operator := is not part"),
    ("«g: int = x", "an annotation is not part"),
    ("g = «{x}", "a set is not part"),
    ("g = «b'x' + x", "bytes are not part"),
    ("for i in range(3):\n    g = x\n    «break", "break is not part"),
    ("«for i in range(3):\n    g = x\nelse:\n    g = x", "for ... else"),
    ("g = x; «h = x", "a statement stands on a line of its own"),
    ("with tf.name_scope('a'): «g = x", "a statement stands on a line of its own"),
    ("g = tf.add(x, «'''a\nb''')", "a text ends on the line"),
    ("g = x«\t* 2.0", "a tab"),
    ("@«x[0]\ndef g():\n    return x", "a decorator is a name or a call"),
    ("«class A(tf.Module, metaclass=x):\n    pass\ng = A(x)", "plain bases"),
    ("«def g(x) -> x:\n    return x", "annotations are not part"),
    # names
    ("g = «y * x", "no value named 'y' (known: g, x)"),
    ("g = x * «watsh\nwatch = 1.0", "no value named 'watsh' (did you mean watch?)"),
    ("g = «h * x\nh = 1.0", "'h' is read before it is bound"),
    ("h = x\ndel h\ng = «h * x", "'h' is deleted before it is read"),
    ("def f(a):\n    return a * x\ng = f(x) * «a", "no value named 'a'"),
    ("def f(a):\n    b = a * «c\n    c = x\n    return b\ng = f(x)", "read before it is bound"),
    ("max = «max(x, x)\ng = max", "is bound anew by this program"),
    ("g = x * «_x", "begins with an underscore"),
    ("g = x.«_shape", "'._shape' is not a known attribute (did you mean shape"),
    ("g = x.«shpae", "'.shpae' is not a known attribute (did you mean shape?)"),
    ("«tf = x\ng = x", "'tf' is taken"),
    ("«raised = x\ng = x", "'raised' is taken"),
    ("«def case():\n    return x\ng = x", "'case' is taken"),
    ("def f(«tf):\n    return x\ng = f(x)", "'tf' is taken"),
    ("def f(«_a):\n    return x\ng = f(x)", "begins with an underscore"),
    ("g = x * «tf", "'tf' alone is no value"),
    ("«def next(a):\n    return a\ng = [x, next(iter(x.shape))]", "'next' is taken"),
    ("f = lambda «next: next(iter(x.shape))\ng = [x, f(float)]", "'next' is taken"),
    ("g = «iter(x.shape)", "'iter' stands in next(iter(...)) only"),
    ("g = tf.map_fn(«iter, x)", "'iter' stands in next(iter(...)) only"),
    ("m = «tf.compat.v1\ng = x", "is a module"),
    ("g = «np.ma.core.np.load(x)", "is not among the names that a case may use"),
    ("g = «tf.io.read_file(x)", "is not among the names that a case may use"),
    ("g = «tf.raw_ops.ReadFile(filename=x)", "is not among"),
    ("g = «tf.keras.Model.save(x)", "'.save' is not a known attribute"),
    ("«tf.nn.relu = x\ng = x", "it cannot be set"),
    ("x.«shape = x\ng = x", "only self.name = value"),
    ("tf.print(x, «output_stream='file:///tmp/a')\ng = x", "keyword 'output_stream'"),
    ("«if x > 0.0:\n    g = x\n    h = x\nelse:\n    g = x", "'h' is bound in one branch only"),
    # sizes
    ("g = x * «10 ** 30", "a number beyond 64 bits"),
    ("g = x * «99999999999999999999", "a number beyond 64 bits"),
    ("g = «x ** 65", "a power above 64"),
    ("g = x * («[0.0] * 1000000000)", "repeating a literal"),
    ("g = «'a' * x", "repeating a literal"),
    ("for i in range(«1001):\n    g = x", "a loop of more than 1,000 rounds"),
    ("for i in range(«10 ** 9):\n    g = x", "a loop of more than 1,000 rounds"),
    ("g = «tf.zeros([10 ** 5, 10 ** 5]) * x", "an array of more than 1,000,000 elements"),
    ("g = «tf.range(10 ** 9) * x", "an array of more"),
    ("g = «tf.fill(dims=[10000, 10000], value=x)", "an array of more"),
    ("g = «np.arange(0.0, 1.0, 1e-9) * x", "an array of more"),
    ("g = «tf.tile(x, [10000000])", "an array of more"),
    ("g = x\n«while g < 2.0:\n    g = g * x", "a while begins with tf.autograph"),
    ("g = x--------------------------------------«-x", "nested deeper than 40 levels"),
]


@pytest.mark.parametrize(("program", "message"), PROGRAMS)
def test_a_program(program: str, message: str) -> None:
    indented = program.replace("\n", "\n      ")
    text = entry(run=f"|\n      {indented}")
    if "not Python" in message:  # where, is Python's to say, and differs between versions
        fault = faults_of(text.replace(MARK, ""))[0]
        assert message in fault.message
        assert fault.place.path == "$.cases.example.run"
    else:
        check(text, "$.cases.example.run", message)


OPTIONS = "tf.autograph.experimental.set_loop_options"


def test_a_sum_of_many_terms_is_refused_and_not_recursed_into() -> None:
    found = faults_of(entry(run=f"|\n      g = x{' + x' * 1900}"))
    assert found
    assert all(fault.message == "nested deeper than 40 levels" for fault in found)


def test_a_while_has_a_bound_that_is_small() -> None:
    loop = "g = x\nwhile g < 2.0:\n    {}(maximum_iterations={})\n    g = g * x"
    program = loop.format(OPTIONS, "«5000").replace("\n", "\n      ")
    check(entry(run=f"|\n      {program}"), "$.cases.example.run", "from 1 to 1,000")


def test_what_a_while_binds_first_has_no_value_after_it() -> None:
    program = (
        f"h = x\nwhile h < 2.0:\n    {OPTIONS}(maximum_iterations=5)\n    h = h * x\n    g = h"
    )
    text = entry(run="|\n      " + program.replace("\n", "\n      "), expect="{«g: 9.0}")
    check(text, "$.cases.example.expect.g", "'g' has no value where the program ends")


def test_setup_is_checked_as_run_is() -> None:
    text = entry(setup="|\n      k = «tf.io.x", run="|\n      g = x * k")
    check(text, "$.cases.example.setup", "not among the names that a case may use")
    text = entry(setup="«|\n      k = 2.0", run="|\n      g = x * x")
    check(text, "$.cases.example.setup", "never reads 'k' of setup")
    text = entry(setup="|\n      k = 2.0", run="|\n      k = «k * 2.0\n      g = x * k")
    check(text, "$.cases.example.run", "is bound anew by this program")


def template(each: str, **changes: str) -> str:
    return entry(each=each, **changes).replace("  example:", "  at_${v}:")


TEMPLATES = [
    (template("«{}"), "$.cases.at_${v}.each", "combinations: between 1 and 2,000"),
    (template("{v: [1, 2]}", title="«${w}"), "$.cases.at_${v}.title", "no axis named 'w'"),
    (template("{v: [1, 2]}", title="«a ${v} b ${"), "$.cases.at_${v}.title", "a ${ without its }"),
    (template("{v: [1, 2], «w: [1]}"), "$.cases.at_${v}.each.w", "is never used"),
    (
        template("{v: [{a: 1}]}", title="«${v.b}"),
        "$.cases.at_${v}.title",
        "the axis 'v' has no 'b' (known: a)",
    ),
    (
        template("{v: [{a: 1, b: [1]}]}", title="«a ${v.b}"),
        "$.cases.at_${v}.title",
        "a list cannot stand inside a text",
    ),
    (
        template("{v: [a, «flaot32]}", inputs='{x: {constant: 1.0, dtype: "${v}"}}').replace(
            "[a, ", "[float32, "
        ),
        "$.cases.at_${v}.each.v[1]",
        "no dtype named 'flaot32'",
    ),
]


@pytest.mark.parametrize(("text", "path", "message"), TEMPLATES)
def test_a_template(text: str, path: str, message: str) -> None:
    if text.count("each: «"):  # the key of what is wrong
        text = text.replace("each: «", "«each: ")
    check(text, path, message)


def test_a_template_that_names_two_cases_alike() -> None:
    text = template("{v: [1, 2]}").replace("at_${v}", "«same", 1)
    text = text.replace("title: A fact", "title: A fact ${v}")
    check(text, "$.cases.same", "two combinations are named 'same'")


def test_a_place_in_a_filled_program_is_a_place_in_the_template() -> None:
    program = "|\n      h = ${v} * x\n      g = tf.${v.f}(x, h) * «y"
    text = entry(each="{v: [{n: 1.0, f: multiply}]}", run=program, expect="{h: 3.0}")
    check(text, "$.cases.example.run", "no value named 'y'")
    program = "|\n      g = ${v} * x * «${v.f}"
    text = entry(each="{v: [{n: 1.0, f: nowhere_to_be_found}]}", run=program)
    check(text, "$.cases.example.run", "no value named 'nowhere_to_be_found'")


def test_places_count_characters_not_bytes() -> None:
    check(entry(run="|\n      g = tf.add('äöü', «y) * x"), "$.cases.example.run", "named 'y'")


@pytest.mark.parametrize("program", ['"g = «y * x"', "g = «y * x", "|2\n      g = «y * x"])
def test_a_program_may_be_written_in_any_style(program: str) -> None:
    check(entry(run=program), "$.cases.example.run", "no value named 'y'")


def test_a_folded_program_is_told_where_it_begins() -> None:
    check(entry(run="«>\n      g = y * x"), "$.cases.example.run", "no value named 'y'")


def test_all_faults_of_a_file_come_at_once_in_order() -> None:
    text = entry(title="[]", source="nowhere", tags="[kinks]", expect="{h: 1.0}")
    places = [fault.place.line for fault in faults_of(text)]
    assert len(places) == 4
    assert places == sorted(places)


def test_a_fault_of_every_combination_is_told_once() -> None:
    text = template("{v: [1.0, 2.0, 3.0]}", title="${v}", tags="[kinks]")
    text = text.replace("at_${v}", "at_${w}")
    messages = [fault.message for fault in faults_of(text)]
    assert len([m for m in messages if "no axis named 'w'" in m]) == 1


def test_reading_stops_after_many_faults() -> None:
    keys = "\n".join(f"wrong_{number}: 1" for number in range(500))
    found = faults_of(f"{keys}\n")
    assert len(found) == MAX_FAULTS + 1
    assert "reading stops here" in found[-1].message


def test_what_a_file_holds_cannot_break_the_line_or_the_terminal() -> None:
    (first, *_) = faults_of('"\\e[31mred\\n": 1\n')
    assert str(first).isprintable()


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("alone", "<area>/<topic>.yaml"),
        ("a/b/c", "<area>/<topic>.yaml"),
        ("Area/topic", "'Area' in the file's path"),
        ("area/my-topic", "'my-topic' in the file's path"),
    ],
)
def test_a_path(topic: str, message: str) -> None:
    (fault,) = faults_of(entry(), topic)
    assert message in fault.message


@pytest.mark.parametrize("name", ["Square", "9lives", "with-dash", "a" * 101])
def test_a_case_name(name: str) -> None:
    text = entry().replace("  example:", f"  «{name}:")
    shown = name if len(name) < 60 else f"{name[:56]}..."
    check(text, f"$.cases.{shown}", "a case's name is lower-case letters, digits and _")
