"""What must hold of every class of a release, asked for in the words of the gates of `sqlmicro audit`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Literal

from sqlmicro.errors import ParameterError
from sqlmicro.options.params import Param


@dataclass(frozen=True)
class Limit:
    """A limit of what a class may tell: its option, which is a gate too, the audit of that gate, and what it means."""

    option: str
    audit: str
    meaning: str


LIMITS = (
    Limit("min_l", "l-diversity", "at least {value:g} different values"),
    Limit(
        "min_entropy_l", "entropy-l-diversity", "an entropy like that of at least {value:.3g} equally frequent values"
    ),
    Limit("min_recursive_l", "recursive-l-diversity", "recursive ({c}, {value:g})-diversity"),
    Limit("max_t", "t-closeness", "shares at most {value:.3g} from those of the whole table"),
    Limit("max_alpha", "alpha-k-anonymity", "no value with more than {value:.3g} of a class"),
    Limit(
        "max_beta",
        "beta-likeness",
        "no share above that in the whole table by more than {value:.3g} times it",
    ),
)
"""What may be asked for of sensitive columns; `min_l` of an option is the gate of its audit."""


Hierarchical = Annotated[
    tuple[str, ...],
    Param("t-closeness: values of A are as far apart as in this hierarchy, a CSV or TOML file.", metavar="A=FILE"),
]
"""What a release and its audit are told in the same words."""


@dataclass(frozen=True, kw_only=True)
class GuaranteeOptions:
    """What must hold of every class besides its k records."""

    sensitive: Annotated[
        tuple[str, ...],
        Param("Columns released as they are, of which a class must not tell too much.", metavar="A,B"),
    ] = ()
    min_l: Annotated[int | None, Param("Every class has this many sensitive values.", min=1)] = None
    min_entropy_l: Annotated[
        float | None, Param("The entropy of a class is that of this many equally frequent values.", min=1)
    ] = None
    min_recursive_l: Annotated[
        int | None, Param("Recursive (c, l)-diversity: the most frequent value is rarer than c times the rest.", min=1)
    ] = None
    c: Annotated[float, Param("Recursive (c, l)-diversity: the c in r1 < c (rl + ... + rm).", min=0)] = 2.0
    max_t: Annotated[
        float | None, Param("A class is this close to the table in the sensitive values, at most.", min=0, max=1)
    ] = None
    hierarchical: Hierarchical = ()
    max_alpha: Annotated[float | None, Param("No sensitive value has a larger share of a class.", min=0, max=1)] = None
    max_beta: Annotated[
        float | None, Param("No sensitive value is more frequent in a class than in the table by this.", min=0)
    ] = None

    @property
    def limits(self) -> dict[str, float]:
        """What is demanded of every sensitive column, by the names of the gates."""
        return {one.option: value for one in LIMITS if (value := getattr(self, one.option)) is not None}

    @property
    def meanings(self) -> list[str]:
        """What that means, each as part of a sentence.

        >>> GuaranteeOptions(sensitive=("diagnosis",), min_l=3, max_t=0.2).meanings
        ['at least 3 different values', 'shares at most 0.2 from those of the whole table']
        >>> GuaranteeOptions(sensitive=("diagnosis",), min_recursive_l=3, c=1.5).meanings
        ['recursive (1.5, 3)-diversity']
        """
        limits = self.limits
        return [one.meaning.format(value=limits[one.option], c=f"{self.c:g}") for one in LIMITS if one.option in limits]

    @property
    def asked(self) -> bool:
        """Whether anything is demanded besides k."""
        return bool(self.sensitive)

    def given(self) -> dict[str, object]:
        """Return what differs from the defaults.

        >>> GuaranteeOptions(sensitive=("diagnosis",), min_l=3).given()
        {'sensitive': ('diagnosis',), 'min_l': 3}
        """
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) != one.default}

    def refuse_incomplete(self, where: str) -> None:
        """Refuse limits without a sensitive column, a sensitive column without a limit, a distance without t.

        Raises
        ------
        ParameterError
            Then nothing would be guaranteed, or nobody would know of what.
        """
        shown = ", ".join("--" + one.option.replace("_", "-") for one in LIMITS)
        if self.sensitive and not self.limits:
            raise ParameterError(
                f"{where}, sensitive", "a limit says what no class may tell of these columns", "none", f"Give {shown}"
            )
        if self.hierarchical and self.max_t is None:
            raise ParameterError(f"{where}, hierarchical", "is about t-closeness", "no --max-t", "Give --max-t")
        if self.limits and not self.sensitive:
            named = ", ".join("--" + name.replace("_", "-") for name in self.limits)
            raise ParameterError(where, f"{named} is about sensitive columns", "none", "Name them with --sensitive A,B")

    def refuse_diversity(self, where: str, k: object) -> None:
        """Refuse more different values in a class than it has persons, of whom there are k.

        Raises
        ------
        ParameterError
            Then a person with several records would make a class diverse.
        """
        for option in ("min_l", "min_entropy_l", "min_recursive_l"):
            wanted = getattr(self, option)
            if wanted is not None and isinstance(k, int) and wanted > k:
                raise ParameterError(
                    f"{where}, {option}", "must be at most k where k counts persons: nobody is diverse alone",
                    f"{wanted:g} and k = {k}", "Raise --k",
                )  # fmt: skip


NO_GUARANTEE = GuaranteeOptions()
"""Nothing is demanded besides k."""


MinKMap = Annotated[
    int | None,
    Param("With --population: every class has this many members of it (k-map), not only of the release.", min=1),
]
MaxDelta = Annotated[
    float | None,
    Param("With --population: at most this share of the members of a class is in the release.", min=0, max=1),
]
Population = Annotated[
    str | None,
    Param(
        "With --min-k-map: table, view or file of everybody, with the columns as they are before this step.",
        metavar="TABLE",
        part="population",
    ),
]
"""What must hold in the population, as several methods are told it."""


@dataclass(frozen=True, kw_only=True)
class InPopulation:
    """What must hold of every class in the population it is taken from, by its weights or a table of everybody."""

    weight: str | None = None
    max_risk: float | None = None
    population: str | None = None
    min_k_map: int | None = None
    max_delta: float | None = None
    nulls: Literal["own_value", "wildcard"] = "own_value"
    """How a missing value is compared with the population: as a value of its own, or as one that may be any."""

    @property
    def limits(self) -> dict[str, float]:
        """What is demanded, by the names of the gates."""
        found = {"max_risk": self.max_risk, "min_k_map": self.min_k_map, "max_delta": self.max_delta}
        return {name: limit for name, limit in found.items() if limit is not None}


NO_POPULATION = InPopulation()
"""Nothing is demanded of it."""
