"""The language admits by list: names of the framework, attributes, own classes, keywords."""

from __future__ import annotations

import builtins
import importlib.util
import re
import types

import pytest

from conformance.corpus.language.document import CaseFileError
from conformance.corpus.language.loader import load_text
from conformance.corpus.language.vocabulary import ATTRIBUTES, BUILTINS, names_by_module
from tests.corpus import framework


def faults_of(run: str, setup: str = "") -> list[str]:
    """What is refused of a program over the input x, without the places."""
    lines = ["introduction: a", "cases:", "  one:", "    title: a", "    source: contract/1"]
    lines += ["    inputs: {x: 3.0}"]
    for key, text in (("setup", setup), ("run", run)):
        lines += [f"    {key}: |", *(f"      {line}" for line in text.split("\n"))] if text else []
    try:
        load_text("\n".join([*lines, "    expect: {g: oracle}", ""]))
    except CaseFileError as error:
        return [fault.message for fault in error.faults]
    return []


OWN = """\
class A(tf.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k * x
        self.inner = B()
    def double(self):
        return self.k * 2.0
class B:
    def own(self):
        return x
a = A(2.0)
"""

ADMITTED = [
    "g = tf.nn.relu(x)",
    "g = tf.raw_ops.Sin(x=x)",
    "g = np.float32(2.0) * x",
    "g = tf.float32.name, x",
    "g = tf.RaggedTensor.from_row_splits(x, [0]).values",
    "g = tf.keras.Sequential([tf.keras.layers.Dense(2, activation='relu', use_bias=False)])(x)",
    "act = tf.keras.activations.relu\ng = tf.keras.layers.Dense(2, activation=act)(x)",
    "def f(v):\n    return v\ng = tf.keras.layers.Lambda(f)(x)",
    "d = tf.keras.layers.Dense(2)\ng = tf.keras.Sequential([d, d])(x)",
    "class L(tf.keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
    "    def call(self, v):\n        return v\ng = L()(x)",
    f"{OWN}g = a.double()",
    f"{OWN}g = A(3.0).double()",
    f"{OWN}g = a.k * a.inner.own()",
    f"{OWN}b = a.inner\ng = b.own()",
    f"{OWN}g = A.double(a)",
    "@tf.custom_gradient\ndef f(v):\n    def grad(*u, **k):\n        return u\n    return v, grad\n"
    "g = f(*[x])",
]


@pytest.mark.parametrize("program", ADMITTED)
def test_what_is_admitted(program: str) -> None:
    assert faults_of(program) == []


REFUSED = [
    ("class L(tf.keras.layers.Layer):\n    def call(self, v):\n        return v\n"
     "g = L(dtype={}), x",
     "defines __init__, which calls super().__init__()"),
    ("g = tf.sinn(x)", "'tf.sinn' is not among the names that a case may use (did you mean tf.sin"),
    ("g = tf.relu(x)", "did you mean tf.nn.relu"),
    ("g = tf.math.sin.cos(x)", "'.cos' is not a known attribute"),
    ("g = tf.math", "'tf.math' is a module: name what you take from it"),
    ("g = tf.keras.layers", "'tf.keras.layers' is a module"),
    ("g = tf.io.write_file('/tmp/a', 'b'), x", "'tf.io.write_file' is not among the names"),
    ("g = tf.raw_ops.WriteFile(filename='a', contents='b'), x", "is not among the names"),
    ("g = tf.compat.v1.gfile.GFile('/etc/passwd'), x", "is not among the names"),
    ("g = tf.compat.v1.py_func(x, [], tf.float32)", "is not among the names"),
    ("g = tf.load_op_library('a.so'), x", "is not among the names"),
    ("g = tf.keras.layers.TFSMLayer('a')(x)", "is not among the names"),
    ("g = tf.keras.layers.deserialize({'class_name': 'Dense'})(x)", "is not among the names"),
    ("g = tf.keras.activations.get('relu')(x)", "is not among the names"),
    ("g = tf.data.Dataset.list_files('*'), x", "'tf.data.Dataset.list_files' is not among"),
    ("g = tf.lookup.TextFileInitializer('a', x, x, x, x)", "is not among the names"),
    ("g = tf.device('/gpu:0'), x", "is not among the names"),
    ("g = tf.Graph().as_graph_def(), x", "'.as_graph_def' is not a known attribute"),
    ("g = np.load('a'), x", "'np.load' is not among the names"),
    ("g = np.bmat('x'), x", "is not among the names"),
    ("g = np.lib.npyio.os, x", "is not among the names"),
    ("g = np.ndarray((1,)), x", "is not among the names"),
    ("g = np.array(x).tofile('a')", "'.tofile' is not a known attribute"),
    ("g = x.numpy().data", "'.data' is not a known attribute"),
    ("g = x.__class__", "'.__class__' is not a known attribute"),
    ("g = x.__init__", "'.__init__' is not a known attribute"),
    ("g = type(x)", "no value named 'type'"),
    ("g = '{0.numpy}'.format(x)", "'.format' is not a known attribute"),
    ("f = lambda: x\ng = f.__code__", "is not a known attribute"),
    ("f = lambda: x\ng = f.func_globals", "is not a known attribute"),
    ("g = tf.add(**{'x': x, 'y': x})", "a dictionary is not unpacked into a call"),
    ("def f(**k):\n    return x\nd = {'a': x}\ng = f(**d)", "a dictionary is not unpacked"),
    ("tf.print(x, output_stream='file:///tmp/a')\ng = x", "the keyword 'output_stream'"),
    ("g = tf.Variable(x, caching_device='a')", "the keyword 'caching_device'"),
    ("g = super(x)", "super() has no arguments here"),
    ("class A:\n    def f(self):\n        return x\ng = x.f()", "'.f' is not a known attribute"),
    ("class A:\n    def f(self):\n        return x\ng = [A()][0].f()", "'.f' is not a known"),
    (f"{OWN}a = x\ng = a.double()", "'.double' is not a known attribute"),
    (f"{OWN}def h(a):\n    return a.double()\ng = h(x)", "'.double' is not a known attribute"),
    (f"{OWN}A = tf.abs\ng = A(x).double()", "'.double' is not a known attribute"),
    ("class A:\n    def f(self, it):\n        self.gi_frame = it\n        return self.gi_frame\n"
     "g = A().f(x)", "'.gi_frame' is taken"),
    ("class A:\n    def f_new(self):\n        return self.f_new\ng = A().f_new()", "is taken"),
    ("class A:\n    def format(self):\n        return x\ng = A().format()", "'.format' is taken"),
    ("class A:\n    def save(self):\n        return self.save('a')\ng = A(), x", "is taken"),
    ("class A:\n    def f(self):\n        return x\n    leak = [f]\ng = A(), x", "methods only"),
    ("class A(tf.abs):\n    def f(self):\n        return x\ng = A(), x", "a class derives from"),
    ("b = x\nclass A(b):\n    def f(self):\n        return x\ng = A()", "a class derives from"),
    ("@tf.function\nclass A:\n    def f(self):\n        return x\ng = A()", "no decorators"),
    ("def f(self):\n    return self.numpy()\ng = f(x)", "'self' is taken"),
    ("f = lambda self: self\ng = f(x)", "'self' is taken"),
    ("self = x\ng = self", "'self' is taken"),
    ("class A:\n    def f(self, v):\n        v.k = 1\n        return v\n"
     "g = A().f(x)", "only self.name = value"),
    ("g = tf.keras.layers.Dense(2, activation={'module': 'os'})(x)", "literals, functions"),
    ("d = {'module': 'os'}\ne = d\ng = tf.keras.layers.Dense(2, activation=e)(x)", "literals"),
    ("g = tf.keras.layers.Dense(2, None, *[{}])(x)", "literals, functions"),
    ("def f():\n    return {}\ng = tf.keras.layers.Dense(2, activation=f())(x)", "literals"),
    ("def w(f):\n    return {}\n@w\ndef d():\n    return x\ng = tf.keras.layers.Dense(d)(x)",
     "literals, functions"),
    ("i = tf.keras.activations.linear\ng = tf.keras.layers.Dense(2, i({}))(x)", "literals"),
    ("D = tf.keras.layers.Dense\ng = D(2, activation={})(x)", "is built where it is named"),
    ("g = tf.map_fn(tf.keras.layers.Dense, [{}]), x", "is built where it is named"),
    ("class L(tf.keras.layers.Layer):\n    def __init__(self, d):\n"
     "        super().__init__(dtype=d)\ng = L({})(x)", "literals, functions"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "said"), REFUSED)
def test_what_is_refused(program: str, said: str) -> None:
    found = faults_of(program)
    assert any(said in message for message in found), found


def test_setup_is_held_to_the_same_lists() -> None:
    assert "not among the names" in faults_of("g = x", "tf.io.read_file('a')")[0]
    assert (
        faults_of("g = x * b.own()", "class B:\n    def own(self):\n        return 1.0\nb = B()")
        == []
    )
    assert (
        "known attribute"
        in faults_of(
            "b = x\ng = b.own()", "class B:\n    def own(self):\n        return 1.0\nb = B()"
        )[0]
    )


def test_the_list_holds_no_dangerous_word() -> None:
    words = re.compile(
        r"file|save|load|import|device|proto|compat\.v2|exec|eval|socket|url|download|path|py_func"
        r"|serialize|gfile|Session|summary|profil|distribut|config|checkpoint|restore|dump|pickle",
        re.IGNORECASE,
    )
    known = {
        "tf.executing_eagerly",
        "tf.py_function",
        "tf.numpy_function",
        "tf.keras.layers.TimeDistributed",
    }
    listed = {
        f"{module}.{name}"
        for module, names in names_by_module().items()
        if module != "taken"
        for name in names
    }
    assert {name for name in listed if words.search(name)} - known == set()
    assert 2_000 < len(listed) < 3_000


def test_attributes_and_builtins_reach_no_internals() -> None:
    assert not {name for name in ATTRIBUTES if name.startswith("_")} - {"__wrapped__"}
    kinds = (types.FrameType, types.CodeType, types.GeneratorType, types.FunctionType, str, type)
    for kind in (*kinds, types.TracebackType, types.ModuleType, types.MethodType):
        public = {name for name in dir(kind) if not name.startswith("_")}
        assert not public & ATTRIBUTES, kind
        assert public <= names_by_module()["taken"] | {"gi_state"}
    forbidden = {"eval", "exec", "compile", "open", "getattr", "setattr", "vars", "globals", "type"}
    assert not forbidden & {*BUILTINS}
    assert {*BUILTINS} <= {*dir(builtins)}


@pytest.mark.tensorflow
@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="needs TensorFlow")
def test_the_list_is_what_the_script_makes() -> None:
    """Where it is not: `python -m tests.corpus.framework`."""
    import tensorflow

    if not tensorflow.__version__.startswith(framework.VERSION):
        pytest.skip(f"made from TensorFlow {framework.VERSION}")
    made = set(framework.names())
    listed = {
        f"{module}.{name}"
        for module, names in names_by_module().items()
        if module.startswith("tf")
        for name in names
    }
    assert listed == {name for name in made if name.startswith("tf.")}
