"""A process that runs programs as a worker does, and tells what they reached for.

    python tests/hostile/audited_worker.py tensorflow

Requests and replies are lines of JSON on standard input and output. A request is that of a worker,
or the text of a whole script that leaves its values in `observed`. An audit hook counts what
happens beneath a case's frame: files, processes, sockets, loading of code, whoever does it there;
and looks into frames, code objects and modules, where the case itself takes them. What AutoGraph
does is excepted by name, and what a framework imports of its own the first time that it is used.
After the program ran, every value that it bound is searched for internals of the interpreter.
"""

import builtins
import contextlib
import gc
import io
import json
import linecache
import os
import sys
import types

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FRAMEWORKS = ("tensorflow", "keras", "numpy", "reference_impl", "ml_dtypes", "google", "absl")

OUTSIDE = (
    *("open", "os.", "shutil.", "subprocess.", "socket.", "ctypes.", "urllib.", "http.", "ftplib."),
    *("mmap.", "glob.", "tempfile.", "pathlib.", "webbrowser.", "sqlite3.", "syslog.", "smtplib."),
    *("pickle.", "pty.", "fcntl.", "resource.", "signal.", "import", "poplib.", "telnetlib."),
)
"""Audit events that count wherever beneath a case they happen."""
INSIDE = (
    *("object.__getattr__", "object.__setattr__", "sys.", "gc.", "exec", "compile", "code."),
    *("function.__new__", "marshal.", "builtins.input", "cpython."),
)
"""Audit events that count where the case's own code makes them."""
EXCEPTED = ("/tensorflow/python/autograph/", "/linecache.py", "/tokenize.py", "/inspect.py")
"""Files whose code may read files beneath a case: AutoGraph and what shows a program's lines."""
BUILTINS = (
    *("range", "len", "max", "min", "sum", "float", "int", "bool", "tuple", "list", "dict"),
    *("super", "zip", "isinstance", "next", "iter"),
)
INTERNALS = (
    *(types.ModuleType, types.FrameType, types.CodeType, types.TracebackType, types.GeneratorType),
    *(types.CoroutineType, types.CellType, types.MappingProxyType, io.IOBase),
)

found = []
watching = False


def hook(event, arguments):
    """Note an event that a case must not cause."""
    global watching
    if not watching or not event.startswith(OUTSIDE + INSIDE):
        return
    watching = False  # what follows looks at frames itself
    try:
        if _counts(event, arguments):
            found.append(f"{event} {arguments!r}"[:300])
    finally:
        watching = True


def _counts(event, arguments):
    frame = sys._getframe(2)
    if event.startswith(INSIDE):
        return _is_case(frame)
    if event == "import" and str(arguments[0]).split(".")[0] in FRAMEWORKS:
        return False
    importing = False
    while frame is not None:
        file = frame.f_code.co_filename
        if any(name in file for name in EXCEPTED):
            return False
        importing = importing or _imports_a_framework(frame)
        if _is_case(frame):
            return not importing
        frame = frame.f_back
    return False


def _is_case(frame):
    return frame.f_code.co_filename.startswith("<case ")


def _imports_a_framework(frame):
    """Whether a frame of the import system loads a module that belongs to a framework."""
    if frame.f_code.co_name != "_find_and_load":
        return False
    return str(frame.f_locals.get("name")).split(".")[0] in FRAMEWORKS


def internals_in(value, depth=4):
    """What a value holds that a case must not have: internals, and builtins outside the list."""
    if isinstance(value, INTERNALS):
        return [repr(value)[:200]]
    name = getattr(value, "__name__", "")
    known = isinstance(name, str) and getattr(builtins, name, None) is value
    if known and isinstance(value, type | types.BuiltinFunctionType):
        return [] if value.__name__ in BUILTINS else [repr(value)]
    if isinstance(value, types.BuiltinFunctionType) and value.__module__ in ("os", "posix", "sys"):
        return [repr(value)]
    inside = ()
    if isinstance(value, list | tuple | set) and depth:
        inside = list(value)[:50]
    elif isinstance(value, dict) and depth:
        inside = list(value.values())[:50]
    return [internal for item in inside for internal in internals_in(item, depth - 1)]


def answer(target, request):
    """Run one program, and tell what it observed and what happened beneath it."""
    global watching
    from inside import execution

    found.clear()
    held = []

    class Searched(execution.Observer.__mro__[-2]):
        def observe(self, value):
            held.append(value)
            return super().observe(value)

    execution.Observer = Searched
    watching = True
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            if "script" in request:
                reply = run_script(request, execution.Observer())
            else:
                reply = execution.run_cell(target, request)
    finally:
        watching = False
    internals = [internal for value in held for internal in internals_in(value)]
    return {
        "outcome": "raised" if reply["error"] else "answered",
        "observations": reply["observations"],
        "error": reply["error"],
        "events": found[:20],
        "internals": internals[:20],
    }


def run_script(request, observer):
    """Run a script as if it were a file of a case's name, where AutoGraph finds its text."""
    from inside.observation import observe_error

    source, file = request["script"], f"<case {request['name']}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace = {"__name__": "script"}
    try:
        exec(compile(source, file, "exec"), namespace)
        observed = {name: observer.observe(v) for name, v in namespace["observed"].items()}
    except Exception as error:
        return {"observations": {}, "error": observe_error(error, "run", None)}
    return {"observations": observed, "error": None}


def main(name):
    """Serve requests until standard input ends."""
    sys.path.insert(0, os.path.join(ROOT, "conformance", "drivers"))
    sys.path.insert(1, ROOT)
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # frameworks print
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    target = __import__(name)
    from inside import execution

    assert execution.run_cell
    sys.addaudithook(hook)
    for number, line in enumerate(sys.stdin):
        replies.write(json.dumps(answer(target, json.loads(line))) + "\n")
        replies.flush()
        if number == 0:  # what importing made is not looked through by each program's collections
            gc.freeze()


if __name__ == "__main__":
    main(sys.argv[1])
