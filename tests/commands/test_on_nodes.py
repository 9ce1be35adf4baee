"""`gradconf fuzz` and `gradconf mutants` on a cluster find what they find on one machine."""

from __future__ import annotations

import contextlib
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conformance.answers.mismatch import lines
from conformance.asking.cluster import Cluster
from conformance.suite.campaign import Campaign
from conformance.suite.relations import RELATIONS
from conformance.targets.specification import parse_target
from tests.conftest import Program
from tests.dask import REAL, SLOW_TAPE, Dask, ended, started, wait_for

WRONG = f"""{SLOW_TAPE}
import functools
from reference_impl.rules import PRIMITIVES

rule = PRIMITIVES["Sin"].rule

@functools.wraps(rule)
def wrong(*arguments, **attributes):
    (x,) = rule(*arguments, **attributes)
    return (x * 1.5,)

PRIMITIVES["Sin"].rule = wrong
"""
"""The sine has a wrong gradient, and gradients are slow enough that something can happen."""
FUZZ = ("fuzz", "./tape.py", "--examples", "120", "--output", "found")
MUTANTS = (
    *("accumulate_overwrites", "none_becomes_zeros", "persistent_ignored", "reset_keeps_watched"),
    *("forward_order_walk", "add_n_gradient_is_shared_out"),
)
SAMPLE = ("mutants", *MUTANTS, "--area", "recording", "--output", "found.json")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fuzz", "reference", "--cluster", "10.0.0.5:1"), "or add --insecure"),
        (("mutants", "--cluster", "10.0.0.5:1"), "or add --insecure"),
        (("fuzz", "reference", "--insecure"), "--insecure is for --cluster ADDRESS"),
        (("mutants", "--insecure"), "--insecure is for --cluster ADDRESS"),
        (("mutants", "tensorflow", "--cluster", "local"), "leave out --cluster"),
        (
            ("fuzz", "reference", "--cluster", "local", "--python", sys.executable),
            "leave out --cluster",
        ),
    ],
)
def test_other_words_are_refused_in_a_line(
    gradconf: Program, words: tuple[str, ...], said: str
) -> None:
    done = gradconf(*words)
    assert done.returncode == 2
    first, word = done.stderr.splitlines()
    assert said in first
    assert word == "usage"


class TestReal:
    pytestmark = REAL

    @pytest.fixture
    def two_nodes(self, tmp_path: Path) -> Iterator[Dask]:
        with contextlib.ExitStack() as held:
            yield Dask(tmp_path / "nodes", held, nodes=2)

    def test_what_is_drawn_and_found_is_that_of_one_machine(
        self, tmp_path: Path, two_nodes: Dask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "tape.py").write_text(WRONG)
        due = [*found_by(None, lambda: None)]
        assert any(due)
        with contextlib.closing(Cluster(two_nodes.address, 0)) as cluster:
            wait_for(lambda: len(cluster.threads()) == 2)

            def kill_one() -> None:
                if len(cluster.answered) == 2:  # both have been asked
                    two_nodes.nodes[1].kill()

            assert [*found_by(cluster, kill_one)] == due
        assert two_nodes.nodes[1].poll() == -signal.SIGKILL

    def test_what_was_found_is_told_where_the_scheduler_is_lost(
        self, tmp_path: Path, two_nodes: Dask
    ) -> None:
        _, two = folders(tmp_path)
        process = started(two, *FUZZ, "--cluster", two_nodes.address)
        wait_for(lambda: bool(two_nodes.files_of(0) or two_nodes.files_of(1)))
        two_nodes.scheduler.send_signal(signal.SIGKILL)
        code, said = ended(process)
        assert code == 4, said
        assert "Traceback" not in said
        assert "is lost: its scheduler does not answer" in said
        assert "\nuntrustworthy\n" in said

    def test_mutants_are_caught_as_on_one_machine(self, tmp_path: Path, two_nodes: Dask) -> None:
        one, two = folders(tmp_path)
        code, said = ended(started(one, *SAMPLE))
        assert code in (0, 1), said
        process = started(two, *SAMPLE, "--cluster", two_nodes.address)
        wait_for(lambda: len(two_nodes.files_of(1, "folder.json")) >= 1)
        two_nodes.nodes[1].kill()
        again, told = ended(process)
        assert (again, without_rate(told)) == (code, without_rate(said))
        assert (two / "found.json").read_text() == (one / "found.json").read_text()
        assert "caught   accumulate_overwrites by " in said
        kept = two_nodes.files_of(0, "folder.json")
        assert len(kept) == len(MUTANTS) + 1  # and the control


def found_by(cluster: Cluster | None, meanwhile: Callable[[], None]) -> Iterator[list[str]]:
    """What each of 150 programs shows of the target, asked here or on a cluster."""
    relations = [one for one in RELATIONS if one.name in ("persistent", "scaled", "derivative")]
    target = parse_target("./tape.py")
    with contextlib.closing(Campaign([target], relations, 1, cluster)) as campaign:
        campaign.start()
        for findings in campaign.run(150, None):
            meanwhile()
            yield [
                "\n".join([str(one.check), one.entry, one.rewritten, *lines(one.mismatches[0])])
                for one in findings
            ]


def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders with the same target."""
    found = tmp_path / "one", tmp_path / "two"
    for folder in found:
        folder.mkdir()
        (folder / "tape.py").write_text(WRONG)
    return found


def without_rate(said: str) -> list[str]:
    """What was said, but for how fast that was, and where."""
    lines = [re.sub(r", [\d.]+ each second, \d+%", "", line) for line in said.splitlines()]
    return [line for line in lines if " nodes, " not in line]
