"""Commands that are more than one call: attack, compare, report, warm-up. May import `spark` and what is below it."""
