"""What is asked of SAFE so that its release can be denied, and which candidates can keep it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlmicro.errors import ParameterError
from sqlmicro.safe_method.candidates import Candidate
from sqlmicro.safe_method.deniable import INVENTED, MAX_INFERENCE, Asked
from sqlmicro.system import secrets

if TYPE_CHECKING:
    from sqlmicro.work import Work


def demanded(work: Work, method: str, invented: float | None, max_inference: float | None) -> Asked | None:
    """Return what is asked so that the release can be denied, with the secret; None where nothing is.

    Raises
    ------
    ParameterError
        When it is asked of a file that no search makes.
    """
    if method == "cluster":
        if invented or max_inference is not None:
            raise ParameterError(
                f"{work.where}, invented or max_inference",
                "goes with the direct search, which alone can keep it",
                "--method cluster",
                "Use --method search",
            )
        return None
    if work.in_levels:
        if invented or max_inference is not None:
            raise ParameterError(
                f"{work.where}, invented or max_inference",
                "decides which whole combinations are shown, where columns of a person or household are released by a "
                "search of their own, and no search has a whole combination",
                "columns with one value in all records of a person or household",
                "Leave it out, or these columns. What a release lets guess, counted in records, is measured by: "
                "sqlmicro audit --table RELEASE --original TABLE --quasi COLUMNS --measure inference",
            )
        return None
    share = INVENTED if invented is None else invented
    if not share and max_inference is None:
        return None
    inference = max_inference if max_inference is not None else MAX_INFERENCE if share else 1.0
    secret = secrets.lasting()
    work.outcome.account.key_fingerprint = secret.fingerprint
    if not secret.lasts:
        work.note(
            "the secret that decides what is shown could not be kept, as in a container without a home: another run "
            f"may show what this one does not. Set {secrets.LASTING_VARIABLE}"
        )
    limits = (("min_invented", invented), ("max_inference", max_inference))
    return Asked(share, inference, secret, {name: limit for name, limit in limits if limit is not None})


def nearest(work: Work, found: Sequence[Candidate], candidate: int | None, asked: Asked | None) -> Candidate:
    """Return the nearest candidate, or the one that was asked for; only the search keeps what must be denied."""
    if candidate is not None and candidate > len(found):
        raise ParameterError(f"{work.where}, candidate", f"must be one of 1 to {len(found)}", str(candidate))
    some = [found[candidate - 1]] if candidate else found
    if asked and asked.insists:
        some = [one for one in some if one.own]
        if not some:
            raise ParameterError(
                f"{work.where}, invented or max_inference",
                "needs columns that the direct search releases with original values",
                "none",
                "Name nominal columns, or use --numeric-values own",
            )
    return min(some, key=lambda one: (one.rank, one.number))
