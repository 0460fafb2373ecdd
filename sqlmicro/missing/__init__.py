"""Missing values: how many there are, and how rare patterns of them become frequent. May import `work` and what is
below it."""
