"""Code that several processes compile: each function runs its own, whoever compiled it and when."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

from sqlmicro.system import code_files
from sqlmicro.system.code_files import CodeFiles

MODULE = """
import numpy as np
from sqlmicro.system.compiled import njit
@njit(cache=True)
def in_order(a): return np.sort(np.array(a))
@njit(cache=True)
def order(a): return np.argsort(np.array(a))
"""


def numbers(folder: Path) -> set[bytes]:
    """Return the numbers of the functions that a process of its own compiles, and check what they compute."""
    (folder / "own.py").write_text(MODULE)
    program = "import own; a = [5, 3, 9, 1, 7]; print(own.in_order(a), own.order(a))"
    env = os.environ | {"NUMBA_CACHE_DIR": str(folder / "kept"), "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert done.stdout == "[1 3 5 7 9] [3 1 0 4 2]\n", done.stderr
    return {
        number
        for file in (folder / "kept").rglob("*.nbc")
        for number in re.findall(rb"insertion_sortB\d+v(\d+)", file.read_bytes())
    }


@pytest.mark.slow
def test_no_two_processes_give_functions_the_same_number(tmp_path: Path) -> None:
    """With equal numbers, `sort` called what `argsort` had brought: seen when the numbers were made equal."""
    found = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        found.append(numbers(tmp_path / name))
    assert all(len(each) == 2 for each in found)
    assert not found[0] & found[1]


def test_numbers_begin_elsewhere_in_every_process() -> None:
    """What the test above sees in the code that is compiled, seen where the numbers come from."""
    program = "from sqlmicro.system import code_files; print(next(code_files.FunctionIdentity._unique_ids))"
    each = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) for _ in range(2)]
    begins = {int(process.communicate()[0]) for process in each}
    assert len(begins) == 2 and min(begins) > 1_000_000


def _added(a: int, b: int) -> int:
    return a + b


def test_a_constant_is_given_to_the_code_for_a_variable() -> None:
    """Or each kernel that calls another with -1 and with a number would bring its own copy of it, and compile both."""
    from numba import types

    added = import_module("sqlmicro.system.compiled").njit(cache=True)(_added)
    for first in (types.literal(-1), types.int64):
        (template, *_) = added.get_call_template([first, types.int64], {})
        assert [case.return_type for case in template.cases] == [types.int64]
    assert added.signatures == [(types.int64, types.int64)]
    assert added(2, 3) == 5


class _Interrupted(CodeFiles):
    """Files of a process, in which another one keeps something after the index was read."""

    def _load_index(self) -> object:
        found = super()._load_index()
        CodeFiles(self._cache_path, "kernel", "stamp").save("of floats", "code of floats")
        return found


def test_two_processes_that_keep_code_at_once_do_not_mix_it(tmp_path: Path) -> None:
    place = str(tmp_path)
    _Interrupted(place, "kernel", "stamp").save("of whole numbers", "code of whole numbers")
    files = CodeFiles(place, "kernel", "stamp")
    for key in ("of whole numbers", "of floats"):
        assert files.load(key) in (None, f"code {key}")
    assert files.load("of whole numbers"), "what was said last is there"
    files.save("of floats", "code of floats")
    assert {files.load(key) for key in ("of whole numbers", "of floats")} == {"code of whole numbers", "code of floats"}


def test_code_is_not_used_with_other_kernels_than_it_was_compiled_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function that a kernel calls is in its code: seen with `g` that went on to call the `f` of before."""
    f, g, other = (tmp_path / f"_{name}_kernels.py" for name in ("f", "g", "other"))
    g.write_text("from _between_kernels import f\ndef g(): return f()\n")
    (tmp_path / "_between_kernels.py").write_text("from _f_kernels import f as f\n")
    outside = tmp_path / "plugin.py"
    outside.write_text("def h(): return 1\n")
    monkeypatch.setattr(code_files, "PACKAGE", tmp_path)

    def stamps() -> list[str]:
        code_files._modules.cache_clear()
        code_files.kernels.cache_clear()
        return [code_files.kernels(module) for module in (f, g, other, outside)]

    found = []
    for number in (1, 2):
        f.write_text(f"def f(): return {number}\n")
        other.write_text("def other(): return 1\n")
        found.append(stamps())
    other.write_text("def other(): return 2\n")
    found.append(stamps())
    changed = [[a != b for a, b in zip(*pair, strict=True)] for pair in pairwise(found)]
    assert changed == [[True, True, False, True], [False, False, True, True]]
    before, after = (stamp[1] for stamp in found[:2])
    files = CodeFiles(str(tmp_path), "g", ("g", before))
    files.save("of floats", "code of floats")
    assert files.load("of floats") == "code of floats"
    assert CodeFiles(str(tmp_path), "g", ("g", after)).load("of floats") is None

    monkeypatch.undo()
    stamps()
    module = import_module("sqlmicro.group._halving_kernels")
    assert module._select._cache._cache_file._source_stamp[1] == code_files.kernels(Path(module.__file__ or ""))


def test_what_counts_no_references_returns_no_array():
    """Numba would free an array that somebody still has: the caller gives up a reference that nobody took."""
    import numpy as np

    from sqlmicro.system.compiled import njit

    def whole(a):
        return a, len(a)

    def first(a):
        return a[0]

    assert njit(_nrt=False)(first)(np.ones(3)) == 1
    assert njit()(whole)(np.ones(3))[1] == 3
    with pytest.raises(TypeError, match="whole returns an array"):
        njit(_nrt=False)(whole)(np.ones(3))
