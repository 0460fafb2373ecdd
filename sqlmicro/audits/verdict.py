"""The verdict of a release: one rule, which publishing, audits, attacks and reports all ask.

A release is promised a k over named columns. What counts is what it is worth over **all** released columns, but those
an attacker cannot know: sensitive ones that were named as such, weights, and pseudonyms that the same job made. The
verdict is the worst of what was promised, of the k over those columns, and of the strongest attack that was made:

- *held*: the promise was kept, and no released column lowers it;
- *lowered*: it was kept over its columns, but other released columns, or an attack, go below it;
- *broken*: fewer records are alike than was promised;
- *none*: no k was promised over named columns, so that nothing passed and nothing failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlmicro.audits.row import AuditRow, Check, Linked
from sqlmicro.options.guarantees import LIMITS

Status = Literal["held", "lowered", "broken", "none"]
UNIQUE_AT_MOST = 0.05
"""A column released as it is that alone makes more of the records unique must be accepted by its name."""
_COLOURS: dict[Status, str] = {"held": "green", "lowered": "amber", "broken": "red", "none": "grey"}
_PASSED: dict[Status, bool | None] = {"held": True, "lowered": True, "broken": False, "none": None}
_NAMES = 6
_OF_KEYS = {
    "persons": "{:g} different persons",
    "individual-risk": "an individual risk of at most {:.3g}",
    "k-map": "{:g} members of the population at least",
}
_OF_CLASSES = (*_OF_KEYS, *(one.audit for one in LIMITS))


@dataclass(frozen=True)
class Promised:
    """A k that was promised over columns together, and the smallest class found over them (None: not measured)."""

    k: int
    columns: tuple[str, ...]
    found: int | None

    @property
    def kept(self) -> bool:
        """Whether it was found; what could not be measured was not."""
        return self.found is not None and self.found >= self.k


@dataclass(frozen=True)
class Attacked:
    """What the strongest attack came to: its rate, the lower end of the interval, and what chance would give."""

    name: str
    rate: float
    low: float
    chance: float
    n: int
    assumed: bool
    """Nothing tells which record became which: the rate is an upper bound."""

    def beats(self, k: int) -> bool:
        """Whether it is right more often than one time in k, and than chance.

        >>> Attacked("a", 0.5, 0.45, 0.01, 400, False).beats(5), Attacked("a", 0.2, 0.16, 0.01, 400, False).beats(5)
        (True, False)
        """
        return self.low > max(1 / k, self.chance)


@dataclass(frozen=True)
class PromiseReport:
    """A k that was promised over columns together, and the smallest class found over them."""

    k: int
    columns: list[str]
    found: int | None


@dataclass(frozen=True)
class VerdictReport:
    """What a release is worth, in figures and in words."""

    status: Status
    colour: str
    passed: bool | None
    """None where no k was promised."""
    headline: str
    sentence: str
    k: int | None
    """The smallest class over the columns of the promise."""
    k_released: int | None
    """The smallest class over all released columns that an attacker may know."""
    unit: str
    """`record`, or the column that says whose record it is."""
    columns: list[str]
    """The released columns that an attacker may know."""
    promised: list[PromiseReport]
    apart: dict[str, str]
    """The other released columns, and why they do not count."""
    attack: Attacked | None
    """The strongest attack that was made."""


@dataclass(frozen=True)
class Verdict:
    """What a release is worth.

    Attributes
    ----------
    promised : tuple of Promised
        Every k that was promised, or demanded by a gate, over named columns.
    columns : tuple of str
        The released columns that an attacker may know.
    k_released : int or None
        The smallest class over all of them; None where there are none.
    apart : dict
        The other released columns, and why they do not count: sensitive, weight, pseudonym.
    unit : str
        The column that says whose record it is; empty where a class counts records.
    alone : bool
        Whether something is promised of single columns.
    attack : Attacked, optional
        The strongest attack; None where none was made.
    kept : tuple of str
        What the classes keep besides k, each as a clause.

    >>> found = Verdict((Promised(5, ("age", "zip"), 6),), ("age", "zip", "income"), 1, {})
    >>> found.status, found.colour, found.passed, found.headline
    ('lowered', 'amber', True, 'k = 5 held over age, zip only')
    """

    promised: tuple[Promised, ...]
    columns: tuple[str, ...]
    k_released: int | None
    apart: Mapping[str, str]
    unit: str = ""
    alone: bool = False
    attack: Attacked | None = None
    kept: tuple[str, ...] = ()

    @property
    def main(self) -> Promised | None:
        """The promise the headline is about: one that is broken, else one over all that counts, else the widest."""
        broken = [one for one in self.promised if not one.kept]
        return max(broken or self.promised, key=lambda one: (self._whole(one), len(one.columns), one.k), default=None)

    @property
    def k(self) -> int | None:
        """The smallest class over the columns of the promise; None where no k was promised over named columns."""
        return None if self.main is None else self.main.found

    @property
    def quasi(self) -> tuple[str, ...]:
        """The columns that figures of a release are over: those of the promise, else all that count."""
        return self.columns if self.main is None else self.main.columns

    @property
    def status(self) -> Status:
        """Held, lowered, broken, or none."""
        if not self.promised:
            return "none"
        if not all(one.kept for one in self.promised):
            return "broken"
        return "lowered" if self._lowered_by_columns or self._lowered_by_attack else "held"

    @property
    def colour(self) -> str:
        """Green, amber, red or grey."""
        return _COLOURS[self.status]

    @property
    def passed(self) -> bool | None:
        """True for a promise that was kept, False for a broken one; None where there is none."""
        return _PASSED[self.status]

    @property
    def headline(self) -> str:
        """The verdict in a few words."""
        main = self.main
        if main is None:
            return "No k promised"
        if self.status == "broken":
            return f"k = {main.k:,} NOT held"
        if self._lowered_by_columns:
            return f"k = {main.k:,} held over {listed(main.columns, 3)} only"
        return f"k = {main.k:,} held" + (", but an attack gets further" if self._lowered_by_attack else "")

    @property
    def sentence(self) -> str:
        """What the headline means: over which columns, how many, and what was not counted."""
        said = [self._promise(), self._rest(), self._strongest()]
        if self.kept:
            said.append("Every class has " + "; ".join(self.kept) + ".")
        if self.apart:
            said.append("Not counted: " + ", ".join(f"{name} ({why})" for name, why in self.apart.items()) + ".")
        return " ".join(filter(None, said))

    def told(self) -> VerdictReport:
        """Return the verdict as reports have it."""
        return VerdictReport(
            self.status, self.colour, self.passed, self.headline, self.sentence, self.k, self.k_released,
            self.unit or "record", list(self.columns),
            [PromiseReport(one.k, list(one.columns), one.found) for one in self.promised], dict(self.apart),
            self.attack,
        )  # fmt: skip

    def after(self, attacks: Sequence[Attacked]) -> Verdict:
        """Return the verdict once attacks were made: the strongest of them counts."""
        return replace(self, attack=max(attacks, key=lambda one: (one.beats(self._bound), one.rate), default=None))

    def _whole(self, one: Promised) -> bool:
        return set(one.columns) >= set(self.columns)

    @property
    def _bound(self) -> int:
        """The k that all released columns are held to: the one promised for them, else the largest of any columns."""
        whole = [one.k for one in self.promised if self._whole(one)]
        return max(whole or [one.k for one in self.promised], default=1)

    @property
    def _lowered_by_columns(self) -> bool:
        return self.k_released is not None and self.k_released < self._bound

    @property
    def _lowered_by_attack(self) -> bool:
        return self.attack is not None and self.attack.beats(self._bound)

    def _promise(self) -> str:
        main = self.main
        if main is None:
            return ""
        over = listed(main.columns)
        if self.status == "broken":
            found = "was not measured" if main.found is None else f"occurs in {self._units(main.found)} only"
            return f"No: the rarest combination of values of {over} {found}; {main.k:,} were promised."
        yes = "Yes: every" if self.status == "held" else "Every"
        said = f"{yes} combination of values of {over} is shared by at least {self._units(main.found or 0)}"
        others = [f"{one.k:,} over {listed(one.columns)}" for one in self.promised if one != main]
        return f"{said}; {main.k:,} were promised" + (f", and {', '.join(others)}." if others else ".")

    def _rest(self) -> str:
        """Say what the other released columns do to it."""
        main, found = self.main, self.k_released
        if found is None:
            return "" if main else "No released column counts as one that an attacker may know, so no k was measured."
        if main is None:
            alone = " What is promised holds for single columns or groups of values." if self.alone else ""
            return (
                f"No k was promised for the record. Over {listed(self.columns)} the rarest combination occurs in "
                f"{self._units(found)}.{alone}"
            )
        others = [name for name in self.columns if name not in main.columns]
        if self.status == "broken" or not others:
            return ""
        released = f"{listed(others)} {'is' if len(others) == 1 else 'are'} released too"
        if self._lowered_by_columns:
            return f"But {released}: over all these columns the rarest combination occurs in {self._units(found)} only."
        return f"{released[0].upper()}{released[1:]}; with {'it' if len(others) == 1 else 'them'} it is {found:,}."

    def _strongest(self) -> str:
        made = self.attack
        if made is None or not self.promised or not self._lowered_by_attack:
            return ""
        most = "at most " if made.assumed else ""
        return (
            f"The strongest attack, {made.name}, is right in {most}{100 * made.rate:.3g} % of {made.n:,} tries; one in "
            f"{self._bound:,} would be {100 / self._bound:.3g} %."
        )

    def _units(self, count: int) -> str:
        if self.unit:
            return f"{count:,} {'entity' if count == 1 else 'entities'} ({self.unit})"
        return f"{count:,} {'record' if count == 1 else 'records'}"


def listed(columns: Sequence[str], most: int = _NAMES) -> str:
    """Return the names of columns in one line.

    >>> listed(["a", "b"]), listed([]), listed(list("abcdefgh"), 3)
    ('a, b', 'no column', 'a, b, c and 5 more')
    """
    shown = ", ".join(columns[:most])
    return f"{shown} and {len(columns) - most} more" if len(columns) > most else shown or "no column"


def together(passed: Iterable[bool | None]) -> bool | None:
    """Return what several verdicts come to: False if one failed, None where nothing was demanded.

    >>> together([True, None]), together([None]), together([None, False, True])
    (True, None, False)
    """
    found = set(passed) - {None}
    return all(found) if found else None


def judge(checks: Sequence[Check], apart: Mapping[str, str]) -> Verdict:
    """Return the verdict on the checks of a release, the first of which is the k over all columns that count.

    Parameters
    ----------
    checks : sequence of Check
        Those of gates among them. A k-anonymity with a threshold is a promise; one of a gate that reads NULL in another
        way is none, because it counts other classes.
    apart : mapping
        The released columns that do not count, and why.
    """
    first = checks[0]
    promised = {
        frozenset(row.columns): row
        for row in sorted(checks, key=lambda row: row.threshold or 0)
        if row.check == "k-anonymity" and row.threshold and _counts(row)
    }
    found = Verdict(
        tuple(Promised(int(row.threshold or 0), tuple(row.columns), _whole(row.value)) for row in promised.values()),
        tuple(first.columns),
        _whole(first.value),
        dict(apart),
        alone=any(row.check == "value frequency" for row in checks),
    )
    found = replace(found, kept=tuple(_clause(row) for row in checks if _is_kept(row, found.quasi)))
    linked = [(row.value, row.detail) for row in checks if isinstance(row, AuditRow) and row.value is not None]
    return found.after([
        Attacked("distance-linkage", rate, of.ci[0], of.chance, of.n, of.truth == "assumed")
        for rate, of in linked if isinstance(of, Linked)
    ])  # fmt: skip


def _is_kept(row: Check, quasi: Sequence[str]) -> bool:
    """Tell whether a check was demanded of the classes of the promise, and passed."""
    classes = row.columns if row.check in _OF_KEYS else row.columns[:-1]
    return row.check in _OF_CLASSES and row.threshold is not None and row.passed is True and set(classes) == set(quasi)


def _clause(row: Check) -> str:
    """Return what a check of the classes found as a clause."""
    if row.check in _OF_KEYS:
        return _OF_KEYS[row.check].format(row.value)
    meaning = next(one.meaning for one in LIMITS if one.audit == row.check)
    return f"of {row.columns[-1]} {meaning.format(row.value)}"


def _counts(row: Check) -> bool:
    """Tell whether a check counts the classes that a release has."""
    return not isinstance(row, AuditRow) or row.nulls == "own_value"


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
