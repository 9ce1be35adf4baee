"""tox.ini, the records and the weekly workflow are held against the table of releases."""

from __future__ import annotations

import configparser
import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from conformance.targets.releases import TABLE, is_between, version_key

ROOT = Path(__file__).parent.parent.parent
RULES = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
MODES = {version: rule["modes"] for rule in RULES for version in rule["releases"]}
RECORDED = [version for rule in RULES for version in rule.get("recorded", ())]
TOX = configparser.ConfigParser(interpolation=None)
TOX.read(ROOT / "tox.ini", encoding="utf-8")


def commands(environment: str) -> list[str]:
    return TOX[f"testenv:{environment}"]["commands"].strip().splitlines()


def asked(version: str) -> str:
    return f"gradconf run tensorflow=={version}:{','.join(MODES[version])} --output"


def newest_of_each_minor() -> dict[str, str]:
    """The environment of tox for each minor version, and the release that it asks."""
    in_order = sorted(MODES, key=version_key)
    return {"tf{}{}".format(*version_key(one).release): one for one in in_order}


def test_the_releases_of_the_table_are_in_order_and_under_their_rule() -> None:
    listed = [version for rule in RULES for version in rule["releases"]]
    assert listed == sorted(set(listed), key=version_key)
    starts = [version_key(rule["from"]) for rule in RULES[1:]]
    for rule, following in zip(RULES, [*starts, version_key("99")], strict=True):
        for version in rule["releases"]:
            assert version_key(rule["from"]) <= version_key(version) < following
        assert set(rule.get("recorded", ())) <= set(rule["releases"])


def test_no_candidate_stands_beside_its_release() -> None:
    for version in MODES:
        if version_key(version).is_prerelease:
            assert version_key(version).base_version not in MODES


def test_the_list_of_deviations_knows_the_newest_release() -> None:
    listed = yaml.safe_load((ROOT / "deviations" / "tensorflow.yaml").read_text())
    newest = max(MODES, key=version_key)
    assert is_between("0", newest, listed["newest"])
    assert newest.startswith(listed["newest"])


def test_tox_asks_the_newest_release_of_each_minor_version() -> None:
    expected = newest_of_each_minor()
    (section,) = [name for name in TOX.sections() if name.startswith("testenv:tf")]
    names = section.removeprefix("testenv:tf{").removesuffix("}").split(",")
    assert [f"tf{name}" for name in names] == list(expected)
    assert commands(section.removeprefix("testenv:")) == [
        f"{name}: {asked(version)} {{env_tmp_dir}}/run.jsonl --profile full {{posargs}}"
        for name, version in expected.items()
    ]


def test_tox_records_what_the_table_calls_recorded() -> None:
    options = "--profile full --resume --repeat 1 {posargs}"
    assert commands("reports") == [
        *(f"{asked(one)} reports/tensorflow-{one}.jsonl.gz {options}" for one in RECORDED),
        *(
            f"gradconf run {path.name[:-9].replace('-', '==')}"
            f" --output reports/frameworks/{path.name} --resume --repeat 1 {{posargs}}"
            for path in sorted((ROOT / "reports" / "frameworks").iterdir())
        ),
        "gradconf report reports --format history --output reports/README.md",
        "gradconf report reports reports/frameworks --format findings --output reports/FINDINGS.md",
        "gradconf report reports reports/frameworks --format conventions"
        " --output reports/CONVENTIONS.md",
    ]


def test_the_matrix_asks_releases_of_the_table() -> None:
    (line,) = commands("matrix")
    assert [word for word in line.split("==")[1:] if word.split(":")[0] not in MODES] == []


def test_reports_holds_the_records_that_the_table_names() -> None:
    found = {path.name for path in (ROOT / "reports").glob("*.jsonl.gz")}
    named = {f"tensorflow-{version}.jsonl.gz" for version in RECORDED}
    assert found == named, "write a record that is proposed into tensorflow.yaml and tox.ini"


@pytest.mark.parametrize("version", RECORDED)
def test_a_record_was_made_in_the_modes_of_the_table(version: str) -> None:
    with gzip.open(ROOT / "reports" / f"tensorflow-{version}.jsonl.gz", "rt") as record:
        plan = json.loads(record.readline())
    assert plan["asked"] == [{"target": f"tensorflow=={version}", "modes": MODES[version]}]


def test_the_workflow_finds_the_newest_record() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/versions.yml").read_text("utf-8"))
    (step,) = [one for one in workflow["jobs"]["record"]["steps"] if one.get("id") == "find"]
    lines = [line for line in step["run"].splitlines() if line.startswith(("newest=", "old="))]
    script = "\n".join([f'python() {{ {sys.executable} "$@"; }}', *lines, 'echo "$old"'])
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == RECORDED[-1], done.stderr
