"""Grouping methods: one module each, importing it registers the method."""

from sqlmicro.group import individual_ranking, mdav, single_axis, split_group

__all__ = ["individual_ranking", "mdav", "single_axis", "split_group"]
