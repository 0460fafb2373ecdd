"""A release that is not published yet: the records are anonymized and audited, and wait in staging."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from sqlmicro.audits import k_anonymity
from sqlmicro.audits.inputs import AuditStep, GateOptions
from sqlmicro.audits.registry import AuditReport, demanded
from sqlmicro.audits.verdict import together
from sqlmicro.database.columns import names_of, pick
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.jobs import run as jobs
from sqlmicro.jobs.steps import Job
from sqlmicro.options.common import PublishSettings
from sqlmicro.options.params import carried, parameters, take
from sqlmicro.publish import gate
from sqlmicro.reports import distributions, notebook
from sqlmicro.reports.rendering import rendered
from sqlmicro.session.result import Audit, Pictures
from sqlmicro.system.interrupts import watched
from sqlmicro.system.reporting import Json, as_json

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from sqlmicro.database.connection import Held
    from sqlmicro.database.source import Source
    from sqlmicro.database.warehouse import Database
    from sqlmicro.publish.release import Release as Prepared
    from sqlmicro.publish.report import ReleaseReport


_FEWEST = 3
"""So many records are behind a bar at least, also where no k is promised."""


class Owner(Protocol):
    """The session that a release was made in."""

    held: Held

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection it has open."""

    def check_purge(self, release: Release, *, no_purge: bool) -> bool:
        """Return `no_purge` for a release in place; a file that cannot be rewritten is refused."""

    def purge(self, release: Release, report: ReleaseReport, *, wanted: bool) -> None:
        """Rewrite the file after a release in place."""


class Release:
    """Anonymized records that were audited and are not published yet; made by the methods of a `Session`.

    They wait in a private database in memory until `close`, or until nobody refers to the release any more.

    """

    def __init__(self, session: Owner, job: Job, warehouse: Database, source: Source, stack: ExitStack) -> None:
        self._session, self._job, self._warehouse, self._source = session, job, warehouse, source
        self._prepared: Prepared = jobs.rehearsed(job, warehouse, source)
        self._finalizer = weakref.finalize(self, stack.close)
        self._found = self._prepared.report

    @property
    def report(self) -> Json:
        """What is known of the release: method, rows, k, IL, audits, notes. After `publish` what was published."""
        found: Json = as_json(self._found)
        return found

    def audit(
        self,
        *,
        k: int | None = None,
        quasi: str | Sequence[str] = (),
        sensitive: str | Sequence[str] = (),
        **settings: Any,
    ) -> Audit:
        """Measure what the release discloses and what it is still good for; the original is what it was made from.

        Parameters
        ----------
        k : int, optional
            The k that must hold; the same gate as `min_k`.
        quasi : str or sequence of str
            Quasi-identifiers. Default: the columns a k was promised over, else all that an attacker may know.
        sensitive : str or sequence of str
            Sensitive columns of the release.
        **settings
            What else `sqlmicro audit` takes: gates such as `min_l`, settings, `measure`, `weight`, `household`.

        Returns
        -------
        Audit
            `table()` is its text, `passed` whether every gate holds.

        Raises
        ------
        ParameterError
            For an unknown column or setting.
        """

        self._alive()
        declared = {parameter.name: parameter for parameter in parameters(GateOptions)}
        asked = {
            declared[k_anonymity.GATE].check(k, "audit") for k in (k, settings.get(k_anonymity.GATE)) if k is not None
        }
        if len(asked) > 1:
            raise ParameterError("audit, k", "is the same gate as min_k", " and ".join(map(str, sorted(asked))))
        run = self._prepared.run
        run.resume()
        given = {
            name: (value,) if isinstance(value, str) and name in declared and declared[name].many else value
            for name, value in {**settings, "quasi": quasi, "sensitive": sensitive}.items()
        }
        options = carried(
            AuditStep, take(GateOptions, given | {name: one for name in [k_anonymity.GATE] for one in asked}, "audit")
        )
        options = options if options.quasi else replace(options, quasi=tuple(self._found.quasi))
        rows = gate.measured(run, run.table.current, options, "audit")
        report = AuditReport(
            table=f"release of {self._found.source}",
            nulls=options.nulls,
            quasi=list(options.quasi),
            sensitive=list(options.sensitive),
            weight=options.weight,
            person=list(names_of(run.roles.person)),
            household=list(options.household),
            audits=rows,
            passed=together(demanded(rows)),
            release=self._found.release,
        )
        return Audit("audit", report)

    def plot(self, *columns: str) -> Pictures:
        """Draw how the values of columns were shared out among the records, and are now.

        Bars stand for k records or more, before and after: rarer values are drawn together, and the ends of numbers lie
        within their outer quantiles.

        Parameters
        ----------
        *columns : str
            Names of released columns. Default: all of them.

        Returns
        -------
        Pictures
            `svgs` has each picture by its column; a notebook shows them, `save` writes them.

        Raises
        ------
        ParameterError
            For an unknown column.
        """
        self._alive()
        run = self._prepared.run
        run.resume()
        wanted = pick(run.roles.released, columns or names_of(run.roles.released), "plot")
        k = max((promise.k for promise in self._found.verdict.promised), default=0)
        facts = distributions.columns(gate.under_audit(run, run.table.current, AuditStep(), "plot"), max(k, _FEWEST))
        named = {column.staged: column.name for column in wanted}
        return Pictures(notebook.pictures([replace(one, name=named[one.name]) for one in facts if one.name in named]))

    def arrow(self) -> pa.Table:
        """Return the released records as an Arrow table."""
        self._alive()
        self._prepared.run.resume()
        return self._warehouse.table(self._warehouse.staged("published"))

    def df(self) -> pd.DataFrame:
        """Return the released records as a pandas frame."""
        _needed("pandas")
        found: pd.DataFrame = self.arrow().to_pandas()
        return found

    def pl(self) -> pl.DataFrame:
        """Return the released records as a Polars frame."""
        _needed("polars")
        import polars

        found = polars.from_arrow(self.arrow())
        assert isinstance(found, polars.DataFrame)
        return found

    def relation(self) -> duckdb.DuckDBPyRelation:
        """Return the released records as a relation of the session's connection, for as long as that is open."""
        return self._session.connection.from_arrow(self.arrow())

    @property
    def sql(self) -> str:
        """Every statement that was run, and those that would publish, as one script."""
        self._alive()
        return self._warehouse.script()

    def publish(
        self,
        into: str | None = None,
        *,
        to: str | None = None,
        in_place: bool = False,
        widen: bool = False,
        no_purge: bool = False,
        overwrite: bool = False,
        manifest: str | None = None,
        alone_because: str | None = None,
        ledger: str | None = None,
    ) -> Json:
        """Publish the records; what was written is audited again before anybody sees it.

        Parameters
        ----------
        into : str, optional
            Table to publish into. Default: `<table>_anonymized`; a frame has no name, so give one.
        to : str, optional
            File to publish to, .parquet or .csv.
        in_place : bool
            Replace the records of the table itself. The file is then rewritten, for which the session's own connection
            closes and opens again: this release, and every other one, must be done with by then. The file of somebody
            else's connection cannot be rewritten while it is open: give `no_purge`, and call `sqlmicro.purge` later.
        widen : bool
            With `in_place`: make integer and decimal columns DOUBLE, instead of rounding means.
        no_purge : bool
            With `in_place`: do not rewrite the file; the replaced values stay readable in it.
        overwrite : bool
            Replace the target if it exists.
        manifest : str, optional
            JSON file to write what is recorded of the release to.
        alone_because : str, optional
            Why it is published although it does not keep its k together with others of the same people.
        ledger : str, optional
            Database file of the ledger, where it is not in the database of the release.

        Returns
        -------
        dict
            The report, as from the command line.

        Raises
        ------
        SqlmicroError
            Nothing was published.
        """
        self._alive()
        values = {
            "into": into, "to": to, "in_place": in_place, "widen": widen, "no_purge": no_purge, "overwrite": overwrite,
            "manifest": manifest, "alone_because": alone_because, "ledger": ledger,
        }  # fmt: skip
        settings = take(PublishSettings, values, "publish")
        if self._session.held.read_only:
            raise InputError(
                "publish", "the database must be writable, every release is recorded in it",
                "one that was opened to be read", "Open it to write, or take the records with arrow(), df() or pl()",
            )  # fmt: skip
        if self._source.relation.catalog == self._warehouse.staging and not (into or to):
            raise ParameterError("publish", "a frame has no name", "no target", "Give into=NAME or to=FILE")
        if in_place:
            settings = replace(settings, no_purge=self._session.check_purge(self, no_purge=no_purge))
        options = replace(self._job.options, db=self._session.held.path or None, opened=None)
        with watched():
            made = jobs.published(
                replace(self._job, options=options, publish=settings), self._warehouse, self._prepared
            )
            self._found = made.report
            if in_place:
                self._session.purge(self, made.report, wanted=made.target.purge)
        return self.report

    def close(self) -> None:
        """Forget the records."""
        self._finalizer()

    @property
    def closed(self) -> bool:
        """Whether the records are gone."""
        return not self._finalizer.alive

    def _alive(self) -> None:
        if self.closed:
            raise InputError("release", "must be open", "one that was closed", "Make it again")

    def __enter__(self) -> Release:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:

        return rendered(self._found)

    def _repr_html_(self) -> str:

        return notebook.release(self._found)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _needed(library: str) -> None:
    from importlib.util import find_spec

    if find_spec(library) is None:
        raise InputError(
            library, "must be installed", "none", f"Install it with: pip install {library}; or use arrow()"
        )
