"""A target whose import fails."""

raise ImportError("libmissing.so: cannot open shared object file")
