"""One order of versions, and what stands between two of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.targets.releases import is_between, version_key

IN_ORDER = (
    *("2.8", "2.9.0.dev20240101", "2.9.0a1", "2.9.0rc0", "2.9.0-rc1", "2.9.0rc10", "2.9"),
    *("2.9.1", "2.10", "2.15.1", "2.21.0", "2.22.0.dev1", "2.22.0rc0", "2.22.0"),
)


def test_versions_sort_as_they_were_published() -> None:
    assert sorted(reversed(IN_ORDER), key=version_key) == list(IN_ORDER)
    assert len(set(map(version_key, IN_ORDER))) == len(IN_ORDER)


@pytest.mark.parametrize("same", ["2.21.0", "2.21.0.0", "2.21+cpu", "v2.21"])
def test_zeros_at_the_end_and_builds_do_not_count(same: str) -> None:
    assert version_key(same) == version_key("2.21")


@pytest.mark.parametrize("text", ["nightly", "", "2.x", "2.21-ours", "9" * 5000, "é"])
def test_what_cannot_be_ordered_is_refused_and_never_covered(text: str) -> None:
    with pytest.raises(ValueError, match="is no version"):
        version_key(text)
    assert not is_between("0", text, "99")
    with pytest.raises(ValueError, match="is no version"):
        is_between("2.8", "2.9", text)


@pytest.mark.parametrize(
    ("since", "version", "until", "holds"),
    [
        ("2.8", "2.8.0", "2.8", True),
        ("2.8.0", "2.8", "2.8.0", True),
        ("2.8", "2.10.0", "2.15", True),
        ("2.8", "2.15.1", "2.15", True),
        ("2.8", "2.15.1", "2.15.0", False),
        ("2.8", "2.16.0rc0", "2.15", False),
        ("2.8", "2.15.0rc1", "2.15", True),
        ("2.8", "2.15.0", "2.15.0rc1", False),
        ("2.8", "2.15.0rc0", "2.15.0rc1", True),
        ("2.8", "2.8.0rc0", "2.9", False),
        ("2.21", "2.21.0rc0", "2.21", False),
        ("2.21", "2.21.1", "2.21", True),
        ("2.21", "2.21.0.post1", "2.21", True),
        ("2.8.0rc0", "2.8.0rc0", "2.9", True),
        ("1.0", "2.3", "2.0", False),
        ("1.0", "2.0.4", "2.0", True),
        ("2.8", "2.9.0+cpu", "2.9.0", True),
        ("2.8", "2.22.0.dev1", "2.21", False),
        ("2.22.0.dev0", "2.22.0.dev1", "2.22.0rc0", True),
        ("2.8", "3", "2.9", False),
        ("2.8", "1!2.9", "2.9", False),
    ],
)
def test_a_version_is_between(since: str, version: str, until: str, holds: bool) -> None:
    assert is_between(since, version, until) == holds


@given(st.text())
def test_any_text_is_ordered_or_refused(text: str) -> None:
    try:
        key = version_key(text)
    except ValueError:
        assert not is_between("0", text, "99")
    else:
        assert is_between(text, text, text)
        assert version_key(str(key)) == key
