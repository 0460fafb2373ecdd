"""Methods of dataclasses are compiled when they are first called.

A command makes some 300 dataclasses and calls few of their methods. Python writes and compiles six of each as it makes
the class, which is a quarter of the CPU time of a command on a small table.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

_TAKES = ("name", "args", "body", "globals", "locals", "return_type")
"""What the function of the standard library takes that compiles a method; another Python may have another one."""


def when_called() -> None:
    """Have dataclasses that are made from here on compile a method at its first call.

    For a process that is ours alone. Where this Python makes them in another way, that way stays.
    """
    compiled = getattr(dataclasses, "_create_fn", None)
    if compiled is not None and tuple(inspect.signature(compiled).parameters) == _TAKES:
        dataclasses._create_fn = _later(compiled)  # type: ignore[attr-defined]


def _later(compiled: Callable[..., Any]) -> Callable[..., Any]:
    def create(name: str, *told: Any, **more: Any) -> Any:
        made: list[Any] = []

        def method(*given: Any, **named: Any) -> Any:
            if not made:
                made.append(compiled(name, *told, **more))
                made[0].__qualname__ = method.__qualname__
                _put(name, method, made[0], type(given[0]))
            return made[0](*given, **named)

        method.__name__ = name
        return method

    return create


def _put(name: str, method: Any, made: Any, of: type) -> None:
    """Put what was compiled in the place of what compiles it, in the class that has it."""
    for cls in of.__mro__:
        if vars(cls).get(name) is method:
            setattr(cls, name, made)
