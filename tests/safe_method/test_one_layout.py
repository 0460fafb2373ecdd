"""Kernels are compiled for arrays in C order: for another order they would be compiled again, on the user's time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sqlmicro
from sqlmicro.safe_method import _deal_kernels


def test_the_dealing_is_given_arrays_in_one_order_if_several_numbers_are_averaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "people.csv"
    rows = (f"{'mf'[i % 2]},{i * 37 % 61},{i * 17 % 53},{i * 29 % 59}" for i in range(60))
    table.write_text("\n".join(["sex,age,income,size", *rows]))
    given: list[Any] = []
    monkeypatch.setattr(_deal_kernels, "exchange", lambda *arguments: given.append(arguments))
    sqlmicro.safe(str(table), numeric=["age", "income", "size"], k=3, effort="fast", dry_run=True)
    arrays = [
        (f"{type(part).__name__}.{name}", array)
        for part in given[0] if isinstance(part, tuple)
        for name, array in part._asdict().items() if isinstance(array, np.ndarray)
    ]  # fmt: skip
    assert dict(arrays)["Seats.sums"].shape[1] == 3
    assert [name for name, array in arrays if not array.flags.c_contiguous] == []
