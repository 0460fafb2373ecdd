"""Many cases of one test as one test: a test costs pytest milliseconds in each worker, a case in a loop nothing."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest


def each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test with every case, as `pytest.mark.parametrize` does, and fail once with all cases that failed.

    Fixtures are made once for all cases: `tmp_path` is the same folder, and `monkeypatch` undoes nothing in between.
    """
    words = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    given = [tuple(case) if len(words) > 1 else (case,) for case in cases]
    assert given, "a test without a case tests nothing"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            failed: list[str] = []
            first: BaseException | None = None
            for case in given:
                named = dict(zip(words, case, strict=True))
                try:
                    test(**named, **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    first = first or error
                    failed.append(f"{named}: {error!r}")
            if failed:
                raise AssertionError(f"{len(failed)} of {len(given)} cases failed:\n" + "\n".join(failed)) from first

        signature = inspect.signature(test)
        fixtures = [p for name, p in signature.parameters.items() if name not in words]
        run.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return run

    return decorate
