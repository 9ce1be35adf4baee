"""Where a case's fact comes from: the closed grammar of source texts."""

from __future__ import annotations

import re

from conformance.corpus.language.nodes import Faults, Node, spoken
from conformance.text import suggest

FORMS = {
    "contract/84": r"contract/[1-9]\d{0,3}",
    "contract/s4": r"contract/s[1-9]\d?",
    "contract/0b.5": r"contract/0b\.[1-9]\d?",
    "contract/advanced/27": r"contract/advanced/[1-9]\d?",
    "guide/autodiff#section": r"guide/autodiff(#[a-z0-9][a-z0-9_.-]*)?",
    "guide/advanced_autodiff#section": r"guide/advanced_autodiff(#[a-z0-9][a-z0-9_.-]*)?",
    "custom_gradient.py docstring, name": r"custom_gradient\.py( docstring)?(, \S.*)?",
    "api/custom_gradient (de)": r"api/[A-Za-z][\w./]*( \([a-z]{2}\))?(, \S.*)?",
    "blog/name": r"blog/[a-z0-9][\w.#/-]*",
    "issue/12345": r"issue/[1-9]\d{0,6}",
    "METHODS 4.2 mutant 7": r"METHODS [1-9]\d?(\.\d+)*( mutant [1-9]\d{0,3})?",
    "https://...": r"https://[a-z0-9][a-z0-9.-]*(/\S*)?",
}
"""Each form of a source by an example of it: the pattern that a source of this form matches."""

MAX_SOURCES = 20
_ANY = re.compile("|".join(f"(?:{pattern})" for pattern in FORMS.values()))


def parse_sources(node: Node, faults: Faults) -> tuple[str, ...]:
    """One source, or a list of them; a fault with the nearest form for what is none."""
    children = node.value if isinstance(node.value, list) else [node]
    if not children:
        faults.add(node, "a case names the source of its fact, such as contract/84")
    if len(children) > MAX_SOURCES:
        faults.add(node, f"more than {MAX_SOURCES} sources")
        return ()
    return tuple(_source(child, faults) for child in children)


def _source(node: Node, faults: Faults) -> str:
    text = faults.line(node)
    if text and not _ANY.fullmatch(text):
        faults.add(node, f"'{spoken(text)}' is no source{_nearest(text)}")
    return text


def _nearest(text: str) -> str:
    """The forms that begin as the text does, or that are spelt like it."""
    room = "api" if text.startswith("tf.") else text.lower().split("/")[0]
    alike = [form for form in FORMS if "/" in form and form.split("/")[0] == room]
    if alike:
        return f" (written like {' or '.join(alike)})"
    return suggest(text, FORMS)
