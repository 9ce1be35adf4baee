"""The closed lists of words that a case's program may use."""

from __future__ import annotations

import re

ROOTS = ("tf", "np")
TAPE = "tf.GradientTape"
PROBES = ("alive",)
BUILTINS = (
    *("range", "len", "max", "min", "sum", "float", "int", "bool", "tuple", "list", "dict"),
    *("super", "zip", "isinstance", "type", "next", "iter"),
)
SPECIAL_NAMES = ("__init__", "__call__", "__wrapped__")
RECORDED = ("recorded_ops", *(f"recorded_ops_{number}" for number in range(2, 20)))
"""What the functions of the mode `call` are named."""
RESERVED = ("case", "raised", "calls", *RECORDED)

ATTRIBUTES = frozenset(
    re.findall(
        r"\w+",
        """
    watch gradient jacobian batch_jacobian stop_recording reset watched_variables jvp
    shape dtype name numpy ndim size T values indices dense_shape flat_values row_splits
    op type trainable assign assign_add assign_sub value read_value ref deref
    scatter_sub scatter_add scatter_update sparse_read gather_nd
    variables trainable_variables trainable_weights weights kernel bias non_trainable_variables
    merge_dims to_list with_values with_flat_values to_tensor append pop keys items get
    batch map take repeat enqueue dequeue enqueue_many dequeue_many write read stack unstack concat
    get_concrete_function python_function as_list rank num_elements as_graph_def
    mean std
    gradient_override_map inputs outputs as_default scatter gather
    """,
    )
)
"""Attributes that a program may read of any value; a class of the program adds its own."""

FORBIDDEN_MODULES = re.compile(
    r"""tf\.(io|saved_model|summary|train|distribute|config|profiler|tpu|sysconfig|lite|mlir|xla
    |version|audio|estimator|feature_column|tools|python|load_library|load_op_library
    |keras\.(utils|datasets|applications|saving|backend|callbacks|preprocessing|export|config)
    |keras\.models\.(load|save)_model|keras\.layers\.(TFSMLayer|TorchModuleWrapper|JaxLayer)
    |debugging\.experimental|compat\.(v2|path_to_str|as_bytes)
    |compat\.v1\.(gfile|app|flags|train|saved_model|io|Session|py_func|WholeFileReader|summary
    |test|keras|resource_loader|data|profiler|lite)
    |data\.(?!Dataset\b)\w+|data\.Dataset\.(list_files|load|save|from_generator))(\.|$)
    |tf\..*(File|\.save\w*|\.load\w*|\.export)(\.|$)
    |tf\.raw_ops\..*(File|Save|Restore|Load|Py|Summary|Dataset|Cache|Remote)
    |np\.(load|save|savez|savetxt|loadtxt|genfromtxt|fromfile|tofile|memmap|lib|ctypeslib|f2py
    |testing|DataSource|core|show_config|info|lookfor|source|fromregex|open_memmap
    |savez_compressed|ma|os|sys|compat|distutils|typing)(\.|$)""",
    re.VERBOSE,
)
"""Names that reach files, the network or the interpreter: no fact about gradients needs them."""

FORBIDDEN_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
    io gfile read_file write_file open save load save_weights load_weights save_model load_model
    export tofile dump dumps experimental v1 v2 compat raw_ops data keras
    """,
    )
)
"""Attributes that a class of a program must not define: they would reach the framework's own."""

FORBIDDEN_KEYWORDS = ("output_stream",)
"""Keywords that write files."""

MODULES = re.compile(
    r"""tf\.(compat(\.v1)?|raw_ops|data|keras|experimental|debugging|math|nn|linalg|random|image
    |strings|sparse|ragged|signal|autograph(\.experimental)?|lookup|queue|nest|autodiff|errors
    |keras\.[a-z]+s)|np\.(linalg|random|fft|char|rec)""",
    re.VERBOSE,
)
"""Modules, which are no values: through a name of its own a program could reach all of one."""

CHANGES_THE_PROCESS = re.compile(
    r"""tf\.(RegisterGradient|no_gradient|register_tensor_conversion_function
    |compat\.v1\.(RegisterGradient|no_gradient|NoGradient|NotDifferentiable|reset_default_graph
    |register_tensor_conversion_function|(enable|disable)_\w+)
    |debugging\.(enable|disable|set)_\w+|autograph\.set_verbosity
    |experimental\.(register_\w+|dispatch_for_\w+|unregister_\w+)
    |experimental\.numpy\.experimental_enable_numpy_behavior
    |keras\.mixed_precision\.(experimental\.)?set_\w+)
    |np\.(random\.(seed|set_state)|seterr|seterrcall|set_printoptions)""",
    re.VERBOSE,
)
"""Names whose effect outlives the program: a case that uses one has a process of its own."""

NUMPY_NAMES = re.compile(r"np\.\w+|np\.(linalg|random|fft|add|multiply|maximum|minimum)\.\w+")
"""What a program may take from NumPy."""

LOOP_OPTIONS = "tf.autograph.experimental.set_loop_options"
"""What a `while` begins with: XLA cannot differentiate an unbounded loop."""

PLUMBING = (
    *("tf.GradientTape", "tf.constant", "tf.Variable", "tf.convert_to_tensor", "tf.function"),
    *("tf.custom_gradient", "tf.recompute_grad", "tf.grad_pass_through", "tf.stop_gradient"),
    *("tf.UnconnectedGradients", "tf.identity", "tf.autograph", "tf.print"),
)
"""Calls that compute nothing: they do not count as operations of a program."""

TAGS = (
    *("doc-claim", "kink", "tie", "pole", "convention", "lifetime", "slow"),
    *("scalar", "structure", "dtype", "complex", "sparse", "ragged"),
)
"""What a case may be tagged with; what its program shows (persistent, nested) is derived."""
