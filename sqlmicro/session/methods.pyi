# ruff: noqa: E501
"""The verbs as methods of a session. Made by tests/session/test_stub.py: do not edit."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, Unpack

from sqlmicro.options.params import Parameter
from sqlmicro.session.release import Release
from sqlmicro.session.result import Audit, Result

class Frame(Protocol):
    """A DuckDB relation, an Arrow table or reader, a pandas or Polars frame."""

    def __arrow_c_stream__(self, requested_schema: Any = ...) -> Any: ...

Records: TypeAlias = str | Frame
"""The name of a table, the path of a file, or a frame."""
Names: TypeAlias = str | Sequence[str]

class Shared(TypedDict, total=False):
    keep: Names
    accept_unique: Names
    drop: Names
    rest: Literal["keep", "drop"] | None
    row_key: Names
    seed: str | None
    seed_file: str | None
    delimiter: str | None
    quote: str | None
    null_string: str | None
    decimal: str | None
    encoding: str | None
    no_header: bool

class Vectors(Shared, total=False):
    ordinal: Names
    nominal: Names
    importance: Names
    block_attributes: str | None

class Verbs:
    def _anonymized(self, name: str, declared: tuple[Parameter, ...], given: Mapping[str, Any]) -> Release: ...
    def _found(self, name: str, declared: tuple[Parameter, ...], given: Mapping[str, Any]) -> Result: ...
    def individual_ranking(
        self,
        table: Records,
        *,
        k: int = ...,
        representative: Literal["mean", "median"] = ...,
        remainder: Literal["spread-from-both-ends", "last"] = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Sort each column on its own and replace the values of every k neighbours by their mean or median."""

    def k_ward(
        self,
        table: Records,
        *,
        k: int = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Vectors],
    ) -> Release:
        """Join the two nearest groups again and again, never two that both have k records, and split the large ones anew."""

    def kanonymeans(
        self,
        table: Records,
        *,
        k: int = ...,
        centres: int | None = ...,
        init: Literal["forgy", "kmeans++"] = ...,
        merge: Literal["inner-loop", "outer-loop", "single-pass"] = ...,
        measure: Literal["centroid", "sse"] = ...,
        inside: bool = ...,
        iterations: int = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Vectors],
    ) -> Release:
        """Group records by k-means around n/k centres, joining groups of fewer than k and cutting those of 2k and more."""

    def kanonymeans_star(
        self,
        table: Records,
        *,
        k: int = ...,
        centres: int | None = ...,
        init: Literal["forgy", "kmeans++"] = ...,
        merge: Literal["inner-loop", "outer-loop", "single-pass"] = ...,
        measure: Literal["centroid", "sse"] = ...,
        inside: bool = ...,
        iterations: int = ...,
        population: int = ...,
        survivors: int = ...,
        recombine: bool = ...,
        mutated: int | None = ...,
        exchanged: int = ...,
        generations: int = ...,
        time_limit: float | None = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Vectors],
    ) -> Release:
        """Search the first centres of kanonymeans by evolution, and keep the grouping of least loss."""

    def max_distance(
        self,
        table: Records,
        *,
        k: int = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Vectors],
    ) -> Release:
        """Group records around the two that are farthest apart, again and again."""

    def mdav(
        self,
        table: Records,
        *,
        k: int = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Vectors],
    ) -> Release:
        """Group records around the one farthest from the average, and around the one farthest from that one."""

    def mdav_plus(
        self,
        table: Records,
        *,
        k: int = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Vectors],
    ) -> Release:
        """Group records around the one farthest from the average of all, which is computed once."""

    def mdav_star(
        self,
        table: Records,
        *,
        k: int = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Vectors],
    ) -> Release:
        """Group records as MDAV⁺ does, and let a group take further ones while that costs less than a group of their own."""

    def mhm(
        self,
        table: Records,
        *,
        k: int = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Vectors],
    ) -> Release:
        """Walk from every record to the nearest one not yet seen, and cut the path into groups with the least loss."""

    def microaggregate(
        self,
        table: Records,
        *,
        k: int = ...,
        quality: Literal["fast", "balanced", "best"] = ...,
        time_limit: float | None = ...,
        certify: bool = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Vectors],
    ) -> Release:
        """Group records with less loss than any single heuristic: start groups, local search, annealing."""

    def optimal_univariate(
        self,
        table: Records,
        *,
        k: int = ...,
        representative: Literal["mean", "median"] = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Group each column on its own so that no other groups of at least k lose less, and replace by mean or median."""

    def recursive_k_ward(
        self,
        table: Records,
        *,
        k: int = ...,
        parts: int = ...,
        theta: float = ...,
        direction: Literal["at-least", "below"] = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Vectors],
    ) -> Release:
        """Divide the records into parts of equal size while their variances say so, and group every part by k-Ward."""

    def secure_k_ward(
        self,
        table: Records,
        *,
        k: int = ...,
        tolerance: float = ...,
        ratio: float = ...,
        grouping: str = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Group records by k-Ward, or another method, and move a mean that is too close to most values of its group."""

    def single_axis(
        self,
        table: Records,
        *,
        k: int = ...,
        axis: str = ...,
        representative: Literal["mean", "median"] = ...,
        remainder: Literal["spread-from-both-ends", "last"] = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Order the records along one axis and replace every k neighbours by their mean or median in all columns."""

    def split_group(
        self,
        table: Records,
        *,
        k: int = ...,
        variable: bool = ...,
        shuffle: Literal["none", "group", "column"] = ...,
        remainder: Literal["merge", "as-documented"] = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Replace every group of neighbours by two values that keep its mean and its variance."""

    def v_mdav(
        self,
        table: Records,
        *,
        k: int = ...,
        gamma: float = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Vectors],
    ) -> Release:
        """Group records around the one farthest from the average of all, and add those that are close to the group."""

    def safe(
        self,
        table: Records,
        *,
        k: int = ...,
        method: Literal["best", "cluster", "search"] = ...,
        numeric: Names = ...,
        nominal: Names = ...,
        algorithm: Names = ...,
        unify_numeric: Names = ...,
        unify_nominal: Names = ...,
        order: int = ...,
        count_weight: float = ...,
        sum_weight: float = ...,
        weights: str | None = ...,
        small_groups: Literal["merge", "drop"] = ...,
        numeric_values: Literal["auto", "own", "means"] = ...,
        round: Names = ...,
        effort: Literal["full", "fast"] = ...,
        max_shift: int | None = ...,
        invented: float | None = ...,
        max_inference: float | None = ...,
        time_limit: float | None = ...,
        candidate: int | None = ...,
        keep_candidates: bool = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: Literal["error", "keep", "suppress", "pattern"] | None = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Make every record occur at least k times while the cross tables stay as close to the original as possible."""

    def top_code(
        self,
        table: Records,
        *,
        k: int = ...,
        value: float | None = ...,
        quantile: float | None = ...,
        count: int | None = ...,
        replacement: Literal["threshold", "mean", "median", "label"] = ...,
        label: str | None = ...,
        columns: Names = ...,
        by: Names = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Replace the largest values of every column by the threshold, the mean or median of the tail, or a label."""

    def bottom_code(
        self,
        table: Records,
        *,
        k: int = ...,
        value: float | None = ...,
        quantile: float | None = ...,
        count: int | None = ...,
        replacement: Literal["threshold", "mean", "median", "label"] = ...,
        label: str | None = ...,
        columns: Names = ...,
        by: Names = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Replace the smallest values of every column by the threshold, the mean or median of the tail, or a label."""

    def constant(
        self,
        table: Records,
        *,
        value: str | None = ...,
        columns: Names = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Give every record the same value: the column stays where programs expect it, what was in it is gone."""

    def generalize(
        self,
        table: Records,
        *,
        until_k: int | None = ...,
        width: Names = ...,
        breaks: Names = ...,
        quantiles: Names = ...,
        truncate: Names = ...,
        prefix: Names = ...,
        hierarchy: Names = ...,
        level: Names = ...,
        bins_as: Literal["range", "midpoint"] = ...,
        suppress_up_to: float = ...,
        metric: Literal["loss", "entropy", "discernibility"] = ...,
        local: bool = ...,
        target: str | None = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Replace values by the class they are in: bins, months, prefixes, or the levels of a hierarchy."""

    def mondrian(
        self,
        table: Records,
        *,
        k: int = ...,
        relaxed: bool = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Replace values by ranges and sets, cut as finely as k records allow (multidimensional local recoding)."""

    def noise(
        self,
        table: Records,
        *,
        kind: Literal["uncorrelated", "correlated", "linear", "nonlinear", "laplace", "geometric"] = ...,
        amount: float | None = ...,
        epsilon: float | None = ...,
        lower: float | None = ...,
        upper: float | None = ...,
        columns: Names = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Add random noise to numbers, dates and timestamps."""

    def partial(
        self,
        table: Records,
        *,
        keep_first: int = ...,
        keep_last: int = ...,
        character: str = ...,
        columns: Names = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Show the first and last characters of every value and hide those between: the last 4 digits of a card."""

    def pram(
        self,
        table: Records,
        *,
        keep_probability: float | None = ...,
        matrix: str | None = ...,
        invariant: bool = ...,
        columns: Names = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Change the values of nominal columns at random by a transition matrix (post-randomisation)."""

    def pseudonymise(
        self,
        table: Records,
        *,
        key_file: str | None = ...,
        columns: Names = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Replace identifiers by their HMAC-SHA-256: with one key the same value has the same pseudonym in every table."""

    def sample(
        self,
        table: Records,
        *,
        fraction: float | None = ...,
        size: int | None = ...,
        weight_column: str | None = ...,
        by: Names = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Release a random sample of the records, of exactly the size asked for; with --by every stratum in proportion."""

    def shuffle(
        self,
        table: Records,
        *,
        together: bool = ...,
        columns: Names = ...,
        by: Names = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Permute the values of every column among the records, each column on its own or all together."""

    def suppress(
        self,
        table: Records,
        *,
        k: int = ...,
        importance: Names = ...,
        subsets: int | None = ...,
        nulls_match: Literal["own-value", "wildcard"] = ...,
        max_risk: float | None = ...,
        weight: str | None = ...,
        person: Names = ...,
        sensitive: Names = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        c: float = ...,
        max_t: float | None = ...,
        hierarchical: Names = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        columns: Names = ...,
        by: Names = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Set as few values as possible to NULL until every combination of the columns occurs k times."""

    def swap(
        self,
        table: Records,
        *,
        kind: Literal["rank", "data"] = ...,
        percent: float | None = ...,
        rate: float | None = ...,
        min_k_map: int | None = ...,
        population: Records | None = ...,
        columns: Names = ...,
        by: Names = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        **shared: Unpack[Shared],
    ) -> Release:
        """Swap values between records: of near rank, or of records that agree in the columns of --by."""

    def profile(
        self,
        table: Records,
        *,
        region: str | None = ...,
        delimiter: str | None = ...,
        quote: str | None = ...,
        null_string: str | None = ...,
        decimal: str | None = ...,
        encoding: str | None = ...,
        no_header: bool = ...,
    ) -> Result:
        """Describe a table's columns and propose a scale and a role for each."""

    def audit(
        self,
        table: Records,
        *,
        quasi: Names = ...,
        sensitive: Names = ...,
        weight: str | None = ...,
        entity: str | None = ...,
        original: Records | None = ...,
        match: Names = ...,
        population: Records | None = ...,
        nulls: Literal["own_value", "wildcard", "exclude"] = ...,
        numeric: Names = ...,
        nominal: Names = ...,
        measure: Names = ...,
        min_k: int | None = ...,
        max_uniques: int | None = ...,
        min_l: int | None = ...,
        min_entropy_l: float | None = ...,
        min_recursive_l: int | None = ...,
        max_t: float | None = ...,
        max_alpha: float | None = ...,
        max_beta: float | None = ...,
        max_prosecutor: float | None = ...,
        max_journalist: float | None = ...,
        max_marketer: float | None = ...,
        max_risk: float | None = ...,
        max_global_risk: float | None = ...,
        min_k_map: int | None = ...,
        max_delta: float | None = ...,
        max_suda: float | None = ...,
        max_suda_ihsn: float | None = ...,
        max_within_sd: float | None = ...,
        max_within_ranks: float | None = ...,
        max_linkage: float | None = ...,
        max_missing_change: float | None = ...,
        max_il: float | None = ...,
        max_il1s: float | None = ...,
        max_mean_difference: float | None = ...,
        max_variance_change: float | None = ...,
        max_quantile_difference: float | None = ...,
        max_covariance_difference: float | None = ...,
        max_correlation_difference: float | None = ...,
        max_hellinger: float | None = ...,
        max_emd: float | None = ...,
        max_coefficient_change: float | None = ...,
        max_pmse: float | None = ...,
        max_safe_distance: float | None = ...,
        min_invented: float | None = ...,
        max_inference: float | None = ...,
        c: float = ...,
        hierarchical: Names = ...,
        suda_size: int | None = ...,
        sampling_fraction: float | None = ...,
        sd: float = ...,
        ranks: int = ...,
        regress: str | None = ...,
        order: int = ...,
        rare: int | None = ...,
        show_values: bool = ...,
        delimiter: str | None = ...,
        quote: str | None = ...,
        null_string: str | None = ...,
        decimal: str | None = ...,
        encoding: str | None = ...,
        no_header: bool = ...,
    ) -> Audit:
        """Measure what a release discloses and what it is still good for; gates hold it to thresholds."""

    def attack(
        self,
        original: Records,
        release: Records | Sequence[Records],
        *,
        match: Names = ...,
        columns: Names = ...,
        sensitive: Names = ...,
        nominal: Names = ...,
        attack: Names = ...,
        sample: int | None = ...,
        swap_percent: float | None = ...,
        within: float = ...,
        k: int | None = ...,
        delimiter: str | None = ...,
        quote: str | None = ...,
        null_string: str | None = ...,
        decimal: str | None = ...,
        encoding: str | None = ...,
        no_header: bool = ...,
    ) -> Result:
        """Attack a release with its original in hand, and measure how far each attack gets."""

    def safe_distance(
        self,
        first: Records,
        second: Records,
        *,
        columns: Names = ...,
        numeric: Names = ...,
        nominal: Names = ...,
        order: int = ...,
        count_weight: float = ...,
        sum_weight: float = ...,
        delimiter: str | None = ...,
        quote: str | None = ...,
        null_string: str | None = ...,
        decimal: str | None = ...,
        encoding: str | None = ...,
        no_header: bool = ...,
    ) -> Result:
        """Measure by how much the cross tables of two tables differ: the SAFE distance and its parts."""

    def compare(
        self,
        table: Records,
        *,
        methods: Names = ...,
        k: Names = ...,
        columns: Names = ...,
        by: Names = ...,
        nulls: str | None = ...,
        numeric: Names = ...,
        nominal: Names = ...,
        max_risk: float | None = ...,
        sample: int | None = ...,
        to: str | None = ...,
        overwrite: bool = ...,
        row_key: Names = ...,
        identifier_ok: Names = ...,
        region: str | None = ...,
        seed: str | None = ...,
        seed_file: str | None = ...,
        delimiter: str | None = ...,
        quote: str | None = ...,
        null_string: str | None = ...,
        decimal: str | None = ...,
        encoding: str | None = ...,
        no_header: bool = ...,
    ) -> Result:
        """Try methods on a table and show what each discloses and what it loses: the R-U confidentiality map."""

    def report(
        self,
        release: Records,
        *,
        to: str | None = ...,
        markdown: bool = ...,
        overwrite: bool = ...,
        min_k: int | None = ...,
        sample: int = ...,
        order: int = ...,
        quasi: Names = ...,
        sensitive: Names = ...,
        weight: str | None = ...,
        entity: str | None = ...,
        original: Records | None = ...,
        match: Names = ...,
        population: Records | None = ...,
        nulls: Literal["own_value", "wildcard", "exclude"] = ...,
        numeric: Names = ...,
        nominal: Names = ...,
        delimiter: str | None = ...,
        quote: str | None = ...,
        null_string: str | None = ...,
        decimal: str | None = ...,
        encoding: str | None = ...,
        no_header: bool = ...,
    ) -> Result:
        """Report on a release for those who decide: what was promised and found, as one HTML page or as text."""

    def register(
        self,
        files: Names,
        *,
        table: Records,
        view: bool = ...,
        overwrite: bool = ...,
        delimiter: str | None = ...,
        quote: str | None = ...,
        null_string: str | None = ...,
        decimal: str | None = ...,
        encoding: str | None = ...,
        no_header: bool = ...,
    ) -> Result:
        """Register files as a table or view of a database."""

    def methods(
        self,
        name: str | None = ...,
    ) -> Result:
        """List the methods there are, or describe one: parameters, source, templates and module."""

OTHERS: tuple[str, ...]
RECORDS: tuple[str, ...]

def takes_records(parameter: Parameter) -> bool: ...
def declared(name: str) -> tuple[Parameter, ...]: ...
def positional(parameters: list[Parameter]) -> list[str]: ...
