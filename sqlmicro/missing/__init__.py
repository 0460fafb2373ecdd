"""Missing values: which of them a release has, and how rare patterns of them become frequent; above `work`."""
