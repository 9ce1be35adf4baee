"""A target that forks when it is imported, and whose child goes on as well."""

import os

from oracle_but import __getattr__

os.fork()
