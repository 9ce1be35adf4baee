"""Run scripts one after the other in this interpreter; the last word that each printed, as JSON.

It stands alone: the interpreter is any from CPython 3.9 on, with a framework and nothing of ours.
"""

import contextlib
import io
import json
import os
import sys
import traceback
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.simplefilter("ignore")
for name, script in json.load(sys.stdin).items():
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(script, name, "exec"), {"__name__": "__main__"})
        said = printed.getvalue().split()[-1]
    except Exception:
        said = traceback.format_exc()
    print(json.dumps([name, said]), flush=True)
