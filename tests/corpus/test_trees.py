"""Trees of programs, which the host's threads ask for at the same time."""

from __future__ import annotations

import ast
import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance.corpus.language.program import tree_of


@pytest.fixture
def other_threads_run_while_garbage_is_collected() -> Iterator[None]:
    """As they do where something listens to the collector; hypothesis does."""

    def let_others_run(phase: str, info: dict[str, int]) -> None:
        time.sleep(0)

    before = gc.get_threshold()
    gc.callbacks.append(let_others_run)
    gc.set_threshold(100)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(let_others_run)


@pytest.mark.usefixtures("other_threads_run_while_garbage_is_collected")
def test_threads_ask_for_trees_at_the_same_time() -> None:
    """CPython 3.11 loses count of its depth where two threads make trees at once."""
    texts = [f"y = {'+'.join([f'x{n}'] * 50)}\n" for n in range(200)]
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(tree_of, texts))
    assert [ast.unparse(tree) for tree in trees] == [
        text.replace("+", " + ").strip() for text in texts
    ]
