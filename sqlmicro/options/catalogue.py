"""Catalogues of methods, audits, attacks and limits: ours, and those of other packages, by entry point."""

from __future__ import annotations

import importlib
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlmicro.errors import ParameterError, did_you_mean
from sqlmicro.options import manifest
from sqlmicro.options.manifest import Entry
from sqlmicro.system import packages

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T", bound=Entry)


class Catalogue(Generic[T]):
    """What is known by name: first what the manifest lists, then plug-ins.

    A module of ours is imported when something of it is used. `packages` name theirs in `MODULES`, in the order in
    which they are listed; the manifest is written from what these register. Another package adds to the catalogue with
    an entry point in the group `sqlmicro.<kind>s`, whose value is a module that registers what it has when it is
    imported. A plug-in that cannot be imported does not keep the others from working: its name is in `broken`, and
    whoever asks for what is not there is told so.
    """

    def __init__(self, kind: str, entry: type[T], packages: tuple[str, ...]) -> None:
        self.kind = kind
        self.broken: dict[str, str] = {}
        self._entry = entry
        self._packages = packages
        self._added: dict[str, T] = {}
        self._complete = False

    @cached_property
    def _listed(self) -> dict[str, T]:
        found = (
            manifest.read(self._entry, one, load=partial(_loaded, one["module"], one["attribute"]))
            for one in (manifest.listed(self.kind) if self._packages else ())
        )
        return {one.name: one for one in found}

    def add(self, item: T) -> None:
        """Put something into the catalogue; a module that is imported again replaces what it registered itself.

        Raises
        ------
        ParameterError
            When another module has registered something of this name: a plug-in cannot replace a method of ours.
        """
        known = self._added.get(item.name) or self._listed.get(item.name)
        if known is not None and known.module != item.module:
            raise ParameterError(
                f"{self.kind} {item.name!r} of {item.module}",
                "must have a name of its own",
                f"one that {known.module} has registered",
            )
        self._added[item.name] = item

    def remove(self, name: str) -> None:
        """Take something out again that was added."""
        del self._added[name]

    def all(self) -> dict[str, T]:
        """Return everything by name: ours first, in the order of the manifest, then what was added."""
        if not self._complete:
            self._complete = True
            for plug_in in packages.entry_points(f"sqlmicro.{self.kind}s"):
                self._plug_in(plug_in)
        return {**self._listed, **{name: one for name, one in self._added.items() if name not in self._listed}}

    def declared(self) -> dict[str, T]:
        """Return by name what the modules of this package register: all of them are imported."""
        rooms = [importlib.import_module(package) for package in self._packages]
        modules = [f"{room.__name__}.{name}" for room in rooms for name in room.MODULES]
        for module in modules:
            importlib.import_module(module)
        return {one.name: one for module in modules for one in self._added.values() if one.module == module}

    def _plug_in(self, plug_in: EntryPoint) -> None:
        before = dict(self._added)
        try:
            plug_in.load()
        except Exception as error:  # somebody else's module may fail in any way
            self._added = before
            self.broken[plug_in.name] = type(error).__name__

    def find(self, name: str, where: str) -> T:
        """Return what is called `name`, or raise ParameterError with the nearest name."""
        if name in self._listed:
            return self._listed[name]
        known = self.all()
        if name in known:
            return known[name]
        failed = ", ".join(f"{plug_in} ({error})" for plug_in, error in self.broken.items())
        do = f"These plug-ins could not be imported: {failed}" if failed else did_you_mean(name, known)
        raise ParameterError(where, f"there is no {self.kind} {name!r}", do=do)


def _loaded(module: str, attribute: str) -> Any:
    return getattr(importlib.import_module(module), attribute)
