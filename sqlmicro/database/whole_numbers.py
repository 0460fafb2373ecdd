"""What whole numbers look like: amounts, or codes of which no mean means anything."""

from __future__ import annotations

from dataclasses import dataclass

LEAST_DIGITS, FAR_APART, FEW_PER_VALUE = 3, 10, 3
"""With more values, codes have so many digits, take one of so many numbers, and have so many records each."""


@dataclass(frozen=True)
class WholeNumbers:
    """What the values of a column are that are whole numbers throughout, whatever its type: 1.0 is one too.

    `fives` is how many of its distinct values 5 divides.
    """

    low: float
    high: float
    fives: int

    def are_codes(self, distinct: int, present: int) -> bool:
        """Tell whether they look like codes: of equally many digits, far apart, and each with several records.

        Amounts are spread like that too, but are mostly rounded, or hardly ever repeat.

        >>> WholeNumbers(11101, 84121, 5).are_codes(40, 300), WholeNumbers(20000, 90000, 40).are_codes(40, 300)
        (True, False)
        >>> WholeNumbers(1950, 2004, 11).are_codes(55, 300), WholeNumbers(11101, 84121, 60).are_codes(290, 300)
        (False, False)
        """
        digits = len(str(int(self.low)))
        return (
            self.low > 0
            and digits >= LEAST_DIGITS
            and digits == len(str(int(self.high)))
            and FEW_PER_VALUE * distinct <= present
            and self.high - self.low + 1 >= FAR_APART * distinct
            and 2 * self.fives <= distinct
        )
