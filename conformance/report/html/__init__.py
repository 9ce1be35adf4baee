"""The HTML page of results: `page.py` says what stands on it, `page.html` how it looks."""
