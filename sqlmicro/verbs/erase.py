"""The commands `purge` and `residue`: what is left of values that a release replaced."""

from __future__ import annotations

from sqlmicro.erasure.purge import PurgeOptions, PurgeReport, purge
from sqlmicro.erasure.residue import ResidueOptions, ResidueReport, residue
from sqlmicro.system.progress import Progress


def purge_values(options: PurgeOptions, progress: Progress) -> PurgeReport:
    """Rewrite a database file, so that values which were replaced are no longer readable in it."""

    return purge(options, progress)


def residue_values(options: ResidueOptions, progress: Progress) -> ResidueReport:
    """Look for values that a release replaced: in the file, the catalog and other tables; values are not shown."""

    return residue(options, progress)
