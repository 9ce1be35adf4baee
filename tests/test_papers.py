"""The project's papers: no link leads nowhere, and what they name exists."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from conformance.corpus.language.case import (
    Expectation,
    ExpectedAnyOf,
    ExpectedError,
    ExpectedStructure,
)
from tests.cases import whole_corpus

ROOT = Path(__file__).parent.parent
NOT_OURS = {"node_modules", "build", "dist"}
PAPERS = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(part in NOT_OURS or part.startswith(".") for part in path.relative_to(ROOT).parts)
)
APACHE_2 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
PUBLISHED = {"actions/checkout@v4", "actions/setup-python@v5", "actions/upload-artifact@v4"}
WORKFLOWS = [
    *sorted((ROOT / ".github" / "workflows").glob("*.yml")),
    ROOT / "examples" / "tinytape" / "gate.yml",
    ROOT / "action.yml",
]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def prose(text: str) -> str:
    """A Markdown text without its code."""
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "code", text)


def links_of(text: str) -> list[str]:
    """What a Markdown text links to: inline, by reference, and in HTML."""
    text = prose(text)
    inline = re.findall(r"\]\(<?([^)\s>]*)>?(?: \"[^\"]*\")?\)", text)
    references = re.findall(r"^\[[^\]]+\]:\s*(\S+)", text, re.MULTILINE)
    return [*inline, *references, *re.findall(r"(?:href|src)=\"([^\"]*)\"", text)]


def anchors_of(text: str) -> set[str]:
    """The anchors of a Markdown text, as GitHub makes them of its headings."""
    plain = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    found: dict[str, int] = {}
    anchors = set(re.findall(r"(?:id|name)=\"([^\"]+)\"", plain))
    for heading in re.findall(r"^#{1,6} +(.*?)[ #]*$", plain, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        count = found[slug] = found.get(slug, -1) + 1
        anchors.add(f"{slug}-{count}" if count else slug)
    return anchors


def dead_links(paper: Path, root: Path = ROOT) -> Iterator[str]:
    for link in links_of(paper.read_text(encoding="utf-8")):
        if re.match(r"(https?|mailto):", link):
            continue
        file, _, anchor = link.partition("#")
        target = (paper.parent / file).resolve() if file else paper
        if not target.is_relative_to(root) or not target.exists():
            yield f"{link}: no such file"
        elif anchor and not has_place(target.read_text(encoding="utf-8"), anchor):
            yield f"{link}: no such place"


def has_place(text: str, anchor: str) -> bool:
    line = re.fullmatch(r"L(\d+)", anchor)
    if line:
        return int(line[1]) <= text.count("\n")
    return anchor in anchors_of(text)


@pytest.mark.parametrize("paper", PAPERS, ids=name_of)
def test_no_link_leads_nowhere(paper: Path) -> None:
    assert list(dead_links(paper)) == []


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    paper = tmp_path / "page.md"
    paper.write_text(
        "# Two words, and `code`\n## Same\n## Same\n[a](page.md#two-words-and-code) [b](#same-1)\n"
        "[c](#same-2) [d](none.md) ![e](none.png) [f](page.md#none)\n"
        "[g](../elsewhere)\n[h]: gone.md\n"
        "[m](page.md#L3) [n](page.md#L99)\n"
        '<a href="lost.html">i</a> `[j](not_a_link)` [k](https://example.org/none)\n'
        "```\n[l](in_code.md)\n```\n"
    )
    assert [found.split(":")[0] for found in dead_links(paper, tmp_path)] == [
        *(
            "#same-2",
            "none.md",
            "none.png",
            "page.md#none",
            "../elsewhere",
            "page.md#L99",
            "gone.md",
            "lost.html",
        )
    ]


def test_the_map_names_every_room_and_only_what_exists() -> None:
    package = ROOT / "conformance"
    text = (package / "README.md").read_text(encoding="utf-8")
    rooms = {path.name for path in package.iterdir() if (path / "__init__.py").is_file()}
    modules = {path.name for path in package.glob("*.py")} - {"__init__.py"}
    assert rooms | modules <= set(links_of(text))
    for named in re.findall(r"`([\w/]+(?:\.\w+|/))`", text):
        assert (package / named).exists() or (ROOT / named).exists(), named
    assert len(text.splitlines()) <= 80, "a map of one page"


def test_the_pages_that_the_program_names_exist() -> None:
    for file in (ROOT / "conformance").rglob("*.py"):
        for page in re.findall(r"\bdocs/[\w/]+\.\w+", file.read_text(encoding="utf-8")):
            assert (ROOT / page).is_file(), f"{name_of(file)}: {page}"


def used(content: object) -> Iterator[str]:
    """Every action that a workflow uses, wherever it stands."""
    if isinstance(content, dict):
        yield from [str(content["uses"])] if "uses" in content else []
        content = list(content.values())
    if isinstance(content, list):
        for part in content:
            yield from used(part)


@pytest.mark.parametrize("file", WORKFLOWS, ids=name_of)
def test_a_workflow_uses_what_is_published_or_what_it_checks_out(file: Path) -> None:
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    checked_out = re.findall(r"path: (\S+)", file.read_text(encoding="utf-8"))
    known = PUBLISHED | {f"./{path}" for path in checked_out}
    assert set(used(content)) <= known


def test_the_license_is_whole() -> None:
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE_2
    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_packages_say_that_they_are_typed() -> None:
    for package in ("conformance", "reference_impl"):
        assert (ROOT / package / "py.typed").is_file()


def test_pushes_are_tested_on_every_python_that_the_project_takes() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (first, end) = re.findall(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', project)[0]
    checks = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text(encoding="utf-8"))
    pythons = checks["jobs"]["tests"]["strategy"]["matrix"]["python"]
    assert pythons == [f"3.{minor}" for minor in range(int(first), int(end))]


def test_hooks_fetch_nothing() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (repository,) = hooks["repos"]
    assert repository["repo"] == "local"
    assert {hook["language"] for hook in repository["hooks"]} == {"system"}
    for hook in repository["hooks"]:
        for file in re.findall(r"tests/\S+", hook["entry"]):
            assert (ROOT / file).is_file()


def classes_of(expectation: Expectation) -> Iterator[str]:
    """The error classes that an expectation asks for; of several answers, the first."""
    if isinstance(expectation, ExpectedError):
        yield expectation.type
    elif isinstance(expectation, ExpectedAnyOf):
        yield from classes_of(expectation.options[0])
    elif isinstance(expectation, ExpectedStructure):
        for item in expectation.items:
            yield from classes_of(item)


def test_the_error_classes_are_those_that_cases_expect() -> None:
    expected = {
        name
        for case in whole_corpus()
        for expectation in case.expectations_in("eager").values()
        for name in classes_of(expectation)
    }
    page = (ROOT / "docs" / "target.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| (\w+Error) \|", page, re.MULTILINE)) == expected
