"""Methods, audits and attacks of another package: installed, used, and held to the contracts."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "plugin"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a folder that stands for site-packages, with the example and what pip would write about it."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(EXAMPLE / "sqlmicro_neighbours", folder / "sqlmicro_neighbours")
    about = folder / "sqlmicro_neighbours-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: sqlmicro-neighbours\nVersion: 0.1.0\n")
    kinds = {"methods": "grouping", "audits": "empty_values", "limits": "likeness", "attacks": "same_record"}
    (about / "entry_points.txt").write_text(
        "\n".join(f"[sqlmicro.{kind}]\nneighbours = sqlmicro_neighbours.{module}" for kind, module in kinds.items())
    )
    return folder


def run(site, *args, cwd=ROOT, module="sqlmicro"):
    path = os.pathsep.join([str(site), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-m", module, *args], capture_output=True, text=True, cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "100"},
    )  # fmt: skip


def test_the_entry_points_are_those_of_the_example(site):
    import tomllib

    declared = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"]
    written = (site / "sqlmicro_neighbours-0.1.0.dist-info" / "entry_points.txt").read_text()
    for group, points in declared.items():
        for name, value in points.items():
            assert f"[{group}]\n{name} = {value}" in written


@pytest.mark.slow
def test_a_method_of_a_plug_in_is_a_command_and_its_release_is_audited(site, tmp_path):
    told = run(
        site, "neighbours", "--table", "examples/persons.csv", "--columns", "age,household_size", "--rest", "drop",
        "--k", "5", "--to", str(tmp_path / "ages.parquet"), "--json",
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    report = json.loads(told.stdout)
    assert report["k"] >= 5
    assert "neighbours" in run(site, "methods").stdout


@pytest.mark.slow
def test_an_audit_of_a_plug_in_is_a_gate(site, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("town,n\nBerlin,1\n  ,2\nBonn,3\nUlm,4\n")
    gate = ("audit", "--table", str(table), "--quasi", "town", "--json", "--max-blank-texts")
    held, broken = run(site, *gate, "0.25"), run(site, *gate, "0.2")
    assert (held.returncode, broken.returncode) == (0, 1), held.stderr
    (row,) = [row for row in json.loads(broken.stdout)["audits"] if row["check"] == "blank-texts"]
    assert row["value"] == 0.25


@pytest.mark.slow
def test_a_limit_of_a_plug_in_is_an_option_and_a_gate(site, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("age,illness\n" + "30,flu\n30,flu\n30,gout\n40,flu\n40,gout\n40,gout\n")
    gate = ("audit", "--table", str(table), "--quasi", "age", "--sensitive", "illness", "--json", "--max-enhanced-beta")
    held, broken = run(site, *gate, "0.34"), run(site, *gate, "0.33")
    assert (held.returncode, broken.returncode) == (0, 1), held.stderr
    (row,) = [row for row in json.loads(broken.stdout)["audits"] if row["check"] == "enhanced-beta-likeness"]
    assert row["value"] == pytest.approx(1 / 3)
    assert "--max-enhanced-beta" in run(site, "mdav", "--help-all").stdout


@pytest.mark.slow
def test_the_contracts_hold_it(site, tmp_path):
    names = ("neighbours", "blank-texts", "first-record", "max_enhanced_beta")
    chosen = [word for name in names for word in ("--contract", name)]
    told = run(
        site, "-p", "sqlmicro.contracts.plugin", *chosen, "-q", "-c", os.devnull, str(tmp_path),
        module="pytest", cwd=tmp_path,
    )  # fmt: skip
    assert told.returncode == 0, told.stdout
    assert "11 passed" in told.stdout, told.stdout


@pytest.mark.slow
def test_the_first_failure_of_a_contract_says_what_is_missing(site, tmp_path):
    mended = tmp_path / "site"
    shutil.copytree(site, mended)
    module = mended / "sqlmicro_neighbours" / "grouping.py"
    text = module.read_text().replace('source="an example"', 'source=""').replace("Smallest group.", "k")
    module.write_text(text.replace("    Returns\n    -------\n    numpy.ndarray\n", ""))
    told = run(
        mended, "-x", "-p", "sqlmicro.contracts.plugin", "--contract", "neighbours", "-c", os.devnull, str(tmp_path),
        module="pytest", cwd=tmp_path,
    )  # fmt: skip
    assert told.returncode == 1
    for lacking in ("a section 'Returns' in its docstring", "source=", "explains the parameter 'k'"):
        assert lacking in told.stdout


@pytest.mark.slow
def test_a_broken_plug_in_keeps_nothing_else_from_working(site, tmp_path):
    broken = tmp_path / "site"
    shutil.copytree(site, broken)
    (broken / "sqlmicro_neighbours" / "grouping.py").write_text("raise RuntimeError('secret of the module')\n")
    assert run(broken, "methods").returncode == 0
    asked = run(broken, "methods", "neighbours")
    assert asked.returncode == 2
    assert "could not be imported: neighbours (RuntimeError)" in asked.stderr
    assert "secret" not in asked.stderr


def test_a_plug_in_cannot_replace_a_method_of_ours(site, tmp_path):
    hostile = tmp_path / "site"
    shutil.copytree(site, hostile)
    module = hostile / "sqlmicro_neighbours" / "grouping.py"
    module.write_text(module.read_text().replace('@method("neighbours"', '@method("mdav"'))
    assert json.loads(run(hostile, "methods", "mdav", "--json").stdout)["module"] == "sqlmicro.group.mdav"
