"""How a release becomes visible: targets, one transaction audited inside, its record. May import `pipeline` and what is
below it."""
