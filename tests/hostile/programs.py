"""Programs that strangers might write to get out: every form of the language, and what it lacks."""

from __future__ import annotations

import re
import textwrap
from random import Random

from hypothesis import strategies as st

from conformance.corpus.language.vocabulary import ATTRIBUTES, BUILTINS, names_by_module

SLOW = ("tf.queue", "tf.while_loop", "tf.scan", "tf.py_function", "tf.numpy_function", "tf.raw_ops")
"""What may wait for ever, or brings the process down by arguments that make no sense."""
NAMES = sorted(
    f"{module}.{name}"
    for module, names in names_by_module().items()
    if module != "taken"
    for name in names
    if not f"{module}.{name}".startswith(SLOW)
)
OFTEN = (
    *("tf.abs", "tf.function", "tf.custom_gradient", "tf.GradientTape", "tf.Module", "tf.Variable"),
    *(
        "tf.nest.map_structure",
        "tf.map_fn",
        "tf.cond",
        "tf.constant",
        "tf.print",
        "tf.strings.join",
    ),
    *("tf.keras.layers.Dense", "tf.keras.layers.Lambda", "tf.keras.Sequential", "np.array"),
    *("tf.data.Dataset.from_tensor_slices", "tf.Graph", "tf.keras.activations.linear"),
    *("tf.recompute_grad", "tf.grad_pass_through", "tf.compat.v1.get_variable", "tf.TensorArray"),
    *(
        "tf.autograph.experimental.do_not_convert",
        "tf.variable_creator_scope",
        "np.apply_along_axis",
    ),
)
FOREIGN_NAMES = (
    *("tf.io.write_file", "tf.io.read_file", "tf.compat.v1.gfile.GFile", "np.save", "np.load"),
    *("tf.keras.utils.get_file", "tf.raw_ops.WriteFile", "tf.sysconfig.get_lib", "np.memmap"),
    *("tf.keras.layers.deserialize", "tf.keras.activations.get", "np.lib.npyio.os", "tf.os"),
    *("tf.data.Dataset.list_files", "tf.saved_model.save", "tf.train.Checkpoint", "tf.summary"),
    *("tf.compat.v1.py_func", "tf.load_op_library", "np.bmat", "np.ctypeslib", "tf.test.main"),
    *("tf.keras.Model.save", "np.ndarray", "tf.function.__globals__", "tf.abs.__wrapped__", "tf"),
)
DANGEROUS = (
    *("__class__", "__globals__", "__code__", "__subclasses__", "__dict__", "__init__", "__call__"),
    *("__wrapped__", "gi_frame", "f_globals", "f_back", "tb_frame", "func_globals", "cr_frame"),
    *("format", "format_map", "mro", "tofile", "dump", "data", "ctypes", "save", "load", "export"),
    *("python_function", "as_graph_def", "graph", "function_spec", "from_generator", "list_files"),
    *("as_numpy_iterator", "cache", "with_traceback", "send", "throw", "open", "write_text"),
)
USUAL = tuple(sorted(ATTRIBUTES))
OWN = ("own", "apply", "peculiar", "scaled", "twice", "gi_frame", "format", "save", "f_globals")
KEYWORDS = (
    *("name", "dtype", "axis", "activation", "kernel_initializer", "shape", "fn", "variables"),
    *("output_stream", "device", "caching_device", "filename", "custom_getter", "_private"),
    *("loss", "regularizer", "arguments", "initializer", "reduction", "values", "x", "y"),
)
TEXTS = (
    *("'hostile.tmp'", "'/etc/passwd'", "'file://hostile.tmp'", "'{0.__class__}'", "'%s'", "'os'"),
    *("'__import__'", "'relu'", "'builtins>eval'", "'os.system'", "'float32'", "'\\x00'", "'ones'"),
    *("'${HOME}'", "'../../x'", "'\N{FULLWIDTH LOW LINE}'", "b'a'", "'a' * 1000000"),
)
EVIL = "{'module': 'builtins', 'class_name': 'function', 'config': 'eval', 'registered_name': 'f'}"
UNICODE = (
    "v\N{COMBINING ACUTE ACCENT}",
    "\N{MATHEMATICAL BOLD SMALL V}0",
    "\N{FULLWIDTH LOW LINE}v",
)


class Writer:
    """Writes one program; about `spice` of its parts are none of the language's."""

    def __init__(self, random: Random, spice: float) -> None:
        self.random = random
        self.spice = spice
        self.names = ["x"]
        self.classes: dict[str, list[str]] = {}

    def any_of(self, *choices: str) -> str:
        return self.random.choice(choices)

    def spiced(self) -> bool:
        return self.random.random() < self.spice

    def name(self) -> str:
        if self.spiced():
            return self.any_of(
                "__builtins__", "__import__", "open", "eval", "self", "type", *UNICODE
            )
        return self.any_of(*self.names, *self.classes)

    def fresh(self) -> str:
        name = f"v{len(self.names)}" if not self.spiced() else self.any_of("tf", "self", "__x", "x")
        self.names.append(name)
        return name

    def framework(self) -> str:
        if self.spiced():
            return self.any_of(*FOREIGN_NAMES)
        return self.random.choice(OFTEN if self.random.random() < 0.6 else NAMES)

    def attribute(self) -> str:
        return self.random.choice(DANGEROUS + OWN if self.spiced() else USUAL)

    def expression(self, depth: int) -> str:
        if depth <= 0:
            texts = TEXTS if self.spiced() else TEXTS[:10]
            return self.any_of(self.name(), "x", "1.0", "2", "None", "True", *texts)
        inner = [self.expression(depth - 1 - self.random.randrange(2)) for _ in range(2)]
        one, two = inner
        form = self.random.randrange(16)
        if form < 4:
            return self.call(depth)
        forms = (
            f"{self.name()}.{self.attribute()}",
            f"({one}).{self.attribute()}",
            f"({one})[{two}]",
            f"({one}) {self.any_of('+', '-', '%', '@', 'is', '==')} ({two})",
            f"[{one}, {two}]",
            f"{{'a': {one}, 'module': {two}}}",
            f"lambda a, b={one}: {two}",
            f"({one} if x > 0.0 else {two})",
            self.framework(),
            f"{self.any_of(*BUILTINS)}({one})",
            EVIL,
            self.own() if self.classes else f"tf.Module({one}).name",
        )
        return forms[form - 4]

    def own(self) -> str:
        """Something of a class of the program's own, or of one that it makes."""
        name = self.any_of(*self.classes)
        attribute = self.any_of(*(OWN if self.spiced() else self.classes[name]))
        return self.any_of(f"{name}().{attribute}", f"{name}.{attribute}({self.expression(1)})")

    def call(self, depth: int) -> str:
        called = self.any_of(self.framework(), self.framework(), self.name(), self.framework())
        words = [self.expression(depth - 1) for _ in range(self.random.randrange(3))]
        if self.random.random() < 0.3:
            spiced = self.spiced()
            usual = KEYWORDS[:8] if not spiced else KEYWORDS
            words.append(f"{self.any_of(*usual)}={self.any_of(EVIL, self.expression(depth - 1))}")
        if self.random.random() < 0.05:
            words.append(f"*[{self.expression(depth - 1)}]")
        if self.spiced():
            words.append(f"**{EVIL}")
        return f"{called}({', '.join(words)})"

    def statement(self, depth: int) -> str:
        form = self.random.randrange(9 if depth else 4)
        if form < 4:
            value = self.expression(2)
            return f"{self.fresh()} = {value}" if form else value
        if form == 4:
            return self.definition(depth)
        if form == 5:
            return self.class_(depth)
        head = (
            f"with {self.expression(1)} as {self.fresh()}:",
            f"for {self.fresh()} in {self.any_of('range(2)', self.expression(1))}:",
            "if x > 0.0:",
        )[form - 6]
        if form == 8:
            return f"{head}\n    {self.expression(2)}"
        return f"{head}\n{self.block(depth - 1)}"

    def block(self, depth: int) -> str:
        lines = [self.statement(depth) for _ in range(1 + self.random.randrange(2))]
        return textwrap.indent("\n".join(lines), "    ")

    def definition(self, depth: int) -> str:
        decorator = ""
        if self.random.random() < 0.4:
            decorator = f"@{self.any_of(*OFTEN[:4], self.name(), self.call(1))}\n"
        before = [*self.names]
        self.names += ["a", "b", "c", "d"]
        default = self.expression(1)
        body = f"{self.block(depth - 1)}\n    return {self.expression(2)}"
        self.names = before
        name = self.fresh()
        return f"{decorator}def {name}(a, b={default}, *c, **d):\n{body}"

    def class_(self, depth: int) -> str:
        bases = ("", "", "(tf.Module)", "(tf.keras.layers.Layer)", f"({self.expression(1)})")
        base = self.random.choice(bases if self.spiced() else bases[:4])
        before = [*self.names]
        self.names += ["self", "v"]
        methods = []
        usual = OWN if self.spiced() else OWN[:5]
        names = self.random.sample(usual, 2)
        for name in names:
            statements = self.block(depth - 1)
            field = f"self.k = {self.expression(1)}"
            returned = f"return {self.any_of('self.k', f'self.{name}', self.expression(2))}"
            body = textwrap.indent(f"{field}\n{returned}", "    ")
            methods.append(f"def {name}(self, v=x):\n{statements}\n{body}")
        self.names = before
        name = f"C{len(self.classes)}"
        self.classes[name] = ["k", names[0]]
        made = f"{self.fresh()} = {name}()" if self.random.random() < 0.7 else ""
        return f"class {name}{base}:\n" + textwrap.indent("\n".join(methods), "    ") + f"\n{made}"

    def program(self) -> str:
        lines = [self.statement(2) for _ in range(self.random.randrange(4))]
        return "\n".join([*lines, f"g = [x, {self.expression(3)}]"])


@st.composite
def entries(draw: st.DrawFn) -> str:
    """A file of one case, whose program a stranger wrote.

    Every name may be an error, so that a statement that fails does not end the program.
    """
    random = draw(st.randoms(use_true_random=True))
    spice = draw(st.sampled_from([0.0, 0.0, 0.02, 0.1]))
    program = Writer(random, spice).program()
    names = {"g", *re.findall(r"^(v\d+) = ", program, re.MULTILINE)}
    expected = "".join(f"      {n}: {{any_of: [1.0, {{error: E}}]}}\n" for n in sorted(names))
    return (
        "introduction: a\ncases:\n  one:\n    title: a\n    source: contract/1\n"
        f"    inputs: {{x: 3.0}}\n    run: |\n{textwrap.indent(program, '      ')}\n"
        f"    expect:\n{expected}"
    )
