"""How a release becomes visible: targets, one transaction audited inside, its record. May import `history` and what is
below it."""
