"""The verdict in words."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmicro.audits.verdict import PromiseReport, Verdict, VerdictReport
from sqlmicro.system.sentences import Said, join, names, say, term

_NAMES = 6


def told(verdict: Verdict) -> VerdictReport:
    """Return the verdict as reports have it.

    >>> from sqlmicro.audits.verdict import Promised
    >>> told(Verdict((Promised(5, ("age", "zip"), 6),), ("age", "zip", "income"), 1, {})).headline
    'k = 5 held over age, zip only'
    """
    return VerdictReport(
        verdict.status, verdict.colour, verdict.passed, headline(verdict), sentence(verdict), verdict.k,
        verdict.k_released, verdict.unit or "record", list(verdict.columns),
        [PromiseReport(one.k, list(one.columns), one.found) for one in verdict.promised], dict(verdict.apart),
        verdict.attack,
    )  # fmt: skip


def headline(verdict: Verdict) -> str:
    """The verdict in a few words."""
    main = verdict.main
    if main is None:
        if verdict.failed:
            return say("No k promised, and a check failed")
        return say("No k promised, and not every check was made") if verdict.not_run else say("No k promised")
    if not all(one.kept for one in verdict.promised):
        return say("k = {k:,} NOT held", k=main.k)
    held = say("k = {k:,} held", k=main.k)
    if verdict.failed:
        return say("{held}{where}, but a check FAILED", held=held, where=_where(verdict))
    if verdict.lowered_by_columns:
        only = names(main.columns, 3, say("no column"))
        return say("{held} over {columns} only{where}", held=held, columns=only, where=_where(verdict))
    if verdict.lowered_by_joins:
        return say("{held}{where}, but not over joins", held=held, where=_where(verdict))
    if verdict.lowered_by_others:
        found = say("k = {k:,}", k=verdict.with_others) if verdict.with_others else say("it is not known what holds")
        return say(
            "{held}{where}, but {found} together with other releases", held=held, where=_where(verdict), found=found
        )
    if verdict.lowered_by_attack:
        return say("{held}{where}, but an attack gets further", held=held, where=_where(verdict))
    if verdict.waived:
        return say("{held}{where}, but not all that was demanded together with other releases", held=held,
                   where=_where(verdict))  # fmt: skip
    if verdict.not_run:
        return say("{held}{where}, but not every check was made", held=held, where=_where(verdict))
    return say("{held}{where}", held=held, where=_where(verdict))


def sentence(verdict: Verdict) -> str:
    """What the headline means: over which columns, how many, and what was not counted."""
    parts = (_promise, _checks, _rest, _over_joins, _others, _strongest)
    said = [part(verdict) for part in parts]
    if verdict.uncounted:
        said.append(say(
            "k was promised for persons ({columns}), but nothing here tells whose a record is: records were "
            "counted, and persons may be fewer.", columns=verdict.uncounted,
        ))  # fmt: skip
    if verdict.kept:
        said.append(say("Every class has {what}.", what=join(verdict.kept, "; ")))
    if verdict.apart:
        left = [say("{name} ({why})", name=name, why=term(why)) for name, why in verdict.apart.items()]
        said.append(say("Not counted: {columns}.", columns=join(left, ", ")))
    return join(said)


def _where(verdict: Verdict) -> Said:
    return join([say(", counted in records") if verdict.uncounted else "", verdict.series], "")


def _promise(verdict: Verdict) -> str:
    main = verdict.main
    if main is None:
        return ""
    over = listed(main.columns)
    if not main.kept:
        if main.found is None:
            return say("The rarest combination of values of {columns} was not measured; {k:,} were promised.",
                       columns=over, k=main.k)  # fmt: skip
        return say(
            "The rarest combination of values of {columns} occurs in {found} only; {k:,} were promised.",
            columns=over, found=_units(verdict, main.found), k=main.k,
        )  # fmt: skip
    given = {"columns": over, "found": _units(verdict, main.found or 0), "k": main.k}
    others = [say("{k:,} over {columns}", k=one.k, columns=listed(one.columns))
              for one in verdict.promised if one != main]  # fmt: skip
    promised = (
        say("{k:,} were promised, and {others}", others=join(others, ", "), k=main.k)
        if others
        else (say("{k:,} were promised", k=main.k))
    )
    given["promised"] = promised
    return say("Every combination of values of {columns} is shared by at least {found}; {promised}.", **given)


def _checks(verdict: Verdict) -> str:
    """Say which checks that were demanded failed or could not be made."""
    return join([
        say("Failed: {checks}.", checks=join(verdict.failed, "; ")) if verdict.failed else "",
        say("Failed, and published all the same: {checks}.", checks=join(verdict.waived, "; "))
        if verdict.waived else "",
        say("Not made: {checks}.", checks=join(verdict.not_run, "; ")) if verdict.not_run else "",
    ])  # fmt: skip


def _rest(verdict: Verdict) -> str:
    """Say what the other released columns do to it."""
    main, found = verdict.main, verdict.k_released
    if found is None:
        return "" if main else say("No released column counts as one that an attacker may know, so no k was "
                                   "measured.")  # fmt: skip
    if main is None:
        alone = say("What is promised holds for single columns or groups of values.") if verdict.alone else ""
        return join([say(
            "No k was promised for the record. Over {columns} the rarest combination occurs in {found}.",
            columns=listed(verdict.columns), found=_units(verdict, found),
        ), alone])  # fmt: skip
    others = [name for name in verdict.columns if name not in main.columns]
    if not main.kept or not others:
        return ""
    columns = listed(others)
    if verdict.lowered_by_columns:
        given = {"columns": columns, "found": _units(verdict, found)}
        if len(others) == 1:
            return say("But {columns} is released too: over all these columns the rarest combination occurs in "
                       "{found} only.", **given)  # fmt: skip
        return say("But {columns} are released too: over all these columns the rarest combination occurs in "
                   "{found} only.", **given)  # fmt: skip
    if len(others) == 1:
        return say("{columns} is released too; over all these columns k is {k:,}.", columns=columns, k=found)
    return say("{columns} are released too; over all these columns k is {k:,}.", columns=columns, k=found)


def _others(verdict: Verdict) -> str:
    """Say what other releases of the same people do to it."""
    if not verdict.lowered_by_others:
        return ""
    if not verdict.with_others:
        return say("What it tells together with other releases of the same people could not be measured.")
    if verdict.with_others == 1:
        return say("Together with other releases of the same people, there are persons who share all classes with "
                   "nobody else.")  # fmt: skip
    return say("Together with other releases of the same people, there are persons who share all classes with "
               "{n:,} others.", n=verdict.with_others - 1)  # fmt: skip


def _over_joins(verdict: Verdict) -> str:
    if not verdict.lowered_by_joins or not verdict.promised:
        return ""
    if verdict.joined == 1:
        return say(
            "But joined with the tables that are released together, some persons share their values with nobody."
        )
    return say(
        "But joined with the tables that are released together, some persons share their values with {n:,} others "
        "only.", n=(verdict.joined or 1) - 1,
    )  # fmt: skip


def _strongest(verdict: Verdict) -> str:
    made = verdict.attack
    if made is None or not verdict.promised or not verdict.lowered_by_attack:
        return ""
    rate = say("{p:.3g} %", p=100 * made.rate)
    return say(
        "The strongest attack, {attack}, is right in {rate} of {n:,} tries; one in {k:,} would be {share:.3g} %.",
        attack=term(made.name), rate=say("at most {rate}", rate=rate) if made.assumed else rate, n=made.n,
        k=verdict.bound, share=100 / verdict.bound,
    )  # fmt: skip


def _units(verdict: Verdict, count: int) -> str:
    if verdict.unit:
        if count == 1:
            return say("1 person ({unit})", unit=verdict.unit)
        return say("{n:,} persons ({unit})", n=count, unit=verdict.unit)
    return say("1 record") if count == 1 else say("{n:,} records", n=count)


def listed(columns: Sequence[str]) -> str:
    """Return the names of columns in one line.

    >>> listed(["a", "b"]), listed([]), listed(list("abcdefgh"))
    ('a, b', 'no column', 'a, b, c, d, e, f and 2 more')
    """
    return names(columns, _NAMES, say("no column"))
