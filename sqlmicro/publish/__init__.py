"""A release made visible: targets, one transaction audited inside, what is recorded of it. Imports pipeline."""
