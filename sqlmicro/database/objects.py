"""Objects of a store as files that DuckDB reads: found once, when they are named."""

from __future__ import annotations

from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError
from sqlmicro.registry import late
from sqlmicro.system.stores import Store


def name_objects(warehouse: Database, url: str) -> None:
    """Let the database read the object of a URL, or those that a pattern names by now, as they are now.

    Raises
    ------
    InputError
        When there is none, or the store cannot be asked.
    """
    store = Store(url, "--table")
    found = store.found(url)
    if not found:
        raise InputError("--table", f"there must be an object {url!r}", "none", "Check the URL")
    if not any(one.size for one in found):
        raise InputError("--table", "there must be something in an object", f"nothing in {url!r}")
    if store.scheme not in warehouse.objects:
        warehouse.reach(late("sqlmicro.database.pinned", "PinnedObjects")(store))
    pinned = warehouse.objects[store.scheme]
    pinned.add(url, found)
    if warehouse.readable is not None:
        warehouse.readable |= pinned.names()


def found_objects(warehouse: Database, text: str) -> frozenset[str]:
    """Return the URLs of the objects that a URL was found to name; none for a path."""
    pinned = warehouse.objects.get(text.partition("://")[0])
    return frozenset(pinned.glob(text) if pinned else ())
