"""SAFE, the direct search: the prices of deviations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Objective:
    """The prices of the search, in units of one record that is missing in one cell of one table.

    A cell with deviation d costs |d| + curve d² + steep (|d| - bound)² above the bound, times the weight of its table.
    A plain sum of |d| would leave single cells with large deviations. Bounds and temperatures follow k, because the
    smallest change is to open or close a combination with k records.

    Attributes
    ----------
    curve, steep : float
        Weights of the squared deviation, and of the squared deviation above the bound.
    bounds : tuple of float
        Of tables of one, two and three columns, as shares of k.
    value_weight, value_bound : float
        Of tables with numeric values or bands: their weight, and their bound as a multiple of that of nominal ones.
    limits, value_limits : tuple of float
        Deviations that no cell should exceed, as shares of k, rounded up: of tables of one, two and three nominal
        columns, and of tables with numeric values or bands. The price above the bound rises where one does.
    sum_weight, whole_weight : float
        Of the sums of a cell, in standard deviations; and by how much more those of the whole file count. If they count
        too much, no record can move any more that would bring a single cell back into its limit.
    slack : float
        Deviations of the sums and moments of the whole file that cost nothing, in standard deviations, as a share of
        the records. Where every deviation costs, records that would put other cells right hold each other fast.
    few_values_weight : float
        Of the moments by value of numeric columns with so few values that they have no bands; 0 leaves them out. They
        make a record that lacks dearer the more extreme its value is, which the sums of the whole file do only at the
        end, when such rare records can no longer move.
    mean_slack, mean_price : float
        Of the mean of a subgroup: its shift costs nothing up to so many standard errors, and what each further one
        costs, as a share of k².
    record_price, total_price : float
        Of a record that moves, and of the squared deviation of the number of records while the search runs.
    hot, cold : float
        First and last temperature, as shares of k².
    """

    curve: float = 0.1
    steep: float = 12.0
    bounds: tuple[float, float, float] = (0.4, 0.6, 0.8)
    value_weight: float = 0.25
    value_bound: float = 2.0
    limits: tuple[float, float, float] = (0.6, 0.8, 1.0)
    value_limits: tuple[float, float, float] = (1.0, 1.6, 7 / 3)
    sum_weight: float = 0.5
    whole_weight: float = 30.0
    slack: float = 0.0
    few_values_weight: float = 0.0
    mean_slack: float = 0.95
    mean_price: float = 80.0
    record_price: float = 2.0
    total_price: float = 0.5
    hot: float = 1.4
    cold: float = 0.06
