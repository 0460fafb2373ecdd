"""`njit` for all kernels: machine code that came with the package where it fits, and numba otherwise.

To load numba and what it has compiled takes half of the time of a small command. Where `shipped` has a kernel, neither
is loaded. A call for which it has no code, such as one with arrays of another type, loads numba for all kernels of the
process, since those that it compiles call one another.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from sqlmicro.system.shipped import by_numba, code


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function as `numba.njit` does, or return what calls the code of it that came with the package.

    `_nrt=False` is for what makes no array and returns none, nor does anything it calls that is not `_nrt=True`: no
    references to arrays are counted there, which is a sixth less to compile.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        found = None if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0" else code(function, options)
        return by_numba(function, options) if found is None else found

    return compiled


def internal(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that compiled functions alone call: what Python would call it by takes a third of the time."""
    return njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)
