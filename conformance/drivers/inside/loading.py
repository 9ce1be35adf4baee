"""Finding the target: a module, an attribute of one, or a file, as the namespace `tf`."""

import ast
import builtins
import contextlib
import hashlib
import importlib
import importlib.util
import inspect
import os
import platform
import sys
import traceback
from importlib import metadata

COMPANIONS = ("keras", "keras-nightly", "tf-keras", "tf-nightly", "ml-dtypes", "protobuf")


def load_target(request: dict) -> tuple:
    """The target's namespace and what to tell the host of it; None and an error if it fails."""
    sys.path[:0] = request["path"]
    try:
        target = _import(request["module"])
        for name in filter(None, request["attribute"].split(".")):
            target = getattr(target, name)
        if request.get("spellings"):
            target = importlib.import_module("kit").Namespace(target.backend, request["spellings"])
        autograph = getattr(target, "autograph", None)
        if hasattr(autograph, "set_verbosity"):
            autograph.set_verbosity(0)  # as in every run, whatever the user's settings
        return target, describe(target, request)
    except BaseException as error:  # the import of a foreign module may raise anything
        lines = traceback.format_exception_only(type(error), error)
        return None, {"ready": False, "error": "".join(lines).strip()[:4000]}


def _import(module: str):
    if not module.endswith(".py"):
        return importlib.import_module(module)
    if not os.path.exists(module):
        raise FileNotFoundError(f"no file {module}")
    name = os.path.splitext(os.path.basename(module))[0]
    sys.path.insert(0, os.path.dirname(os.path.abspath(module)))
    spec = importlib.util.spec_from_file_location(name, module)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def packages() -> dict:
    """The versions of what a framework's answers depend on, where it is installed."""
    found = {}
    for name in COMPANIONS:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def distribution(module: str) -> str:
    """What a module's top-level package was installed from, such as tensorflow-cpu; or nothing.

    That is a distribution beside the package that lists it as its own: Python 3.9 has no
    packages_distributions, which would also read every other folder.
    """
    package = module.partition(".")[0]
    file = getattr(sys.modules.get(package), "__file__", None) or ""
    if os.path.basename(file) != "__init__.py":
        return ""
    beside = metadata.distributions(path=[os.path.dirname(os.path.dirname(file))])
    names = {one.metadata["Name"] for one in beside if _holds(one, package)}
    return ", ".join(sorted(name.lower().replace("_", "-") for name in names if name))


def _holds(distribution, package: str) -> bool:
    try:
        names = distribution.read_text("top_level.txt")
        if names is not None:
            return package in names.split()
        files = distribution.read_text("RECORD") or ""
    except (OSError, ValueError):  # a distribution of which only a part is left
        return False
    return f"\n{package}/" in f"\n{files}"


def digest(module: str) -> str:
    """What identifies the text of a target that is not installed: of all that it imported there."""
    package = sys.modules.get(module.partition(".")[0])
    own = module if module.endswith(".py") else getattr(package, "__file__", None)
    if not own or _is_installed(own):
        return ""
    own = os.path.realpath(own)
    folder = os.path.dirname(own) + os.sep
    loaded = {str(getattr(module, "__file__", None)) for module in list(sys.modules.values())}
    others = {os.path.realpath(file) for file in loaded if file.endswith(".py")} - {own}
    found = hashlib.sha256()
    for file in [own, *sorted(others)]:
        if file.startswith(folder) and not _is_installed(file):
            found.update(b"" if file == own else file[len(folder) :].encode() + b"\0")
            with open(file, "rb") as opened:
                found.update(opened.read())
    return found.hexdigest()[:16]


def _is_installed(file: str) -> bool:
    return not {"site-packages", "dist-packages"}.isdisjoint(file.split(os.sep))


def _lacks(target) -> list:
    lacks = getattr(target, "GRADCONF_LACKS", ())
    if isinstance(lacks, str):
        raise TypeError("GRADCONF_LACKS is a text, not a list of names")
    return [str(name) for name in lacks]


def _notes(target, module: str) -> list:
    """What the author of a target should look at."""
    had = [f"GRADCONF_LACKS has {name}, which the target has" for name in _lacks(target)
           if _has(target, name)]  # fmt: skip
    return had + ([_shadowed(module)] if module.endswith(".py") and _shadowed(module) else [])


def _has(target, entry: str) -> bool:
    """Whether a target has the name, method or keyword that it declares as lacking."""
    name, _, keyword = entry.rstrip(")").partition("(")
    try:
        for part in name.split("."):
            target = getattr(target, part)
        return not keyword or keyword in inspect.signature(target).parameters
    except (AttributeError, ValueError, TypeError, NotImplementedError):
        return False


def _shadowed(file: str) -> str:
    """Which of Python's names a file's own functions take for the target's, and where; or nothing.

    That is a name which the file defines, as `abs`, and which code inside a function of it reads.
    """
    with open(file, "rb") as opened:
        tree = ast.parse(opened.read())
    bound = {one.name for one in tree.body if isinstance(one, (ast.FunctionDef, ast.ClassDef))}
    bound |= {part.id for one in tree.body for part in ast.walk(one)
              if isinstance(one, (ast.Assign, ast.AnnAssign)) and isinstance(part, ast.Name)
              and isinstance(part.ctx, ast.Store)}  # fmt: skip
    read = {}
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.Lambda)):
            for part in ast.walk(function):
                if isinstance(part, ast.Name) and part.id in bound and hasattr(builtins, part.id):
                    read.setdefault(part.id, part.lineno)
    told = ", ".join(f"{name} (line {line})" for name, line in sorted(read.items()))
    if not told:
        return ""
    return f"inside it these are its own, not Python's: {told}: write builtins.NAME for Python's"


def numpy_tensors(target) -> bool:
    """Whether the target declares that its tensors are NumPy arrays."""
    declared = getattr(target, "GRADCONF_NUMPY_TENSORS", False)
    if not isinstance(declared, bool):
        raise TypeError("GRADCONF_NUMPY_TENSORS is neither True nor False")
    return declared


def describe(target, request: dict) -> dict:
    """What goes into a record's header about this worker."""
    import numpy

    return {
        "ready": True,
        "name": getattr(target, "__name__", request["module"]),
        "version": str(getattr(target, "__version__", "")),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "distribution": distribution(request["module"]),
        "packages": packages(),
        "digest": digest(request["module"]),
        "platform": f"{platform.system()} {platform.machine()}",
        "lacks": _lacks(target),
        "notes": _notes(target, request["module"]),
        "numpy_tensors": numpy_tensors(target),
    }
