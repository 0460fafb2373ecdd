"""What must hold of every class of a release, asked for in the words of the gates of `sqlmicro audit`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from sqlmicro.errors import Need
from sqlmicro.options.limits import limits, options
from sqlmicro.options.params import Param, Registered


@dataclass(frozen=True, kw_only=True)
class GuaranteeOptions:
    """What must hold of every class besides its k records."""

    sensitive: Annotated[
        tuple[str, ...],
        Param("Columns released as they are, of which a class must not tell too much.", metavar="A,B"),
    ] = ()
    values: Annotated[Mapping[str, Any], Registered(options)] = field(default_factory=dict)
    """The limits of every sensitive column, and their settings, by the names of the options."""

    @property
    def limits(self) -> dict[str, float]:
        """What is demanded of every sensitive column, by the names of the gates."""
        return {name: value for name in limits() if (value := self.values.get(name)) is not None}

    @property
    def settings(self) -> dict[str, Any]:
        """How it is measured, by the names of the settings of the audits."""
        return {p.name: self.values.get(p.name, p.default) for one in limits().values() for p in one.parameters}

    @property
    def demand(self) -> tuple[Any, ...]:
        """The limits themselves, each a `Limit` of `sqlmicro.guarantees.rules` with its value and its settings."""
        known, settings = limits(), self.settings
        return tuple(
            known[name].function(value, **{p.name: settings[p.name] for p in known[name].parameters})
            for name, value in self.limits.items()
        )

    @property
    def meanings(self) -> list[str]:
        """What that means, each as part of a sentence.

        >>> GuaranteeOptions(sensitive=("diagnosis",), values={"min_l": 3, "max_t": 0.2}).meanings
        ['at least 3 different values', 'shares at most 0.2 from those of the whole table']
        >>> GuaranteeOptions(sensitive=("diagnosis",), values={"min_recursive_l": 3, "c": 1.5}).meanings
        ['recursive (1.5, 3)-diversity']
        """
        shown = {name: f"{value:g}" for name, value in self.settings.items() if isinstance(value, float)}
        return [limits()[name].meaning.format(value=value, **shown) for name, value in self.limits.items()]

    @property
    def asked(self) -> bool:
        """Whether anything is demanded besides k."""
        return bool(self.sensitive)

    def given(self) -> dict[str, object]:
        """Return what differs from the defaults.

        >>> GuaranteeOptions(sensitive=("diagnosis",), values={"min_l": 3, "c": 2.0}).given()
        {'sensitive': ('diagnosis',), 'min_l': 3}
        """
        values = {p.name: value for p in options() if (value := self.values.get(p.name, p.default)) != p.default}
        return {**({"sensitive": self.sensitive} if self.sensitive else {}), **values}

    def needs(self, where: str) -> Iterator[Need]:
        """Yield what is needed: a limit of sensitive columns, sensitive columns of a limit, the limit of a setting."""
        given, known = self.given(), limits()
        must, shown = "a limit says what no class may tell of these columns", ", ".join(a.shown for a in known.values())
        yield Need(self.limits or not self.sensitive, f"{where}, sensitive", must, "none", f"Give {shown}")
        for one in known.values():
            without = [p.name for p in one.parameters if p.name in given and one.name not in given]
            place = f"{where}, {', '.join(without[:1])}"
            yield Need(not without, place, f"is about {one.audit}", f"no {one.shown}", f"Give {one.shown}")
        must = f"{', '.join(known[name].shown for name in self.limits)} is about sensitive columns"
        yield Need(self.sensitive or not self.limits, where, must, "none", "Name them with --sensitive A,B")

    def needs_of_persons(self, where: str, k: object) -> Iterator[Need]:
        """Yield what is needed where k persons are counted: no class has more different values than it has persons."""
        must = "must be at most k where k counts persons: nobody is diverse alone"
        for option, wanted in self.limits.items():
            more = limits()[option].at_least and isinstance(k, int) and wanted > k
            yield Need(not more, f"{where}, {option}", must, f"{wanted:g} and k = {k}", "Raise --k")


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


@dataclass(frozen=True)
class KeyLimit:
    """A limit of who in the population may be whom, by the key of a class alone: its option, its audit, its meaning."""

    option: str
    audit: str
    meaning: str
    everybody: bool = True
    """Whether a table of everybody says it, or the weights of the records."""


KEY_LIMITS = (
    KeyLimit("max_risk", "individual-risk", "an individual risk of at most {value:.3g}", everybody=False),
    KeyLimit("min_k_map", "k-map", "{value:g} members of the population at least"),
    KeyLimit("max_delta", "delta-presence", "at most {value:.3g} of its members of the population in the release"),
)
"""What may be asked for of the population; what methods keep of it is an option of each."""


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

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> InPopulation:
        """Return what settings demand of a table of everybody; of a class that nobody is in no presence is known."""
        population, min_k_map, max_delta = (settings.get(name) for name in ("population", "min_k_map", "max_delta"))
        if population is None:
            return NO_POPULATION
        return cls(population=population, min_k_map=min_k_map or 1, max_delta=max_delta)

    @property
    def limits(self) -> dict[str, float]:
        """What is demanded, by the names of the gates."""
        return {one.option: value for one in KEY_LIMITS if (value := getattr(self, one.option)) is not None}


NO_POPULATION = InPopulation()
"""Nothing is demanded of it."""
