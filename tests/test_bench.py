"""The benchmarks run: each on little data, so that the commands beside our figures can be repeated."""

import json
import os
import subprocess
import sys
from importlib import import_module

import pytest
from blocks import ROOT

BENCH = ROOT / "tests" / "bench"
LITTLE = {
    "attacks": "--rows 300 --columns 3",
    "audits": "--rows 2000 --repeat 1",
    "certify": "--data tarragona --rows 60 --k 3 --time-limit 1",
    "counts": "--rows 2000 --repeat 1",
    "cost": "--methods mdav shuffle --calibrate 1000 3000 --rows 2000",
    "criteria": "--table census --only mdav",
    "deniable": "--k 10 --effort fast --seed 1 --rows 1000",
    "guarantees": "census --seeds 1 --effort fast",
    "guarantee_costs": "--sets households --rows 60 --quality fast",
    "group_loss": "--methods mdav --data tarragona --k 3",
    "individual_ranking": "--rows 2000 --k 3 --repeat 1",
    "kanonymeans_star": "--data tarragona --seeds 1 --groupings 5 --operators move",
    "linkage": "--sets tarragona --methods swap",
    "levels": "visits --patients 200",
    "load": "--case writers --rows 5000 --limit 1GB --times 2",
    "masking": "--rows 2000 --repeat 1 --only noise swap pseudonymise",
    "mdav": "--sizes 500 --columns 2 --repeat 1",
    "microaggregate": "speed --sizes 500x2",
    "partitions": "--data eia --k 3",
    "persons": "--each 1",
    "population": "--people 3000 --min-k-map 3",
    "optimal_univariate": "--rows 1000 --k 3",
    "priority": "--file persons --value 0.3 --rows 300",
    "recount": "2000",
    "regroup": "--file persons --k 10 --rows 300 -- --effort fast",
    "recoding": "--only local --models b",
    "safe_scale": "--file survey --rows 500 --option=--effort=fast",
    "safe_search": "--k 10 --effort fast",
    "series_safe": "--rows 2000 --nights 2 --effort fast",
    "scan": "--tables 4 --rows 2000",
    "series": "--rows 300 --nights 4 --seeds 1",
    "series_recoded": "--rows 300 --nights 3",
    "series_cost": "--rows 2000 --methods mdav",
    "start": "--repeat 1 --rows 100 --only version mdav release",
    "suppression": "--rows 500 --values 10",
    "threads": "--rows 2000 --repeat 1 --only mdav",
    "usefulness": "--file persons --k 10 --method mdav --rows 300",
    "union": "--rows 2000 --releases 1",
    "whole": "--rows 1000 --repeat 1 --only individual-ranking pseudonymise audit --compare",
}
LONG = {"choosing", "identifiers", "mutants", "postgres", "spark"}
"""What these measure takes minutes, needs a server, or has tests of its own: tests/test_help.py runs the first one."""


@pytest.mark.slow
@pytest.mark.parametrize("name", LITTLE)
def test_a_benchmark_runs(name, data_folder):
    done = subprocess.run(
        [sys.executable, BENCH / f"{name}.py", *LITTLE[name].split()],
        cwd=BENCH, env={**os.environ, "SQLMICRO_DATA": str(data_folder)}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines


def test_the_places_that_mutants_break_are_there(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    mutants = import_module("mutants").MUTANTS
    for mutant in mutants:
        assert (ROOT / mutant.path).read_text(encoding="utf-8").count(mutant.text) == 1, mutant.name
        assert mutant.tests, mutant.name
        assert all((ROOT / name.partition("::")[0]).is_file() for name in mutant.tests), mutant.name
    assert len({mutant.name for mutant in mutants}) == len(mutants) >= 100
    assert sum(mutant.file.startswith("sql/") for mutant in mutants) >= 15


def test_every_benchmark_is_run_and_told():
    names = {path.stem for path in BENCH.glob("[!_]*.py")}
    assert names == set(LITTLE) | LONG
    told = (BENCH / "README.md").read_text(encoding="utf-8")
    assert not [name for name in names if f"{name}.py" not in told]
