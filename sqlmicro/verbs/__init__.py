"""Commands that are more than one call: compare, report, warm-up. Imports spark and all below."""
